"""The spherical joint: free rotation about a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.model.joints.joint import Joint, Scalars
from bough.scalar import Scalar
from bough.spatial import UNIT_MOTIONS, ZERO, Motion, Quaternion, Transform, Vector

__all__ = ["Spherical", "random_quaternion"]


@dataclass(frozen=True)
class Spherical(Joint):
    """Rotation about a point: q = [x, y, z, w] a unit quaternion, v = angular velocity in body coordinates (rad/s)."""

    nq = 4
    nv = 3
    quaternions = (0,)

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        return Quaternion.of_rotation(X.rotation).parts

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return Transform(Quaternion.of(q).rotation, ZERO)

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return UNIT_MOTIONS[:3]

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 1.0)

    def integrate(self, parameters: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        return (Quaternion.of(q) @ Quaternion.exp(Vector.of(v))).normalized.parts

    def rate(self, parameters: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        return Quaternion.of(q).rate(Vector.of(v)).parts

    def difference(self, parameters: Scalars, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return list((Quaternion.of(q0).conjugate @ Quaternion.of(q1)).log.parts)

    def random(
        self,
        rng: np.random.Generator,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        size: tuple[int, ...] = (),
    ) -> NDArray[np.float64]:
        return random_quaternion(rng, size)


def random_quaternion(rng: np.random.Generator, size: tuple[int, ...]) -> NDArray[np.float64]:
    """Rotations (*size, 4) drawn uniformly."""
    x = rng.normal(size=(*size, 4))
    return np.asarray(x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True)))
