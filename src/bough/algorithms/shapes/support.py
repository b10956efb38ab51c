"""Convex shapes by their supports: the point that lies furthest in a direction, and the face that looks there most.

All is in the frame of the shape. Spheres and capsules are a point and a segment with a radius around them.
"""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.shapes.hulls import Vertices, spread_corners
from bough.algorithms.shapes.limits import MERGED
from bough.algorithms.shapes.point import Solid, choose
from bough.scalar import Bool, Scalar, absolute, both, either, maximum, minimum, negation, select, sqrt
from bough.spatial import UNITS, ZERO, Vector

__all__ = ["Convex", "Face"]

LYING = 0.5
"""A cylinder shows its side, and not a lid, in directions with a square of the cosine to its axis below this."""

UPRIGHT = 1e-16
"""A direction is along the axis of a cylinder if the square of the sine between them is smaller."""

LEVEL = 100.0
"""A corner of a hull counts to a face if it is this many times further away along it than above it."""

COPLANAR = 1e-6
"""Corners of a hull are in one plane if they are above it by less than this part of their distances."""


@dataclass(frozen=True, slots=True)
class Face:
    """Four corners around what of a shape looks in a direction; of a line its ends, those twice, and of a point one."""

    corners: tuple[Vector, Vector, Vector, Vector]
    line: Bool
    point: Bool


@dataclass(frozen=True, slots=True)
class Convex:
    """A convex shape with its sizes (see `bough.model.geometry.SHAPES`), or the corners of a hull."""

    kind: str
    size: tuple[Scalar, ...]
    corners: Vertices | None

    @classmethod
    def of(cls, kind: str, solid: Solid) -> Convex:
        """The shape of a solid."""
        return cls(kind, solid.size, solid.corners)

    @property
    def radius(self) -> Scalar:
        """What is around the point or the segment."""
        return self.size[0] if self.kind in ("sphere", "capsule") else 0.0

    @property
    def is_round(self) -> bool:
        """Whether it has no edges."""
        return self.kind in ("sphere", "capsule", "ellipsoid")

    @property
    def extent(self) -> Scalar:
        """Half of its least width, or a bound of it."""
        if self.corners is not None:
            return self.corners.radius
        if self.kind in ("sphere", "capsule"):
            return self.size[0]
        if self.kind == "cylinder":
            return minimum(self.size[0], self.size[1] * 0.5)
        least = minimum(minimum(self.size[0], self.size[1]), self.size[2])
        return least * 0.5 if self.kind == "box" else least

    @property
    def axes(self) -> tuple[Vector, ...]:
        """Directions in which it may be flat."""
        if self.kind in ("box", "ellipsoid", "mesh"):
            return UNITS
        return (UNITS[2],) if self.kind == "cylinder" else ()

    @property
    def across(self) -> tuple[Vector, ...]:
        """Further directions along which the way out of it may lead."""
        return {"capsule": UNITS, "cylinder": UNITS[:2]}.get(self.kind, ())

    def furthest(self, n: Vector) -> Vector:
        """The point, without the radius, that lies furthest in a direction of any length."""
        s = self.size
        if self.kind == "sphere":
            return ZERO
        if self.corners is not None:
            return self.corners.furthest(n)
        if self.kind == "box":
            return Vector.of([_signed(x, side * 0.5) for x, side in zip(n.parts, s, strict=True)])
        if self.kind == "ellipsoid":
            w = Vector.of([x * a for x, a in zip(n.parts, s, strict=True)])
            scale = 1.0 / sqrt(maximum(w.dot(w), MERGED * MERGED))
            return Vector.of([x * a * scale for x, a in zip(w.parts, s, strict=True)])
        up = _signed(n.z, s[1] * 0.5)
        if self.kind == "capsule":
            return Vector(0.0, 0.0, up)
        across = n.x * n.x + n.y * n.y
        upright = across < (MERGED * MERGED) * n.dot(n)
        scale = select(upright, 0.0, s[0]) / sqrt(select(upright, 1.0, across))  # the middle of a lid for all of it
        return Vector(n.x * scale, n.y * scale, up)

    def face(self, n: Vector) -> Face:
        """The face that looks along a unit vector most, without the radius."""
        s = self.size
        if self.corners is not None:
            return _hull_face(self.corners, n)
        if self.kind == "box":
            return Face(_box_face(n, s), False, False)
        up = Vector(0.0, 0.0, s[1] * 0.5)
        if self.kind == "capsule":
            return Face((-up, up, up, -up), True, False)
        r = s[0]
        across = n.x * n.x + n.y * n.y
        upright = across < UPRIGHT
        scale = r / sqrt(select(upright, 1.0, across))
        out = Vector(select(upright, r, n.x * scale), select(upright, 0.0, n.y * scale), 0.0)
        side = Vector(-out.y, out.x, 0.0)
        lid = Vector(0.0, 0.0, _signed(n.z, s[1] * 0.5))
        lies = n.z * n.z < LYING
        on_lid = lid + out, lid + side, lid - out, lid - side  # whichever way they are turned, they hold the same
        on_side = out - up, out + up, out + up, out - up
        quad = tuple(choose(lies, a, b) for a, b in zip(on_side, on_lid, strict=True))
        return Face((quad[0], quad[1], quad[2], quad[3]), lies, False)


def _hull_face(hull: Vertices, n: Vector) -> Face:
    (_, deepest), (by_left, left), (two, second), (by_right, right) = spread_corners(hull, n, LEVEL)
    N = (second - deepest).cross(left - deepest)
    off, aside = N.dot(right - deepest), right - deepest
    flat = off * off <= COPLANAR * COPLANAR * (N.dot(N) * aside.dot(aside))
    right = choose(either(negation(by_left), flat), right, deepest)  # if not in one plane, three of them are
    line = both(negation(by_left), negation(by_right))
    quad = deepest, choose(line, second, left), second, choose(line, deepest, right)
    return Face(quad, line, negation(two))


def _signed(x: Scalar, size: Scalar) -> Scalar:
    return select(x < 0.0, -size, size)


def _box_face(n: Vector, size: tuple[Scalar, ...]) -> tuple[Vector, Vector, Vector, Vector]:
    hx, hy, hz = (side * 0.5 for side in size)
    x, y, z = (absolute(part) for part in n.parts)
    by_z = both(z >= x, z >= y)
    by_y = both(negation(by_z), y >= x)
    middle = Vector.of(
        [
            select(by_z, 0.0, select(by_y, 0.0, _signed(n.x, hx))),
            select(by_y, _signed(n.y, hy), 0.0),
            select(by_z, _signed(n.z, hz), 0.0),
        ]
    )
    along_x, along_y = Vector(hx, 0.0, 0.0), Vector(0.0, hy, 0.0)
    along_z = Vector(0.0, 0.0, hz)
    u = choose(by_z, along_x, choose(by_y, along_z, along_y))
    v = choose(by_z, along_y, choose(by_y, along_x, along_z))
    return middle + u + v, middle - u + v, middle - u - v, middle + u - v
