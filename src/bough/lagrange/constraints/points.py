"""Constraints on points of bodies: together, at a distance, on a surface, on a path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.lagrange.bodies.reading import read_space
from bough.lagrange.constraints.reading import Vec3, read_direction, read_number, read_place
from bough.model.ties.body import WORLD, Body, Scalars
from bough.model.ties.constraint import Constraint, Sides, dot
from bough.scalar import Scalar, atan2, cos, sin, sqrt

__all__ = ["ORIGIN", "Angle", "Coincident", "Distance", "OnPlane", "OnSurface", "Path", "read_function"]

ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True, init=False)
class Coincident(Constraint):
    """A point of the first body and a point of the second are at the same place: a ball joint, in the plane a pin.

    Parameters
    ----------
    at, to
        The point of each body in its own coordinates (m).
    space
        3, or 2 in the plane: the number of rows.
    """

    at: Vec3
    to: Vec3
    space: int

    def __init__(self, at: ArrayLike = ORIGIN, to: ArrayLike = ORIGIN, space: Literal[2, 3] = 3) -> None:
        object.__setattr__(self, "at", read_place(at, "the point of the first body"))
        object.__setattr__(self, "to", read_place(to, "the point of the second body"))
        object.__setattr__(self, "space", read_space(space, "coincident points"))

    numbers = ("at", "to")
    in_one_space = True

    @property
    def rows(self) -> int:
        return self.space

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        return _apart(parameters, sides)


@dataclass(frozen=True, init=False)
class Angle(Constraint):
    """The second of two rigid bodies in the plane is turned by a fixed angle from the first.

    With `Coincident` it welds them, with `OnPlane` it makes a slide. A single body keeps its angle in the world.

    Parameters
    ----------
    angle
        In rad; whole turns make no difference.
    """

    angle: float

    def __init__(self, angle: float = 0.0) -> None:
        object.__setattr__(self, "angle", read_number(angle, "an angle (rad)"))

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


@dataclass(frozen=True, init=False)
class Distance(Constraint):
    """A point of the first body and a point of the second are at a fixed distance, as on a massless rod.

    Parameters
    ----------
    length
        The distance (m), positive.
    at, to
        The point of each body in its own coordinates (m).
    """

    length: float
    at: Vec3
    to: Vec3

    def __init__(self, length: float, at: ArrayLike = ORIGIN, to: ArrayLike = ORIGIN) -> None:
        object.__setattr__(self, "length", read_number(length, "a distance (m)", positive=True))
        object.__setattr__(self, "at", read_place(at, "the point of the first body"))
        object.__setattr__(self, "to", read_place(to, "the point of the second body"))

    numbers = ("at", "to", "length")
    in_one_space = True
    rows = 1

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        apart = _apart(parameters, sides)
        return [sqrt(dot(apart, apart)) - parameters[6]]


@dataclass(frozen=True, init=False)
class OnPlane(Constraint):
    """A point of the first body is in a plane of the second, or of the world; in the plane, on a straight line.

    Parameters
    ----------
    normal, offset
        The plane: normal · p = offset, in coordinates of its body; a direction, and metres.
    at
        The point of the first body in its own coordinates (m).
    """

    normal: Vec3
    offset: float
    at: Vec3

    def __init__(self, normal: str | ArrayLike = "z", offset: float = 0.0, at: ArrayLike = ORIGIN) -> None:
        object.__setattr__(self, "normal", read_direction(normal, "the normal of a plane"))
        object.__setattr__(self, "offset", read_number(offset, "the offset of a plane (m)"))
        object.__setattr__(self, "at", read_place(at, "the point of the body"))

    numbers = ("at", "normal", "offset")
    in_one_space = True
    rows = 1

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        place = sides[1].coordinates(sides[0].point(parameters[:3]))
        return [dot(parameters[3:6], place) - parameters[6]]


@dataclass(frozen=True, init=False)
class OnSurface(Constraint):
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

    function: Callable[[list[Scalar]], Scalar]
    at: Vec3

    def __init__(self, function: Callable[[list[Scalar]], Scalar], at: ArrayLike = ORIGIN) -> None:
        object.__setattr__(self, "function", read_function(function, "a surface"))
        object.__setattr__(self, "at", read_place(at, "the point of the body"))

    numbers = ("at",)
    in_one_space = True
    rows = 1

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        return [self.function(sides[1].coordinates(sides[0].point(parameters)))]


@dataclass(frozen=True, init=False)
class Path(Constraint):
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

    function: Callable[[Scalar], Scalars]
    at: Vec3
    space: int

    def __init__(self, function: Callable[[Scalar], Scalars], at: ArrayLike = ORIGIN, space: Literal[2, 3] = 3) -> None:
        object.__setattr__(self, "function", read_function(function, "a path"))
        object.__setattr__(self, "at", read_place(at, "the point of the body"))
        object.__setattr__(self, "space", read_space(space, "a path"))

    numbers = ("at",)
    most = 1

    @property
    def rows(self) -> int:
        return self.space

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        time = sides[-1].x[0]
        return [a - b for a, b in zip(sides[0].point(parameters), self.function(time), strict=True)]


def _apart(parameters: Scalars, sides: Sides) -> list[Scalar]:
    """From the point of the first body to that of the second."""
    a, b = sides[0].point(parameters[:3]), sides[1].point(parameters[3:6])
    return [y - x for x, y in zip(a, b, strict=False)]


def read_function(function: Callable[..., object], what: str) -> Callable[..., object]:
    """A function, or a refusal."""
    if not callable(function):
        raise ModelError(f"{what} is {function!r}, expected a function of scalars")
    return function
