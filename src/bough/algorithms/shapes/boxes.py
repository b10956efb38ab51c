"""Contact points of spheres and capsules with a box, the second shape."""

from __future__ import annotations

from bough.algorithms.shapes.limits import MERGED
from bough.algorithms.shapes.point import ContactPoint, Solid, axes_towards, of_ball
from bough.scalar import Scalar, both, either, maximum, negation, select
from bough.spatial import Vector

__all__ = ["ball_box", "sphere_box"]


def sphere_box(sphere: Solid, box: Solid) -> list[ContactPoint]:
    """Towards the nearest point of the box; from the inside, away from the nearest face."""
    inside = box.X.rotation.transposed_times(sphere.centre - box.centre)
    return [ball_box(sphere.centre, sphere.size[0], inside, box)]


def ball_box(centre: Vector, radius: Scalar, seen: Vector, box: Solid) -> ContactPoint:
    """The contact point of a ball, whose centre is `seen` in the frame of the box, with the box."""
    signs = [select(x > 0.0, -1.0, 1.0) for x in seen.parts]
    over = [-x * sign - side * 0.5 for x, sign, side in zip(seen.parts, signs, box.size, strict=True)]
    beyond = Vector.of([maximum(x, 0.0) for x in over])
    square = beyond.dot(beyond)
    inside = square < MERGED * MERGED
    by_x = both(over[1] <= over[0], over[2] <= over[0])
    by_z = negation(either(by_x, over[2] <= over[1]))
    faces = [select(by_x, 1.0, 0.0), select(either(by_x, by_z), 0.0, 1.0), select(by_z, 1.0, 0.0)]
    parts = [s * select(inside, e, x) for s, e, x in zip(signs, faces, beyond.parts, strict=True)]
    normal = box.X.rotation.times(Vector.of(parts))
    axes, gap = axes_towards(normal, select(inside, 1.0, square))
    deepest = maximum(maximum(over[0], over[1]), over[2])
    return of_ball(centre, radius, axes, select(inside, deepest, gap))
