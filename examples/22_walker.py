"""A walker learns to walk: PPO in PyTorch on hundreds of robots at once (`bough.gym`), and a view of the result.

Without arguments it trains for a few rounds. Pass a number of rounds to train longer (150 take a minute or two). Also
pass a file, ``22_walker.py 150 walk.html``, or ``show`` to see it walk in the browser.
"""

import sys
from importlib.util import find_spec

import numpy as np

import bough

if not all(find_spec(name) for name in ("torch", "gymnasium", "mujoco")):
    print('this example wants PyTorch and gymnasium with MuJoCo\'s robots: pip install "bough[torch,gym]"')
    sys.exit()

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)  # networks this small are slower with more
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
ROBOTS, STEPS, DISCOUNT, BLUR, CLIP = 256, 32, 0.99, 0.95, 0.2
envs = bough.gym.make_vec("Walker2d-v5", num_envs=ROBOTS, autoreset_mode="SameStep")
seen, does = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]


def network(outputs, last):
    layers = [nn.Linear(seen, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)]
    nn.init.orthogonal_(layers[-1].weight, last)
    return nn.Sequential(*layers)


policy, value, spread = network(does, 0.01), network(1, 1.0), nn.Parameter(torch.full((does,), -0.5))
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters(), spread], lr=1e-3, eps=1e-5)
mean, square, count = torch.zeros(seen), torch.ones(seen), 1e-4


def normal(observations):
    """Observations as the networks like them: about zero, about one in size."""
    return ((torch.as_tensor(observations, dtype=torch.float32) - mean) / square.sqrt()).clamp(-10.0, 10.0)


def learn(x, actions, logs, advantages, returns):
    """A few epochs of steps up the clipped gain, in small batches."""
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(4):
        for some in torch.randperm(len(x)).chunk(4):
            chosen = torch.distributions.Normal(policy(x[some]), spread.exp())
            ratio = (chosen.log_prob(actions[some]).sum(-1) - logs[some]).exp()
            gain = torch.minimum(ratio * advantages[some], ratio.clamp(1 - CLIP, 1 + CLIP) * advantages[some])
            miss = (value(x[some])[:, 0] - returns[some]).square().mean()
            optimizer.zero_grad()
            (0.5 * miss - gain.mean()).backward()
            nn.utils.clip_grad_norm_([*policy.parameters(), *value.parameters(), spread], 0.5)
            optimizer.step()


observations, _ = envs.reset(seed=0)
total, finished, curve = np.zeros(ROBOTS), [], []
for k in range(rounds):
    optimizer.param_groups[0]["lr"] = 1e-3 * (1.0 - k / rounds)
    kept = [[] for _ in range(6)]
    for _ in range(STEPS):
        with torch.no_grad():
            x = normal(observations)
            chosen = torch.distributions.Normal(policy(x), spread.exp())
            action = chosen.sample()
            row = [x, action, chosen.log_prob(action).sum(-1), value(x)[:, 0]]
        seen_now = torch.as_tensor(observations, dtype=torch.float32)
        observations, rewards, terminated, truncated, _ = envs.step(action.clamp(-1.0, 1.0).numpy())
        over = terminated | truncated
        row += [torch.as_tensor(rewards, dtype=torch.float32), torch.as_tensor(~over, dtype=torch.float32)]
        for column, entry in zip(kept, row, strict=True):
            column.append(entry)
        new = ROBOTS / (count + ROBOTS)
        mean, square, count = (
            mean + new * (seen_now.mean(0) - mean),
            square + new * (seen_now.var(0) - square) + new * (1 - new) * (seen_now.mean(0) - mean) ** 2,
            count + ROBOTS,
        )
        total += rewards
        finished += total[over].tolist()
        total[over] = 0.0
    x, actions, logs, values, rewards, goes_on = (torch.stack(column) for column in kept)
    with torch.no_grad():
        ahead, advantage, advantages = value(normal(observations))[:, 0], 0.0, torch.zeros_like(rewards)
    for t in reversed(range(STEPS)):  # how much better than thought each action was, with what it led to
        surprise = rewards[t] + DISCOUNT * goes_on[t] * ahead - values[t]
        advantage = advantages[t] = surprise + DISCOUNT * BLUR * goes_on[t] * advantage
        ahead = values[t]
    learn(*(part.flatten(0, 1) for part in (x, actions, logs, advantages, advantages + values)))
    curve.append(float(np.mean(finished[-ROBOTS:])) if finished else 0.0)
    if k % max(1, rounds // 10) == 0 or k == rounds - 1:
        steps = (k + 1) * STEPS * ROBOTS
        print(f"round {k + 1:4d}, {steps / 1e6:5.2f} million steps: an episode brings {curve[-1]:7.1f}")
early, late = max(curve[2:6]), curve[-1]
assert late > 1.5 * early, (early, late)

if len(sys.argv) > 2:  # the policy without chance, as the controller of a run
    robots = envs.robots

    def controller(time, q, v):
        here = np.concatenate([q[1:], np.clip(v, -10.0, 10.0)])
        with torch.no_grad():
            return {"control": policy(normal(here)).clamp(-1.0, 1.0).numpy().astype(float)}

    hold = round(robots.dt / robots.sim.dt)
    walk = robots.sim.run(robots.model.simulation.reference, duration=8.0, rate=50, controller=controller, hold=hold)
    print(f"it walked {walk.q[-1, 0]:.1f} m in 8 s")
    walk.show() if sys.argv[2] == "show" else walk.save(sys.argv[2])
