"""The contract of bodies in maximal coordinates. No algorithm names a kind of body; all a body is, it says here.

A body has a position x of nx numbers and a velocity v of nv, over scalars. Bodies that differ in numbers alone share
one canonical body and tell the numbers as `parameters`; one that overrides neither is its own kind, which is always
right.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, NoReturn, TypeVar

from bough.errors import ModelError
from bough.scalar import Scalar, dot
from bough.spatial import UNITS, ZERO, Vector

__all__ = ["WORLD", "Body", "CanonicalKind", "Scalars", "World", "kind_of"]

Scalars = Sequence[Scalar]


class CanonicalKind:
    """What bodies and constraints that differ in numbers alone share: one canonical kind, which runs the same code."""

    numbers: tuple[str, ...] = ()
    """Attributes, numbers or tuples of them, in which things of one kind differ; their code does not read them."""

    @property
    def canonical(self) -> Any:
        """The one that stands for all that run the same code: this one with zeros for its numbers."""
        if not self.numbers:
            return self
        made = copy(self)
        for name in self.numbers:
            value = getattr(self, name)  # None stays: what is not there makes another kind
            zero = (0.0,) * len(value) if isinstance(value, tuple) else 0.0
            object.__setattr__(made, name, None if value is None else zero)
        return made

    @property
    def parameters(self) -> tuple[float, ...]:
        """The numbers in which this one differs from its canonical one, in the order of their names."""
        values = [getattr(self, name) for name in self.numbers]
        return tuple(
            x for value in values if value is not None for x in (value if isinstance(value, tuple) else (value,))
        )


class Body(CanonicalKind, ABC):
    """A kind of body: how it moves, and what inertia it has.

    Subclasses must be immutable and hashable (frozen dataclasses are), and give `nx`, `nv`, `mass` and `force`. If x is
    not a vector of numbers whose rates are v, they also give `neutral`, `rate` and `integrate`. Constraints of the
    package ask a body for its points: those that say `point` (and `direction`, `spin`) can take part in them.
    """

    @property
    @abstractmethod
    def nx(self) -> int:
        """Number of position variables."""

    @property
    @abstractmethod
    def nv(self) -> int:
        """Dimension: number of velocities."""

    @abstractmethod
    def mass(self, parameters: Scalars, x: Scalars) -> Sequence[Scalars]:
        """The block of M: nv rows of nv, symmetric and positive definite."""

    @abstractmethod
    def force(self, parameters: Scalars, x: Scalars, v: Scalars, gravity: Vector) -> Scalars:
        """What M v̇ is without constraints and forces from outside: weight, velocity products, springs; nv of them."""

    # -- positions -------------------------------------------------------------------------------------------------

    def neutral(self) -> tuple[float, ...]:
        """The position at the origin."""
        return (0.0,) * self.nx

    def rate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        """Rates of the position variables, linear in v; nx of them."""
        return list(v)

    def integrate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        """The position reached from x by moving with the constant velocity v for a unit of time."""
        return [a + b for a, b in zip(x, self.rate(parameters, x, v), strict=True)]

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Where unit quaternions (x y z w) begin in x."""
        return ()

    # -- points, for constraints -----------------------------------------------------------------------------------

    space: int = 3
    """Dimensions of the space that its points are in: 2 or 3. Places have three numbers; in a plane two count."""

    def point(self, parameters: Scalars, x: Scalars, place: Scalars) -> Scalars:
        """Where in the world a point of the body is, given in its own coordinates."""
        self._refuse("points")

    def place(self, parameters: Scalars, x: Scalars, position: Scalars) -> Scalars:
        """Which point of the body is at a position in the world, in its own coordinates: the inverse of `point`."""
        origin = self.point(parameters, x, ZERO.parts)
        apart = [a - b for a, b in zip(position, origin, strict=False)]
        axes = [self.direction(parameters, x, unit.parts) for unit in UNITS[: len(apart)]]
        return [dot(list(axis)[: len(apart)], apart) for axis in axes]

    def direction(self, parameters: Scalars, x: Scalars, d: Scalars) -> Scalars:
        """A direction of the body, given in its own axes, in those of the world."""
        self._refuse("directions")

    def spin(self, parameters: Scalars, x: Scalars, v: Scalars) -> Vector:
        """The angular velocity in axes of the world."""
        self._refuse("angular velocity")

    def _refuse(self, what: str) -> NoReturn:
        raise ModelError(f"{self!r} has no {what}, which the constraint uses")


class World(Body):
    """What does not move. Its position is the time, which goes on with the velocity 1."""

    nx = 1
    nv = 1

    def mass(self, parameters: Scalars, x: Scalars) -> Sequence[Scalars]:
        self._refuse("mass")

    def force(self, parameters: Scalars, x: Scalars, v: Scalars, gravity: Vector) -> Scalars:
        self._refuse("force")

    def point(self, parameters: Scalars, x: Scalars, place: Scalars) -> Scalars:
        return list(place)

    def direction(self, parameters: Scalars, x: Scalars, d: Scalars) -> Scalars:
        return list(d)

    def spin(self, parameters: Scalars, x: Scalars, v: Scalars) -> Vector:
        return ZERO

    def __repr__(self) -> str:
        return "the world"


WORLD = World()


P = TypeVar("P", bound=CanonicalKind)


def kind_of(part: P) -> P:
    """The canonical body or constraint; itself if that is of another class, whose code need not be the same."""
    canonical = part.canonical
    return canonical if type(canonical) is type(part) else part
