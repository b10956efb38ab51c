"""Models from models: every way of making one checks it, and an edit gives the model built so from the start."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import bough
from bough.model import Inertia, Placement
from mechanisms import MADE
from model_strategies import random_model, random_state

PARCEL: dict[str, Any] = {"mass": 2.0, "com": (0.0, 0.1, 0.05), "inertia": (0.02, 0.03, 0.04)}
TOOL_AT: dict[str, Any] = {"at": (0.0, 0.02, 0.1), "rpy": (0.3, -0.2, 0.5)}


def arm(**changes: Any) -> bough.Model:
    """An arm with a tool frame and a gripper whose fingers move together, and one thing changed."""
    x: dict[str, Any] = {
        "gravity": (0, 0, -9.81), "hand": {"mass": 0.5, "inertia": 1e-3}, "armature": 0.0, "damping": 0.1,
        "at": (0, 0, 0.4), "tool": TOOL_AT, "parcel": None, "gripper": True, "lower": -2.0,
    }  # fmt: skip
    assert changes.keys() <= x.keys()
    x |= changes
    b = bough.Builder("arm", gravity=x["gravity"])
    rod = {"mass": 1.0, "com": (0, 0, 0.2), "inertia": (0.02, 0.02, 1e-3)}
    b.add("upper", bough.joints.Revolute("y"), joint_name="shoulder", **rod)
    b.add("lower", bough.joints.Revolute("y"), "upper", joint_name="elbow", at=x["at"], armature=x["armature"],
          damping=x["damping"], lower=x["lower"], **rod)  # fmt: skip
    b.add("hand", bough.joints.Spherical(), "lower", joint_name="wrist", at=(0, 0, 0.4), **x["hand"])
    b.frame("tool", "hand", **x["tool"])
    if x["gripper"]:
        finger = {"mass": 0.05, "inertia": 1e-5}
        b.add("left", bough.joints.Prismatic("y"), "tool", joint_name="grip", **finger)
        b.add("right", bough.joints.Mimic(bough.joints.Prismatic("-y"), "grip"), "tool", joint_name="follow", **finger)
        b.frame("fingertip", "left", at=(0, 0, 0.05))
        b.geometry("left", "box", (0.01, 0.01, 0.05))
        b.loop("cord", bough.joints.Spherical(), "world", "right")
    if x["parcel"]:
        b.add("parcel", bough.joints.Fixed(), "tool", **x["parcel"])
    return b.build()


# --- every way of making a model checks it ---


def with_body_changed(model: bough.Model, k: int, **changes: Any) -> bough.Model:
    bodies = list(model.bodies)
    bodies[k] = replace(bodies[k], **changes)
    return replace(model, bodies=tuple(bodies))


def with_joint_changed(model: bough.Model, k: int, **changes: Any) -> bough.Model:
    joints = list(model.joints)
    joints[k] = replace(joints[k], **changes)
    return replace(model, joints=tuple(joints))


def with_frame_changed(model: bough.Model, **changes: Any) -> bough.Model:
    return replace(model, frames=(replace(model.frames[0], **changes), *model.frames[1:]))


def with_loop_changed(model: bough.Model, **changes: Any) -> bough.Model:
    return replace(model, constraints=(replace(model.constraints[0], **changes),))


NAN = float("nan")
NUMBERS = (0.0, 0.0, 0.0)


def forged(kind: type, *values: object) -> Any:
    """A part as no constructor makes it, but a pickle may: with values that nobody looked at."""
    made = object.__new__(kind)
    for field, value in zip(fields(kind), values, strict=True):
        object.__setattr__(made, field.name, value)
    return made


SHEARED = forged(Placement, ((1.0, 0.5, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), NUMBERS)
NOWHERE = forged(Placement, ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.0, NAN, 0.0))
LIGHT = forged(Inertia, -1.0, NUMBERS, (0.1,) * 6)
AWAY = forged(Inertia, 1.0, (0.0, NAN, 0.0), (0.1,) * 6)
SHORT = forged(Inertia, 1.0, NUMBERS, (0.1,) * 3)

WRONG: dict[str, tuple[Callable[[bough.Model], object], str]] = {
    "mass": (lambda m: with_body_changed(m, 2, inertia=LIGHT), "body 'hand': the mass"),
    "nan": (lambda m: with_body_changed(m, 2, inertia=AWAY), "body 'hand': the inertia"),
    "six": (lambda m: with_body_changed(m, 2, inertia=SHORT), "body 'hand': the inertia"),
    "number": (lambda m: with_body_changed(m, 2, inertia=3.0), "body 'hand': the inertia is 3.0, expected an Inertia"),
    "few": (lambda m: replace(m, bodies=m.bodies[:-1]), "has 4 bodies, expected 5"),
    "joints": (lambda m: replace(m, joints=m.joints[:-1]), "has 4 joints, expected 5"),
    "tree": (lambda m: replace(m, tree=bough.trees.Tree((0, 1))), "has 5 bodies, expected 2"),
    "no tree": (lambda m: replace(m, tree=(0, 1)), "expected a bough.trees.Tree"),
    "name": (lambda m: with_body_changed(m, 1, name="hand"), "'hand': there is another"),
    "of world": (lambda m: with_body_changed(m, 1, name="world"), "'world': there is another"),
    "empty": (lambda m: with_body_changed(m, 1, name=""), "a string that is not empty"),
    "joint name": (lambda m: with_joint_changed(m, 0, name="elbow"), "joint 'elbow': there is another"),
    "body frame": (lambda m: with_body_changed(m, 1, frame=SHEARED), "frame of body 'lower': the placement"),
    "sheared": (lambda m: with_joint_changed(m, 1, placement=SHEARED), "joint 'elbow': the placement"),
    "nowhere": (lambda m: with_joint_changed(m, 1, placement=NOWHERE), "joint 'elbow': the placement"),
    "armature": (lambda m: with_joint_changed(m, 1, armature=(-1.0,)), "joint 'elbow': armature is"),
    "damping": (lambda m: with_joint_changed(m, 1, damping=(NAN,)), "joint 'elbow': damping is"),
    "lengths": (lambda m: with_joint_changed(m, 2, damping=(1.0,)), "joint 'wrist': damping is .* expected 3"),
    "limits": (lambda m: with_joint_changed(m, 1, lower=(3.0,), upper=(1.0,)), "joint 'elbow': the lower limit"),
    "type": (
        lambda m: with_joint_changed(m, 1, joint=bough.joints.Spherical()), "joint 'elbow': lower is .* expected 4",
    ),
    "fixed": (lambda m: with_joint_changed(m, 1, joint=bough.joints.Fixed()), "joint 'elbow' is Fixed.*one that moves"),
    "leader": (lambda m: with_joint_changed(m, 3, name="grasp"), "joint for 'follow' to mimic is called 'grip'"),
    "gravity": (lambda m: replace(m, gravity=(0, 0, NAN)), "gravity is"),
    "frame": (lambda m: with_frame_changed(m, body=9), "frame 'tool': the body is number 9, expected one of 0 … 5"),
    "placed": (lambda m: with_frame_changed(m, placement=NOWHERE), "frame 'tool': the placement"),
    "loop": (lambda m: with_loop_changed(m, predecessor=replace(m.loops[0].predecessor, body=7)), "'cord': the body"),
    "one side": (lambda m: with_loop_changed(m, predecessor=m.loops[0].successor), "'cord': both its sides"),
    "root": (lambda m: replace(m, inner_root=3), "expected a free joint"),
    "other": (lambda m: replace(m, bodies=(None, *m.bodies[1:])), r"bodies\[0\] is None, expected a Body"),
    "builder": (lambda m: bough.Builder.of(m).add("x", bough.joints.Revolute(), inertia=LIGHT), "body 'x': the mass"),
    "builder at": (
        lambda m: bough.Builder.of(m).add("x", bough.joints.Revolute(), at=SHEARED), "body 'x': the placement",
    ),
    "no model": (lambda m: bough.Builder.of(m.tree), "expected a bough.Model"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_part_that_cannot_be_is_refused_by_name(name: str) -> None:
    change, message = WRONG[name]
    with pytest.raises((bough.errors.ModelError, bough.errors.UnknownNameError), match=message):
        change(arm())


def test_what_was_built_passes(rng: np.random.Generator) -> None:
    """Joints of all types, limits, loops, laws, springs: replacing nothing changes nothing."""
    made = [random_model(rng, 8, mimic=True) for _ in range(10)]
    named = [make() for make in MADE.values()]
    for model in [*made, *named, arm(), bough.robots.load("humanoid")]:
        assert replace(model) == model
        assert pickle.loads(pickle.dumps(model)) == model
        assert bough.Builder.of(model).build() == model


def test_rotations_of_long_chains_of_frames_pass(rng: np.random.Generator) -> None:
    b = bough.Builder()
    last = "world"
    for k in range(2000):
        b.frame(f"f{k}", last, rpy=rng.normal(size=3))
        last = f"f{k}"
    model = b.build()
    assert replace(model) == model


def test_numbers_and_lists_become_what_a_model_holds() -> None:
    model = arm()
    other = replace(model, gravity=np.array([0, 0, -1]), bodies=list(model.bodies))
    assert other == model.with_gravity((0.0, 0.0, -1.0))
    assert other.gravity == (0.0, 0.0, -1.0)
    assert hash(other) == hash(model.with_gravity([0, 0, -1]))


# --- an edit gives what building so gives ---


EDITS: dict[str, tuple[Callable[[bough.Model], bough.Model], dict[str, Any]]] = {
    "gravity": (lambda m: m.with_gravity((0, 0, -1.62)), {"gravity": (0, 0, -1.62)}),
    "mass": (lambda m: m.with_inertia("hand", mass=0.7), {"hand": {"mass": 0.7, "inertia": 1e-3}}),
    "inertia": (lambda m: m.with_inertia("hand", **PARCEL), {"hand": PARCEL}),
    "whole": (lambda m: m.with_inertia("hand", inertia=Inertia.of(*PARCEL.values(), "parcel")), {"hand": PARCEL}),
    "armature": (lambda m: m.with_armature("elbow", 0.3), {"armature": 0.3}),
    "joint": (lambda m: m.with_joint("elbow", damping=0.4, lower=-1.0), {"damping": 0.4, "lower": -1.0}),
    "placement": (lambda m: m.with_placement("elbow", (0, 0.1, 0.3)), {"at": (0, 0.1, 0.3)}),
    "of a body": (lambda m: m.with_placement("lower", (0, 0.1, 0.3)), {"at": (0, 0.1, 0.3)}),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_gives_the_model_built_so(name: str) -> None:
    edit, changes = EDITS[name]
    model = arm()
    assert edit(model) == arm(**changes)
    assert model == arm()


def test_a_body_and_a_frame_more() -> None:
    model = (
        arm().with_body("thumb", bough.joints.Revolute("x"), "tool", mass=0.1, inertia=1e-5).with_frame("nail", "thumb")
    )
    b = bough.Builder.of(arm())
    b.add("thumb", bough.joints.Revolute("x"), "tool", mass=0.1, inertia=1e-5)
    b.frame("nail", "thumb")
    assert model == b.build()
    assert model.nbodies == arm().nbodies + 1


def test_a_payload_comes_and_goes(rng: np.random.Generator) -> None:
    bare, built = arm(), arm(parcel=PARCEL)
    loaded = bare.with_body("parcel", bough.joints.Fixed(), "tool", **PARCEL)
    assert loaded.bodies == built.bodies
    q, v, a, _, f_ext = random_state(built, rng)
    np.testing.assert_array_equal(bough.rnea(loaded, q, v, a, f_ext), bough.rnea(built, q, v, a, f_ext))
    again = loaded.without("parcel")
    assert again.frames == bare.frames
    np.testing.assert_allclose(bough.rnea(again, q, v, a), bough.rnea(bare, q, v, a), rtol=1e-12, atol=1e-14)


def test_a_frame_takes_along_what_it_brought(rng: np.random.Generator) -> None:
    model = arm().with_body("parcel", bough.joints.Fixed(), "hand", **PARCEL).with_placement("parcel", **TOOL_AT)
    q, v, a, _, _ = random_state(model, rng)
    np.testing.assert_allclose(bough.rnea(model, q, v, a), bough.rnea(arm(parcel=PARCEL), q, v, a), rtol=1e-12)


def test_without_a_gripper() -> None:
    """Bodies, joints, frames, shapes and loops go with what carries them."""
    assert arm().without("left", "follow") == arm(gripper=False)
    assert arm().without("cord").constraints == ()
    assert arm().without("fingertip").frames == arm().frames[:1]
    bare = arm().without("hand")
    assert bare.body_names == ("upper", "lower")
    assert (bare.frames, bare.geometries, bare.constraints) == ((), (), ())
    assert arm().without("shoulder").nbodies == 0
    assert arm().without() == arm()


def test_what_is_hung_from_another_body_stays_so() -> None:
    b = bough.Builder()
    b.add("trunk", bough.joints.Free(), mass=1.0, inertia=1.0)
    for k in range(4):
        b.add(f"b{k}", bough.joints.Revolute(), "trunk" if k == 0 else f"b{k - 1}", at=(1, 0, 0), mass=1.0, inertia=1.0)
    model = b.build().rerooted("b1")
    for other in (model.with_gravity((0, 0, 0)), model.with_joint("b0", armature=1.0), model.without("b3"),
                  bough.Builder.of(model).build()):  # fmt: skip
        assert other.inner_root == model.inner_root
    assert model.without("b1").inner_root == 0
    with pytest.raises(bough.errors.ModelError, match="armature"):
        model.with_armature("trunk", 0.1)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda m: m.with_inertia("hnad", mass=1.0), "no body is called 'hnad'; did you mean 'hand'"),
        (lambda m: m.with_inertia("tool", mass=1.0), "'tool' is a frame on body 'hand', expected a body"),
        (lambda m: m.with_inertia("hand", mass=-1.0), "body 'hand': the mass is -1.0"),
        (lambda m: m.with_inertia("hand", inertia=(1, 1, 3)), "body 'hand': .* triangle inequality"),
        (lambda m: m.with_inertia("hand", mass=1.0, inertia=Inertia(1.0, NUMBERS, 0.1)), "not both"),
        (lambda m: m.with_armature("elbwo", 1.0), "no joint is called 'elbwo'; did you mean 'elbow'"),
        (lambda m: m.with_armature("elbow", -1.0), "joint 'elbow': armature is -1.0"),
        (lambda m: m.with_joint("elbow", dampign=1.0), "did you mean 'damping'"),
        (lambda m: m.with_joint("elbow", lower=9.0, upper=1.0), "joint 'elbow': the lower limit"),
        (lambda m: m.with_gravity((0, 0)), "gravity is"),
        (lambda m: m.with_placement("elbwo", (0, 0, 0)), "did you mean 'elbow'"),
        (lambda m: m.with_placement("elbow", (0, 0)), "the position is"),
        (lambda m: m.without("left"), "joint 'follow' follows joint 'grip', which would be removed"),
        (lambda m: m.without("grpi"), "did you mean 'grip'"),
        (lambda m: m.with_body("hand", bough.joints.Revolute()), "body 'hand': there is a body or frame of this name"),
        (lambda m: m.with_frame("tip", "finger"), "no body or frame to attach 'tip' to is called 'finger'"),
    ],
)  # fmt: skip
def test_edits_are_checked(edit: Callable[[bough.Model], bough.Model], message: str) -> None:
    with pytest.raises((bough.errors.ModelError, bough.errors.UnknownNameError), match=message):
        edit(arm())


def test_a_name_for_two_things_is_refused() -> None:
    b = bough.Builder()
    b.add("a", bough.joints.Revolute(), joint_name="b", mass=1.0)
    b.add("b", bough.joints.Revolute(), "a", joint_name="a", mass=1.0)
    for edit in (b.build().without, b.build().with_placement):
        with pytest.raises(bough.errors.ModelError, match="'a' is a body, and a joint that moves another body, 'b'"):
            edit("a")
