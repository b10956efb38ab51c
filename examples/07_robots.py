"""Robots by name: from packages and folders; their parts, and what their branches save."""

import os
from pathlib import Path

import numpy as np

import bough

# Four small ones come with bough; packages such as example-robot-data and gymnasium bring others.
print(len(bough.robots.names()), "robots at hand, among them", *(r for r in bough.robots.names() if "pendulum" in r))
assert {"pendulum", "arm", "quadruped", "humanoid"} <= set(bough.robots.names())

# The options are those of bough.load.
arm = bough.robots.load("arm", lock={"wrist_roll": 0.0})
assert arm.nv == 5

# The humanoid has the tree of the papers: 30 degrees of freedom, and half of its mass matrix is zero.
humanoid = bough.robots.load("humanoid")
tree = humanoid.dof_tree
assert (tree.n, tree.D1, tree.D2) == (30, 219, 1039)
assert np.sum(bough.crba(humanoid, bough.random(humanoid, 0)) == 0) >= (1 - tree.density) * 30**2

# What `bough info humanoid` prints: the tree, where the mass matrix is not zero, what the algorithms cost.
report = bough.info(humanoid)
print(*report.pattern.lines(), sep="\n")

# A folder of one's own: every model file below it, by name.
folder = Path("menagerie")
folder.mkdir(exist_ok=True)
bough.save(arm, folder / "stiff_arm.urdf")
os.environ["BOUGH_ROBOT_PATH"] = str(folder)
assert bough.robots.load("stiff_arm").joint_names == arm.joint_names
assert bough.robots.find("menagerie/stiff_arm").path == folder / "stiff_arm.urdf"

# A name that is not there.
told = ""
try:
    bough.robots.load("humanoyd")
except bough.errors.UnknownNameError as error:
    told = str(error)
print(told)
assert "did you mean 'humanoid'" in told
