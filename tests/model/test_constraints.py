"""Constraints beside the tree: what is kept, what is refused, and that the dynamics is that of the tree."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest

import bough
from bough.model.arguments import rotation_from_rpy


def two_arms() -> bough.Builder:
    b = bough.Builder("two arms")
    for side in ("left", "right"):
        b.add(f"{side} upper", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=0.1)
        b.add(f"{side} lower", bough.joints.Prismatic("z"), f"{side} upper", at=(0, 0, -1), mass=1.0, inertia=0.1)
    b.add("ball", bough.joints.Free(), mass=1.0, inertia=0.1, frame_at=(0, 0, 1))
    b.frame("tip", "left lower", at=(0, 0, -1))
    return b


def test_a_loop_joins_two_places_of_bodies() -> None:
    b = two_arms()
    turn = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    b.loop("hold", bough.joints.Fixed(), "tip", "ball", at=(1, 0, 0), rotation=turn, successor_at=(0, 2, 0))
    b.loop("pin", bough.joints.Spherical(), "world", "right lower")
    hold, pin = b.build().constraints
    assert isinstance(hold, bough.loops.Loop)
    assert (hold.predecessor.body, hold.predecessor.placement.origin) == (2, (1, 0, -1))
    assert hold.predecessor.placement.matrix.tolist() == turn
    assert (hold.successor.body, hold.successor.placement.origin) == (5, (0, 2, 0))
    assert isinstance(pin, bough.loops.Loop)
    assert (pin.predecessor.body, pin.joint) == (0, bough.joints.Spherical())


def test_the_dynamics_is_that_of_the_tree() -> None:
    b = two_arms()
    plain = b.build()
    b.loop("hold", bough.joints.Fixed(), "tip", "right lower")
    b.equality("law", "left upper", "right upper", (0.0, 1.0, 0.5), zero=0.1, other_zero=-0.2)
    b.equality("held", "left lower", None, 0.3)
    model = b.build()
    q = bough.neutral(model)
    assert np.array_equal(bough.crba(model, q), bough.crba(plain, q))
    assert model != plain
    assert len(model.constraints) == 3
    assert pickle.loads(pickle.dumps(model)) == model
    assert hash(pickle.loads(pickle.dumps(model))) == hash(model)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (
            lambda b: b.loop("", bough.joints.Fixed(), "tip", "ball"),
            bough.errors.ModelError,
            "expected a name, a string",
        ),
        (
            lambda b: b.loop("old", bough.joints.Fixed(), "tip", "ball"),
            bough.errors.ModelError,
            "'old': there is a constraint",
        ),
        (lambda b: b.loop("new", "weld", "tip", "ball"), bough.errors.ModelError, "the joint is 'weld'"),
        (
            lambda b: b.loop("new", bough.joints.Fixed(), "tipp", "ball"),
            bough.errors.UnknownNameError,
            "did you mean 'tip'",
        ),
        (
            lambda b: b.loop("new", bough.joints.Fixed(), "tip", "ball", at=(1, 2)),
            bough.errors.ModelError,
            "the position is",
        ),
        (
            lambda b: b.loop("new", bough.joints.Spherical(), "tip", "left lower"),
            bough.errors.ModelError,
            "constraint 'new': its sides 'tip' and 'left lower' are both on body 'left lower', which never moves",
        ),
        (
            lambda b: b.loop("new", bough.joints.Free(), "world", "world"),
            bough.errors.ModelError,
            "are both on body 'world'",
        ),
        (
            lambda b: b.equality("new", "left upper", "ball", 1.0),
            bough.errors.ModelError,
            "'ball' has 6 degrees of freedom",
        ),
        (
            lambda b: b.equality("new", "left", None, 1.0),
            bough.errors.UnknownNameError,
            "no joint that constraint 'new'",
        ),
        (lambda b: b.equality("new", "left upper", None, np.nan), bough.errors.ModelError, "expected finite numbers"),
    ],
)
def test_what_is_refused(wrong: Callable[[bough.Builder], None], error: type[Exception], message: str) -> None:
    b = two_arms()
    b.equality("old", "left upper", "right upper", (0.0, 1.0))
    before = b.build()
    with pytest.raises(error, match=message):
        wrong(b)
    assert b.build() == before


def test_springs_are_kept() -> None:
    b = bough.Builder("m")
    b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0, stiffness=3.0, rest=0.5)
    b.add("b", bough.joints.Spherical(), "a", mass=1.0, inertia=1.0)
    m = b.build()
    assert m.limits("stiffness").tolist() == [3.0, 0.0, 0.0, 0.0]
    assert m.limits("rest").tolist() == [0.5, 0.0, 0.0, 0.0, 1.0]
    with pytest.raises(bough.errors.ModelError, match="joint 'c': stiffness is -1"):
        b.add("c", bough.joints.Revolute("z"), stiffness=-1.0)
    with pytest.raises(bough.errors.ModelError, match="joint 'c': rest is inf"):
        b.add("c", bough.joints.Revolute("z"), rest=np.inf)


def test_loops_are_placed_by_rpy_as_bodies_are() -> None:
    b = bough.Builder()
    for name in ("left", "right"):
        b.add(name, bough.joints.Revolute("x"), mass=1.0, inertia=0.1)
    bare, first, second = b.build(), (0.1, 0.2, 0.3), (-0.5, 0.4, 0.2)
    turns = [rotation_from_rpy(*angles) for angles in (first, second)]
    b.loop("link", bough.joints.Revolute("z"), "left", "right", at=(1, 2, 3), rpy=first, successor_rpy=second)
    by_matrix = bare.with_loop(
        "link",
        bough.joints.Revolute("z"),
        "left",
        "right",
        at=(1, 2, 3),
        rotation=turns[0],
        successor_rotation=turns[1],
    )
    assert b.build() == by_matrix
    assert (
        bare.with_loop(
            "link", bough.joints.Revolute("z"), "left", "right", at=(1, 2, 3), rpy=first, successor_rpy=second
        )
        == by_matrix
    )
    with pytest.raises(bough.errors.ModelError, match="constraint 'two': successor: give rpy or rotation, not both"):
        bare.with_loop("two", bough.joints.Fixed(), "left", "right", successor_rpy=first, successor_rotation=turns[1])
    with pytest.raises(bough.errors.ModelError, match="constraint 'two': predecessor: rpy is 'x'"):
        bare.with_loop("two", bough.joints.Fixed(), "left", "right", rpy="x")
