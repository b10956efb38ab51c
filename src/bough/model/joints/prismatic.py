"""The prismatic joint: translation along an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.model.joints.axis import Axis, AxisLike, basis_with, read_axis
from bough.model.joints.joint import Joint, Scalars
from bough.scalar import Scalar
from bough.spatial import IDENTITY, UNIT_MOTIONS, Motion, Transform, Vector

__all__ = ["Prismatic"]


@dataclass(frozen=True, init=False)
class Prismatic(Joint):
    """Translation along an axis: q = [displacement] in m, v = [velocity] in m/s."""

    axis: Axis

    def __init__(self, axis: AxisLike = "z") -> None:
        object.__setattr__(self, "axis", read_axis(axis, "the axis of a prismatic joint"))

    nq = 1
    nv = 1
    reach = (1.0,)

    is_axial = True

    @property
    def canonical(self) -> Joint:
        return Prismatic("z")

    @property
    def alignment(self) -> NDArray[np.float64]:
        return basis_with(self.axis)

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        return [X.translation.z]

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return Transform(IDENTITY, Vector(0.0, 0.0, q[0]))

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return (UNIT_MOTIONS[5],)
