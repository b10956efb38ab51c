"""Contact points among spheres and capsules: those of two balls, at the points of their axes that are nearest."""

from __future__ import annotations

from bough.algorithms.shapes.point import MERGED, ContactPoint, Solid, axes_of, choose
from bough.scalar import Scalar, both, select, sqrt
from bough.spatial import UNITS, Vector

__all__ = ["ball_ball", "sphere_sphere"]


def sphere_sphere(first: Solid, second: Solid, margin: Scalar) -> list[ContactPoint]:
    """On the line between the centres."""
    askew = first.axis.cross(second.axis)
    return [ball_ball(first.centre, first.size[0], second.centre, second.size[0], askew)]


def ball_ball(p1: Vector, r1: Scalar, p2: Vector, r2: Scalar, askew: Vector) -> ContactPoint:
    """The contact point of two balls. Where their centres meet, the normal is along `askew`, or x if that vanishes."""
    apart = p2 - p1
    square, askew_square = apart.dot(apart), askew.dot(askew)
    merged = square < MERGED * MERGED
    lost = both(merged, askew_square < MERGED * MERGED)
    length = sqrt(select(lost, 1.0, select(merged, askew_square, square)))
    normal = choose(lost, UNITS[0], choose(merged, askew, apart) * (1.0 / length))
    distance = select(merged, 0.0, length) - (r1 + r2)
    return ContactPoint(distance, p1 + normal * (0.5 * distance + r1), axes_of(normal))
