"""What may act on a mechanism under the law of soft contact, as numbers: candidates, limits, dry friction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from bough.algorithms.narrow_phase import GROUNDS, Corners, Heights, Vertices, points_of
from bough.algorithms.soft.law import LEAST_FRICTION, FrictionLaw, Softness, TouchLaw, within
from bough.scalar import Array, Index, Scalar, Table, dot, gather_index
from bough.spatial import Quaternion

__all__ = [
    "IMPLICIT",
    "Candidate",
    "Drive",
    "EqualityRows",
    "FrictionRow",
    "Layout",
    "LimitRow",
    "LoopJointRow",
    "Servo",
    "ShapeGroup",
    "Side",
    "SoftScene",
    "StepIntegrator",
    "TouchGroup",
    "layout_of",
]

StepIntegrator: TypeAlias = Literal["euler", "implicitfast", "rk4", "variational"]
"""How a step of time is made."""

IMPLICIT = "euler", "implicitfast"
"""Those that are implicit in what damps: in joints and targets, and with "implicitfast" in actuators, too."""

ROUND = "plane", "sphere", "capsule"
"""Shapes that look the same from all sides of their z axis."""

BLOCK = 16
"""Contacts that are skipped together where none of them touches."""


@dataclass(frozen=True)
class Side:
    """One of two shapes that may touch: its kind and sizes, the body that carries it, and where in its inside frame.

    A placement is nine numbers of a rotation, row by row, and an origin (m). Instead of sizes hulls
    have corners, and height fields heights.
    """

    body: int
    kind: str
    size: tuple[float, ...]
    rotation: tuple[float, ...]
    origin: tuple[float, float, float]
    corners: Corners | None = None
    heights: Heights | None = None

    @property
    def radius(self) -> float:
        """Of a sphere about its origin that holds it (m)."""
        s = self.size
        if self.corners is not None:
            return self.corners.radius
        if self.kind == "box":
            return 0.5 * float(np.linalg.norm(s))
        if self.kind == "cylinder":
            return float(np.hypot(s[0], 0.5 * s[1]))
        if self.kind == "capsule":
            return s[0] + 0.5 * s[1]
        return float("inf") if self.kind in GROUNDS else max(s)


@dataclass(frozen=True)
class Candidate:
    """Two shapes that touch where their distance is less than `margin` (m), with so many rows.

    `friction` has five coefficients: along two tangents, and lengths (m) for torsion and rolling. `weight` is the sum
    of the inverse masses (1/kg) of the two bodies, `apart` the distance (m) of the two centres where masses are taken.
    """

    sides: tuple[Side, Side]
    rows: int
    friction: tuple[float, ...]
    softness: Softness
    margin: float
    weight: float
    apart: float = 0.0

    @property
    def between(self) -> bool:
        """Whether both bodies move."""
        return all(side.body for side in self.sides)


@dataclass(frozen=True)
class LimitRow:
    """A side of the limits of a coordinate: sign × (q - bound) must not be negative.

    `turned`: its rate is no velocity itself, but one along an axis that does not turn with the body.
    """

    q: int
    v: int
    sign: float
    bound: float
    margin: float
    softness: Softness
    weight: float
    turned: bool = False


@dataclass(frozen=True)
class FrictionRow:
    """Dry friction along a velocity, up to a force (N or N m)."""

    v: int
    most: float
    softness: Softness
    weight: float


@dataclass(frozen=True)
class EqualityRows:
    """The rows of a loop, of a law between coordinates or of a tie: how softly, and inverse masses along each.

    Errors are measured in units of which `scales` says how many make a metre or a radian: half angles in MuJoCo.
    """

    softness: Softness
    weights: tuple[float, ...]
    scales: tuple[float, ...]
    has_bias: bool


@dataclass(frozen=True)
class LoopJointRow:
    """Dry friction of a joint that closes a loop, up to a force (N or N m), or a side of its limits.

    `row` is its velocity among those of all such joints; of a limit, its row among those of `limit_rows`, and `limit`
    has the place of the coordinate among those of all such joints, the sign, the bound and the margin.
    """

    row: int
    softness: Softness
    weight: float
    most: float | None = None
    limit: tuple[int, float, float, float] | None = None


@dataclass(frozen=True)
class Drive:
    """An actuator: clamped control to force, gain × control + bias₀ + bias₁ x + bias₂ ẋ, clamped and geared.

    `gears` has the velocities it acts on and the gear of each, `coordinates` the coordinates whose sum, geared, is x.
    Of a ball it is that of the rotation vector, and `quaternion` is where its coordinates begin.
    """

    gears: tuple[tuple[int, float], ...]
    coordinates: tuple[tuple[int, float], ...]
    gain: float
    bias: tuple[float, float, float]
    control: tuple[float, float]
    range: tuple[float, float]
    quaternion: int | None = None

    def force(self, control: Scalar, q: Array, v: Array) -> Scalar:
        """The force before it is clamped and geared."""
        total = within(control, self.control) * self.gain + self.bias[0]
        for place, gear in self.coordinates if self.bias[1] else ():
            total = total + q[place] * (gear * self.bias[1])
        if self.quaternion is not None and self.bias[1]:
            turn = Quaternion.of([q[self.quaternion + k] for k in range(4)]).log.parts
            total = total + dot(turn, [gear * self.bias[1] for _, gear in self.gears])
        for place, gear in self.gears if self.bias[2] else ():
            total = total + v[place] * (gear * self.bias[2])
        return total


@dataclass(frozen=True)
class Servo:
    """A coordinate that can be drawn to a target, with a force of at most `effort`.

    `plain`: its rate is the velocity itself, not turned with the body.
    """

    q: int
    v: int
    effort: float
    plain: bool


@dataclass(frozen=True)
class SoftScene:
    """All that may act on a mechanism beside joint forces, and how accelerations are found."""

    candidates: tuple[Candidate, ...] = ()
    limits: tuple[LimitRow, ...] = ()
    frictions: tuple[FrictionRow, ...] = ()
    equalities: tuple[EqualityRows, ...] = ()
    loop_joints: tuple[LoopJointRow, ...] = ()
    drives: tuple[Drive, ...] = ()
    bounds: tuple[tuple[int, tuple[float, float]], ...] = ()
    """Velocities along which actuators together do no less and no more than this."""
    servos: tuple[Servo, ...] = ()
    friction: FrictionLaw = FrictionLaw()  # noqa: RUF009 (immutable)
    scale: float = 1.0
    tolerance: float = 1e-8
    iterations: int = 100
    integrator: StepIntegrator = "euler"
    damped: bool = False
    """Whether some joint has damping that steps are implicit in."""


@dataclass(frozen=True)
class TouchGroup:
    """Contacts, one after the other, that run the same code: by their number of rows, and with the world or not."""

    law: TouchLaw
    between: bool
    number: int
    count: int
    bodies: tuple[Table, Table]
    mu: Table  # one for each row but the first of each contact
    block: Table  # of each contact

    @property
    def blocks(self) -> int:
        """How many blocks it has, the last of which may not be full."""
        return -(-self.count // BLOCK)


@dataclass(frozen=True)
class HullTable:
    """The hulls of one side of candidates: all corners in one table, each hull once, and where those of each are."""

    corners: Table
    starts: Table
    counts: Table

    def of(self, k: Index) -> Vertices:
        """The corners of candidate k."""
        return Vertices(self.corners, gather_index(self.starts, k), gather_index(self.counts, k))


@dataclass(frozen=True)
class ShapeGroup:
    """Candidates whose contact points are found by the same code, and their numbers in tables.

    Where all of them touch one and the same shape of the world, that is the `floor`. A height field is one for all.
    """

    kinds: tuple[str, str]
    softness: Softness
    floor: Side | None
    touch: TouchGroup
    count: int
    contacts: Table  # the first contact of each in its group
    bodies: tuple[Table, Table]
    shapes: tuple[Table, Table]  # where their places begin
    sizes: tuple[Table, Table]
    hulls: tuple[HullTable | None, HullTable | None]
    heights: tuple[Heights | None, Heights | None]
    reach: Table  # centres further apart than this, or further from the floor, do not touch
    margin: Table
    base: Table
    nearest: tuple[int, ...]  # those whose shapes are nearest to each other first


@dataclass(frozen=True)
class Layout:
    """The contacts of a scene: groups of them, groups of candidates, and the shapes that move."""

    touches: tuple[TouchGroup, ...]
    candidates: tuple[ShapeGroup, ...]
    shapes: tuple[Side, ...]
    place_size: int  # numbers that say where a shape is: all of a rotation, or only its z axis
    touched: frozenset[int]  # bodies that may touch the world
    pushed: frozenset[int]  # bodies that may touch anything
    members: tuple[tuple[int, ...], ...]  # the candidate of each contact of each group

    @property
    def order(self) -> list[int]:
        """The candidate of each contact, group by group."""
        return [k for members in self.members for k in members]

    @property
    def between(self) -> bool:
        """Whether bodies may touch each other."""
        return any(group.between for group in self.touches)


@lru_cache(maxsize=64)
def layout_of(scene: SoftScene) -> Layout:
    """The contacts of a scene in order."""
    places: dict[int, int] = {}  # the first contact of a candidate in its group
    groups: dict[tuple[bool, int], list[int]] = {}  # with the candidate of each contact
    alike: dict[object, list[int]] = {}
    shapes: dict[Side, int] = {}
    place_size = 6 if all(side.kind in ROUND for c in scene.candidates for side in c.sides) else 12
    for k, c in enumerate(scene.candidates):
        group = groups.setdefault((c.between, c.rows), [])
        places[k] = len(group)
        group += [k] * points_of(c.sides[0].kind, c.sides[1].kind)
        floor = c.sides[0] if not c.between else None
        kinds = tuple((side.kind, side.heights) for side in c.sides)
        alike.setdefault((kinds, c.softness, c.rows, floor), []).append(k)
        for side in c.sides:
            if side.body:
                shapes.setdefault(side, len(shapes) * place_size)
    touches = {
        key: _touch_group(scene, n, key, [scene.candidates[k] for k in members])
        for n, (key, members) in enumerate(groups.items())
    }
    candidates = tuple(_shape_group(scene, members, places, touches, shapes) for members in alike.values())
    bodies = [{side.body for side in c.sides} for c in scene.candidates]
    touched = frozenset(max(pair) for pair in bodies if 0 in pair)
    pushed = frozenset(b for pair in bodies for b in pair if b)
    members = tuple(map(tuple, groups.values()))
    return Layout(tuple(touches.values()), candidates, tuple(shapes), place_size, touched, pushed, members)


def _touch_group(scene: SoftScene, number: int, key: tuple[bool, int], members: Sequence[Candidate]) -> TouchGroup:
    between, rows = key
    bodies = _two(_integers([c.sides[i].body for c in members]) for i in (0, 1))
    mu = _numbers([x for c in members for x in _coefficients(c)[: rows - 1]])
    block = _integers([k // BLOCK for k in range(len(members))])
    return TouchGroup(TouchLaw(rows, scene.friction), between, number, len(members), bodies, mu, block)


def _coefficients(c: Candidate) -> tuple[float, ...]:
    return tuple(max(x, LEAST_FRICTION) for x in c.friction)


def _shape_group(
    scene: SoftScene,
    members: Sequence[int],
    places: Mapping[int, int],
    touches: Mapping[tuple[bool, int], TouchGroup],
    shapes: Mapping[Side, int],
) -> ShapeGroup:
    candidates = [scene.candidates[k] for k in members]
    one = candidates[0]
    touch = touches[one.between, one.rows]
    first, second = one.sides
    sides = [[c.sides[i] for c in candidates] for i in (0, 1)]
    reach = [c.margin + sum(s.radius for s in c.sides if s.kind not in GROUNDS) for c in candidates]
    return ShapeGroup(
        (first.kind, second.kind), one.softness, None if one.between else first, touch, len(members),
        _integers([places[k] for k in members]),
        _two(_integers([side.body for side in column]) for column in sides),
        _two(_integers([shapes.get(side, 0) for side in column]) for column in sides),
        _two(_numbers([x for side in column for x in side.size]) for column in sides),
        (_hull_table(sides[0]), _hull_table(sides[1])), (first.heights, second.heights),
        _numbers(reach),
        _numbers([c.margin for c in candidates]),
        _numbers([touch.law.base(_coefficients(c), c.weight) for c in candidates]),
        tuple(sorted(range(len(members)), key=lambda k: candidates[k].apart - reach[k])),
    )  # fmt: skip


def _hull_table(sides: Sequence[Side]) -> HullTable | None:
    hulls = [side.corners for side in sides if side.corners is not None]
    if not hulls:
        return None
    starts: dict[Corners, int] = {}
    total = 0
    for hull in hulls:
        if hull not in starts:
            starts[hull], total = total, total + len(hull.points)
    points = np.concatenate([hull.points.ravel() for hull in starts])
    counts = _integers([len(hull.points) for hull in hulls])
    return HullTable(Table("corners", points), _integers([starts[hull] for hull in hulls]), counts)


def _two(tables: Iterable[Table]) -> tuple[Table, Table]:
    one, other = tables
    return one, other


def _integers(values: Sequence[int]) -> Table:
    return Table("places", np.array(values, np.int64))


def _numbers(values: Sequence[float]) -> Table:
    return Table("numbers", np.array(values, np.float64))
