"""The helical joint: a screw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError
from bough.model.joints.axis import Axis, AxisLike, basis_with, read_axis
from bough.model.joints.joint import Joint, Scalars
from bough.reading import number
from bough.scalar import Scalar, absolute, cos, select, sin
from bough.spatial import UNITS, ZERO, Force, Motion, Transform, Vector, about_z, turn_about_z

__all__ = ["Helical"]

LEAST_PITCH = 1e-9
"""A pitch (m/rad) below this is none."""


@dataclass(frozen=True, init=False)
class Helical(Joint):
    """Rotation about an axis with a translation of `pitch` metres per radian along it: q = [angle] in rad."""

    axis: Axis
    pitch: float

    def __init__(self, axis: AxisLike = "z", pitch: float = 0.0) -> None:
        expected = "a finite number of metres per radian"
        object.__setattr__(self, "axis", read_axis(axis, "the axis of a helical joint"))
        object.__setattr__(self, "pitch", number(pitch, "the pitch of a helical joint", expected, error=ModelError))

    nq = 1
    nv = 1

    is_axial = True

    @property
    def canonical(self) -> Joint:
        return Helical("z", 1.0)

    @property
    def parameters(self) -> tuple[float, ...]:
        return (self.pitch,)

    @property
    def alignment(self) -> NDArray[np.float64]:
        return basis_with(self.axis)

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        # the displacement tells whole turns apart; without pitch there are none to tell
        flat = absolute(parameters[0]) < LEAST_PITCH
        return [select(flat, turn_about_z(X.rotation), X.translation.z / select(flat, 1.0, parameters[0]))]

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return Transform(about_z(cos(q[0]), sin(q[0])), Vector(0.0, 0.0, parameters[0] * q[0]))

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return (Motion(UNITS[2], Vector(0.0, 0.0, parameters[0])),)

    def reactions(self, parameters: Scalars, q: Scalars) -> tuple[Force, ...]:
        x, y, z = UNITS
        along = Force(Vector(0.0, 0.0, -parameters[0]), z)  # no work: as much moment as the screw turns force into
        return (Force(ZERO, x), Force(ZERO, y), along, Force(x, ZERO), Force(y, ZERO))
