"""First steps: load a robot, let it fall, watch it, compute with it, differentiate it, run a sweep."""

import numpy as np

import bough

robot = bough.robots.load("quadruped")  # or bough.load("robot.urdf", floating_base=True)
print(robot)

# Let it fall.
q = bough.simulation.on_the_floor(robot, bough.neutral(robot), gap=0.3)
sim = bough.Simulation(robot, bough.Scene(robot).floor(), parameters=["friction"])
fall = sim.run(q, duration=1.0)
print(fall.summary())

# Watch it.
fall.save("fall.html")  # a page that plays it; fall.show() opens one at once, "fall.gif" and "fall.mp4" are films

# Ask it something: one state, or a thousand at once. Leading axes are batch axes, in every function.
rng = np.random.default_rng(0)
many = bough.random(robot, rng, size=1000)
v, tau = rng.normal(size=(2, 1000, robot.nv))
a = bough.forward_dynamics(robot, many, v, tau)  # motion from forces
assert np.allclose(bough.rnea(robot, many, v, a), tau)  # forces from motion
print(f"{np.mean(bough.crba(robot, many[0]) == 0):.0%} of its mass matrix is zero, mostly as its legs are branches")

# Differentiate it: by q (along motions), v and tau, each (1000, nv, nv).
by_q, by_v, by_tau = bough.derivatives.forward_dynamics(robot, many, v, tau)
assert np.allclose(by_tau, bough.mass_matrix_inverse(robot, many))

# Sweep it: thrown forward at five speeds, friction a twentieth of the floor's and all of it.
thrown = sim.sweep(q, duration=1.0, grid={"v of root_joint[0]": np.linspace(0, 4, 5), "friction": [0.05, 1.0]})
print("how far it gets in a second (m)", thrown.trajectory.q[-1, :, :, 0].round(2).tolist())
