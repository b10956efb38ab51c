"""Constraints on velocities, that no law of positions stands for: skates, rolling, gears."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import ArrayLike

from bough.lagrange.attributes import (
    ORIGIN,
    ReadFields,
    Vec3,
    read_by,
    read_direction,
    read_number,
    read_place,
    read_space,
)
from bough.lagrange.constraints.points import RowsOfSpace
from bough.model.joints.axis import basis_with
from bough.model.ties.body import Scalars
from bough.model.ties.constraint import Constraint, Sides, dot, rate_along
from bough.scalar import Scalar, sqrt
from bough.spatial import Vector

__all__ = ["Rolling", "Skate", "SpeedRatio", "tangents"]


@dataclass(frozen=True)
class Skate(ReadFields, Constraint):
    """A point of the body does not move across: a skate, a knife edge, a wheel without mass.

    Parameters
    ----------
    across
        The direction in which the point does not move, in axes of the body.
    at
        The point, in coordinates of the body (m).
    """

    across: str | ArrayLike = field(default="y", metadata=read_by(read_direction, "the direction across a skate"))
    at: ArrayLike = field(default=ORIGIN, metadata=read_by(read_place, "the point of the body"))

    numbers = ("at", "across")
    most = 1
    rows = 1

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        return [dot(sides[0].velocity(parameters[:3]), sides[0].direction(parameters[3:6]))]


def _read_axis(axis: str | ArrayLike | None, what: str) -> Vec3 | None:
    return None if axis is None else read_direction(axis, what)


@dataclass(frozen=True)
class Rolling(RowsOfSpace):
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

    radius: float = field(
        metadata=read_by(read_number, "the radius of what rolls (m)", expected="a positive number", above=0.0)
    )
    axis: str | ArrayLike | None = field(default=None, metadata=read_by(_read_axis, "the axis of a disc"))
    normal: str | ArrayLike = field(default="z", metadata=read_by(read_direction, "the normal of a plane"))
    offset: float = field(default=0.0, metadata=read_by(read_number, "the offset of a plane (m)"))
    at: ArrayLike = field(default=ORIGIN, metadata=read_by(read_place, "the centre of what rolls"))
    space: Literal[2, 3] = field(default=3, metadata=read_by(read_space, "what rolls"))

    numbers = ("radius", "at", "normal", "offset", "axis")
    in_one_space = True

    @property
    def parameters(self) -> tuple[float, ...]:
        return (*super().parameters, *tangents(self.normal, self.space))

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        lowest = _plus(sides[0].point(parameters[1:4]), self._arm(parameters, sides).parts)
        return [dot(parameters[4:7], sides[1].coordinates(lowest)) - parameters[7]]

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        body, surface, arm = sides[0], sides[1], self._arm(parameters, sides)
        lowest = _plus(body.point(parameters[1:4]), arm.parts)
        own = _plus(body.velocity(parameters[1:4]), body.spin.cross(arm).parts)
        slip = [a - b for a, b in zip(own, surface.velocity_at(lowest), strict=False)]
        # the height of the lowest point changes as that of the point of the body that is there, along the plane or not
        normal = parameters[4:7]
        moving = rate_along(lambda moved: [dot(normal, moved[0].coordinates(lowest))], (surface,))
        start = len(parameters) - 3 * (self.space - 1)
        along = [surface.direction(parameters[k : k + 3]) for k in range(start, len(parameters), 3)]
        return [dot(surface.direction(normal), own) + moving[0], *(dot(d, slip) for d in along)]

    def _arm(self, parameters: Scalars, sides: Sides) -> Vector:
        """From the centre to the lowest point."""
        normal = Vector.of([*sides[1].direction(parameters[4:7]), 0.0][:3])
        if self.axis is None:
            return normal * (-parameters[0])
        axis = sides[0].axis(parameters[8:11])
        steep = normal - axis * axis.dot(normal)
        return steep * (-parameters[0] / sqrt(steep.dot(steep)))


def _plus(a: Scalars, b: Scalars) -> list[Scalar]:
    """The sum of as many entries as both have: two in a plane."""
    return [x + y for x, y in zip(a, b, strict=False)]


def tangents(normal: Any, space: int) -> tuple[float, ...]:
    """Unit vectors along the plane of a unit normal, one after the other: two of them, one in two dimensions."""
    if space == 2:
        return (-normal[1], normal[0], 0.0)
    return tuple(float(k) for k in basis_with(normal).T[:2].ravel())


@dataclass(frozen=True)
class SpeedRatio(ReadFields, Constraint):
    """The first body turns `ratio` times as fast as the second, each about an axis of its own: gears, belts.

    Angular velocities are relative to a third body, the carrier of the gears, if one is given, else to the world.

    Parameters
    ----------
    ratio
        Angular velocity of the first body over that of the second; negative for two wheels that touch.
    axis, to_axis
        The axis of each body in its own axes. In the plane it is always z.
    """

    ratio: float = field(metadata=read_by(read_number, "a ratio of speeds"))
    axis: str | ArrayLike = field(default="z", metadata=read_by(read_direction, "the axis of the first body"))
    to_axis: str | ArrayLike = field(default="z", metadata=read_by(read_direction, "the axis of the second body"))

    numbers = ("ratio", "axis", "to_axis")
    in_one_space = True
    fewest = 2
    most = 3
    rows = 1

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        first, second, carrier = sides[:3]
        driven = (first.spin - carrier.spin).dot(first.axis(parameters[1:4]))
        return [driven - parameters[0] * (second.spin - carrier.spin).dot(second.axis(parameters[4:7]))]
