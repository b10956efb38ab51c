"""The model as a value: immutable, comparable, with names that help when they are misspelt; and its mimic joints."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from closeness import assert_close
from model_strategies import random_model, random_state


def build(**changes: Any) -> bough.Model:
    """A model with a bit of everything, and one thing changed."""
    x: dict[str, Any] = {
        "name": "robot", "gravity": (0, 0, -9.81), "mass": 2.0, "com": (0, 0, 0.1), "inertia": 0.1, "at": (1, 0, 0),
        "axis": "x", "lower": -1.0, "upper": 1.0, "velocity": 3.0, "effort": 4.0, "damping": 5.0, "friction": 6.0,
        "armature": 7.0, "body": "leg", "joint_name": "hip", "frame": "foot", "frame_at": (0, 0, 1), "ratio": 0.5,
        "pitch": 0.3,
    }  # fmt: skip
    assert changes.keys() <= x.keys()
    x |= changes
    b = bough.Builder(x["name"], gravity=x["gravity"])
    b.add("base", bough.joints.Free(), mass=1.0, inertia=1.0)
    per_joint = {key: x[key] for key in ("lower", "upper", "velocity", "effort", "damping", "friction", "armature")}
    inertia = {key: x[key] for key in ("mass", "com", "inertia", "at", "joint_name")}
    b.add(x["body"], bough.joints.Revolute(x["axis"]), "base", **per_joint, **inertia)
    follower = bough.joints.Mimic(bough.joints.Prismatic("z"), x["joint_name"], x["ratio"])
    b.add("knee", follower, x["body"], lower=-9, upper=9, mass=1.0)
    b.add("toe", bough.joints.Helical("x", x["pitch"]), "knee", mass=1.0, com=(0, 1, 0))
    b.frame(x["frame"], x["body"], at=x["frame_at"])
    return b.build()


# --- a value ---


def test_models_with_the_same_content_are_equal() -> None:
    one, other = build(), build()
    assert one == other
    assert hash(one) == hash(other)
    assert one is not other
    assert {one: 1}[other] == 1


CHANGES: list[dict[str, Any]] = [
    {"name": "other"}, {"gravity": (0, 0, 9.81)}, {"mass": 2.5}, {"com": (0, 0, 0.2)}, {"inertia": 0.2},
    {"at": (1, 0, 1e-12)}, {"axis": "y"}, {"axis": "-x"}, {"lower": -2.0}, {"upper": 2.0}, {"velocity": 1.0},
    {"effort": 1.0}, {"damping": 1.0}, {"friction": 1.0}, {"armature": 1.0}, {"body": "limb"}, {"joint_name": "h"},
    {"frame": "sole"}, {"frame_at": (0, 0, 2)}, {"ratio": -0.5}, {"pitch": 0.31},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_models_with_different_content_differ(change: dict[str, Any]) -> None:
    assert build(**change) != build()
    assert build(**change) == build(**change)


def test_other_things_are_not_models() -> None:
    assert build() != "robot"
    assert build() != None  # noqa: E711 (the operator is what is tested)


def test_zeros_of_either_sign_are_the_same() -> None:
    one, other = build(at=(1.0, 0.0, 0.0)), build(at=(1.0, -0.0, -0.0))
    assert one == other
    assert hash(one) == hash(other)
    assert np.signbit(other.joint("hip").placement.vector).sum() == 0


def test_models_cannot_be_changed() -> None:
    m = build()
    for name in ("name", "tree", "bodies", "joints", "frames", "gravity", "nq", "anything"):
        with pytest.raises(AttributeError):
            setattr(m, name, None)
    parts: list[tuple[object, str]] = [
        (m.joints[0], "name"), (m.bodies[0], "inertia"), (m.bodies[0].inertia, "mass"), (m.frames[0], "placement"),
        (m.joints[0].placement, "origin"), (m.joints[1].joint, "axis"), (m.joints[2].joint, "ratio"),
    ]  # fmt: skip
    for part, name in parts:
        with pytest.raises(AttributeError):
            setattr(part, name, None)


def test_what_a_model_hands_out_is_not_its_own() -> None:
    m, same = build(), build()
    m.limits("lower")[:] = 7.0
    m.joints[1].placement.matrix[:] = 7.0
    m.bodies[1].inertia.matrix[:] = 7.0
    bough.neutral(m)[:] = 7.0
    for values in (m.coupling.v_source, m.coupling.v_ratio, m.coupling.q_offset, m.coupling.v_own):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1
    assert m == same
    assert np.array_equal(m.limits("lower"), same.limits("lower"))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_equal(again: Callable[[bough.Model], bough.Model], rng: np.random.Generator) -> None:
    m = build()
    bough.neutral(m)  # some properties are remembered
    assert m.coupling is not None
    copied = again(m)
    assert copied == m
    assert hash(copied) == hash(m)
    q, v, a, _, _ = random_state(m, rng)
    assert np.array_equal(bough.rnea(copied, q, v, a), bough.rnea(m, q, v, a))


# --- names ---


def test_limits() -> None:
    m = build()
    inf = float("inf")
    assert m.limits("lower").tolist() == [-inf] * 7 + [-1.0, -inf]  # the follower has no entry
    assert m.limits("upper").tolist() == [inf] * 7 + [1.0, inf]
    for what, value, default in [("velocity", 3, inf), ("effort", 4, inf), ("damping", 5, 0), ("armature", 7, 0)]:
        assert m.limits(what).tolist() == [default] * 6 + [value, default]
    assert m.limits("friction").shape == (m.nv,)
    with pytest.raises(bough.errors.UnknownNameError, match="no sort of limit is called 'uper'; did you mean 'upper'"):
        m.limits("uper")


def test_unknown_names_come_with_suggestions() -> None:
    m = build()
    for look_up in (m.joint, m.q_slice, m.v_slice):
        with pytest.raises(bough.errors.UnknownNameError, match="no joint is called 'hipp'; did you mean 'hip'"):
            look_up("hipp")
    with pytest.raises(bough.errors.UnknownNameError, match="no frame is called 'foto'; did you mean 'foot'"):
        m.frame("foto")
    with pytest.raises(
        bough.errors.UnknownNameError, match="no frame is called 'xyzzy'; valid names: 'base', 'foot', 'knee'"
    ):
        m.frame("xyzzy")
    with pytest.raises(KeyError):  # what a caller would expect
        m.frame("leg ")
    for name in (None, 3, ["foot"]):
        with pytest.raises(bough.errors.UnknownNameError, match="no frame is called"):
            m.frame(name)  # type: ignore[arg-type]
        with pytest.raises(bough.errors.UnknownNameError, match="no joint is called"):
            m.joint(name)  # type: ignore[arg-type]


def test_many_names_are_not_all_listed() -> None:
    b = bough.Builder()
    for k in range(30):
        b.add(f"b{k:02}", bough.joints.Revolute("x"))
    with pytest.raises(bough.errors.UnknownNameError, match=r"'b00', 'b01', .*'b11' and 18 more$"):
        b.build().joint("???")


# --- mimic joints ---


def chain(*joints: tuple[str, bough.joints.Joint, str]) -> bough.Builder:
    """Bodies with mass on joints, each given with the name of its parent."""
    b = bough.Builder("chain")
    for name, joint, parent in joints:
        b.add(name, joint, parent, at=(0.3, 0.1, 0), mass=1.0, com=(0, 0.2, 0.1), inertia=0.1)
    return b


X, Y, Z = bough.joints.Revolute("x"), bough.joints.Revolute("y"), bough.joints.Revolute("z")


def test_a_follower_has_no_coordinates() -> None:
    m = chain(("a", X, "world"), ("b", bough.joints.Mimic(Y, "a", 2.0, 0.3), "a"), ("c", Z, "b")).build()
    assert (m.nq, m.nv, m.nbodies) == (2, 2, 3)
    assert m.dof_names == ("a", "c")
    assert m.q_slice("b") == slice(1, 1)
    assert m.v_slice("c") == slice(1, 2)
    assert bough.random(m, 0, 5).shape == (5, 2)
    free = chain(("a", X, "world"), ("b", Y, "a"), ("c", Z, "b")).build()
    assert_close(bough.placements(m, [0.4, 0.7]), bough.placements(free, [0.4, 2 * 0.4 + 0.3, 0.7]), 0.0, axes=3)


def test_followers_of_followers() -> None:
    """q₃ = 3 q₂ - 1 = 3 (2 q₁ + 0.5) - 1; the order in which they are given does not matter."""
    for first in (0, 1):
        joints = [
            ("c", bough.joints.Mimic(Y, "b", 3.0, -1.0), "world"),
            ("b", bough.joints.Mimic(X, "a", 2.0, 0.5), "world"),
        ]
        b = chain(joints[first], ("a", Z, "world"), joints[1 - first])
        m = b.build()
        R = bough.placements(m, [0.2], "c")[:3, :3]
        angle = 6 * 0.2 + 0.5
        assert R[0, 2] == pytest.approx(np.sin(angle), rel=1e-15)
        assert m.coupling.v_ratio[0 if first == 0 else 2] == 6.0


def test_the_tree_of_a_mass_matrix_with_followers() -> None:
    """Without them it is the tree itself. On one branch nothing is lost; across branches, branches grow together."""
    free = [("a", X, "world"), ("b", Y, "a"), ("c", Z, "a")]
    assert chain(*free).build().dof_tree.parents == (0, 1, 1)
    one = chain(*free, ("d", bough.joints.Mimic(X, "b"), "b")).build()
    assert one.dof_tree.parents == (0, 1, 1)
    across = chain(*free, ("d", bough.joints.Mimic(X, "c"), "b")).build()
    assert across.dof_tree.parents == (0, 1, 2)
    apart = chain(("a", X, "world"), ("b", Y, "world"), ("c", bough.joints.Mimic(Z, "a"), "b")).build()
    assert apart.dof_tree.parents == (0, 1)
    M = bough.crba(apart, [0.3, 0.4])
    assert M[0, 1] != 0.0


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_a_mass_matrix_with_followers_is_that_of_the_free_joints_reduced(seed: int) -> None:
    """M = Gᵀ H G and tau = Gᵀ own tau, where H and own tau are those of the same tree with all joints free."""
    rng = np.random.default_rng(seed)
    m = random_model(rng, 4, ["revolute", "prismatic", "helical", "universal"], mimic=True)
    b = bough.Builder("free", gravity=m.gravity)
    names = ("world", *m.body_names)
    for entry, body, parent in zip(m.joints, m.bodies, m.tree.parents, strict=True):
        own = entry.joint.joint if isinstance(entry.joint, bough.joints.Mimic) else entry.joint
        mass, com, J = body.inertia.mass, body.inertia.com, body.inertia.matrix
        place: dict[str, Any] = {"at": entry.placement.vector, "rotation": entry.placement.matrix}
        b.add(body.name, own, names[parent], mass=mass, com=com, inertia=J, armature=entry.armature, **place)
    free = b.build()
    G = np.zeros((free.nv, m.nv))
    G[np.arange(free.nv), m.coupling.v_source] = m.coupling.v_ratio
    q, v, a, _, f_ext = random_state(m, rng)
    own_q = m.coupling.q_ratio * q[m.coupling.q_source] + m.coupling.q_offset
    assert_close(bough.crba(m, q), G.T @ bough.crba(free, own_q) @ G, 1e-13, axes=2)
    assert_close(bough.rnea(m, q, v, a, f_ext), G.T @ bough.rnea(free, own_q, G @ v, G @ a, f_ext), 1e-13)
    assert m.dof_tree.n == m.nv


def test_a_ratio_of_zero_holds_a_joint_still() -> None:
    m = chain(("a", X, "world"), ("b", bough.joints.Mimic(Y, "a", 0.0, 0.7), "a")).build()
    fixed = bough.Builder()
    fixed.add("a", X, at=(0.3, 0.1, 0), mass=1.0, com=(0, 0.2, 0.1), inertia=0.1)
    fixed.add(
        "b", bough.joints.Fixed(), "a", at=(0.3, 0.1, 0), rpy=(0, 0.7, 0), mass=1.0, com=(0, 0.2, 0.1), inertia=0.1
    )
    args = ([0.4], [1.5], [-2.0])
    assert_close(bough.rnea(m, *args), bough.rnea(fixed.build(), *args), 1e-14)


BAD_MIMICS: list[tuple[list[tuple[str, bough.joints.Joint, str]], type[Exception], str]] = [
    (
        [("a", X, "world"), ("b", bough.joints.Mimic(Y, "aa"), "a")],
        bough.errors.UnknownNameError,
        "no joint for 'b' to mimic is called 'aa'; did you mean 'a'",
    ),
    ([("b", bough.joints.Mimic(Y, "b"), "world")], bough.errors.ModelError, "follow each other in a circle: b → b"),
    (
        [
            ("a", bough.joints.Mimic(X, "b"), "world"),
            ("b", bough.joints.Mimic(Y, "c"), "a"),
            ("c", bough.joints.Mimic(Y, "a"), "a"),
        ],
        bough.errors.ModelError,
        "follow each other in a circle: a → b → c → a",
    ),
    (
        [("a", bough.joints.Spherical(), "world"), ("b", bough.joints.Mimic(Y, "a"), "a")],
        bough.errors.ModelError,
        "joint 'b' mimics 'a', which has 3 degrees of freedom",
    ),
    (
        [("a", bough.joints.Cylindrical("x"), "world"), ("b", bough.joints.Mimic(Y, "a"), "a")],
        bough.errors.ModelError,
        "joint 'b' mimics 'a', which has 2 degrees of freedom",
    ),
]


@pytest.mark.parametrize(("joints", "error", "message"), BAD_MIMICS, ids=[case[2] for case in BAD_MIMICS])
def test_bad_mimics(joints: list[tuple[str, bough.joints.Joint, str]], error: type[Exception], message: str) -> None:
    """Found when the model is built, since a leader may come after its follower; the builder stays as it was."""
    b = chain(*joints)
    for _ in range(2):
        with pytest.raises(error, match=message):
            b.build()
    if error is bough.errors.UnknownNameError:
        b.add("late", X, joint_name="aa", mass=1.0, com=(0, 1, 0))
        assert b.build().nv == 2


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("gravity", "with_gravity"),
        ("simulation", "with_simulation"),
        ("bodies", "with_body"),
        ("frames", "with_frame"),
        ("name", "a method that begins with with_"),
    ],
)
def test_models_say_what_changes_them(name: str, way: str) -> None:
    model = bough.robots.load("arm")
    with pytest.raises(AttributeError, match=f"{name} of <Model 'arm'.* cannot be set: models are immutable; .*{way}"):
        setattr(model, name, (0.0, 0.0, 0.0))
    with pytest.raises(AttributeError, match="models are immutable"):
        delattr(model, name)


def test_models_show_what_is_for_users() -> None:
    shown = [name for name in dir(bough.robots.load("arm")) if not name.startswith("_")]
    assert {"with_gravity", "joint_names", "mass", "nq"} <= set(shown)
    assert not {"coupling", "inner", "of_checked", "with_checked"} & set(shown)
