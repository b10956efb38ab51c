"""The contract of constraints in maximal coordinates. No algorithm names a kind of constraint.

A constraint says what must vanish: `errors` of positions, or `rates` that are linear in velocities. All else follows by
running these on other scalars: the blocks of J are the rates at unit velocities; the rates of errors, and what
velocities add to accelerations, are derivatives along the motion.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bough.model.ties.body import WORLD, Body, CanonicalKind, Scalars
from bough.scalar import Scalar, derivative
from bough.spatial import UNITS, Vector

__all__ = ["Constraint", "Law", "Side", "Sides", "at_rest", "dot", "polynomial_at", "rate_along", "unit_rates"]


@dataclass(frozen=True)
class Side:
    """A body that a constraint acts on, at one instant: its kind, parameters, position x and velocity v."""

    body: Body
    parameters: tuple[Scalar, ...]
    x: tuple[Scalar, ...]
    v: tuple[Scalar, ...]

    @property
    def rate(self) -> tuple[Scalar, ...]:
        """Rates of the position variables."""
        return tuple(self.body.rate(self.parameters, self.x, self.v))

    def point(self, place: Scalars) -> list[Scalar]:
        """Where in the world a point of the body is (m), given in its own coordinates."""
        return list(self.body.point(self.parameters, self.x, place))

    def velocity(self, place: Scalars) -> list[Scalar]:
        """The velocity of a point of the body in axes of the world (m/s)."""
        return rate_along(lambda sides: sides[0].point(place), (self,))

    def velocity_at(self, position: Scalars) -> list[Scalar]:
        """The velocity of the point of the body that is at a position in the world."""
        return self.velocity([*self.body.place(self.parameters, self.x, position), 0.0][:3])

    def direction(self, d: Scalars) -> list[Scalar]:
        """A direction of the body in axes of the world."""
        return list(self.body.direction(self.parameters, self.x, d))

    def axis(self, d: Scalars) -> Vector:
        """An axis of rotation of the body in axes of the world; in a plane it is always z."""
        return UNITS[2] if self.body.space == 2 else Vector.of(self.direction(d))

    def coordinates(self, position: Scalars) -> list[Scalar]:
        """A position in the world in coordinates of the body, by its directions."""
        apart = [a - b for a, b in zip(position, self.point((0.0, 0.0, 0.0)), strict=False)]
        return [dot(self.direction(unit.parts), apart) for unit in UNITS[: len(apart)]]

    @property
    def spin(self) -> Vector:
        """The angular velocity in axes of the world (rad/s)."""
        return self.body.spin(self.parameters, self.x, self.v)


Sides = tuple[Side, ...]
"""The bodies of a constraint, in the order in which they were named, and behind them the world: its x is the time."""


class Constraint(CanonicalKind, ABC):
    """A kind of constraint on one, two or more bodies.

    Subclasses must be immutable and hashable (frozen dataclasses are), and give `rows`. A constraint on positions gives
    `errors`, one on velocities `rates`. One that does both gives the errors of its first rows, and appends the rates of
    the others to ``super().rates(…)``.
    """

    fewest: int = 1
    """How many bodies it must be given. Where it looks at one more, that is the world."""

    most: int = 2
    """How many bodies it may be given."""

    one_sided: bool = False
    """Whether it asks that errors be not negative, rather than zero; it then pushes, and never pulls."""

    friction: float | None = None
    """Of a one-sided constraint whose first row is a contact and whose others are directions of friction: μ."""

    inertial: int = 0
    """How many of the last rows are no conditions: they stand for unit masses that move at their rates (rotors)."""

    in_one_space: bool = False
    """Whether all its bodies must be in a plane, or all in space."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of rows: of equations."""

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        """What must vanish at every position: so many of the first rows as the constraint has on positions."""
        return []

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        """What must vanish at every velocity: one for each row, those of errors first.

        Linear in the velocities, that of the world with them: it is 1, and stands beside speeds that are given.
        """
        return rate_along(lambda moved: self.errors(parameters, moved), sides)

    def bias(self, parameters: Scalars, sides: Sides) -> Scalars:
        """The rates of `rates` where no velocity changes: J̇ v."""
        return rate_along(lambda moved: self.rates(parameters, moved), sides)

    def accepts(self, bodies: Sequence[Body]) -> str | None:
        """What is wrong with these bodies, the world last, as far as that can be told beforehand; None if nothing."""
        spaces = {body.space: body for body in bodies if body is not WORLD and self.in_one_space}
        if len(spaces) < 2:
            return None
        return f"on {spaces[2]!r} in a plane and {spaces[3]!r} in space, expected bodies in one of them"


def rate_along(function: Callable[[Sides], Scalars], sides: Sides) -> list[Scalar]:
    """How fast a function of positions changes as the bodies move."""

    def moved(xs: tuple[tuple[Scalar, ...], ...]) -> tuple[Scalar, ...]:
        return tuple(function(tuple(replace(side, x=x) for side, x in zip(sides, xs, strict=True))))

    return list(derivative(moved, tuple(side.x for side in sides), tuple(side.rate for side in sides))[1])


def unit_rates(constraint: Constraint, parameters: Scalars, sides: Sides, place: int) -> list[list[Scalar]]:
    """The block of the Jacobian for one side, column by column: the rates where it alone moves, at unit velocities."""
    still, count = [at_rest(side) for side in sides], len(sides[place].v)
    columns = []
    for j in range(count):
        unit = replace(still[place], v=tuple(1.0 if i == j else 0.0 for i in range(count)))
        columns.append(list(constraint.rates(parameters, (*still[:place], unit, *still[place + 1 :]))))
    return columns


def at_rest(side: Side) -> Side:
    """The same side at rest; of the world, time itself."""
    return replace(side, v=(0.0,) * len(side.v))


def dot(a: Scalars, b: Scalars) -> Scalar:
    """Inner product of as many entries as both have."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=False):
        total = total + x * y
    return total


@dataclass(frozen=True)
class Law(Constraint):
    """The coordinate of a joint follows that of another: y - zero = c₀ + c₁ x + …, where x is from `other_zero` on.

    Of a joint by itself it is held at zero + c₀.
    """

    polynomial: tuple[float, ...]
    zero: float = 0.0
    other_zero: float = 0.0

    numbers = ("zero", "other_zero", "polynomial")
    rows = 1

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        zero, other_zero, *c = parameters
        law = polynomial_at(c, sides[1].x[0] - other_zero) if len(sides) > 2 else c[0]
        return [sides[0].x[0] - zero - law]


def polynomial_at(c: Scalars, x: Scalar) -> Scalar:
    """c₀ + c₁ x + c₂ x² + …, by Horner's rule."""
    value: Scalar = 0.0
    for factor in reversed(c):
        value = value * x + factor
    return value
