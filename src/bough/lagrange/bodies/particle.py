"""Points with mass, in the plane and in space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bough.lagrange.attributes import read_mass, read_space
from bough.model.ties.body import Body, Scalars
from bough.scalar import Scalar
from bough.spatial import Vector

__all__ = ["Particle"]


@dataclass(frozen=True, init=False)
class Particle(Body):
    """A point with mass: x = [x y z] in metres (without z in the plane), v its rate.

    Constraints take hold of it at its only point, so their `at` is zero, or an arm that does not turn.

    Parameters
    ----------
    mass
        In kg, positive.
    space
        3, or 2 for a point in the x-y plane.
    """

    kilograms: float
    space: int

    def __init__(self, mass: float = 1.0, space: Literal[2, 3] = 3) -> None:
        object.__setattr__(self, "kilograms", read_mass(mass, "a particle"))
        object.__setattr__(self, "space", read_space(space, "a particle"))

    numbers = ("kilograms",)

    @property
    def nx(self) -> int:
        return self.space

    @property
    def nv(self) -> int:
        return self.space

    def mass(self, parameters: Scalars, x: Scalars) -> Sequence[Scalars]:
        return [[parameters[0] if r == c else 0.0 for c in range(self.space)] for r in range(self.space)]

    def force(self, parameters: Scalars, x: Scalars, v: Scalars, gravity: Vector) -> Scalars:
        return [g * parameters[0] for g in gravity.parts[: self.space]]

    def point(self, parameters: Scalars, x: Scalars, place: Scalars) -> Scalars:
        moved: list[Scalar] = [a + b for a, b in zip(x, place, strict=False)]
        return moved

    def direction(self, parameters: Scalars, x: Scalars, d: Scalars) -> Scalars:
        return list(d[: self.space])
