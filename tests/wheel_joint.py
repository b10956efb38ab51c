"""A joint written outside the package, whose configuration is not a vector."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import bough
from bough.scalar import atan2, cos, sin, sqrt
from bough.spatial import UNIT_MOTIONS, ZERO, Motion, Transform, about_y

__all__ = ["Wheel"]


@dataclass(frozen=True)
class Wheel(bough.joints.Joint):
    """Rotation about y, whose configuration is a point of the unit circle: q = [cos, sin], v = [angular velocity]."""

    nq = 2
    nv = 1

    def transform(self, parameters: Any, q: Any) -> Transform:
        return Transform(about_y(q[0], q[1]), ZERO)

    def subspace(self, parameters: Any, q: Any) -> tuple[Motion, ...]:
        return (UNIT_MOTIONS[1],)

    def neutral(self) -> tuple[float, ...]:
        return (1.0, 0.0)

    def integrate(self, parameters: Any, q: Any, v: Any) -> list[Any]:
        c, s = cos(v[0]), sin(v[0])
        x, y = q[0] * c - q[1] * s, q[1] * c + q[0] * s
        length = sqrt(x * x + y * y)
        return [x / length, y / length]

    def difference(self, parameters: Any, q0: Any, q1: Any) -> list[Any]:
        return [atan2(q0[0] * q1[1] - q0[1] * q1[0], q0[0] * q1[0] + q0[1] * q1[1])]

    def random(self, rng: np.random.Generator, lower: Any, upper: Any, size: tuple[int, ...] = ()) -> Any:
        angle = rng.uniform(-math.pi, math.pi, size)
        return np.stack([np.cos(angle), np.sin(angle)], axis=-1)
