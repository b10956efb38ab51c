"""The planar joint: motion in a plane, the x-y plane of the joint frame unless said otherwise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.model.joints.axis import Axis, AxisLike, basis_with, read_axis
from bough.model.joints.joint import Joint, Scalars
from bough.scalar import Scalar, absolute, cos, select, sin
from bough.spatial import UNIT_MOTIONS, Motion, Transform, Vector, about_z, short_way, turn_about_z

__all__ = ["Planar"]


@dataclass(frozen=True, init=False)
class Planar(Joint):
    """Motion in a plane: q = [x, y, angle], v = [vx, vy, angular velocity] in body coordinates.

    For a normal other than z, x and y are along two directions in the plane that form a right-handed frame with the
    normal: the columns of `alignment`. `bough.difference` and `bough.interpolate` turn by at most half a turn, along
    the arc of constant velocity in body coordinates. No function wraps the angle.

    Parameters
    ----------
    axis
        The normal of the plane in the joint frame: "x", "y", "z", "-x", … or three numbers.
    """

    axis: Axis

    def __init__(self, axis: AxisLike = "z") -> None:
        object.__setattr__(self, "axis", read_axis(axis, "the normal of a planar joint"))

    nq = 3
    nv = 3
    reach = (1.0, 1.0, math.pi)

    @property
    def canonical(self) -> Joint:
        return Planar("z")

    @property
    def alignment(self) -> NDArray[np.float64]:
        return basis_with(self.axis)

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        return [X.translation.x, X.translation.y, turn_about_z(X.rotation)]

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return Transform(about_z(cos(q[2]), sin(q[2])), Vector(q[0], q[1], 0.0))

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return (UNIT_MOTIONS[3], UNIT_MOTIONS[4], UNIT_MOTIONS[2])

    def integrate(self, parameters: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        # the exponential of SE(2): position moves by R(θ) (a, b)
        a, b = _arc(v[2])
        x, y = a * v[0] - b * v[1], b * v[0] + a * v[1]
        c, s = cos(q[2]), sin(q[2])
        return [q[0] + (c * x - s * y), q[1] + (s * x + c * y), q[2] + v[2]]

    def difference(self, parameters: Scalars, q0: Scalars, q1: Scalars) -> list[Scalar]:
        angle = short_way(q1[2] - q0[2])
        a, b = _arc(angle)
        c, s = cos(q0[2]), sin(q0[2])
        dx, dy = q1[0] - q0[0], q1[1] - q0[1]
        x, y = c * dx + s * dy, c * dy - s * dx
        square = a * a + b * b
        return [(a * x + b * y) / square, (a * y - b * x) / square, angle]

    def stretch(self, parameters: Scalars, rest: Scalars, q: Scalars) -> list[Scalar]:
        # towards the place of rest straight on, and not along the arc of `difference`
        c, s, dx, dy = cos(q[2]), sin(q[2]), q[0] - rest[0], q[1] - rest[1]
        return [c * dx + s * dy, c * dy - s * dx, q[2] - rest[2]]


def _arc(angle: Scalar) -> tuple[Scalar, Scalar]:
    """sin(θ)/θ and (1 - cos(θ))/θ, also at zero; the series hold for derivatives too, which cancel near it."""
    small = absolute(angle) < 0.1
    safe = select(small, 1.0, angle)
    half = safe * 0.5
    x = angle * angle
    sinc = 1.0 - x * (1.0 / 6.0 - x * (1.0 / 120.0 - x * (1.0 / 5040.0 - x * (1.0 / 362880.0))))
    other = angle * (0.5 - x * (1.0 / 24.0 - x * (1.0 / 720.0 - x * (1.0 / 40320.0 - x * (1.0 / 3628800.0)))))
    return select(small, sinc, sin(safe) / safe), select(small, other, sin(half) * sin(half) / half)
