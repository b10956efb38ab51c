"""Contact points, the axes on them, and shapes that stand somewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bough.algorithms.shapes.limits import MERGED
from bough.errors import ModelError
from bough.scalar import Bool, Scalar, Symbolic, maximum, minimum, select, sqrt
from bough.spatial import UNITS, Transform, Vector

if TYPE_CHECKING:
    from bough.algorithms.shapes.fields import Heights
    from bough.algorithms.shapes.hulls import Vertices

__all__ = [
    "APART", "ContactPoint", "Gap", "Solid",
    "axes_along", "axes_of", "axes_towards", "choose", "clip", "of_ball", "or_instead",
]  # fmt: skip

APART = 1e10
"""The distance (m) of a slot that holds no contact: far beyond any margin."""


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
class Gap:
    """What tells whether a slot holds a contact: whether it may, and then the distance (m), computed when asked for."""

    may: Bool
    distance: Callable[[], Scalar]


@dataclass(frozen=True, slots=True)
class Solid:
    """A shape that stands somewhere: sizes (see `bough.model.geometry.SHAPES`) and place in the common frame.

    A mesh stands for the convex hull of its corners, which it has instead of sizes, and a height field has heights.
    """

    size: tuple[Scalar, ...]
    X: Transform
    corners: Vertices | None = None
    heights: Heights | None = None

    @property
    def vertices(self) -> Vertices:
        """The corners of a hull."""
        if self.corners is None:
            raise ModelError("a mesh has no corners, expected those of its convex hull")
        return self.corners

    @property
    def field(self) -> Heights:
        """The heights of a height field."""
        if self.heights is None:
            raise ModelError("a height field has no heights")
        return self.heights

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


def or_instead(v: Vector, instead: Vector) -> tuple[Vector, Scalar, Bool]:
    """A vector, the square of its length, and whether it vanishes: then it is `instead`, or x if that vanishes too."""
    square, other = v.dot(v), instead.dot(instead)
    merged, lost = square < MERGED * MERGED, other < MERGED * MERGED
    instead, other = choose(lost, UNITS[0], instead), select(lost, 1.0, other)
    return choose(merged, instead, v), select(merged, other, square), merged


def of_ball(centre: Vector, radius: Scalar, axes: tuple[Vector, Vector, Vector], gap: Scalar) -> ContactPoint:
    """The contact point of a ball, the first shape, with a surface that is `gap` away from its centre."""
    return ContactPoint(gap - radius, centre + axes[0] * (0.5 * (gap + radius)), axes)


def axes_of(n: Vector) -> tuple[Vector, Vector, Vector]:
    """A unit normal and two tangents."""
    return axes_towards(n, 1.0)[0]


def axes_towards(v: Vector, square: Scalar) -> tuple[tuple[Vector, Vector, Vector], Scalar]:
    """The normal n along v, two tangents, and the length of v, from v and v·v.

    The first tangent is the y axis as seen on the surface, the z axis where n is within 60° of ±y. With e that axis and
    c² = 1 - (n·e)², at least 1/4, they are (e - n (n·e)) / c and n × e / c.
    """
    yy = v.y * v.y
    by_y = yy < 0.25 * square
    length, across = sqrt(square), sqrt(square - select(by_y, yy, v.z * v.z))
    if isinstance(square, Symbolic):  # one division for both
        both_lengths = 1.0 / (length * across)
        unit, scale = across * both_lengths, length * both_lengths
    else:
        unit, scale = 1.0 / length, 1.0 / across
    n, c = v * unit, across * unit
    along, other = select(by_y, v.y, v.z) * scale, select(by_y, v.z, v.y)
    side, right, turned = -(other * unit * along), v.x * scale, other * scale
    first = Vector(-(n.x * along), select(by_y, c, side), select(by_y, side, c))
    second = Vector(select(by_y, -turned, turned), select(by_y, 0.0, -right), select(by_y, right, 0.0))
    return (n, first, second), length


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
