"""Contact points of two convex shapes: where they are nearest (`nearest.py`), and what their faces share (`common.py`).

The corners of what the faces that look at each other have in common, seen along the normal, are the contact points,
each with its own distance. The nearest point joins them where it is nearer than all, as on the rim of a cylinder. If
they have nothing in common it is alone.
"""

from __future__ import annotations

from collections.abc import Callable

from bough.algorithms.shapes.common import Found, common_corners, put
from bough.algorithms.shapes.nearest import Couple, nearest
from bough.algorithms.shapes.point import APART, ContactPoint, Solid, axes_of
from bough.algorithms.shapes.support import Convex, Face
from bough.scalar import Scalar, maximum, minimum, select
from bough.spatial import Matrix, Vector

__all__ = ["convex_convex", "slots_of"]

NEARER = 1e-7
"""The nearest point is one of its own if it is nearer than all others by this part of the smaller size."""

LEAST_SIZE = 1e-6
"""Shapes count as no smaller than this (m), so that they can be drawn apart."""


def slots_of(kind1: str, kind2: str) -> int:
    """How many contact points two kinds of convex shapes have at most."""
    kinds = {kind1, kind2}
    return 1 if kinds & {"sphere", "ellipsoid"} else 3 if "capsule" in kinds else 8


def convex_convex(kind1: str, kind2: str, first: Solid, second: Solid) -> list[ContactPoint]:
    """The contact points of two shapes of these kinds, a sphere or a capsule first, as many as they have slots."""
    one, two = Convex.of(kind1, first), Convex.of(kind2, second)
    R1, R2 = Matrix(*first.X.rotation.columns), Matrix(*second.X.rotation.columns)
    R = Matrix.of_rows([[a.dot(b) for b in R2.columns] for a in R1.columns])
    p = R1.transposed_times(second.centre - first.centre)
    size = maximum(minimum(one.extent, two.extent), LEAST_SIZE)
    best = nearest(Couple(one, two, R, p, size))
    axes = axes_of(R1.times(best.n))
    gap = best.gap - one.radius - two.radius
    middle = (best.first + best.second + best.n * (one.radius - two.radius)) * 0.5
    centre = first.centre + R1.times(middle)
    if slots_of(kind1, kind2) == 1:
        return [ContactPoint(gap, centre, axes)]
    n, t1, t2 = (R1.transposed_times(axis) for axis in axes)
    seen = Matrix(t1, t2, n).transposed_times
    faces = (
        _moved(one.face(n), lambda x: seen(x + n * one.radius - middle)),
        _moved(two.face(R.transposed_times(-n)), lambda x: seen(R.times(x) + p - n * two.radius - middle)),
    )
    found = common_corners(*faces, size)
    return [
        ContactPoint(
            select(f.there, maximum(f.other - f.z, gap), APART),  # faces of hulls are not quite flat
            centre + axes[1] * f.x + axes[2] * f.y + axes[0] * (0.5 * (f.z + f.other)),
            axes,
        )
        for f in _with_nearest(found, gap, NEARER * size)
    ]


def _moved(face: Face, move: Callable[[Vector], Vector]) -> Face:
    a, b, c, d = (move(corner) for corner in face.corners)
    return Face((a, b, c, d), face.line, face.point)


def _with_nearest(found: list[Found], gap: Scalar, little: Scalar) -> list[Found]:
    """The corners, and the nearest point if it is nearer than all of them; a line has a slot more for it."""
    least: Scalar = APART
    for f in found:
        least = minimum(least, select(f.there, f.other - f.z, APART))
    none: Scalar = 0.0
    if len(found) == 2:
        found = [*found, Found(False, none, none, none, none)]
    return put(found, Found(gap < least - little, none, none, -0.5 * gap, 0.5 * gap))
