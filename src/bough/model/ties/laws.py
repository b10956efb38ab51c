"""Laws between the coordinates of joints of a model."""

from __future__ import annotations

from dataclasses import dataclass

from bough.model.ties.body import Scalars
from bough.model.ties.constraint import Constraint, Sides
from bough.scalar import Scalar

__all__ = ["Law", "polynomial_at"]


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
