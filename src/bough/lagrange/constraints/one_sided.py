"""Constraints that push and never pull: distances and surfaces as bounds, contacts with friction."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.lagrange.attributes import ORIGIN, read_by, read_direction, read_number, read_place, read_space
from bough.lagrange.constraints.points import RowsOfSpace
from bough.lagrange.constraints.velocities import tangents
from bough.model.ties.body import Scalars, kind_of
from bough.model.ties.constraint import Constraint, Sides, dot
from bough.scalar import Scalar

__all__ = ["AtLeast", "AtMost", "Contact"]


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


NOT_NEGATIVE = {"expected": "a number that is not negative", "least": 0.0}


@dataclass(frozen=True)
class Contact(RowsOfSpace):
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

    friction: float = field(default=0.0, metadata=read_by(read_number, "the friction of a contact", **NOT_NEGATIVE))
    normal: str | ArrayLike = field(default="z", metadata=read_by(read_direction, "the normal of a contact"))
    offset: float = field(default=0.0, metadata=read_by(read_number, "the offset of a contact"))
    at: ArrayLike = field(default=ORIGIN, metadata=read_by(read_place, "the point of a contact"))
    radius: float = field(default=0.0, metadata=read_by(read_number, "the radius of a contact", **NOT_NEGATIVE))
    space: Literal[2, 3] = field(default=3, metadata=read_by(read_space, "a contact"))

    numbers = ("at", "normal", "offset", "radius", "friction")
    in_one_space = True
    one_sided = True

    @property
    def parameters(self) -> tuple[float, ...]:
        return (*super().parameters, *tangents(self.normal, self.space))

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        place = sides[1].coordinates(sides[0].point(parameters[:3]))
        return [dot(parameters[3:6], place) - parameters[6] - parameters[7]]

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        body, surface = sides[0], sides[1]
        normal = surface.direction(parameters[3:6])
        touched = [a - n * parameters[7] for a, n in zip(body.point(parameters[:3]), normal, strict=False)]
        # the points of both bodies that are at this place now
        own, other = body.velocity_at(touched), surface.velocity_at(touched)
        slip = [a - b for a, b in zip(own, other, strict=False)]
        along = [surface.direction(parameters[k : k + 3]) for k in range(9, len(parameters), 3)]
        return [*super().rates(parameters, sides), *(dot(d, slip) for d in along)]
