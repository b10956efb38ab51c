"""Laws between the coordinates of joints: gears, belts, fingers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.lagrange.attributes import read_number
from bough.lagrange.constraints.joints import Jointed
from bough.model import Joint
from bough.model.joints.reading import read_floats
from bough.model.ties.body import Body, Scalars
from bough.model.ties.constraint import Constraint, Sides
from bough.model.ties.laws import polynomial_at
from bough.scalar import Scalar, atan2, cos, sin

__all__ = ["Coupled"]

Pair = tuple[int, int]


@dataclass(frozen=True, init=False)
class Coupled(Constraint):
    """A joint follows another one: q - zero = c₀ + c₁ x + c₂ x² + …, where x = q(other) - other_zero.

    It holds coordinates only: the joints themselves are constraints of their own. An angle of a joint that turns round
    and round is between -π and π; q may be off by whole turns, x may not, unless the law allows for it.

    Parameters
    ----------
    joint
        The joint that is held, with one degree of freedom.
    other
        The joint it follows, with one degree of freedom too; None if it is held where it is, at zero + c₀.
    polynomial
        c₀, c₁, …
    zero, other_zero
        The coordinates (rad or m) from which the two are measured.
    on, other_on
        Which of the bodies of this constraint, counted from 0, are the first and the second one of each joint:
        ``other_on=(1, 2)`` if the first body of the other joint is the second one of this.
    """

    joint: Jointed
    other: Jointed | None
    polynomial: tuple[float, ...]
    zero: float
    other_zero: float
    on: Pair
    other_on: Pair

    def __init__(
        self,
        joint: Jointed,
        other: Jointed | None = None,
        polynomial: ArrayLike = (0.0, 1.0),
        zero: float = 0.0,
        other_zero: float = 0.0,
        on: Pair = (0, 1),
        other_on: Pair = (2, 3),
    ) -> None:
        for one in (joint,) if other is None else (joint, other):
            if not isinstance(one, Jointed) or (one.joint.nq, one.joint.nv) != (1, 1):
                raise ModelError(f"a joint that is coupled is {one!r}, expected a Jointed with one degree of freedom")
        c = np.atleast_1d(read_floats(polynomial, "the polynomial of a coupling", "finite numbers"))
        if c.ndim != 1 or not c.size or not np.isfinite(c).all():
            raise ModelError(f"the polynomial of a coupling is {polynomial!r}, expected finite numbers c₀, c₁, …")
        if other is None:
            c, other_on = c[:1], on
        for pair in (on, other_on):
            if len(pair) != 2 or min(pair) < 0 or pair[0] == pair[1]:
                raise ModelError(f"a coupled joint is on bodies {pair!r}, expected two different numbers from 0 on")
        object.__setattr__(self, "joint", joint)
        object.__setattr__(self, "other", other)
        object.__setattr__(self, "polynomial", tuple(c.tolist()))
        object.__setattr__(self, "zero", read_number(zero, "the zero of a coupling"))
        object.__setattr__(self, "other_zero", read_number(other_zero, "the other zero of a coupling"))
        object.__setattr__(self, "on", (int(on[0]), int(on[1])))
        object.__setattr__(self, "other_on", (int(other_on[0]), int(other_on[1])))

    fewest = 2
    most = 4
    rows = 1

    @property
    def canonical(self) -> Constraint:
        other = None if self.other is None else self.other.canonical
        still = (0.0,) * len(self.polynomial)
        return Coupled(self.joint.canonical, other, still, on=self.on, other_on=self.other_on)

    @property
    def parameters(self) -> tuple[float, ...]:
        others = () if self.other is None else self.other.parameters
        return (self.zero, self.other_zero, *self.polynomial, *self.joint.parameters, *others)

    def accepts(self, bodies: Sequence[Body]) -> str | None:
        named, wanted = len(bodies) - 1, 1 + max(*self.on, *self.other_on)
        if named != wanted:
            return f"a coupling of joints on bodies {self.on} and {self.other_on} given {named}, expected {wanted}"
        return self.joint.accepts(bodies)

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        start = 2 + len(self.polynomial)
        end = start + len(self.joint.parameters)
        law: Scalar = parameters[2]
        if self.other is not None:
            ends = sides[self.other_on[0]], sides[self.other_on[1]]
            law = polynomial_at(parameters[2:start], self.other.coordinates(parameters[end:], ends)[0] - parameters[1])
        held = self.joint.coordinates(parameters[start:end], (sides[self.on[0]], sides[self.on[1]]))[0]
        error = held - parameters[0] - law
        return [atan2(sin(error), cos(error)) if _comes_round(self.joint.joint) else error]


@lru_cache(maxsize=256)
def _comes_round(joint: Joint) -> bool:
    """Whether a whole turn brings a joint back to where it was."""
    own, one = joint.parameters, joint.canonical
    return abs(float(one.nearest(own, one.transform(own, (2.0 * math.pi,)))[0])) < 1.0
