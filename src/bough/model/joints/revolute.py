"""The revolute joint: rotation about an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError
from bough.model.joints.axis import Axis, AxisLike, basis_with, read_axis
from bough.model.joints.joint import Joint, Scalars
from bough.reading import truth
from bough.scalar import Scalar, cos, sin
from bough.spatial import UNIT_MOTIONS, ZERO, Motion, Transform, about_z, turn_about_z

__all__ = ["Revolute"]


@dataclass(frozen=True, init=False)
class Revolute(Joint):
    """Rotation about an axis: q = [angle] in rad, v = [angular velocity] in rad/s.

    Parameters
    ----------
    axis
        Direction of the axis in the joint frame: "x", "y", "z", "-x", … or three numbers.
    continuous
        Whether angles that differ by whole turns are the same configuration. If so, `bough.difference` and
        `bough.interpolate` go the short way round, by at most half a turn, as long as the joint has no limits and no
        other joint follows it. Otherwise they use the difference of the angles, including whole turns, as needed for a
        joint with limits or a motor that counts its turns. In both cases q has one angle, which no function wraps;
        `bough.convert.states_to_pinocchio` converts it to Pinocchio's two numbers.
    """

    axis: Axis
    continuous: bool

    def __init__(self, axis: AxisLike = "z", continuous: bool = False) -> None:
        object.__setattr__(self, "axis", read_axis(axis, "the axis of a revolute joint"))
        object.__setattr__(self, "continuous", truth(continuous, "continuous", ModelError))

    nq = 1
    nv = 1

    is_axial = True
    spins = True

    @property
    def circles(self) -> tuple[int, ...]:
        return (0,) if self.continuous else ()

    @property
    def canonical(self) -> Joint:
        return Revolute("z")

    @property
    def alignment(self) -> NDArray[np.float64]:
        return basis_with(self.axis)

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        return [turn_about_z(X.rotation)]

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return Transform(about_z(cos(q[0]), sin(q[0])), ZERO)

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return (UNIT_MOTIONS[2],)
