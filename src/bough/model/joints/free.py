"""The free joint: no constraint at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.model.joints.joint import Joint, Scalars, uniform
from bough.model.joints.spherical import random_quaternion
from bough.scalar import Scalar
from bough.spatial import UNIT_MOTIONS, Motion, Quaternion, Transform, Vector, left_jacobian, left_jacobian_inverse

__all__ = ["Free"]


@dataclass(frozen=True)
class Free(Joint):
    """Free motion: q = [x, y, z, qx, qy, qz, qw], v = twist in body coordinates, linear part first."""

    nq = 7
    nv = 6
    quaternions = (3,)

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        return [*X.translation.parts, *Quaternion.of_rotation(X.rotation).parts]

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return Transform(Quaternion.of(q[3:]).rotation, Vector.of(q[:3]))

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return (*UNIT_MOTIONS[3:], *UNIT_MOTIONS[:3])

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

    def integrate(self, parameters: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        # the exponential of SE(3): position moves by R V(ω) v
        rotation, angular = Quaternion.of(q[3:]), Vector.of(v[3:])
        moved = Vector.of(q[:3]) + rotation.rotation.times(left_jacobian(angular, Vector.of(v[:3])))
        return [*moved.parts, *(rotation @ Quaternion.exp(angular)).normalized.parts]

    def rate(self, parameters: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        rotation = Quaternion.of(q[3:])
        return [*rotation.rotation.times(Vector.of(v[:3])).parts, *rotation.rate(Vector.of(v[3:])).parts]

    def difference(self, parameters: Scalars, q0: Scalars, q1: Scalars) -> list[Scalar]:
        rotation = Quaternion.of(q0[3:])
        angular = (rotation.conjugate @ Quaternion.of(q1[3:])).log
        moved = rotation.rotation.transposed_times(Vector.of(q1[:3]) - Vector.of(q0[:3]))
        return [*left_jacobian_inverse(angular, moved).parts, *angular.parts]

    def stretch(self, parameters: Scalars, rest: Scalars, q: Scalars) -> list[Scalar]:
        # towards the place of rest straight on, and not along the screw of `difference`
        rotation = Quaternion.of(q[3:])
        moved = rotation.rotation.transposed_times(Vector.of(q[:3]) - Vector.of(rest[:3]))
        return [*moved.parts, *(Quaternion.of(rest[3:]).conjugate @ rotation).log.parts]

    def random(
        self,
        rng: np.random.Generator,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        size: tuple[int, ...] = (),
    ) -> NDArray[np.float64]:
        place = uniform(rng, lower[:3], upper[:3], (1.0, 1.0, 1.0), size)
        return np.concatenate([place, random_quaternion(rng, size)], axis=-1)
