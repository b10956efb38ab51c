"""Joints that move nothing with inertia: those that forward dynamics refuses, found without computing it."""

from __future__ import annotations

import traceback
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.algorithms.mass_matrix import mass_matrix_by_rnea
from bough.errors import SingularError
from bough.model import Mechanism
from bough.model.massless import idle_joints
from urdf_text import joint, link, robot

JOINTS = [
    bough.joints.Revolute("x"),
    bough.joints.Revolute((0.6, 0, 0.8)),
    bough.joints.Prismatic("z"),
    bough.joints.Spherical(),
    bough.joints.Free(),
    bough.joints.Planar("z"),
    bough.joints.Universal("x", "y"),
]

BODIES = [
    {},
    {"mass": 1.0},
    {"mass": 1.0, "com": (0.1, 0.2, 0.3)},
    {"mass": 1.0, "com": (0.0, 0.2, 0.0), "inertia": (0.1, 0.1, 0.0)},
    {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.12, 0.11)},
    {"inertia": (0.1, 0.1, 0.0)},
]


@st.composite
def mechanisms(draw: st.DrawFn) -> bough.Model:
    """Small trees, many of whose bodies lack something."""
    b = bough.Builder("some")
    count = draw(st.integers(1, 5))
    for k in range(count):
        parent = draw(st.sampled_from(["world", *(f"b{j}" for j in range(k))]))
        moves = draw(st.sampled_from(JOINTS))
        ones = [f"b{j}" for j in range(k) if b._joints[j].joint.nv == 1]
        if moves.nv == 1 and ones and draw(st.integers(0, 3)) == 0:
            moves = bough.joints.Mimic(moves, draw(st.sampled_from(ones)), 0.5)
        armature = 0.2 if draw(st.integers(0, 4)) == 0 else 0.0
        at, rpy = draw(st.sampled_from([((0, 0, 0), (0, 0, 0)), ((0.3, -0.2, 0.1), (0.5, 0.1, -0.7))]))
        b.add(f"b{k}", moves, parent, at=at, rpy=rpy, armature=armature, **draw(st.sampled_from(BODIES)))
    return b.build()


@given(mechanisms())
@settings(max_examples=150, deadline=None)
def test_idle_joints_are_those_without_pivots(model: bough.Model) -> None:
    """The mass matrix has no inverse at a random configuration just where some joint is idle."""
    M = mass_matrix(model)
    scale = np.sqrt(np.maximum(M.diagonal(), 1e-300))
    least = np.linalg.eigvalsh(M / np.outer(scale, scale))[0] if (M.diagonal() > 0).all() else 0.0
    if model.coupling.trivial:
        assert bool(idle_joints(model)) == (least < 1e-9)
    elif idle_joints(model):  # joints that follow others may hide one, never invent one
        assert least < 1e-9


def mass_matrix(model: bough.Model) -> np.ndarray:
    """Columns of inverse dynamics without gravity, on plain floats."""
    q = bough.random(model, 1).tolist()
    flat = [float(x) for x in mass_matrix_by_rnea(Mechanism(model), q)]
    return np.array(flat).reshape(model.nv, model.nv)


HAND = robot(
    link("palm"),
    *(link(name, mass=None) for name in ("thumb", "tip", "finger")),
    joint("wrist", "palm", "thumb"),
    joint("knuckle", "thumb", "tip"),
    joint("other", "palm", "finger", inner='<limit/><mimic joint="wrist"/>'),
)


def test_a_check_tells_what_forward_dynamics_refuses() -> None:
    model = bough.load(HAND)
    with pytest.raises(SingularError, match="'knuckle' moves nothing that has inertia"):
        bough.forward_dynamics(model, *np.zeros((3, model.nv)))
    found = bough.problems(HAND)
    assert [(p.line, p.message.split(",")[0]) for p in found] == [
        (7, "joint 'wrist' moves nothing that has inertia"),
        (8, "joint 'knuckle' moves nothing that has inertia"),
    ]
    assert "link 'tip'" in found[1].message


def test_the_body_without_inertia_is_named_wherever_forces_are_computed() -> None:
    b = bough.Builder("pendulum")
    b.add("rod", bough.joints.Revolute("y"), mass=1.0, com=(0.1, 0.0, 0.0), inertia=0.1)
    b.add("tip", bough.joints.Revolute("y"), "rod", at=(0.2, 0.0, 0.0), joint_name="hinge")
    model, still = b.build(), np.zeros(2)
    touch = bough.contact.Contacts([("tip", None)]).at([[0.1, 0.0, 0.0]], [[0.0, 0.0, 1.0]])
    for call in (
        lambda: bough.forward_dynamics(model, still, still, still),
        lambda: bough.contact.dynamics(model, still, still, still, touch),
        lambda: bough.contact.impulses(model, still, still, touch),
    ):
        with pytest.raises(SingularError, match=r"joint 'hinge' moves nothing .* Give body 'tip', or what it carries"):
            call()


def test_a_load_says_nothing_of_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bough.load(HAND)


def test_a_follower_with_mass_is_enough() -> None:
    assert bough.problems(HAND.replace(link("finger", mass=None), link("finger")))[0].line == 8
    assert bough.problems(HAND.replace(link("tip", mass=None), link("tip"))) == ()


def test_an_armature_is_enough() -> None:
    b = bough.Builder()
    b.add("rod", bough.joints.Revolute("x"), armature=0.1)
    b.add("tip", bough.joints.Revolute("x"), "rod")
    assert idle_joints(b.build()) == ("tip",)


def test_the_error_of_forward_dynamics_stands_alone() -> None:
    """Not after those of the attempts that found it, which would hide it."""
    arm = robot(link("a"), link("b"), link("c", mass=None), joint("j", "a", "b"), joint("k", "b", "c"))
    model = bough.load(arm)
    with pytest.raises(SingularError, match="'k' moves nothing that has inertia") as found:
        bough.forward_dynamics(model, *np.zeros((3, model.nv)))
    told = "".join(traceback.format_exception(found.value))
    assert "During handling" not in told
    assert "direct cause" not in told
