"""Models from models: add a tool to an arm, compare weights, remove it, and move the arm to the moon."""

import dataclasses

import numpy as np

import bough


def arm() -> bough.Builder:
    """Three links and a flange."""
    builder = bough.Builder("arm")
    rod = {"mass": 3.0, "com": (0, 0, 0.2), "inertia": (0.04, 0.04, 0.005)}
    builder.add("turret", bough.joints.Revolute("z"), mass=4.0, inertia=0.02)
    builder.add("upper arm", bough.joints.Revolute("y"), "turret", at=(0, 0, 0.3), joint_name="shoulder", **rod)
    builder.add("forearm", bough.joints.Revolute("y"), "upper arm", at=(0, 0, 0.4), joint_name="elbow", **rod)
    builder.frame("flange", "forearm", at=(0, 0, 0.4), rpy=(0, np.pi / 2, 0))
    return builder


# A tool is a body on a fixed joint: it becomes part of the forearm, and keeps its name as a frame.
bare = arm().build()
drill = {"mass": 1.5, "com": (0.1, 0, 0), "inertia": (1e-3, 4e-3, 4e-3)}
drilling = bare.with_body("drill", bough.joints.Fixed(), "flange", **drill)
print(bare.mass, "kg without the drill,", drilling.mass, "kg with it")

# The same model built with the tool from the start moves alike, to the last bit.
builder = arm()
builder.add("drill", bough.joints.Fixed(), "flange", **drill)
rng = np.random.default_rng(0)
q, v, a = bough.random(bare, rng, 100), *rng.normal(size=(2, 100, bare.nv))
assert np.array_equal(bough.rnea(drilling, q, v, a), bough.rnea(builder.build(), q, v, a))

# What it weighs can be changed, and it can be taken off.
heavier = drilling.without("drill").with_body("drill", bough.joints.Fixed(), "flange", **drill | {"mass": 2.0})
assert np.isclose(heavier.mass - drilling.mass, 0.5)
assert np.allclose(bough.rnea(drilling.without("drill"), q, v, a), bough.rnea(bare, q, v, a))

# Gravity, armature, limits, placements: what is not named stays as it is, and so does the model it began with.
on_the_moon = drilling.with_gravity((0, 0, -1.62)).with_joint("elbow", armature=0.1, lower=-2.5, upper=2.5)
load = [np.abs(bough.gravity_forces(model, q)).max() for model in (drilling, on_the_moon)]
print(f"at most {load[0]:.1f} N m on earth, {load[1]:.1f} N m on the moon")
assert np.isclose(load[1] / load[0], 1.62 / 9.81)

# A builder that starts from a model adds whatever a builder can.
more = bough.Builder.of(drilling)
more.add("finger", bough.joints.Prismatic("x"), "drill", mass=0.1, inertia=1e-4)
assert more.build().nv == bare.nv + 1

# However a model is made, it is checked.
try:
    dataclasses.replace(bare, bodies=bare.bodies[:2])
except bough.errors.ModelError as error:
    print("refused:", error)
try:
    bare.with_inertia("forearm", mass=-1.0)
except bough.errors.ModelError as error:
    print("refused:", error)
