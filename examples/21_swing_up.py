"""An acrobot swings up and balances: control by derivatives of the simulation (iLQR), with a motor only at the elbow.

Pass a file name, such as swing.html, to write the motion to that file.
"""

import sys

import numpy as np

import bough

# Two links that hang; only the elbow has a motor. Upright is q = (π, 0).
b = bough.Builder("acrobot")
for link, parent, at in (("upper", "world", (0, 0, 0)), ("lower", "upper", (0, 0, -0.5))):
    b.add(link, bough.joints.Revolute("y"), parent, at=at, mass=1.0, com=(0, 0, -0.25), inertia=0.02, damping=0.02)
    b.geometry(link, "capsule", (0.04, 0.5), at=(0, 0, -0.25))
robot = b.build()
sim = bough.Simulation(robot, bough.Scene(robot, self_collision=False), dt=0.02)
K, effort, motor = 150, 1e-3, np.array([[0.0, 1.0]])
goal, weight = np.array([np.pi, 0.0, 0.0, 0.0]), np.diag([200.0, 200.0, 20.0, 20.0])


def cost(x, u):
    miss = x[-1] - goal
    return 0.5 * miss @ weight @ miss + 0.5 * effort * (u**2).sum()


def linear(x, u):
    """How each step changes with the state before it and with the torque: (K, 4, 4) and (K, 4, 1), in one call."""
    by = sim.jacobian(x[..., :2], x[..., 2:], tau=u @ motor)
    return np.concatenate([by["q"], by["v"]], axis=-1), by["tau"] @ motor.T


def follow(x, u, k, gains, share):
    """Run with corrected torques: a share of the change k, and feedback from where the last run was."""
    states, torques = [x[0]], []
    for t in range(len(u)):
        torques.append(u[t] + share * k[t] + gains[t] @ (states[-1] - x[t]))
        state = sim.step(states[-1][:2], states[-1][2:], tau=torques[-1] @ motor)
        states.append(np.concatenate([state.q, state.v]))
    return np.array(states), np.array(torques)


def improved(x, u, damping):
    """One sweep back: the best linear feedback about a motion, by Riccati's recursion."""
    A, B = linear(x[:-1], u)
    gradient, hessian = weight @ (x[-1] - goal), weight
    k, gains = np.zeros((K, 1)), np.zeros((K, 1, 4))
    for t in reversed(range(K)):
        by_u, by_x = effort * u[t] + B[t].T @ gradient, A[t].T @ gradient
        bent = hessian + damping * np.eye(4)
        uu, ux = effort * np.eye(1) + B[t].T @ bent @ B[t], B[t].T @ bent @ A[t]
        k[t], gains[t] = -np.linalg.solve(uu, by_u), -np.linalg.solve(uu, ux)
        uu, ux = effort * np.eye(1) + B[t].T @ hessian @ B[t], B[t].T @ hessian @ A[t]
        gradient = by_x + gains[t].T @ (uu @ k[t] + by_u) + ux.T @ k[t]
        hessian = A[t].T @ hessian @ A[t] + gains[t].T @ uu @ gains[t] + gains[t].T @ ux + ux.T @ gains[t]
    return k, gains


# Swing up: from small torques that break the symmetry of hanging still, until the cost is small.
u = 0.1 * np.sin(np.arange(K) * 0.1)[:, None]
x, _ = follow(np.zeros((K + 1, 4)), u, np.zeros((K, 1)), np.zeros((K, 1, 4)), 0.0)
damping, costs, sweeps = 1.0, [cost(x, u)], 0
while costs[-1] > 0.5 and sweeps < 200:
    sweeps += 1
    k, gains = improved(x, u, damping)
    for share in 0.5 ** np.arange(8):
        tried = follow(x, u, k, gains, share)
        if cost(*tried) < costs[-1]:
            (x, u), damping = tried, max(damping / 3.0, 1e-6)
            costs.append(cost(x, u))
            break
    else:
        damping *= 10.0
print(f"{sweeps} sweeps brought the cost from {costs[0]:.0f} to {costs[-1]:.3f}")
print(f"the motor needs {abs(u).max():.1f} N m at most")

# Balance: the feedback that is best for ever about the upright state, from the derivatives of a step there.
A, B = linear(goal, np.zeros(1))
P = np.eye(4)
for _ in range(2000):
    hold = -np.linalg.solve(0.1 * np.eye(1) + B.T @ P @ B, B.T @ P @ A)
    P = np.eye(4) + A.T @ P @ (A + B @ hold)


def controller(time, q, v):
    t, here = round(time / sim.dt), np.concatenate([q, v])
    if t < K:
        return (u[t] + gains[t] @ (here - x[t])) @ motor
    return (hold @ (here - goal)) @ motor


motion = sim.run([0.05, -0.05], duration=K * sim.dt + 6.0, controller=controller)
miss = abs(np.concatenate([motion.q[-1], motion.v[-1]]) - goal).max()
print(f"started a little off and balanced for six seconds, it ends {miss:.1e} from upright")
assert miss < 1e-2
if len(sys.argv) > 1:
    motion.save(sys.argv[1])
