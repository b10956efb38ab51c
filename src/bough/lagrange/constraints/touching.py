"""Constraints on bodies that touch a plane: they roll on it, or rest on it, slide and leave it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import ArrayLike

from bough.lagrange.attributes import ORIGIN, a_direction, a_number, a_place, a_space
from bough.lagrange.constraints.points import RowsOfSpace
from bough.model.joints.axis import basis_with
from bough.model.ties.body import Scalars
from bough.model.ties.constraint import Side, Sides, dot, rate_along
from bough.scalar import Scalar, sqrt
from bough.spatial import Vector

__all__ = ["Contact", "Rolling"]


class _Touching(RowsOfSpace):
    """What touches a plane: numbers begin as those of `OnPlane`; behind the height come rows along the plane."""

    normal: str | ArrayLike

    numbers: tuple[str, ...] = ("at", "normal", "offset", "radius")
    in_one_space = True

    @property
    def parameters(self) -> tuple[float, ...]:
        normal: Any = (
            self.normal
        )  # unit vectors along the plane are behind the numbers: two of them, one in two dimensions
        if self.space == 2:
            return (*super().parameters, -normal[1], normal[0], 0.0)
        return (*super().parameters, *basis_with(normal).T[:2].ravel().tolist())

    def _slip(self, parameters: Scalars, surface: Side, touched: Scalars, own: Scalars) -> list[Scalar]:
        """Along the plane, how fast a point goes that is at a position now, relative to the surface there."""
        slip = [a - b for a, b in zip(own, surface.velocity_at(touched), strict=False)]
        start = len(parameters) - 3 * (self.space - 1)
        return [dot(surface.direction(parameters[k : k + 3]), slip) for k in range(start, len(parameters), 3)]


@dataclass(frozen=True)
class Rolling(_Touching):
    """A ball or a disc rolls on a plane of the second body, or of the world.

    One row keeps it on the plane; the others keep it from slipping: where they touch, both bodies have one velocity.

    Parameters
    ----------
    radius
        In metres.
    axis
        The axis of a thin disc, in axes of its body; None for a ball. A disc must not lie flat on the plane.
    normal, offset
        The plane: normal · p = offset in coordinates of its body. The first body is where normal · p is larger.
    at
        The centre, in coordinates of the first body (m).
    space
        3, or 2 for a wheel on a line in the x-y plane: the number of rows.
    """

    radius: float = field(metadata=a_number("the radius of what rolls (m)", expected="a positive number", above=0.0))
    axis: str | ArrayLike | None = field(default=None, metadata=a_direction("the axis of a disc"))
    normal: str | ArrayLike = field(default="z", metadata=a_direction("the normal of a plane"))
    offset: float = field(default=0.0, metadata=a_number("the offset of a plane (m)"))
    at: ArrayLike = field(default=ORIGIN, metadata=a_place("the centre of what rolls"))
    space: Literal[2, 3] = field(default=3, metadata=a_space("what rolls"))

    numbers = (*_Touching.numbers, "axis")

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        lowest = _plus(sides[0].point(parameters[:3]), self._arm(parameters, sides).parts)
        return [dot(parameters[3:6], sides[1].coordinates(lowest)) - parameters[6]]

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        (body, surface), arm, normal = sides[:2], self._arm(parameters, sides), parameters[3:6]
        lowest = _plus(body.point(parameters[:3]), arm.parts)
        own = _plus(body.velocity(parameters[:3]), body.spin.cross(arm).parts)
        # the height of the lowest point changes as that of the point of the body that is there, along the plane or not
        moving = rate_along(lambda moved: [dot(normal, moved[0].coordinates(lowest))], (surface,))
        return [dot(surface.direction(normal), own) + moving[0], *self._slip(parameters, surface, lowest, own)]

    def _arm(self, parameters: Scalars, sides: Sides) -> Vector:
        """From the centre to the lowest point."""
        normal = Vector.of([*sides[1].direction(parameters[3:6]), 0.0][:3])
        if self.axis is None:
            return normal * (-parameters[7])
        axis = sides[0].axis(parameters[8:11])
        steep = normal - axis * axis.dot(normal)
        return steep * (-parameters[7] / sqrt(steep.dot(steep)))


def _plus(a: Scalars, b: Scalars) -> list[Scalar]:
    """The sum of as many entries as both have: two in a plane."""
    return [x + y for x, y in zip(a, b, strict=False)]


NOT_NEGATIVE = {"expected": "a number that is not negative", "least": 0.0}


@dataclass(frozen=True)
class Contact(_Touching):
    """A point or ball of the first body rests on a plane of the second, or of the world, slides on it or leaves it.

    The first row is the distance (m); the others are directions in the plane, with friction by a pyramid.

    Parameters
    ----------
    friction
        Coefficient of friction μ, not negative.
    normal, offset
        The plane: normal · p = offset in coordinates of its body. The first body is where normal · p is larger.
    at, radius
        The point of the first body in its own coordinates, and the radius of a ball around it; m.
    space
        3, or 2 in the plane: the number of rows.
    """

    friction: float = field(default=0.0, metadata=a_number("the friction of a contact", **NOT_NEGATIVE))
    normal: str | ArrayLike = field(default="z", metadata=a_direction("the normal of a contact"))
    offset: float = field(default=0.0, metadata=a_number("the offset of a contact"))
    at: ArrayLike = field(default=ORIGIN, metadata=a_place("the point of a contact"))
    radius: float = field(default=0.0, metadata=a_number("the radius of a contact", **NOT_NEGATIVE))
    space: Literal[2, 3] = field(default=3, metadata=a_space("a contact"))

    numbers = (*_Touching.numbers, "friction")
    one_sided = True

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        place = sides[1].coordinates(sides[0].point(parameters[:3]))
        return [dot(parameters[3:6], place) - parameters[6] - parameters[7]]

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        normal = sides[1].direction(parameters[3:6])
        touched = [a - n * parameters[7] for a, n in zip(sides[0].point(parameters[:3]), normal, strict=False)]
        slip = self._slip(parameters, sides[1], touched, sides[0].velocity_at(touched))
        return [*super().rates(parameters, sides), *slip]
