"""What two faces of boxes have in common: a parallelogram that is cut to the outline of a rectangle.

All is in the frame of the rectangle, |x| ≤ lx and |y| ≤ ly, with z the height above it. The corners of the common
polygon, at most eight, are points of the edges of the parallelogram, where they start or enter and where they leave the
rectangle, and corners of the rectangle that lie within the parallelogram. Each edge has two slots of its own; corners
of the rectangle take those that are free.
"""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.shapes.limits import MERGED, SAME_CORNER
from bough.algorithms.shapes.point import APART, choose
from bough.scalar import Bool, Scalar, absolute, both, either, maximum, minimum, negation, select
from bough.spatial import Vector

__all__ = ["Rectangle", "clipped"]


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle and a parallelogram: half sides of the one, middle and half edges of the other, seen from the one.

    `origin` and `axes` are the middle and the axes of the rectangle in the common frame of all shapes.
    """

    limits: tuple[Scalar, Scalar]
    middle: Vector
    edges: tuple[Vector, Vector]
    origin: Vector
    axes: tuple[Vector, Vector, Vector]


@dataclass(frozen=True, slots=True)
class Found:
    """A corner of the common polygon, if there is one."""

    there: Bool
    point: Vector


def clipped(rectangle: Rectangle) -> list[tuple[Scalar, Vector]]:
    """Height above the rectangle and place of each corner, halfway down to the rectangle, in the common frame."""
    slots = _on_edges(rectangle)
    for corner in _corners(rectangle):
        slots = _put(slots, corner)
    x, y, n = rectangle.axes
    return [
        (
            select(slot.there, slot.point.z, APART),
            rectangle.origin + x * slot.point.x + y * slot.point.y + n * (slot.point.z * 0.5),
        )
        for slot in slots
    ]


def _put(slots: list[Found], new: Found) -> list[Found]:
    """Put a corner into the first slot that is free."""
    result, left = [], new.there
    for slot in slots:
        here = both(left, negation(slot.there))
        result.append(Found(either(slot.there, here), choose(here, new.point, slot.point)))
        left = both(left, slot.there)
    return result


def _on_edges(r: Rectangle) -> list[Found]:
    """Where the edges of the parallelogram start or enter, and where they leave the rectangle."""
    u, v = r.edges
    slopes = [[_slope(step, limit) for step, limit in zip(edge.parts, r.limits, strict=False)] for edge in r.edges]
    found: list[Found] = []
    for k, sign, edge, middle in (
        (0, -1.0, -u, r.middle + v), (1, -1.0, -v, r.middle - u), (0, 1.0, u, r.middle - v), (1, 1.0, v, r.middle + u)
    ):  # fmt: skip
        low: Scalar = -1.0
        high: Scalar = 1.0
        for at, limit, (along, scale, reach) in zip(middle.parts, r.limits, slopes[k], strict=False):
            centre = -at * scale * sign
            outside = limit * (1.0 + SAME_CORNER) < absolute(at)
            low = maximum(low, select(along, select(outside, 2.0, -1.0), centre - reach))
            high = minimum(high, select(along, 1.0, centre + reach))
        enters = both(low <= high, low <= 1.0 - SAME_CORNER)
        leaves = both(low + SAME_CORNER < high, high < 1.0 - SAME_CORNER)
        low, high = minimum(low, 1.0), maximum(high, -1.0)  # what is not there stays near
        found += [Found(enters, middle + edge * low), Found(leaves, middle + edge * high)]
    return found


def _slope(step: Scalar, limit: Scalar) -> tuple[Bool, Scalar, Scalar]:
    """Whether an edge runs along a side of the rectangle; if not, 1/step, and how much of the edge lies between two."""
    along = absolute(step) <= SAME_CORNER * limit
    scale = 1.0 / select(along, 1.0, step)
    return along, scale, absolute(scale) * limit


def _corners(r: Rectangle) -> list[Found]:
    """The corners of the rectangle, if they are within the parallelogram, at its height."""
    (lx, ly), m, (u, v) = r.limits, r.middle, r.edges
    area = u.x * v.y - u.y * v.x
    scale = 1.0 / select(absolute(area) < MERGED * MERGED, 1.0, area)
    found = []
    for x, y in ((lx, ly), (-lx, ly), (-lx, -ly), (lx, -ly)):
        a, b = ((x - m.x) * v.y - (y - m.y) * v.x) * scale, (u.x * (y - m.y) - u.y * (x - m.x)) * scale
        there = both(absolute(a) < 1.0 - SAME_CORNER, absolute(b) < 1.0 - SAME_CORNER)
        found.append(Found(there, Vector(x, y, m.z + u.z * a + v.z * b)))
    return found
