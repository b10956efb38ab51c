"""Convex hulls: their corners in tables, those that lie furthest in a direction, and contact with planes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.shapes.limits import MERGED, SAME_CORNER, SAME_HEIGHT
from bough.algorithms.shapes.point import APART, ContactPoint, Solid, axes_of, choose
from bough.scalar import Bool, Index, Scalar, Table, both, gather, keeping_loops, loop, maximum, select, sqrt
from bough.spatial import ZERO, Vector

__all__ = ["Corners", "Vertices", "plane_hull", "spread_corners"]

STEEP = 20.0
"""A corner counts to the face that lies on a plane if it is this many times further away along it than above it."""


@dataclass(frozen=True)
class Corners:
    """The corners (n, 3) of a convex hull about a point inside it, in metres, known by their digest."""

    digest: str
    points: NDArray[np.float64] = field(compare=False, repr=False)

    @classmethod
    def of(cls, points: Any) -> Corners:
        """From an array (n, 3)."""
        made = np.array(points, np.float64)
        made.setflags(write=False)
        return cls(hashlib.sha256(made.tobytes()).hexdigest()[:32], made)

    @property
    def radius(self) -> float:
        """Of a ball about the origin that holds them all (m)."""
        return float(np.linalg.norm(self.points, axis=1).max())

    @property
    def vertices(self) -> Vertices:
        """As what a rule takes for the sizes of a mesh."""
        return Vertices(Table("corners", self.points.ravel()), 0, len(self.points))


@dataclass(frozen=True, slots=True)
class Vertices:
    """The corners of a convex hull in its own frame: so many rows of three numbers of a table, from a row on."""

    table: Table
    start: Index
    count: Index

    def at(self, k: Index) -> Vector:
        """The corner number k."""
        place = (self.start + k) * 3
        return Vector.of([gather(self.table, place + i) for i in range(3)])

    def furthest(self, n: Vector, same: float = 0.0) -> Vector:
        """The corner that lies furthest in a direction; of those that are so but for `same` (m) the first."""

        def visit(k: Index, best: tuple[Scalar, Vector]) -> tuple[Scalar, Vector]:
            corner = self.at(k)
            far = n.dot(corner)
            better = far > best[0] + same
            return select(better, far, best[0]), choose(better, corner, best[1])

        none: Scalar = -APART
        with keeping_loops():
            return loop(self.count, visit, (none, ZERO))[1]

    @property
    def radius(self) -> Scalar:
        """Of a ball about the origin that holds them all (m)."""
        none: Scalar = 0.0
        with keeping_loops():
            return sqrt(loop(self.count, lambda k, most: maximum(most, self.at(k).dot(self.at(k))), none))


def spread_corners(hull: Vertices, n: Vector, steep: float = STEEP) -> list[tuple[Bool, Vector]]:
    """Up to four corners of the face that looks along n most, far from each other, and whether there is each.

    The one that lies furthest along n; of those that lie about as far along n, the one furthest from it; and on both
    sides of the line between these two, the one furthest from that. About as far is less by at most a `steep`th of the
    distance across n.
    """
    deepest = hull.furthest(n, SAME_HEIGHT)

    def away(k: Index, best: tuple[Scalar, Vector]) -> tuple[Scalar, Vector]:
        corner = hull.at(k)
        apart = corner - deepest
        up = n.dot(apart)
        score = apart.dot(apart) - (1.0 + steep * steep) * (up * up)
        better = score > best[0] * (1.0 + SAME_CORNER) + SAME_HEIGHT
        return select(better, score, best[0]), choose(better, corner, best[1])

    none: Scalar = 0.0
    with keeping_loops():
        _, second = loop(hull.count, away, (none, deepest))
        across = n.cross(second - deepest)
        square = across.dot(across)
        two = square > MERGED
        across = across * (1.0 / sqrt(select(two, square, 1.0)))

        def beside(k: Index, best: tuple[Scalar, Vector, Scalar, Vector]) -> tuple[Scalar, Vector, Scalar, Vector]:
            left, at_left, right, at_right = best
            corner = hull.at(k)
            apart = corner - deepest
            side, lost = across.dot(apart), steep * n.dot(apart)
            by_left = side + lost > left * (1.0 + SAME_CORNER) + SAME_HEIGHT
            by_right = lost - side > right * (1.0 + SAME_CORNER) + SAME_HEIGHT
            return (
                select(by_left, side + lost, left), choose(by_left, corner, at_left),
                select(by_right, lost - side, right), choose(by_right, corner, at_right),
            )  # fmt: skip

        left, at_left, right, at_right = loop(hull.count, beside, (none, deepest, none, deepest))
    return [(True, deepest), (both(two, left > 0.0), at_left), (two, second), (both(two, right > 0.0), at_right)]


def plane_hull(plane: Solid, hull: Solid) -> list[ContactPoint]:
    """The lowest corner, and up to three more of the face that it belongs to, if that lies on the plane."""
    axes, R = axes_of(plane.axis), hull.X.rotation
    height = (hull.centre - plane.centre).dot(axes[0])
    points = []
    for there, corner in spread_corners(hull.vertices, R.transposed_times(-axes[0])):
        place = R.times(corner)
        gap = height + axes[0].dot(place)
        point = hull.centre + place - axes[0] * (0.5 * gap)
        points.append(ContactPoint(select(there, gap, APART), point, axes))
    return points
