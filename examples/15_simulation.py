"""Simulate robots: a floor, a fall, a batch, a controller, and contacts.

One compiled program computes a whole step: positions, contacts, forces, accelerations, the next state.
"""

import numpy as np

import bough

robot = bough.robots.load("quadruped")
scene = bough.Scene(robot, self_collision=False).floor(friction=0.8)
sim = bough.Simulation(robot, scene)
print(sim)

# one robot falls on its feet; 100 samples per second are kept
q = bough.simulation.on_the_floor(robot, bough.neutral(robot), gap=0.1)
fall = sim.run(q, duration=1.0)
print(fall)
print(f"height of the trunk: from {fall.q[0, 2]:.3f} to {fall.q[-1, 2]:.3f} m")

# what touches at the end, and how hard
found = sim.contacts(fall.q[-1], fall.v[-1])
for pair, force in zip(found.pairs, found.forces, strict=True):
    if force.any():
        print(f"  {pair[0]} holds {pair[1]} with {force[2]:.1f} N")
print(f"  all together {found.forces[:, 2].sum():.1f} N, the robot weighs {9.81 * robot.mass:.1f} N")

# sixty-four robots at once, each thrown another way, with springs that keep their pose
rng = np.random.default_rng(0)
target = np.concatenate([np.zeros(6), q[7:]])
many = sim.run(np.tile(q, (64, 1)), rng.normal(size=(64, robot.nv)), duration=1.0, target=target, kp=80.0, kd=4.0)
print(f"{many.q.shape[1]} robots, {int(many.taken.sum())} steps, all sound: {not many.status.any()}")


# a controller in Python, called every ten steps: bend the knees and stretch them again. It gives targets, which the
# program follows at every step; joint forces would be held for ten, and damping among them would be unstable
knees = [robot.v_slice(name).start for name in robot.joint_names if "knee" in name]


def squat(time: float, q: np.ndarray, v: np.ndarray) -> dict[str, object]:
    pose = target.copy()
    pose[knees] = -0.4 * np.sin(np.pi * time) ** 2
    return {"target": pose, "kp": 200.0, "kd": 5.0}


print(sim.run(q, duration=1.0, controller=squat, hold=10).summary())
