"""Constraints on points of bodies and how these move, and bounds: together, at a distance, on a surface, on a path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.lagrange.attributes import ORIGIN, ReadFields, a_direction, a_function, a_number, a_place, a_space
from bough.model.ties.body import WORLD, Body, Scalars, kind_of
from bough.model.ties.constraint import Constraint, Sides, dot
from bough.scalar import Scalar, atan2, cos, sin, sqrt

__all__ = [
    "Angle", "AtLeast", "AtMost", "Coincident", "Distance", "OnPlane", "OnSurface", "Path", "RowsOfSpace", "Skate",
    "SpeedRatio",
]  # fmt: skip


class RowsOfSpace(ReadFields, Constraint):
    """A constraint with as many rows as its space has dimensions."""

    space: int

    rows = property(attrgetter("space"))


@dataclass(frozen=True)
class Coincident(RowsOfSpace):
    """A point of the first body and a point of the second are at the same place: a ball joint, in the plane a pin.

    Parameters
    ----------
    at, to
        The point of each body in its own coordinates (m).
    space
        3, or 2 in the plane: the number of rows.
    """

    at: ArrayLike = field(default=ORIGIN, metadata=a_place("the point of the first body"))
    to: ArrayLike = field(default=ORIGIN, metadata=a_place("the point of the second body"))
    space: Literal[2, 3] = field(default=3, metadata=a_space("coincident points"))

    numbers = ("at", "to")
    in_one_space = True

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        return _apart(parameters, sides)


@dataclass(frozen=True)
class Angle(ReadFields, Constraint):
    """The second of two rigid bodies in the plane is turned by a fixed angle from the first.

    With `Coincident` it welds them, with `OnPlane` it makes a slide. A single body keeps its angle in the world.

    Parameters
    ----------
    angle
        In rad; whole turns make no difference.
    """

    angle: float = field(default=0.0, metadata=a_number("an angle (rad)"))

    numbers = ("angle",)
    rows = 1

    def accepts(self, bodies: Sequence[Body]) -> str | None:
        unfit = [body for body in bodies if not (body.space == 2 and body.nv > 2) and body is not WORLD]
        return f"an angle on {unfit[0]!r}, expected rigid bodies in the plane, or the world" if unfit else None

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        a, b = (side.direction((1.0, 0.0, 0.0)) for side in sides[:2])
        c, s = cos(parameters[0]), sin(parameters[0])
        across, along = a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]
        return [atan2(across * c - along * s, along * c + across * s)]


@dataclass(frozen=True)
class Distance(ReadFields, Constraint):
    """A point of the first body and a point of the second are at a fixed distance, as on a massless rod.

    Parameters
    ----------
    length
        The distance (m), positive.
    at, to
        The point of each body in its own coordinates (m).
    """

    length: float = field(metadata=a_number("a distance (m)", expected="a positive number", above=0.0))
    at: ArrayLike = field(default=ORIGIN, metadata=a_place("the point of the first body"))
    to: ArrayLike = field(default=ORIGIN, metadata=a_place("the point of the second body"))

    numbers = ("at", "to", "length")
    in_one_space = True
    rows = 1

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        apart = _apart(parameters, sides)
        return [sqrt(dot(apart, apart)) - parameters[6]]


@dataclass(frozen=True)
class OnPlane(ReadFields, Constraint):
    """A point of the first body is in a plane of the second, or of the world; in the plane, on a straight line.

    Parameters
    ----------
    normal, offset
        The plane: normal · p = offset, in coordinates of its body; a direction, and metres.
    at
        The point of the first body in its own coordinates (m).
    """

    normal: str | ArrayLike = field(default="z", metadata=a_direction("the normal of a plane"))
    offset: float = field(default=0.0, metadata=a_number("the offset of a plane (m)"))
    at: ArrayLike = field(default=ORIGIN, metadata=a_place("the point of the body"))

    numbers = ("at", "normal", "offset")
    in_one_space = True
    rows = 1

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        place = sides[1].coordinates(sides[0].point(parameters[:3]))
        return [dot(parameters[3:6], place) - parameters[6]]


@dataclass(frozen=True)
class OnSurface(ReadFields, Constraint):
    """A point of the first body is on a surface of the second, or of the world; in the plane, on a curve.

    Parameters
    ----------
    function
        Takes a list of three scalars (two in the plane), a position in coordinates of the surface's body, and returns
        what is zero on the surface; written with operators and the functions of `bough.scalar`. Best is a distance in
        metres, or near it: forces are per unit of it.
    at
        The point of the first body in its own coordinates (m).
    """

    function: Callable[[list[Scalar]], Scalar] = field(metadata=a_function("a surface"))
    at: ArrayLike = field(default=ORIGIN, metadata=a_place("the point of the body"))

    numbers = ("at",)
    in_one_space = True
    rows = 1

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        return [self.function(sides[1].coordinates(sides[0].point(parameters)))]


@dataclass(frozen=True)
class Path(RowsOfSpace):
    """A point of the body follows a path in time: it is prescribed where it is.

    Parameters
    ----------
    function
        Takes the time (s), a scalar, and returns where in the world the point is then (m): `space` scalars, written
        with operators and the functions of `bough.scalar`.
    at
        The point of the body in its own coordinates (m).
    space
        3, or 2 in the plane: the number of rows.
    """

    function: Callable[[Scalar], Scalars] = field(metadata=a_function("a path"))
    at: ArrayLike = field(default=ORIGIN, metadata=a_place("the point of the body"))
    space: Literal[2, 3] = field(default=3, metadata=a_space("a path"))

    numbers = ("at",)
    most = 1

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        time = sides[-1].x[0]
        return [a - b for a, b in zip(sides[0].point(parameters), self.function(time), strict=True)]


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

    across: str | ArrayLike = field(default="y", metadata=a_direction("the direction across a skate"))
    at: ArrayLike = field(default=ORIGIN, metadata=a_place("the point of the body"))

    numbers = ("at", "across")
    most = 1
    rows = 1

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        return [dot(sides[0].velocity(parameters[:3]), sides[0].direction(parameters[3:6]))]


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

    ratio: float = field(metadata=a_number("a ratio of speeds"))
    axis: str | ArrayLike = field(default="z", metadata=a_direction("the axis of the first body"))
    to_axis: str | ArrayLike = field(default="z", metadata=a_direction("the axis of the second body"))

    numbers = ("ratio", "axis", "to_axis")
    in_one_space = True
    fewest = 2
    most = 3
    rows = 1

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        first, second, carrier = sides[:3]
        driven = (first.spin - carrier.spin).dot(first.axis(parameters[1:4]))
        return [driven - parameters[0] * (second.spin - carrier.spin).dot(second.axis(parameters[4:7]))]


@dataclass(frozen=True)
class AtLeast(Constraint):
    """Errors of another constraint must not be negative: a distance of at least a length, a point above a surface.

    Parameters
    ----------
    constraint
        A constraint on positions.
    """

    constraint: Constraint

    one_sided = True
    sign = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.constraint, Constraint) or self.constraint.one_sided:
            raise ModelError(f"what is bounded is {self.constraint!r}, expected a constraint that is not one-sided")

    fewest = property(attrgetter("constraint.fewest"))
    most = property(attrgetter("constraint.most"))
    rows = property(attrgetter("constraint.rows"))
    parameters = property(attrgetter("constraint.parameters"))
    accepts = property(attrgetter("constraint.accepts"))

    @property
    def canonical(self) -> Constraint:
        return type(self)(kind_of(self.constraint))

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        return self._signed(self.constraint.errors(parameters, sides))

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        return self._signed(self.constraint.rates(parameters, sides))

    def bias(self, parameters: Scalars, sides: Sides) -> Scalars:
        return self._signed(self.constraint.bias(parameters, sides))

    def _signed(self, values: Scalars) -> list[Scalar]:
        return [value * self.sign for value in values]


@dataclass(frozen=True)
class AtMost(AtLeast):
    """Errors of another constraint must not be positive: a distance of at most a length, as on a rope.

    Parameters
    ----------
    constraint
        A constraint on positions.
    """

    sign = -1.0


def _apart(parameters: Scalars, sides: Sides) -> list[Scalar]:
    """From the point of the first body to that of the second."""
    a, b = sides[0].point(parameters[:3]), sides[1].point(parameters[3:6])
    return [y - x for x, y in zip(a, b, strict=False)]
