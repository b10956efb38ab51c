"""Contact points, the axes on them, and shapes that stand somewhere."""

from __future__ import annotations

from dataclasses import dataclass

from bough.scalar import Bool, Scalar, both, maximum, minimum, select, sqrt
from bough.spatial import UNITS, Transform, Vector

__all__ = [
    "APART",
    "MERGED",
    "ContactPoint",
    "Solid",
    "axes_along",
    "axes_of",
    "choose",
    "clip",
    "direction",
    "of_ball",
]

APART = 1e10
"""The distance (m) of a slot that holds no contact: far beyond any margin."""

MERGED = 1e-15
"""Below this length (m, or no unit) a difference has no direction: MuJoCo's limit too, so that contacts agree."""


@dataclass(frozen=True, slots=True)
class ContactPoint:
    """Where two shapes touch, or are nearest to each other.

    Attributes
    ----------
    distance
        Gap along the normal (m): negative where the shapes have sunk into each other, `APART` where this slot holds
        no contact in this state.
    point
        Midway between the two surfaces, in the common frame (m).
    axes
        The unit normal, from the first shape to the second, and two tangents, right-handed, in the common frame.
    """

    distance: Scalar
    point: Vector
    axes: tuple[Vector, Vector, Vector]


@dataclass(frozen=True, slots=True)
class Solid:
    """A shape that stands somewhere: sizes (see `bough.model.geometry.SHAPES`) and place in the common frame."""

    size: tuple[Scalar, ...]
    X: Transform

    @property
    def centre(self) -> Vector:
        """The middle of the shape."""
        return self.X.translation

    @property
    def axis(self) -> Vector:
        """The z axis of the shape: of a capsule its own, of a plane the normal."""
        return self.X.rotation.times(UNITS[2])


def choose(condition: Bool, a: Vector, b: Vector) -> Vector:
    """`a` where the condition holds, `b` elsewhere."""
    return Vector(select(condition, a.x, b.x), select(condition, a.y, b.y), select(condition, a.z, b.z))


def clip(x: Scalar, limit: Scalar) -> Scalar:
    """The number nearest to x between -limit and limit."""
    return minimum(maximum(x, -limit), limit)


def direction(v: Vector, instead: Vector) -> tuple[Vector, Scalar]:
    """The unit vector along v, and the length of v. Where v vanishes, along `instead`; along x if that vanishes too."""
    square, other = v.dot(v), instead.dot(instead)
    merged = square < MERGED * MERGED
    lost = both(merged, other < MERGED * MERGED)
    length = sqrt(select(lost, 1.0, select(merged, other, square)))
    unit = choose(merged, instead, v) * (1.0 / length)
    return choose(lost, UNITS[0], unit), select(merged, 0.0, length)


def of_ball(centre: Vector, radius: Scalar, normal: Vector, gap: Scalar) -> ContactPoint:
    """The contact point of a ball, the first shape, with a surface that is `gap` away from its centre."""
    distance = gap - radius
    return ContactPoint(distance, centre + normal * (0.5 * (gap + radius)), axes_of(normal))


def axes_of(n: Vector) -> tuple[Vector, Vector, Vector]:
    """A unit normal and two tangents: the first is the y axis as seen on the surface, z where n is within 60° of ±y.

    With e that axis and c² = 1 - (n·e)², at least 1/4, they are (e - n (n·e)) / c and n × e / c.
    """
    yy = n.y * n.y
    by_y = yy < 0.25
    c = sqrt(1.0 - select(by_y, yy, n.z * n.z))
    scale = 1.0 / c
    along, other = select(by_y, n.y, n.z) * scale, select(by_y, n.z, n.y)
    side, across = -(other * along), n.x * scale
    first = Vector(-(n.x * along), select(by_y, c, side), select(by_y, side, c))
    turned = other * scale
    second = Vector(select(by_y, -turned, turned), select(by_y, 0.0, -across), select(by_y, across, 0.0))
    return n, first, second


def axes_along(n: Vector, along: Vector) -> tuple[Vector, Vector, Vector]:
    """A unit normal and two tangents: the first is a unit vector as seen on the surface.

    Where that is along the normal, x takes its place (y where n is along x).
    """
    upright = _across(n, UNITS[0]), _across(n, UNITS[1])
    instead = choose(n.x * n.x < 0.5, upright[0], upright[1])
    w = n.cross(along)
    square = w.dot(w)
    lost = square < MERGED * MERGED
    second = choose(lost, instead, w * (1.0 / sqrt(select(lost, 1.0, square))))
    return n, second.cross(n), second


def _across(n: Vector, along: Vector) -> Vector:
    """The unit vector along n × `along`; anything where that vanishes."""
    w = n.cross(along)
    square = w.dot(w)
    return w * (1.0 / sqrt(select(square < MERGED * MERGED, 1.0, square)))
