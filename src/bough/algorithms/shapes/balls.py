"""Contact points among spheres, capsules and cylinders: spheres, and balls at points of axes that are nearest."""

from __future__ import annotations

from bough.algorithms.shapes.point import APART, ContactPoint, Solid, axes_towards, clip, of_ball, or_instead
from bough.scalar import Scalar, absolute, either, maximum, select, sqrt
from bough.scalar.tolerances import MERGED, PARALLEL_AXES
from bough.spatial import Vector

__all__ = ["capsule_capsule", "sphere_capsule", "sphere_cylinder", "sphere_sphere"]


def sphere_sphere(first: Solid, second: Solid) -> list[ContactPoint]:
    """On the line between the centres. Where these meet, across both z axes."""
    askew = first.axis.cross(second.axis)
    return [_ball_ball(first.centre, first.size[0], second.centre, second.size[0], askew)]


def sphere_capsule(sphere: Solid, capsule: Solid) -> list[ContactPoint]:
    """On the line from the centre to the nearest point of the axis."""
    (radius, length), axis = capsule.size, capsule.axis
    along = clip(axis.dot(sphere.centre - capsule.centre), length * 0.5)
    nearest = capsule.centre + axis * along
    return [_ball_ball(sphere.centre, sphere.size[0], nearest, radius, sphere.axis.cross(axis))]


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
    """Between the nearest points of the axes; if these are parallel, at both ends of where they lie side by side.

    With p the vector between the centres, the points at s and t along the axes are nearest to each other where
    s = u + c t and t = v + c s. Only parallel capsules have a second point.
    """
    (r1, length1), (r2, length2) = first.size, second.size
    a, b, p, h1, h2 = first.axis, second.axis, second.centre - first.centre, length1 * 0.5, length2 * 0.5
    askew, c, u, v = a.cross(b), a.dot(b), a.dot(p), -b.dot(p)
    sine = askew.dot(askew)
    parallel = sine < PARALLEL_AXES
    t = clip(v + c * clip((u + c * v) / select(parallel, 1.0, sine), h1), h2)
    places = [(clip(u + c * t, h1), t)]
    for end in (-h2, h2):
        beside = u + c * end
        s = clip(beside, h1)
        outside = either(beside < -h1, h1 < beside)
        places.append((s, select(outside, clip(v + c * s, h2), end)))
    (s, t), (low_s, low_t), high = places
    one, two = (
        _ball_ball(first.centre + a * s, r1, second.centre + b * t, r2, askew)
        for s, t in ((select(parallel, low_s, s), select(parallel, low_t, t)), high)
    )
    return [one, ContactPoint(select(parallel, two.distance, APART), two.point, two.axes)]


def _ball_ball(p1: Vector, r1: Scalar, p2: Vector, r2: Scalar, askew: Vector) -> ContactPoint:
    """The contact point of two balls. Where their centres meet, the normal is along `askew`, or x if that vanishes."""
    v, square, merged = or_instead(p2 - p1, askew)
    axes, length = axes_towards(v, square)
    return of_ball(p1, r1, axes, select(merged, 0.0, length) - r2)
