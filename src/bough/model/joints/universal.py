"""The universal joint: two perpendicular axes that meet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError
from bough.model.joints.axis import Axis, AxisLike, basis_with, read_axis
from bough.model.joints.joint import Joint, Scalars
from bough.scalar import Scalar, atan2, cos, sin
from bough.spatial import REST, UNIT_MOTIONS, UNITS, ZERO, Force, Motion, Transform, Vector, about_x, about_y

__all__ = ["Universal"]


@dataclass(frozen=True, init=False)
class Universal(Joint):
    """Rotations about an axis fixed in the parent, then about an axis fixed in the body: q = [first, second] in rad."""

    axis1: Axis
    axis2: Axis

    def __init__(self, axis1: AxisLike = "x", axis2: AxisLike = "y") -> None:
        first = read_axis(axis1, "the first axis of a universal joint")
        second = read_axis(axis2, "the second axis of a universal joint")
        cosine = float(np.dot(first, second))
        if abs(cosine) > 1e-9:
            raise ModelError(f"the axes of a universal joint are {first} and {second}, expected perpendicular ones")
        object.__setattr__(self, "axis1", first)
        object.__setattr__(self, "axis2", second)

    nq = 2
    nv = 2

    @property
    def canonical(self) -> Joint:
        return Universal("x", "y")

    @property
    def alignment(self) -> NDArray[np.float64]:
        x, y, z = (float(part) for part in np.cross(self.axis1, self.axis2))
        return basis_with(read_axis((x, y, z), "the normal of a universal joint"), self.axis1)

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        x, y, _ = X.rotation.columns
        return [atan2(y.z, y.y), atan2(X.rotation.columns[2].x, x.x)]

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return Transform(about_x(cos(q[0]), sin(q[0])) @ about_y(cos(q[1]), sin(q[1])), ZERO)

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return (Motion(Vector(cos(q[1]), 0.0, sin(q[1])), ZERO), UNIT_MOTIONS[1])

    def subspace_rate(self, parameters: Scalars, q: Scalars, v: Scalars) -> tuple[Motion, ...]:
        return (Motion(Vector(-sin(q[1]) * v[1], 0.0, cos(q[1]) * v[1]), ZERO), REST)

    def reactions(self, parameters: Scalars, q: Scalars) -> tuple[Force, ...]:
        normal = Vector(-sin(q[1]), 0.0, cos(q[1]))  # of both axes
        return (*(Force(ZERO, u) for u in UNITS), Force(normal, ZERO))
