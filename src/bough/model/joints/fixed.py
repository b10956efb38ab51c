"""The fixed joint: no motion. A body on a fixed joint is merged into its parent and kept as a frame."""

from __future__ import annotations

from dataclasses import dataclass

from bough.model.joints.joint import Joint, Scalars
from bough.scalar import Scalar
from bough.spatial import STAY, Motion, Transform

__all__ = ["Fixed"]


@dataclass(frozen=True)
class Fixed(Joint):
    """No motion: nq = nv = 0. The builder merges the two bodies."""

    nq = 0
    nv = 0

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        return []

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return STAY

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return ()
