"""Mimic joints: a gripper whose two fingers move together."""

import numpy as np

import bough

builder = bough.Builder("gripper")
builder.add("wrist", bough.joints.Revolute("z"), mass=0.5, inertia=1e-3)
finger = {"parent": "wrist", "mass": 0.05, "com": (0, 0, 0.03), "inertia": 2e-5}
builder.add("left finger", bough.joints.Prismatic("y"), at=(0, 0.02, 0.05), joint_name="grip", **finger)
builder.add("right finger", bough.joints.Mimic(bough.joints.Prismatic("-y"), "grip"), at=(0, -0.02, 0.05), **finger)
model = builder.build()

# The follower adds nothing to q and v, and what it carries is felt by the joint it follows.
assert (model.nbodies, model.nv) == (3, 2)
M = bough.crba(model, bough.neutral(model))
assert np.isclose(M[1, 1], 2 * 0.05)
print("mass matrix:\n", M)

# The fingers move apart together.
both = bough.placements(model, [0.3, 0.01], ["left finger", "right finger"])
assert np.isclose(np.linalg.norm(both[0, :3, 3] - both[1, :3, 3]), 0.06)
