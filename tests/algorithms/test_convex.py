"""Contact points of convex shapes: distances that prove themselves, closed forms, other engines, and faces that lie."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

from bough.algorithms.narrow_phase import Corners, Shape, contact_points, iterates, may_touch, points_of
from bough.program import trace
from bough.scalar import leaves
from bough.spatial import Matrix, Transform, Vector
from compiled import Compiled
from mujoco_contacts import axis_turn, random_turn, turned

ROUND = np.random.default_rng(7).standard_normal((20, 3))
ROUND *= [0.3, 0.2, 0.4] / np.linalg.norm(ROUND, axis=1)[:, None]
STONE: Shape = ("mesh", Corners.of(ROUND).vertices)
SPHERE: Shape = ("sphere", (0.3,))
CAPSULE: Shape = ("capsule", (0.2, 0.8))
ELLIPSOID: Shape = ("ellipsoid", (0.2, 0.3, 0.5))
CYLINDER: Shape = ("cylinder", (0.25, 0.6))
BOX: Shape = ("box", (0.4, 0.6, 0.9))
SHAPES = [SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, STONE]
PAIRS = [(a, b) for a, b in itertools.combinations_with_replacement(SHAPES, 2) if iterates(a[0], b[0])]
NAMES = [f"{a[0]}-{b[0]}" for a, b in PAIRS]
pairs = pytest.mark.parametrize(("first", "second"), PAIRS, ids=NAMES)


def cube(*sides: float) -> Shape:
    """A box as a hull."""
    return "mesh", Corners.of(list(itertools.product(*((-x / 2, x / 2) for x in sides)))).vertices


def transform(x: Any) -> Transform:
    rows = [[x[3 * i + j] for j in range(3)] for i in range(3)]
    return Transform(Matrix.of_rows(rows), Vector.of([x[k] for k in (9, 10, 11)]))


@functools.cache
def kernel(first: Shape, second: Shape) -> Compiled:
    def rule(X1: Any, X2: Any) -> dict[str, Any]:
        points = contact_points(first, transform(X1), second, transform(X2))
        return {"points": [leaf for p in points for leaf in leaves(p)]}

    return Compiled(trace("convex", rule, {"X1": 12, "X2": 12}))


def run(first: Shape, second: Shape, states: list[Any]) -> np.ndarray:
    """The slots (state, slot, 13) by the program."""
    places = np.array([[*R1.ravel(), *p1, *R2.ravel(), *p2] for R1, p1, R2, p2 in states])
    out = np.empty((len(places), points_of(first[0], second[0]) * 13))
    kernel(first, second)({"X1": places[:, :12], "X2": places[:, 12:]}, {"points": out})
    assert np.isfinite(out).all()
    return out.reshape(len(places), -1, 13)


def reach(shape: Shape, n: np.ndarray) -> np.ndarray:
    """How far a shape reaches along unit vectors (..., 3) in its frame."""
    kind, size = shape
    if kind == "mesh":
        return np.asarray((n @ size.table.data.reshape(-1, 3).T).max(-1))  # type: ignore[union-attr]
    s = np.array(size, float)
    across, up = np.hypot(n[..., 0], n[..., 1]), np.abs(n[..., 2])
    if kind == "box":
        return np.asarray(np.abs(n) @ s / 2)
    if kind == "ellipsoid":
        return np.asarray(np.linalg.norm(n * s, axis=-1))
    return np.asarray(
        s[0] * across + s[1] / 2 * up if kind == "cylinder" else s[0] + (s[1] / 2 * up if len(s) > 1 else 0.0)
    )


def gap(state: Any, first: Shape, second: Shape, n: np.ndarray) -> np.ndarray:
    """How far along unit vectors (..., 3) the second shape begins behind the end of the first."""
    R1, p1, R2, p2 = state
    return np.asarray(n @ (p2 - p1) - reach(first, n @ R1) - reach(second, -n @ R2))


def placements(rng: np.random.Generator, first: Shape, second: Shape, count: int, turn: Any) -> list[Any]:
    """Places of shapes that are up to some 3 cm apart, or overlap by as much."""
    result: list[Any] = []
    directions = rng.standard_normal((2000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for _ in range(count):
        R1, R2, p1, away = turn(rng), turn(rng), rng.uniform(-1, 1, 3), rng.standard_normal(3)
        state = R1, p1, R2, p1 + away / np.linalg.norm(away)
        gaps = gap(state, first, second, directions)
        shift = directions[gaps.argmax()] * (gaps.max() - rng.uniform(-0.025, 0.03))
        result.append((R1, p1, R2, state[3] - shift))
    return result


@pairs
def test_distances_prove_themselves_and_are_coals(rng: np.random.Generator, first: Shape, second: Shape) -> None:
    """The gap along the normal is the distance, so it is no larger; two points of the shapes have it, so no smaller."""
    coal = pytest.importorskip("coal")
    request = coal.DistanceRequest()
    request.enable_signed_distance, request.gjk_tolerance, request.epa_tolerance = True, 1e-9, 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    states = placements(rng, first, second, 40, random_turn)
    shapes = [coal_shape(coal, shape) for shape in (first, second)]
    overlaps = seen = 0
    for state, slots in zip(states, run(first, second, states), strict=True):
        nearest = slots[np.argmin(slots[:, 0])]
        distance, point, n = nearest[0], nearest[1:4], nearest[4:7]
        assert -1e-10 < distance - gap(state, first, second, n) < 5e-8
        R1, p1, R2, p2 = state
        for shape, R, p, side in ((first, R1, p1, -0.5), (second, R2, p2, 0.5)):
            x = R.T @ (point + side * distance * n - p)
            assert excess(shape, x) < 5e-5  # lines have a width of 1e-4 of their length
        nearby = n + 1e-3 * rng.standard_normal((200, 3))
        nearby /= np.linalg.norm(nearby, axis=1)[:, None]
        assert gap(state, first, second, nearby).max() < distance + 1e-7
        overlaps += distance < 0
        places = coal.Transform3s(R1, p1), coal.Transform3s(R2, p2)
        theirs = coal.distance(shapes[0], places[0], shapes[1], places[1], request, coal.DistanceResult())
        if -1.0 < theirs < 1.0:  # it gives up on some that overlap
            seen += 1
            assert abs(distance - theirs) < 1e-6
    assert seen > 30
    assert 5 < overlaps < 38


def spread(count: int) -> np.ndarray:
    """Unit vectors all over a sphere, spaced evenly."""
    k = np.arange(count) + 0.5
    z, turn = 1.0 - 2.0 * k / count, np.pi * (1.0 + np.sqrt(5.0)) * k
    return np.stack([np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z], axis=-1)


@pytest.mark.parametrize(
    ("first", "second"),
    [(CAPSULE, CYLINDER), (CAPSULE, ELLIPSOID), (ELLIPSOID, CYLINDER), (ELLIPSOID, BOX)],
    ids=["capsule-cylinder", "capsule-ellipsoid", "ellipsoid-cylinder", "ellipsoid-box"],
)
def test_round_shapes_deep_in_each_other_are_told_the_least_depth(
    rng: np.random.Generator, first: Shape, second: Shape
) -> None:
    """No direction on a sphere leads out sooner than the one that is found, but for few that are nearly as good."""
    directions = spread(4000)
    states: list[Any] = []
    for _ in range(200):
        away = rng.standard_normal(3)
        states.append((random_turn(rng), np.zeros(3), random_turn(rng), rng.uniform(0, 0.25) * away))
    largest = np.array([gap(state, first, second, directions).max() for state in states])
    found = run(first, second, states)[:, :, 0].min(axis=1)
    assert (largest < -0.1).sum() > 50
    wrong = largest - found > 1e-12
    assert wrong.sum() <= 1
    assert (found / largest)[wrong].max(initial=1.0) < 1.05


def test_a_capsule_within_a_cylinder_is_told_the_least_depth() -> None:
    """As MuJoCo 3 tells it; the axis with the largest gap leads to 0.1461."""
    turns = [(-0.476, 0.759, 0.3673, -0.25), (-0.0032, -0.8584, -0.0421, -0.5112)]
    R1, R2 = map(turned, turns)
    state = R1, np.zeros(3), R2, np.array([-0.0531, 0.0091, -0.022])
    found = run(("capsule", (0.06, 0.2)), ("cylinder", (0.07, 0.16)), [state])
    assert found[0, :, 0].min() == pytest.approx(-0.1110, abs=1e-4)


def excess(shape: Shape, x: np.ndarray) -> float:
    """How far outside of a shape a point is, at least: beyond a plane that touches it."""
    directions = np.random.default_rng(0).standard_normal((3000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return float((directions @ x - reach(shape, directions)).max())


def coal_shape(coal: Any, given: Shape) -> Any:
    kind, size = given
    if kind == "mesh":
        points = coal.StdVec_Vec3s()
        points.extend(list(size.table.data.reshape(-1, 3)))  # type: ignore[union-attr]
        return coal.Convex.convexHull(points, True, "")
    names = {"sphere": "Sphere", "capsule": "Capsule", "ellipsoid": "Ellipsoid", "cylinder": "Cylinder", "box": "Box"}
    return getattr(coal, names[kind])(*size)


def spheres(shape: Shape) -> Shape:
    """A sphere as an ellipsoid."""
    return "ellipsoid", (shape[1][0],) * 3  # type: ignore[index]


@pytest.mark.parametrize(
    ("first", "second", "simple"),
    [
        (spheres(SPHERE), BOX, (SPHERE, BOX)),
        (spheres(SPHERE), CYLINDER, (SPHERE, CYLINDER)),
        (SPHERE, cube(0.4, 0.6, 0.9), (SPHERE, BOX)),
        (CAPSULE, spheres(SPHERE), (CAPSULE, SPHERE)),
        (spheres(SPHERE), spheres(SPHERE), (SPHERE, SPHERE)),
        (BOX, cube(0.5, 0.3, 0.7), (BOX, ("box", (0.5, 0.3, 0.7)))),
    ],
    ids=lambda x: x[0] if isinstance(x[0], str) else "",
)
def test_shapes_that_have_a_formula(rng: np.random.Generator, first: Shape, second: Shape, simple: Any) -> None:
    """The same distance and normal as by the formula; of boxes that overlap (there it is no formula for others)."""
    states = placements(rng, first, second, 30, random_turn)
    for (R1, p1, R2, p2), slots in zip(states, run(first, second, states), strict=True):
        X1, X2 = (transform([*R.ravel(), *p]) for R, p in ((R1, p1), (R2, p2)))
        known = min(contact_points(simple[0], X1, simple[1], X2), key=lambda p: p.distance)
        ours = slots[np.argmin(slots[:, 0])]
        if known.distance < 0.0 or simple[0][0] != "box":
            assert abs(known.distance - ours[0]) < 1e-8
            np.testing.assert_allclose(ours[4:7], leaves(known.axes[0]), atol=1e-4)


LEVEL, DOWN = np.eye(3), np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
TABLE: Shape = ("box", (2.0, 2.0, 0.2))
DRUM: Shape = ("cylinder", (1.0, 0.2))


@pytest.mark.parametrize("table", [TABLE, DRUM, cube(2.0, 2.0, 0.2)], ids=lambda x: x[0])
@pytest.mark.parametrize(
    ("shape", "turn", "height", "points", "spread"),
    [
        (CYLINDER, LEVEL, 0.3, 4, (0.5, 0.5)),
        (CYLINDER, DOWN, 0.25, 2, (0.0, 0.6)),
        (CAPSULE, DOWN, 0.2, 2, (0.0, 0.8)),
        (cube(0.2, 0.3, 0.4), LEVEL, 0.2, 4, (0.2, 0.3)),
        (ELLIPSOID, LEVEL, 0.5, 1, (0.0, 0.0)),
    ],
    ids=["standing can", "lying can", "capsule", "block", "egg"],
)
def test_what_lies_on_a_table(
    table: Shape, shape: Shape, turn: Any, height: float, points: int, spread: Any, rng: np.random.Generator
) -> None:
    """As many points as hold it, in one plane, as far from each other as it reaches; rounding changes nothing."""
    places = rng.uniform(-0.2, 0.2, 2)
    for shake in (0.0, 1e-13):
        tilt = turn + shake * np.cross(turn, rng.standard_normal(3))
        X = transform([*tilt.ravel(), *places, 0.1 + height - 1e-3])
        slots = contact_points(table, transform([*LEVEL.ravel(), 0.0, 0.0, 0.0]), shape, X)
        if table[0] == "mesh" and shape[0] == "capsule":
            slots = contact_points(shape, X, table, transform([*LEVEL.ravel(), 0.0, 0.0, 0.0]))
        there = [p for p in slots if p.distance < 0.0]
        assert len(there) == points
        np.testing.assert_allclose([p.distance for p in there], -1e-3, atol=1e-9)
        np.testing.assert_allclose([abs(p.axes[0].z) for p in there], 1.0, atol=1e-12)
        where = np.array([leaves(p.point) for p in there])
        np.testing.assert_allclose(np.ptp(where, axis=0), [*spread, 0.0], atol=1e-6)
        np.testing.assert_allclose(where.mean(axis=0), [*places, 0.0995], atol=1e-5)


def test_a_table_that_is_stood_beyond() -> None:
    """Points are within both: of a can that stands half over the edge, those on the table."""
    slots = contact_points(
        TABLE, transform([*LEVEL.ravel(), 0.0, 0.0, 0.0]), CYLINDER, transform([*LEVEL.ravel(), 0.95, 0.0, 0.399])
    )
    where = np.array([leaves(p.point) for p in slots if p.distance < 0.0])
    expected = [(0.7, 0.0), (0.95, -0.25), (0.95, 0.25), (1.0, -0.2), (1.0, 0.2)]
    np.testing.assert_allclose(sorted(map(tuple, where[:, :2].round(6))), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("first", "second"), [(CAPSULE, CYLINDER), (CYLINDER, STONE), (BOX, STONE)], ids=lambda x: x[0]
)
def test_shapes_exchanged(rng: np.random.Generator, first: Shape, second: Shape) -> None:
    """From the other side the normal turns round."""
    for R1, p1, R2, p2 in placements(rng, first, second, 2, random_turn):
        X1, X2 = (transform([*R.ravel(), *p]) for R, p in ((R1, p1), (R2, p2)))
        here, there = (
            min(points, key=lambda p: p.distance)
            for points in (contact_points(first, X1, second, X2), contact_points(second, X2, first, X1))
        )
        assert abs(here.distance - there.distance) < 1e-7
        np.testing.assert_allclose(leaves(here.axes[0]), leaves(-there.axes[0]), atol=1e-4)
        assert may_touch(first, X1, second, X2, here.distance + 1e-9)


@pytest.mark.parametrize(
    ("first", "second"), [(CAPSULE, CYLINDER), (SPHERE, ELLIPSOID), (CYLINDER, BOX), (STONE, STONE)], ids=lambda x: x[0]
)
def test_numbers_are_finite(first: Shape, second: Shape, rng: np.random.Generator) -> None:
    """In one place, along one line, and where axes are parallel."""
    spots = (np.zeros(3), np.array([0.0, 0.0, 0.5]), np.array([1e-20, 1.0, 0.0]))
    states = [(LEVEL, np.zeros(3), turn, spot) for spot in spots for turn in (LEVEL, DOWN, axis_turn(rng))]
    axes = run(first, second, states)[..., 4:].reshape(-1, 3, 3)
    np.testing.assert_allclose(axes @ axes.transpose(0, 2, 1), np.broadcast_to(np.eye(3), axes.shape), atol=1e-12)
