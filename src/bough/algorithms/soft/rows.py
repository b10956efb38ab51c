"""Rows that are not contacts: limits and dry friction of joints, and conditions on several velocities.

What a row lacks further on is what a Newton step asks of it: at x it answers with a force f and a stiffness W, so that
after a way y its force would be f - W y; r = f - W y - f′ is what that is more than the force f′ there. It is exactly
zero where the row follows a straight line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from bough.algorithms.soft.law import Answer, one_sided, rubbing, within
from bough.scalar import Scalar, absolute, both, select

__all__ = ["JointRow", "ServoRow", "WideRow"]

Scalars: TypeAlias = tuple[Scalar, ...]


@dataclass(frozen=True)
class JointRow:
    """A condition on one velocity: a limit, for which `sign` says which side, or dry friction up to `friction`."""

    place: int
    sign: Scalar
    D: Scalar
    reference: Scalar
    friction: Scalar | None = None

    def answer(self, a: Scalar) -> Answer:
        """Force and stiffness at an acceleration."""
        x = a * self.sign - self.reference
        return one_sided(x, self.D) if self.friction is None else rubbing(x, self.D, self.friction)

    def lack(self, a: Scalar, way: Scalar) -> tuple[Scalar, Scalar]:
        """What it lacks after a way from a, and how much stiffer it is there."""
        if self.friction is not None:
            return self._within_bounds(a, way)
        more = self.answer(a + way).W[0][0] - self.answer(a).W[0][0]
        return more * ((a + way) * self.sign - self.reference), more

    def _within_bounds(self, a: Scalar, way: Scalar) -> tuple[Scalar, Scalar]:
        """The same of a force that is straight between bounds."""
        old, new = self.answer(a), self.answer(a + way)
        (W,), (further,) = old.W[0], new.W[0]
        return select(both(W > 0.0, further > 0.0), 0.0, old.f[0] - W * (way * self.sign) - new.f[0]), further - W


@dataclass(frozen=True)
class ServoRow(JointRow):
    """What a force to a target changes by until the end of a step, pull - D a within bounds less pull within bounds."""

    pull: Scalar = 0.0
    most: float = math.inf

    def answer(self, a: Scalar) -> Answer:
        """Force and stiffness at an acceleration."""
        f, bounds = self.pull - self.D * a, (-self.most, self.most)
        stiff = select(absolute(f) < self.most, self.D, 0.0)
        return Answer((within(f, bounds) - within(self.pull, bounds),), ((stiff,),))

    def lack(self, a: Scalar, way: Scalar) -> tuple[Scalar, Scalar]:
        """What it lacks after a way from a, and how much stiffer it is there."""
        return self._within_bounds(a, way)


@dataclass(frozen=True)
class WideRow:
    """A row on several velocities: J (n), stiffness, reference acceleration.

    Of a loop or a law between coordinates it always holds, of a limit it pushes and does not pull (`one_sided`), of dry
    friction its force is at most `friction`.
    """

    J: Scalars
    D: Scalar
    reference: Scalar
    one_sided: bool = False
    friction: float | None = None

    @property
    def bends(self) -> bool:
        """Whether its stiffness depends on where it is."""
        return self.one_sided or self.friction is not None

    def answer(self, along: Scalar) -> tuple[Scalar, Scalar]:
        """Its force and its stiffness at an acceleration J a."""
        x = along - self.reference
        if self.friction is not None:
            found = rubbing(x, self.D, self.friction)
            return found.f[0], found.W[0][0]
        D = select(x < 0.0, self.D, 0.0) if self.one_sided else self.D
        return -(D * x), D

    def lack(self, along: Scalar, way: Scalar) -> tuple[Scalar, Scalar]:
        """What it lacks after a way from J a, and how much stiffer it is there."""
        if not self.bends:
            return 0.0, 0.0
        (f, W), (after, further) = self.answer(along), self.answer(along + way)
        if self.friction is not None:
            return select(both(W > 0.0, further > 0.0), 0.0, f - W * way - after), further - W
        return (further - W) * (along + way - self.reference), further - W
