"""Contact points of a plane, the first shape, with others. All lie along the plane's own normal."""

from __future__ import annotations

import math

from bough.algorithms.shapes.limits import MERGED
from bough.algorithms.shapes.point import ContactPoint, Solid, axes_along, axes_of, choose
from bough.scalar import Scalar, maximum, select, sqrt
from bough.spatial import UNITS, Vector

__all__ = ["plane_box", "plane_capsule", "plane_cylinder", "plane_ellipsoid", "plane_sphere"]


def plane_sphere(plane: Solid, sphere: Solid) -> list[ContactPoint]:
    """The lowest point of a sphere."""
    axes, radius = axes_of(plane.axis), sphere.size[0]
    return [_below(sphere.centre, _height(plane, sphere.centre), radius, axes)]


def plane_capsule(plane: Solid, capsule: Solid) -> list[ContactPoint]:
    """The lowest points of both caps; the first tangent lies along the capsule."""
    (radius, length), axis = capsule.size, capsule.axis
    axes, half = axes_along(plane.axis, axis), axis * (length * 0.5)
    ends = capsule.centre + half, capsule.centre - half
    return [_below(end, _height(plane, end), radius, axes) for end in ends]


def plane_ellipsoid(plane: Solid, ellipsoid: Solid) -> list[ContactPoint]:
    """The lowest point: where the normal is n, it is A² n / |A n| from the middle, A the matrix of half axes."""
    axes, (a, b, c), R = axes_of(plane.axis), ellipsoid.size, ellipsoid.X.rotation
    n = R.transposed_times(axes[0])
    w = Vector(a * n.x, b * n.y, c * n.z)
    down = sqrt(maximum(w.dot(w), MERGED * MERGED))
    lowest = ellipsoid.centre - R.times(Vector(a * w.x, b * w.y, c * w.z) * (1.0 / down))
    return [_below(lowest, _height(plane, ellipsoid.centre) - down, 0.0, axes)]


def plane_cylinder(plane: Solid, cylinder: Solid) -> list[ContactPoint]:
    """The lowest point, the one above it on the other rim, and two more that make a triangle on the lower rim."""
    (radius, length), axes, axis = cylinder.size, axes_of(plane.axis), cylinder.axis
    up = axes[0].dot(axis)
    axis, down = choose(up > 0.0, -axis, axis), select(up > 0.0, -up, up)
    v = axis * down - axes[0]
    square = v.dot(v)
    flat = square < MERGED * MERGED
    tilt = sqrt(select(flat, 1.0, square))
    across = choose(flat, cylinder.X.rotation.times(UNITS[0]), v * (1.0 / tilt)) * radius
    side = across.cross(axis) * (math.sqrt(3.0) / 2.0)
    half, rise, drop = axis * (length * 0.5), down * (length * 0.5), select(flat, 0.0, tilt) * radius
    lower, upper = cylinder.centre + half, cylinder.centre - half
    height, back = _height(plane, cylinder.centre), lower - across * 0.5
    rim = height + rise + drop * 0.5
    return [
        _below(lower + across, height + rise - drop, 0.0, axes),
        _below(upper + across, height - rise - drop, 0.0, axes),
        _below(back + side, rim, 0.0, axes),
        _below(back - side, rim, 0.0, axes),
    ]


def plane_box(plane: Solid, box: Solid) -> list[ContactPoint]:
    """The lower corner on each of the four diagonals."""
    axes, height = axes_of(plane.axis), _height(plane, box.centre)
    x, y, z = (column * (side * 0.5) for column, side in zip(box.X.rotation.columns, box.size, strict=True))
    points = []
    for corner in (x + y + z, x + y - z, x - y + z, x - y - z):
        up = axes[0].dot(corner)
        sign = select(up > 0.0, -1.0, 1.0)
        points.append(_below(box.centre + corner * sign, height + up * sign, 0.0, axes))
    return points


def _height(plane: Solid, p: Vector) -> Scalar:
    """How far a point is above a plane."""
    return (p - plane.centre).dot(plane.axis)


def _below(centre: Vector, height: Scalar, radius: Scalar, axes: tuple[Vector, Vector, Vector]) -> ContactPoint:
    """The lowest point of a ball at some height, halfway to the plane."""
    return ContactPoint(height - radius, centre - axes[0] * (0.5 * (height + radius)), axes)
