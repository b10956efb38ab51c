"""The cylindrical joint: rotation about an axis and, independently, translation along it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.model.joints.axis import Axis, AxisLike, basis_with, read_axis
from bough.model.joints.joint import Joint, Scalars
from bough.scalar import Scalar, cos, sin
from bough.spatial import UNIT_MOTIONS, Motion, Transform, Vector, about_z, turn_about_z

__all__ = ["Cylindrical"]


@dataclass(frozen=True, init=False)
class Cylindrical(Joint):
    """Rotation about and translation along one axis: q = [angle, displacement], v = its rate."""

    axis: Axis

    def __init__(self, axis: AxisLike = "z") -> None:
        object.__setattr__(self, "axis", read_axis(axis, "the axis of a cylindrical joint"))

    nq = 2
    nv = 2
    reach = (math.pi, 1.0)

    is_axial = True

    @property
    def canonical(self) -> Joint:
        return Cylindrical("z")

    @property
    def alignment(self) -> NDArray[np.float64]:
        return basis_with(self.axis)

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        return [turn_about_z(X.rotation), X.translation.z]

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return Transform(about_z(cos(q[0]), sin(q[0])), Vector(0.0, 0.0, q[1]))

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return (UNIT_MOTIONS[2], UNIT_MOTIONS[5])
