"""Spatial motions and forces: two dual spaces of six dimensions, kept apart by type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.scalar import Scalar, Symbolic, leaves, part
from bough.spatial.vector import UNITS, ZERO, Vector

__all__ = ["NO_FORCE", "REST", "UNIT_MOTIONS", "Force", "Motion", "unit_directions"]


@dataclass(frozen=True, slots=True)
class Motion:
    """A velocity or an acceleration: angular part, and linear part at the origin of the frame."""

    angular: Vector
    linear: Vector

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Motion) -> Motion:
        return Motion(self.angular - other.angular, self.linear - other.linear)

    def __mul__(self, factor: Scalar) -> Motion:
        return Motion(self.angular * factor, self.linear * factor)

    @part("cross products")
    def cross(self, other: Motion) -> Motion:
        """The rate of change v × m of a motion m that is fixed in a frame moving with v."""
        angular = self.angular.cross(other.angular)
        return Motion(angular, self.angular.cross(other.linear) + self.linear.cross(other.angular))

    @part("cross products")
    def cross_force(self, f: Force) -> Force:
        """The rate of change v ×* f of a force f that is fixed in a frame moving with v."""
        linear = self.angular.cross(f.linear)
        return Force(self.angular.cross(f.angular) + self.linear.cross(f.linear), linear)

    def dot(self, f: Force) -> Scalar:
        """The power of a force on this motion."""
        return self.angular.dot(f.angular) + self.linear.dot(f.linear)


@dataclass(frozen=True, slots=True)
class Force:
    """A force or a momentum: angular part (moment about the origin of the frame) and linear part."""

    angular: Vector
    linear: Vector

    def __add__(self, other: Force) -> Force:
        return Force(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Force) -> Force:
        return Force(self.angular - other.angular, self.linear - other.linear)

    def __mul__(self, factor: Scalar) -> Force:
        return Force(self.angular * factor, self.linear * factor)

    @property
    def parts(self) -> tuple[Scalar, ...]:
        """The six components, angular part first."""
        return (*self.angular.parts, *self.linear.parts)

    @staticmethod
    def of(parts: Sequence[Scalar]) -> Force:
        """From six components, angular part first."""
        return Force(Vector.of(parts[:3]), Vector.of(parts[3:]))


REST = Motion(ZERO, ZERO)
NO_FORCE = Force(ZERO, ZERO)
UNIT_MOTIONS = (*(Motion(u, ZERO) for u in UNITS), *(Motion(ZERO, u) for u in UNITS))
"""The six unit motions: rotations about x, y, z, then translations along x, y, z."""


def unit_directions(S: Sequence[Motion]) -> list[int]:
    """The numbers of the unit motions among the columns of a subspace, as far as these are constant."""
    constant = [s for s in S if not any(isinstance(x, Symbolic) for x in leaves(s))]
    return [k for k, unit in enumerate(UNIT_MOTIONS) if unit in constant]
