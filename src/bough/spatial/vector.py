"""Vectors of three scalars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.scalar import Scalar

__all__ = ["UNITS", "ZERO", "Vector"]


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector in three dimensions."""

    x: Scalar
    y: Scalar
    z: Scalar

    @staticmethod
    def of(values: Sequence[Scalar]) -> Vector:
        """From a sequence of three scalars."""
        x, y, z = values
        return Vector(x, y, z)

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Scalar) -> Vector:
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other: Vector) -> Scalar:
        """Inner product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector) -> Vector:
        """Vector product."""
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    @property
    def parts(self) -> tuple[Scalar, Scalar, Scalar]:
        """The three components."""
        return (self.x, self.y, self.z)


ZERO = Vector(0.0, 0.0, 0.0)
UNITS = (Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0))
