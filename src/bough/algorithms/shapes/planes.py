"""Contact points of a plane, the first shape, with others. All lie along the plane's own normal."""

from __future__ import annotations

from bough.algorithms.shapes.point import ContactPoint, Solid, axes_along, axes_of
from bough.scalar import Scalar
from bough.spatial import Vector

__all__ = ["plane_capsule", "plane_sphere"]


def plane_sphere(plane: Solid, sphere: Solid, margin: Scalar) -> list[ContactPoint]:
    """The lowest point of a sphere."""
    axes = axes_of(plane.axis)
    return [_of_ball(plane, sphere.centre, sphere.size[0], axes)]


def plane_capsule(plane: Solid, capsule: Solid, margin: Scalar) -> list[ContactPoint]:
    """The lowest points of both caps; the first tangent lies along the capsule."""
    radius, length = capsule.size
    axis = capsule.axis
    axes, half = axes_along(plane.axis, axis), axis * (length * 0.5)
    ends = capsule.centre + half, capsule.centre - half
    return [_of_ball(plane, end, radius, axes) for end in ends]


def _of_ball(plane: Solid, centre: Vector, radius: Scalar, axes: tuple[Vector, Vector, Vector]) -> ContactPoint:
    """The lowest point of a ball, halfway to the plane."""
    normal = axes[0]
    height = (centre - plane.centre).dot(normal)
    return ContactPoint(height - radius, centre - normal * (0.5 * (height + radius)), axes)
