"""Contact points among spheres, capsules and cylinders: spheres, and balls at points of axes that are nearest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from bough.algorithms.shapes.limits import MERGED, PARALLEL_AXES
from bough.algorithms.shapes.point import APART, ContactPoint, Gap, Solid, axes_towards, clip, of_ball, or_instead
from bough.scalar import Bool, Scalar, absolute, either, maximum, select, sqrt
from bough.spatial import Vector

__all__ = [
    "capsule_capsule", "capsule_capsule_gaps", "sphere_capsule", "sphere_capsule_gaps", "sphere_cylinder",
    "sphere_sphere",
]  # fmt: skip

Pair: TypeAlias = tuple[Vector, Vector]
"""A point of each of two shapes."""


def sphere_sphere(first: Solid, second: Solid) -> list[ContactPoint]:
    """On the line between the centres. Where these meet, across both z axes."""
    askew = first.axis.cross(second.axis)
    return [_ball_ball(first.centre, first.size[0], second.centre, second.size[0], askew)]


def sphere_capsule(sphere: Solid, capsule: Solid) -> list[ContactPoint]:
    """On the line from the centre to the nearest point of the axis."""
    nearest, askew = _beside(sphere, capsule), sphere.axis.cross(capsule.axis)
    return [_ball_ball(sphere.centre, sphere.size[0], nearest, capsule.size[0], askew)]


def sphere_cylinder(sphere: Solid, cylinder: Solid) -> list[ContactPoint]:
    """Against the side, a lid or the rim, whichever is nearest: seen from the axis, a corner in two dimensions."""
    (radius, length), axis = cylinder.size, cylinder.axis
    apart = cylinder.centre - sphere.centre
    up = axis.dot(apart)
    inward, away_square, merged = or_instead(apart - axis * up, sphere.axis.cross(axis))
    length_away = sqrt(away_square)
    beside, above = select(merged, 0.0, length_away) - radius, absolute(up) - length * 0.5
    x, y = maximum(beside, 0.0), maximum(above, 0.0)
    square = x * x + y * y
    inside, lid = square < MERGED * MERGED, beside < above
    x, y = select(inside, select(lid, 0.0, 1.0), x), select(inside, select(lid, 1.0, 0.0), y)
    normal = inward * (x / length_away) + axis * select(up < 0.0, -y, y)
    axes, gap = axes_towards(normal, select(inside, 1.0, square))
    return [of_ball(sphere.centre, sphere.size[0], axes, select(inside, maximum(beside, above), gap))]


def capsule_capsule(first: Solid, second: Solid) -> list[ContactPoint]:
    """Between the nearest points of the axes; if these are parallel, at both ends of where they lie side by side."""
    parallel, nearest = _nearest_of_axes(first, second)
    r1, r2, askew = first.size[0], second.size[0], first.axis.cross(second.axis)
    one, two = (_ball_ball(p1, r1, p2, r2, askew) for p1, p2 in (pair() for pair in nearest))
    return [one, ContactPoint(select(parallel, two.distance, APART), two.point, two.axes)]


def capsule_capsule_gaps(first: Solid, second: Solid) -> list[Gap]:
    """Only parallel capsules have a second point."""
    parallel, nearest = _nearest_of_axes(first, second)
    one, two = (partial(_gap, pair, first.size[0], second.size[0]) for pair in nearest)
    return [Gap(True, one), Gap(parallel, two)]


def sphere_capsule_gaps(sphere: Solid, capsule: Solid) -> list[Gap]:
    """From the centre to the axis."""

    def pair() -> Pair:
        return sphere.centre, _beside(sphere, capsule)

    return [Gap(True, partial(_gap, pair, sphere.size[0], capsule.size[0]))]


def _beside(sphere: Solid, capsule: Solid) -> Vector:
    """The point of the axis of a capsule that is nearest to a sphere."""
    axis = capsule.axis
    return capsule.centre + axis * clip(axis.dot(sphere.centre - capsule.centre), capsule.size[1] * 0.5)


def _nearest_of_axes(first: Solid, second: Solid) -> tuple[Bool, tuple[Callable[[], Pair], Callable[[], Pair]]]:
    """Whether the axes of capsules are parallel, and points of both that are nearest to each other, for both slots.

    With p the vector between the centres, the points at s and t along the axes are nearest to each other where
    s = u + c t and t = v + c s. Only parallel capsules have a second point.
    """
    a, b, p, h1, h2 = first.axis, second.axis, second.centre - first.centre, first.size[1] * 0.5, second.size[1] * 0.5
    askew, c, u, v = a.cross(b), a.dot(b), a.dot(p), -b.dot(p)
    sine = askew.dot(askew)
    parallel = sine < PARALLEL_AXES

    def at(s: Scalar, t: Scalar) -> Pair:
        return first.centre + a * s, second.centre + b * t

    def end(t: Scalar) -> tuple[Scalar, Scalar]:
        beside = u + c * t
        s = clip(beside, h1)
        return s, select(either(beside < -h1, h1 < beside), clip(v + c * s, h2), t)

    def one() -> Pair:
        t = clip(v + c * clip((u + c * v) / select(parallel, 1.0, sine), h1), h2)
        low_s, low_t = end(-h2)
        return at(select(parallel, low_s, clip(u + c * t, h1)), select(parallel, low_t, t))

    return parallel, (one, lambda: at(*end(h2)))


def _gap(pair: Callable[[], Pair], r1: Scalar, r2: Scalar) -> Scalar:
    """How far two balls are apart."""
    p1, p2 = pair()
    v = p2 - p1
    return sqrt(v.dot(v)) - r2 - r1


def _ball_ball(p1: Vector, r1: Scalar, p2: Vector, r2: Scalar, askew: Vector) -> ContactPoint:
    """The contact point of two balls. Where their centres meet, the normal is along `askew`, or x if that vanishes."""
    v, square, merged = or_instead(p2 - p1, askew)
    axes, length = axes_towards(v, square)
    return of_ball(p1, r1, axes, select(merged, 0.0, length) - r2)
