"""Contact points of pairs of shapes: MuJoCo's own, whatever moves or exchanges both shapes, for any kind of scalar."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from bough.algorithms.narrow_phase import (
    APART,
    ContactPoint,
    Shape,
    contact_points,
    gaps,
    is_known,
    may_touch,
    overlap_in_line,
    points_of,
)
from bough.backends.reference import ReferenceKernel
from bough.errors import ModelError
from bough.program import Program, count, trace
from bough.scalar import leaves
from bough.spatial import STAY, Matrix, Transform, Vector
from mujoco_contacts import TwoShapes, axis_turn, random_turn

CLOSE = 1e-10
"""How far contacts may be from MuJoCo's (m, and parts of unit vectors)."""

FLOOR: Shape = ("plane", (0.0, 0.0))
SPHERE: Shape = ("sphere", (0.3,))
CAPSULE: Shape = ("capsule", (0.2, 0.8))
SHORT: Shape = ("capsule", (0.15, 0.3))
ELLIPSOID: Shape = ("ellipsoid", (0.2, 0.3, 0.5))
CYLINDER: Shape = ("cylinder", (0.25, 0.6))
BOX: Shape = ("box", (0.4, 0.6, 0.9))
PAIRS = [
    *((FLOOR, shape) for shape in (SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX)),
    *((SPHERE, shape) for shape in (("sphere", (0.5,)), CAPSULE, CYLINDER, BOX)),
    (CAPSULE, SHORT),
    (CAPSULE, BOX),
    (BOX, ("box", (0.5, 0.3, 0.7))),
]
NAMES = [f"{a[0]}-{b[0]}" for a, b in PAIRS]
pairs = pytest.mark.parametrize(("first", "second"), PAIRS, ids=NAMES)


def transform(values: Sequence[Any]) -> Transform:
    """A placement from nine numbers of a rotation, row by row, and three of the origin."""
    rows = [[values[3 * i + j] for j in range(3)] for i in range(3)]
    return Transform(Matrix.of_rows(rows), Vector.of([values[k] for k in (9, 10, 11)]))


def place(R: np.ndarray, p: np.ndarray) -> Transform:
    """A placement from a rotation and an origin."""
    return transform([*R.ravel().tolist(), *p.tolist()])


def numbers(points: list[ContactPoint]) -> list[Any]:
    """Distance, point, normal and tangents of all slots, one behind the other."""
    return [leaf for p in points for leaf in leaves(p)]


@functools.cache
def program_of(first: Shape, second: Shape) -> Program:
    """The contact points of two shapes as a program."""

    def rule(X1: Any, X2: Any) -> dict[str, Any]:
        return {"points": numbers(contact_points(first, transform(X1), second, transform(X2)))}

    return trace("contact_points", rule, {"X1": 12, "X2": 12})


def run(first: Shape, second: Shape, places: np.ndarray) -> np.ndarray:
    """The slots (state, slot, 13) in many states, by the program."""
    slots = points_of(first[0], second[0])
    out = np.empty((len(places), slots * 13))
    ReferenceKernel(program_of(first, second))({"X1": places[:, :12], "X2": places[:, 12:]}, {"points": out})
    return out.reshape(-1, slots, 13)


def reach(shape: Shape) -> float:
    """The radius of a ball around a shape."""
    kind, size = shape
    if kind == "box":
        return float(np.linalg.norm(size)) / 2
    if kind == "ellipsoid":
        return float(max(size))
    return 0.0 if kind == "plane" else float(size[0]) + (float(size[1]) / 2 if len(size) > 1 else 0.0)


def placements(
    rng: np.random.Generator, first: Shape, second: Shape, count: int, turn: Callable[..., Any]
) -> list[Any]:
    """Places of both shapes, at most as far from each other as they may touch."""
    result = []
    for _ in range(count):
        R1, p1 = turn(rng), rng.uniform(-1, 1, 3)
        away = rng.standard_normal(3)
        away *= rng.uniform(0, 1.05) * (reach(first) + reach(second)) / np.linalg.norm(away)
        result.append((R1, p1, turn(rng), p1 + away))
    return result


def matched(ours: np.ndarray, theirs: np.ndarray) -> float:
    """How far two sets of contacts of one state are from each other, whatever their order.

    MuJoCo's tangents of a capsule that stands upright on a plane with an oblique normal are no axes: not compared.
    """
    if len(ours) != len(theirs):
        return np.inf
    if not len(ours):
        return 0.0
    if (np.abs(np.linalg.det(theirs[:, 4:].reshape(-1, 3, 3)) - 1.0) > CLOSE).any():
        ours, theirs = ours[:, :7], theirs[:, :7]
    off = np.abs(ours[:, None] - theirs[None]).max(-1)
    return float(max(off.min(0).max(), off.min(1).max()))


def check(first: Shape, second: Shape, margin: float, states: list[Any]) -> int:
    """Compare with MuJoCo in many states; says in how many of them there was contact."""
    theirs = TwoShapes(first, second, margin)
    found, places = zip(*(theirs(*state) for state in states), strict=True)
    ours = run(first, second, np.array(places))
    assert np.isfinite(ours).all()
    for state, expected, slots in zip(states, found, ours, strict=True):
        if (np.abs(slots[:, 0] - margin) > CLOSE).all():
            assert matched(slots[slots[:, 0] < margin], expected) < CLOSE, (state, slots, expected)
    return sum(len(rows) > 0 for rows in found)


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pairs
def test_contacts_are_mujocos(rng: np.random.Generator, first: Shape, second: Shape, margin: float) -> None:
    touched = check(first, second, margin, placements(rng, first, second, 300, random_turn))
    assert touched > 50


@pairs
def test_axes_that_are_exchanged(rng: np.random.Generator, first: Shape, second: Shape) -> None:
    """Parallel and upright shapes, whose differences and cross products vanish."""
    assert check(first, second, 0.01, placements(rng, first, second, 100, axis_turn)) > 20


def about_x(angle: float) -> np.ndarray:
    """A rotation about x."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


LEVEL, ASLANT, DOWN = np.eye(3), about_x(0.4), about_x(np.pi / 2)
SPECIAL = [
    *(("centres meet", SPHERE, other, ASLANT, LEVEL, (0.0, 0.0, 0.0)) for other in (("sphere", (0.5,)), CAPSULE)),
    ("parallel z axes, centres meet", SPHERE, ("sphere", (0.5,)), LEVEL, LEVEL, (0.0, 0.0, 0.0)),
    ("centre on the axis", SPHERE, CAPSULE, ASLANT, LEVEL, (0.0, 0.0, 0.2)),
    ("centre on the axis", SPHERE, CYLINDER, ASLANT, LEVEL, (0.0, 0.0, 0.02)),
    ("below the lid", SPHERE, CYLINDER, ASLANT, LEVEL, (0.01, 0.0, 0.2)),
    ("beside the rim", SPHERE, CYLINDER, ASLANT, LEVEL, (0.3, 0.1, 0.4)),
    ("middle of a box", SPHERE, BOX, ASLANT, LEVEL, (0.0, 0.0, 0.0)),
    ("on an edge of a box", SPHERE, BOX, ASLANT, LEVEL, (0.2, 0.45, 0.0)),
    *(("parallel", CAPSULE, SHORT, LEVEL, LEVEL, (0.3, 0.0, z)) for z in (0.0, 0.1, -0.4, 0.5499, 0.6)),
    *(("antiparallel", CAPSULE, SHORT, LEVEL, about_x(np.pi), (0.3, 0.1, z)) for z in (0.0, 0.1, -0.4, 0.6)),
    *(("nearly parallel", CAPSULE, SHORT, LEVEL, about_x(a), (0.3, 0.1, 0.4)) for a in (1e-9, 5e-5, 0.99e-4, 1.01e-4)),
    ("axes cross", CAPSULE, SHORT, LEVEL, DOWN, (0.0, 0.1, 0.2)),
    ("one axis", CAPSULE, SHORT, LEVEL, LEVEL, (0.0, 0.0, 0.7)),
    ("one place", CAPSULE, SHORT, LEVEL, LEVEL, (0.0, 0.0, 0.0)),
    *(("upright", FLOOR, shape, LEVEL, LEVEL, (0.1, 0.2, 0.25)) for shape in (CAPSULE, CYLINDER, ELLIPSOID, BOX)),
    *(("lying", FLOOR, shape, LEVEL, DOWN, (0.1, 0.2, 0.15)) for shape in (CAPSULE, CYLINDER, ELLIPSOID, BOX)),
    *(("lying on a face", CAPSULE, BOX, DOWN, LEVEL, (0.1, y, -0.64)) for y in (0.0, 0.1, 0.31, 0.5)),
    ("above an edge", CAPSULE, BOX, DOWN, LEVEL, (0.2, 0.0, 0.6)),
    ("above an edge", CAPSULE, BOX, DOWN, LEVEL, (0.2, 0.3, -0.6)),
    ("along an edge", CAPSULE, BOX, LEVEL, LEVEL, (0.3, 0.4, 0.3)),
    ("across an edge", CAPSULE, BOX, about_x(0.7), LEVEL, (0.1, -0.5, 0.5)),
    ("upright on a face", CAPSULE, BOX, LEVEL, LEVEL, (0.1, 0.1, -1.0)),
    *(("stack", BOX, BOX, LEVEL, LEVEL, shift) for shift in ((0.0, 0.0, 0.899), (0.1, 0.0, 0.899), (0.1, 0.2, 0.899))),
    ("stack of two sizes", BOX, ("box", (0.2, 0.3, 0.3)), LEVEL, LEVEL, (0.05, 0.0, 0.599)),
    ("stack of two sizes", ("box", (0.2, 0.3, 0.3)), BOX, LEVEL, LEVEL, (0.05, 0.0, 0.599)),
    ("edge on a face", BOX, BOX, LEVEL, about_x(np.pi / 4), (0.0, 0.0, 0.97)),
]


@pytest.mark.parametrize(("what", "first", "second", "R1", "R2", "away"), SPECIAL, ids=str)
def test_special_placements(what: str, first: Shape, second: Shape, R1: Any, R2: Any, away: Any) -> None:
    """Directions that vanish, shapes that are parallel, faces on faces."""
    assert check(first, second, 0.01, [(R1, np.array([0.5, 0.25, -1.0]), R2, np.array([0.5, 0.25, -1.0]) + away)]) == 1


def surface(shape: Shape, x: np.ndarray) -> float:
    """How far a point in the frame of a shape is from its surface, or another number that vanishes there."""
    kind, size = shape
    numbers = np.array(size, float)
    if kind == "plane":
        return float(x[2])
    if kind == "ellipsoid":
        return float(np.linalg.norm(x / numbers)) - 1.0
    if kind in ("sphere", "capsule"):
        half = numbers[1] / 2 if len(numbers) > 1 else 0.0
        return float(np.linalg.norm(x - [0.0, 0.0, np.clip(x[2], -half, half)]) - numbers[0])
    corner = np.abs(x) - numbers / 2 if kind == "box" else np.abs([np.hypot(x[0], x[1]), x[2]]) - [1, 0.5] * numbers
    return float(np.linalg.norm(np.maximum(corner, 0.0)) + min(corner.max(), 0.0))


@pytest.mark.parametrize(("first", "second"), PAIRS[:-1], ids=NAMES[:-1])
def test_points_are_midway_between_the_surfaces(rng: np.random.Generator, first: Shape, second: Shape) -> None:
    """Half the distance back along the normal is the first surface, half of it ahead the second.

    The lowest points of the caps of a capsule may be within its other half.
    """
    states = placements(rng, first, second, 50, random_turn)
    places = np.array([[*R1.ravel(), *p1, *R2.ravel(), *p2] for R1, p1, R2, p2 in states])
    for (R1, p1, R2, p2), slots in zip(states, run(first, second, places), strict=True):
        for distance, point, normal in ((slot[0], slot[1:4], slot[4:7]) for slot in slots if slot[0] != APART):
            here, there = point - normal * distance / 2, point + normal * distance / 2
            for shape, off in (
                (first, surface(first, R1.T @ (here - p1))),
                (second, surface(second, R2.T @ (there - p2))),
            ):
                assert off < 1e-12
                assert off > -1e-12 or shape[0] == "capsule"


@pairs
def test_numbers_are_finite(first: Shape, second: Shape) -> None:
    """In one place, along one line, and where sizes vanish."""
    spots = (np.zeros(3), np.array([0.0, 0.0, 0.5]), np.array([1e-20, 1.0, 0.0]))
    turns = (LEVEL, DOWN, about_x(np.pi), about_x(1e-12), ASLANT)
    for one, two in itertools.product(*((shape, (shape[0], (0.0,) * len(shape[1]))) for shape in (first, second))):
        for spot, turn in itertools.product(spots, turns):
            found = numbers(contact_points(one, STAY, two, place(turn, spot)))
            assert np.isfinite(found).all()
            axes = np.reshape(found, (-1, 13))[:, 4:].reshape(-1, 3, 3)
            assert np.allclose(axes @ axes.transpose(0, 2, 1), np.eye(3), rtol=0, atol=1e-12)


@pairs
def test_shapes_exchanged(rng: np.random.Generator, first: Shape, second: Shape) -> None:
    """The same points from the other side: the normal turns round."""
    for R1, p1, R2, p2 in placements(rng, first, second, 5, random_turn):
        X1, X2 = place(R1, p1), place(R2, p2)
        here, there = contact_points(first, X1, second, X2), contact_points(second, X2, first, X1)
        for a, b in zip(here, there, strict=True):
            assert a.distance == b.distance == APART or np.allclose(
                [*leaves(a)[:4], *leaves(-a.axes[0])], leaves(b)[:7], rtol=0, atol=1e-12
            )
            assert np.isclose(np.linalg.det(np.reshape(leaves(b)[4:], (3, 3))), 1.0, rtol=0, atol=1e-12)


@pairs
def test_both_shapes_moved(rng: np.random.Generator, first: Shape, second: Shape) -> None:
    """Points and normals move with the shapes, distances stay."""
    for R1, p1, R2, p2 in placements(rng, first, second, 5, random_turn):
        R, p = random_turn(rng), rng.uniform(-1, 1, 3)
        here = np.reshape(numbers(contact_points(first, place(R1, p1), second, place(R2, p2))), (-1, 13))
        moved = contact_points(first, place(R @ R1, R @ p1 + p), second, place(R @ R2, R @ p2 + p))
        for a, b in zip(here, np.reshape(numbers(moved), (-1, 13)), strict=True):
            expected = [a[0], *(R @ a[1:4] + p), *(R @ a[4:7])]
            assert a[0] == b[0] == APART or np.allclose(expected, b[:7], rtol=0, atol=1e-12)


@pairs
def test_programs_and_floats_agree(rng: np.random.Generator, first: Shape, second: Shape) -> None:
    states = placements(rng, first, second, 10, random_turn)
    places = np.array([[*R1.ravel(), *p1, *R2.ravel(), *p2] for R1, p1, R2, p2 in states])
    plain = [contact_points(first, place(R1, p1), second, place(R2, p2)) for R1, p1, R2, p2 in states]
    assert np.allclose(run(first, second, places), np.reshape([numbers(p) for p in plain], (10, -1, 13)), atol=1e-14)


@pairs
def test_shapes_that_may_not_touch_do_not(rng: np.random.Generator, first: Shape, second: Shape) -> None:
    """But for boxes side by side, whose distances are those along one direction."""
    far = 0
    for R1, p1, R2, p2 in placements(rng, first, second, 30, random_turn):
        X1, X2 = place(R1, p1), place(R2, p1 + 3.0 * (p2 - p1))
        near = min(p.distance for p in contact_points(first, X1, second, X2))
        if near < 0.0 or first[0] != "box":
            assert may_touch(first, X1, second, X2, near + 1e-12)
            assert may_touch(second, X2, first, X1, near + 1e-12)
        far += not may_touch(first, X1, second, X2)
    assert far > 2


@pytest.mark.parametrize(("first", "second"), [(SPHERE, CAPSULE), (CAPSULE, SPHERE), (CAPSULE, SHORT)])
def test_capsules_that_do_not_overlap_in_line_do_not_touch(
    rng: np.random.Generator, first: Shape, second: Shape
) -> None:
    """And of those whose balls overlap, most that do not touch are told so."""
    told = apart = 0
    for R1, p1, R2, p2 in placements(rng, first, second, 200, random_turn):
        X1, X2 = place(R1, p1), place(R2, p1 + 2.0 * (p2 - p1))
        near = min(p.distance for p in contact_points(first, X1, second, X2))
        assert overlap_in_line(first, X1, second, X2, near + 1e-12)
        if near > 0.01 and may_touch(first, X1, second, X2, 0.01):
            apart, told = apart + 1, told + (not overlap_in_line(first, X1, second, X2, 0.01))
    assert told > apart / 2 > 5


def test_a_pair_without_a_rule_is_named() -> None:
    assert not is_known("plane", "plane")
    with pytest.raises(ModelError, match="of a plane and a plane; there are rules for plane-sphere, "):
        points_of("plane", "plane")


def test_a_level_floor_costs_nothing() -> None:
    """What is constant folds away: no axes, no projections."""

    def rule(X: Any) -> dict[str, Any]:
        return {"points": numbers(contact_points(FLOOR, STAY, SPHERE, transform(X)))}

    assert count(trace("floor", rule, {"X": 12})).total <= 4


@pytest.mark.parametrize(
    "kinds", [("sphere", "capsule"), ("capsule", "sphere"), ("capsule", "capsule"), ("sphere", "box")]
)
def test_gaps_are_the_distances_of_contact_points(kinds: tuple[str, str], rng: np.random.Generator) -> None:
    sizes = {"sphere": (0.1,), "capsule": (0.05, 0.4), "box": (0.2, 0.1, 0.3)}
    first, second = ((kind, sizes[kind]) for kind in kinds)
    for k in range(20):
        R1, R2 = (np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2))
        X1, X2 = place(R1, rng.normal(size=3)), place(R1 if k % 2 else R2, rng.normal(size=3))
        found, points = gaps(first, X1, second, X2), contact_points(first, X1, second, X2)
        assert len(found) == len(points)
        for gap, p in zip(found, points, strict=True):
            assert gap.may == (p.distance < APART)
            assert not gap.may or gap.distance() == pytest.approx(p.distance, abs=1e-12)
