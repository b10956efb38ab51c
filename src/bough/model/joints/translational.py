"""The translational joint: free translation without rotation."""

from __future__ import annotations

from dataclasses import dataclass

from bough.model.joints.joint import Joint, Scalars
from bough.scalar import Scalar
from bough.spatial import IDENTITY, UNIT_MOTIONS, Motion, Transform, Vector

__all__ = ["Translational"]


@dataclass(frozen=True)
class Translational(Joint):
    """Translation in three directions: q = [x, y, z] in m, v = its rate."""

    nq = 3
    nv = 3
    reach = (1.0, 1.0, 1.0)

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        return list(X.translation.parts)

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return Transform(IDENTITY, Vector.of(q))

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return UNIT_MOTIONS[3:]
