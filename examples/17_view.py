"""View robots: in the browser, and as one file that plays a motion anywhere.

On the command line, `bough view panda` shows a robot, and `bough simulate quadruped --view` runs one that you can pull.
"""

from pathlib import Path

import numpy as np

import bough

# a page with sliders, overlays, the tree, the matrices and the costs; browser=True would open it
robot = bough.robots.load("humanoid")
with bough.view(robot, browser=False) as viewer:
    print(viewer)
    q = np.array(viewer.q)
    q[robot.q_slice("left_knee")] = 0.8
    viewer.update(q)
    viewer.choose("left_ankle_roll_link")
    viewer.show("frames", "centre of mass", "inertia ellipsoids")
    print("shown:", [name for name, on in viewer.overlays.items() if on])
    # viewer.wait()  # until Ctrl-C, if somebody is to look at it

# a motion, sixteen pendulums from different angles, as a page that needs no network; .show() would play it live
pendulum = bough.robots.load("pendulum")
time, q, v = [0.0], [np.linspace(-1.5, 1.5, 16)[:, None]], [np.zeros((16, 1))]
while time[-1] < 2.0:
    v.append(v[-1] + 0.02 * bough.forward_dynamics(pendulum, q[-1], v[-1], np.zeros((16, 1))))
    q.append(bough.integrate(pendulum, q[-1], 0.02 * v[-1]))
    time.append(time[-1] + 0.02)
motion = bough.Trajectory(pendulum, time, q, v)
motion.save("pendulums.html")
size = Path("pendulums.html").stat().st_size
print(f"{motion}, written to pendulums.html, {size // 1000} kB")
assert size < 200_000
