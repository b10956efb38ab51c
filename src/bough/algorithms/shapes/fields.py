"""Height fields: heights over a rectangle, two triangles between each four of them, and what stands on them.

Points of a shape are measured against the triangle beneath each. Of round shapes these are the points that lie furthest
against the normals of the triangles beneath several places of them, so that a ball in a groove touches both sides;
balls, and the ends and middles of capsules, touch edges of triangles too. Of others they are the corners that lie
lowest, and the middle between them where the ground bulges there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.shapes.hulls import spread_corners
from bough.algorithms.shapes.limits import MERGED
from bough.algorithms.shapes.planes import plane_box, plane_cylinder
from bough.algorithms.shapes.point import APART, ContactPoint, Solid, axes_along, axes_of, choose
from bough.algorithms.shapes.support import Convex
from bough.scalar import Bool, Scalar, Table, both, either, lookup, maximum, minimum, negation, select, sqrt
from bough.spatial import Matrix, Transform, Vector

__all__ = ["FIELD_RULES", "Heights"]

SAME = 1e-4
"""Triangles are as good as one plane if their normals differ by less (rad), and distances by less of a shape's size."""

BESIDE = 0.5
"""How far from its middle the triangles beneath a round shape are looked at, as a part of its radius."""

SUNK = 1.2
"""A point touches while it is less deep than so many times its distance from the middle of its shape."""


@dataclass(frozen=True)
class Heights:
    """Heights (rows along y, columns along x) in metres over a rectangle about the origin, known by their digest."""

    digest: str
    size: tuple[float, float]
    values: NDArray[np.float64] = field(compare=False, repr=False)

    @classmethod
    def of(cls, values: Any, size: Sequence[float]) -> Heights:
        """From an array (rows, columns) and the lengths of the rectangle along x and y (m)."""
        made = np.array(values, np.float64)
        made.setflags(write=False)
        text = repr(made.shape).encode() + made.tobytes()
        return cls(hashlib.sha256(text).hexdigest()[:32], (float(size[0]), float(size[1])), made)

    @property
    def top(self) -> float:
        """The largest height (m)."""
        return float(self.values.max())

    @property
    def table(self) -> Table:
        """All heights, row after row."""
        return Table("heights", self.values.ravel())


@dataclass(frozen=True, slots=True)
class _Cell:
    """Four heights, at the corners (0, 0), (1, 0), (0, 1) and (1, 1), and the place of a point between them.

    `local` is the point in the frame of the field, `number` tells the columns and rows before the cell.
    """

    local: Vector
    number: tuple[Scalar, Scalar]
    part: tuple[Scalar, Scalar]
    heights: tuple[Scalar, Scalar, Scalar, Scalar]
    inside: Bool


@dataclass(frozen=True, slots=True)
class _Facet:
    """The triangle beneath a point, in the common frame: the point of it there, and its normal."""

    place: Vector
    n: Vector
    inside: Bool


@dataclass(frozen=True, slots=True)
class _Measured:
    """A point of a shape above a triangle, or beneath it, and whether it counts."""

    gap: Scalar
    point: Vector
    n: Vector
    counts: Bool


class _Ground:
    """A height field that stands somewhere."""

    def __init__(self, solid: Solid) -> None:
        self._X, self._field = solid.X, solid.field
        self._table = self._field.table
        rows, columns = self._field.values.shape
        self._numbers = [Table("cells", np.arange(n - 1.0)) for n in (columns, rows)]
        self._per_metre = [(n - 1) / length for n, length in zip((columns, rows), self._field.size, strict=True)]

    @property
    def axes(self) -> tuple[Vector, ...]:
        """Its x, y and z axes in the common frame."""
        return tuple(self._X.rotation.columns)

    def cell(self, p: Vector) -> _Cell:
        """The cell beneath a point, or above it; beside the field, the nearest."""
        local = self._X.rotation.transposed_times(p - self._X.translation)
        cells, parts, inside = [], [], True  # type: list[Scalar], list[Scalar], Bool
        for x, length, scale, numbers in zip(
            local.parts[:2], self._field.size, self._per_metre, self._numbers, strict=True
        ):
            place = (x + 0.5 * length) * scale
            cells.append(lookup(numbers, place))
            parts.append(place - cells[-1])
            inside = both(inside, both(x >= -0.5 * length, x <= 0.5 * length))
        columns = self._field.values.shape[1]
        first = cells[1] * float(columns) + cells[0]
        h = [lookup(self._table, first + place) for place in (0.0, 1.0, float(columns), columns + 1.0)]
        return _Cell(local, (cells[0], cells[1]), (parts[0], parts[1]), (h[0], h[1], h[2], h[3]), inside)

    def beneath(self, p: Vector) -> _Facet:
        """The triangle beneath a point, or above it; beside the field, the plane of the nearest."""
        cell = self.cell(p)
        (s, t), (h00, h01, h10, h11), local = cell.part, cell.heights, cell.local
        right = s >= t  # the diagonal goes from (0, 0) to (1, 1)
        along_x, along_y = select(right, h01 - h00, h11 - h10), select(right, h11 - h01, h10 - h00)
        height = h00 + s * along_x + t * along_y
        across = Vector(-along_x * self._per_metre[0], -along_y * self._per_metre[1], 1.0)
        n = across * (1.0 / sqrt(across.dot(across)))
        point = self._X.translation + self._X.rotation.times(Vector(local.x, local.y, height))
        return _Facet(point, self._X.rotation.times(n), cell.inside)

    def edge(self, centre: Vector, radius: Scalar) -> _Measured:
        """A ball against the nearest edge of the cell beneath it; it counts where the ball is above the ground."""
        cell, facet = self.cell(centre), self.beneath(centre)
        corners = []
        for (i, j), height in zip(((0, 0), (1, 0), (0, 1), (1, 1)), cell.heights, strict=True):
            x, y = (
                (number + float(k)) * (1.0 / scale) - 0.5 * length
                for number, k, scale, length in zip(cell.number, (i, j), self._per_metre, self._field.size, strict=True)
            )
            corners.append(Vector(x, y, height))
        best, most = cell.local - corners[0], APART  # type: Vector, Scalar
        for a, b in ((0, 1), (0, 2), (0, 3), (1, 3), (2, 3)):
            along, out = corners[b] - corners[a], cell.local - corners[a]
            apart = out - along * minimum(maximum(out.dot(along) / along.dot(along), 0.0), 1.0)
            square = apart.dot(apart)
            best, most = choose(square < most, apart, best), minimum(square, most)
        length = sqrt(maximum(most, MERGED * MERGED))
        n = self._X.rotation.times(best * (1.0 / length))
        above = facet.n.dot(centre - facet.place) > 0.0
        return _Measured(length - radius, centre - n * radius, n, both(above, facet.inside))

    def measured(self, p: Vector, centre: Vector, up: Vector | None = None) -> _Measured:
        """A point of a shape against the triangle beneath it, or along a direction against the ground beneath it.

        Below the ground, what lies behind a border of the field beyond which the middle of its shape is, and nearer to
        that than to the ground, touches a wall there.
        """
        facet, arm = self.beneath(p), p - centre
        n = facet.n if up is None else up
        gap = n.dot(p - facet.place)
        gap, n = self._or_wall(gap, n, p, centre)
        counts = both(facet.inside, gap > -SUNK * sqrt(arm.dot(arm)))
        return _Measured(gap, p, n, counts)

    def _or_wall(self, gap: Scalar, n: Vector, p: Vector, centre: Vector) -> tuple[Scalar, Vector]:
        """The distance and normal of a point, or of the wall that the middle of its shape is beyond."""
        within, middle = (self._X.rotation.transposed_times(x - self._X.translation).parts for x in (p, centre))
        for axis, x, c, length in zip(self.axes, within, middle, self._field.size, strict=False):
            for side in (1.0, -1.0):
                wall = side * x - 0.5 * length
                nearer = both(side * c > 0.5 * length, wall > gap)
                gap, n = select(nearer, wall, gap), choose(nearer, axis * side, n)
        return gap, n

    def touched(
        self, lowest: Callable[[Vector], Vector], starts: Sequence[Vector], centre: Vector, size: Scalar
    ) -> list[_Measured]:
        """The lowest points of a round shape on the triangles beneath some places, each plane once."""
        found: list[_Measured] = []
        for start in starts:
            new = self.measured(lowest(self.beneath(start).n), centre)
            again: Bool = False
            for old in found:
                turn = new.n - old.n
                near = both(turn.dot(turn) < SAME * SAME, new.gap > old.gap - SAME * size)
                again = either(again, both(old.counts, near))
            found.append(_Measured(new.gap, new.point, new.n, both(new.counts, negation(again))))
        return found

    def ball(self, centre: Vector, radius: Scalar, starts: Sequence[Vector], middle: Vector) -> list[_Measured]:
        """A ball, as a part of a shape: on triangles, and on an edge where that is nearest."""
        found = self.touched(_below(centre, radius), starts, middle, radius)
        return [*found, _if_deeper(self.edge(centre, radius), [found], SAME * radius)]


def _if_deeper(new: _Measured, ends: Sequence[Sequence[_Measured]], little: Scalar) -> _Measured:
    """A further point, which counts where it is deeper than others, or than the mean of them at both ends."""
    total: Scalar = 0.0
    for end in ends:
        least: Scalar = APART
        for old in end:
            least = minimum(least, select(old.counts, old.gap, APART))
        total = total + least
    return _Measured(new.gap, new.point, new.n, both(new.counts, new.gap < total * (1.0 / len(ends)) - little))


def _below(centre: Vector, radius: Scalar) -> Callable[[Vector], Vector]:
    return lambda n: centre - n * radius


def _told(found: Sequence[_Measured], along: Vector | None = None) -> list[ContactPoint]:
    return [
        ContactPoint(
            select(x.counts, x.gap, APART),
            x.point - x.n * (0.5 * x.gap),
            axes_of(x.n) if along is None else axes_along(x.n, along),
        )
        for x in found
    ]


def _ball(field: Solid, ball: Solid) -> list[ContactPoint]:
    ground, radius, c = _Ground(field), ball.size[0], ball.centre
    x, y, _ = (axis * (BESIDE * radius) for axis in ground.axes)
    return _told(ground.ball(c, radius, (c, c + x, c - x, c + y, c - y), c))


def _ellipsoid(field: Solid, ellipsoid: Solid) -> list[ContactPoint]:
    ground, c, R = _Ground(field), ellipsoid.centre, ellipsoid.X.rotation
    shape = Convex.of("ellipsoid", ellipsoid)

    def lowest(n: Vector) -> Vector:
        return c + R.times(shape.furthest(R.transposed_times(-n)))

    sides = [(lowest(-axis) - c) * BESIDE for axis in ground.axes[:2]]
    starts = (c, c + sides[0], c - sides[0], c + sides[1], c - sides[1])
    return _told(ground.touched(lowest, starts, c, shape.extent))


def _capsule(field: Solid, capsule: Solid) -> list[ContactPoint]:
    """Both ends, on the triangles beneath and beside them, and the middle; the first tangent lies along it."""
    ground, (radius, length), axis, c = _Ground(field), capsule.size, capsule.axis, capsule.centre
    side = ground.axes[2].cross(axis) * (BESIDE * radius)
    ends = []
    for sign in (1.0, -1.0):
        end, out = c + axis * (0.5 * sign * length), axis * (BESIDE * sign * radius)
        ends.append(ground.ball(end, radius, (end + out, end + side, end - side), c))
    middle = [_if_deeper(x, ends, SAME * radius) for x in ground.ball(c, radius, (c,), c)]
    return _told([*ends[0], *ends[1], *middle], axis)


def _edged(rule: Callable[[Solid, Solid], list[Vector]], field: Solid, solid: Solid) -> list[ContactPoint]:
    """The corners that lie lowest above the ground beneath them, and the middle of them.

    What the ground is like is told by the triangles beneath the corners that are lowest along its axis: a ridge beneath
    the middle does not tilt it.
    """
    ground, c = _Ground(field), solid.centre

    def lowest(up: Vector) -> list[Vector]:
        n, first, second = axes_of(up)
        return rule(Solid((), Transform(Matrix(first, second, n), c)), solid)

    mean = _sum([ground.beneath(p).n for p in lowest(ground.axes[2])])
    up = mean * (1.0 / sqrt(mean.dot(mean)))
    corners = lowest(up)
    found = [ground.measured(p, c) for p in corners]
    middle = ground.measured(_sum(corners) * (1.0 / len(corners)), c, up)
    arm = middle.point - c
    return _told([*found, _if_deeper(middle, [[x] for x in found], SAME * sqrt(arm.dot(arm)))])


def _sum(vectors: Sequence[Vector]) -> Vector:
    total = vectors[0]
    for x in vectors[1:]:
        total = total + x
    return total


def _lowest(rule: Callable[[Solid, Solid], list[ContactPoint]]) -> Callable[[Solid, Solid], list[Vector]]:
    """The points of a shape that a rule finds lowest above a plane."""
    return lambda plane, solid: [p.point + p.axes[0] * (0.5 * p.distance) for p in rule(plane, solid)]


def _hull_corners(plane: Solid, hull: Solid) -> list[Vector]:
    R = hull.X.rotation
    found = spread_corners(hull.vertices, R.transposed_times(-plane.axis))
    return [hull.centre + R.times(corner) for _, corner in found]


FIELD_RULES: dict[str, tuple[int, Callable[[Solid, Solid], list[ContactPoint]]]] = {
    "sphere": (6, _ball),
    "capsule": (10, _capsule),
    "ellipsoid": (5, _ellipsoid),
    "cylinder": (5, lambda field, solid: _edged(_lowest(plane_cylinder), field, solid)),
    "box": (5, lambda field, solid: _edged(_lowest(plane_box), field, solid)),
    "mesh": (5, lambda field, solid: _edged(_hull_corners, field, solid)),
}
"""By the kind of a shape on a height field: how many contact points there are at most, and what finds them."""
