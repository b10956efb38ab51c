"""What two faces have in common, seen along a normal: the corners of a polygon, and how high both faces are there.

Faces are quadrilaterals, whose corners may coincide, or lines. In their coordinates x and y lie across the normal and z
along it. Each edge of the one that is cut to the outline of the other has two slots: where it starts or enters, and
where it leaves. Corners of the other one that lie within it take slots that are free.
"""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.shapes.limits import MERGED, SAME_CORNER
from bough.algorithms.shapes.point import choose
from bough.algorithms.shapes.support import Face
from bough.scalar import Bool, Scalar, absolute, both, either, maximum, minimum, negation, select
from bough.spatial import Vector

__all__ = ["Found", "common_corners", "put"]

THIN = 1e-4
"""A line is as wide as this part of its length where another is cut to it: then they may be nearly parallel."""


@dataclass(frozen=True, slots=True)
class Found:
    """A corner, if there is one: x and y across the normal, z along it on the first face and on the second."""

    there: Bool
    x: Scalar
    y: Scalar
    z: Scalar
    other: Scalar


@dataclass(frozen=True, slots=True)
class Outline:
    """Four corners, the edges that follow them, whether each edge has a length, and which way round they go."""

    corners: tuple[Vector, ...]
    edges: tuple[Vector, ...]
    long: tuple[Bool, ...]
    sense: Scalar
    size: Scalar

    @classmethod
    def of(cls, corners: tuple[Vector, ...], size: Scalar) -> Outline:
        """Of corners in order, of shapes of some size."""
        edges = tuple(b - a for a, b in zip(corners, (*corners[1:], corners[0]), strict=True))
        least = SAME_CORNER * size
        long = tuple(absolute(e.x) + absolute(e.y) > least for e in edges)
        area = _area(corners[2] - corners[0], corners[3] - corners[1])
        return cls(corners, edges, long, select(area < 0.0, -1.0, 1.0), size)

    def height(self, x: Scalar, y: Scalar) -> Scalar:
        """Of the plane through the corners above a point."""
        a, b, c, d = self.corners
        N, middle = (c - a).cross(d - b), (a + b + c + d) * 0.25
        flat = absolute(N.z) < MERGED * MERGED
        slope = (N.x * (x - middle.x) + N.y * (y - middle.y)) / select(flat, 1.0, N.z)
        return middle.z - select(flat, 0.0, slope)

    def inside(self, k: int, p: Vector) -> tuple[Scalar, Scalar]:
        """How far a point is inside of edge k, times the length of the edge, and how much of that is nothing."""
        e = self.edges[k]
        nothing = (absolute(e.x) + absolute(e.y)) * (SAME_CORNER * self.size)
        return self.sense * _area(e, p - self.corners[k]), nothing


def _area(a: Vector, b: Vector) -> Scalar:
    return a.x * b.y - a.y * b.x


def common_corners(first: Face, second: Face, size: Scalar) -> list[Found]:
    """The corners of what two faces have in common, in eight slots; in two if the first is a line."""
    swap = both(second.line, negation(first.line))
    cut = tuple(choose(swap, b, a) for a, b in zip(first.corners, second.corners, strict=True))
    around = tuple(choose(swap, a, b) for a, b in zip(first.corners, second.corners, strict=True))
    line = either(first.line, second.line)
    along = around[1] - around[0]
    wide = select(both(first.line, second.line), THIN, 0.0)
    aside = Vector(-(along.y * wide), along.x * wide, 0.0)
    widened = around[0] - aside, around[1] - aside, around[2] + aside, around[3] + aside
    P, Q = Outline.of(cut, size), Outline.of(widened, size)
    able = negation(either(first.point, second.point))
    found = _on_edge(P, Q, 0, line, able)
    if line is not True:
        for k in (1, 2, 3):
            found += _on_edge(P, Q, k, False, both(able, negation(line)))
        for k in range(4):
            found = put(found, _corner_within(P, Q, k, both(able, negation(line))))
    return [Found(f.there, f.x, f.y, select(swap, f.other, f.z), select(swap, f.z, f.other)) for f in found]


def _on_edge(P: Outline, Q: Outline, k: int, line: Bool, able: Bool) -> list[Found]:
    """Where an edge of P starts or enters Q, and where it leaves; of a line both ends."""
    p, e = P.corners[k], P.edges[k]
    low: Scalar = 0.0
    high: Scalar = 1.0
    for j in range(4):
        at, nothing = Q.inside(j, p)
        rise = Q.sense * _area(Q.edges[j], e)
        parallel = absolute(rise) <= nothing
        outside = at + 0.5 * rise < -nothing
        passes = -(at + nothing) / select(parallel, 1.0, rise)
        low = maximum(low, select(parallel, select(outside, 2.0, 0.0), select(rise > 0.0, passes, 0.0)))
        high = minimum(high, select(parallel, 1.0, select(rise > 0.0, 1.0, passes)))
    able = both(able, P.long[k])
    enters = both(able, both(low <= high, low <= 1.0 - SAME_CORNER))
    leaves = both(able, both(low + SAME_CORNER < high, either(line, high < 1.0 - SAME_CORNER)))
    low, high = minimum(low, 1.0), maximum(high, 0.0)  # what is not there stays near
    points = (enters, p + e * low), (leaves, p + e * high)
    return [Found(there, x.x, x.y, x.z, Q.height(x.x, x.y)) for there, x in points]


def _corner_within(P: Outline, Q: Outline, k: int, able: Bool) -> Found:
    """A corner of Q, if it lies within P."""
    q = Q.corners[k]
    there = both(able, Q.long[k])
    for j in range(4):
        at, nothing = P.inside(j, q)
        there = both(there, either(negation(P.long[j]), at > nothing))
    return Found(there, q.x, q.y, P.height(q.x, q.y), q.z)


def put(slots: list[Found], new: Found) -> list[Found]:
    """Put a corner into the first slot that is free; into the last one if none is."""
    result, left = [], new.there
    for k, slot in enumerate(slots):
        here = both(left, negation(slot.there)) if k + 1 < len(slots) else left
        values = zip((new.x, new.y, new.z, new.other), (slot.x, slot.y, slot.z, slot.other), strict=True)
        result.append(Found(either(slot.there, here), *(select(here, a, b) for a, b in values)))
        left = both(left, slot.there)
    return result
