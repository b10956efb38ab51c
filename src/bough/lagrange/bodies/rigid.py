"""Rigid bodies in space and in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.lagrange.attributes import read_inertia, read_mass
from bough.model import Free, Planar
from bough.model.joints.reading import read_floats
from bough.model.ties.body import Body, Scalars
from bough.model.ties.sides import RigidKind
from bough.scalar import Scalar, cos, sin
from bough.spatial import UNIT_MOTIONS, Force, Quaternion, RigidInertia, Symmetric, Transform, Vector

__all__ = ["PlanarRigid", "Rigid", "quaternion_rate"]

FREE, PLANAR = Free(), Planar("z")


@dataclass(frozen=True, init=False)
class Rigid(RigidKind):
    """A rigid body in space: x = [x y z qx qy qz qw], v = twist in its own frame, linear part first (as a free joint).

    Parameters
    ----------
    mass, com, inertia
        Mass (kg), centre of mass (m, body frame), and inertia about the centre of mass (kg m²): a number, three
        principal moments or a symmetric (3, 3) matrix. All moments must be positive.
    """

    moments: tuple[float, ...]

    def __init__(self, mass: float = 1.0, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = 1.0) -> None:
        object.__setattr__(self, "moments", read_inertia(mass, com, inertia, "a rigid body"))

    numbers = ("moments",)
    nx = 7
    quaternions = (3,)

    def neutral(self) -> tuple[float, ...]:
        return FREE.neutral()

    def mass(self, parameters: Scalars, x: Scalars) -> Sequence[Scalars]:
        return self.block(parameters)

    @staticmethod
    def block(moments: Scalars) -> Sequence[Scalars]:
        """The spatial inertia, linear part first, from mass, first moment and inertia about the origin."""
        inertia = _inertia(moments)
        columns = [inertia.times(unit) for unit in (*UNIT_MOTIONS[3:], *UNIT_MOTIONS[:3])]
        return [[*column.linear.parts, *column.angular.parts] for column in columns]

    def force(self, parameters: Scalars, x: Scalars, v: Scalars, gravity: Vector) -> Scalars:
        inertia, twist = _inertia(parameters), self.twist(v)
        g = self.placement(x).rotation.transposed_times(gravity)
        weight = Force(inertia.moment.cross(g), g * inertia.mass)
        total = weight - twist.cross_force(inertia.times(twist))
        return [*total.linear.parts, *total.angular.parts]

    def rate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        twist = self.twist(v)
        turning = quaternion_rate(Quaternion.of(x[3:7]), twist.angular)
        return [*self.placement(x).rotation.times(twist.linear).parts, *turning]

    def integrate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        return FREE.integrate((), x, v)

    def placement(self, x: Scalars) -> Transform:
        return FREE.transform((), x)


def _inertia(p: Scalars) -> RigidInertia:
    return RigidInertia(p[0], Vector.of(p[1:4]), Symmetric(*p[4:10]))


def quaternion_rate(q: Quaternion, spin: Vector) -> list[Scalar]:
    """The rates of a quaternion under an angular velocity in axes of the body: q ω / 2."""
    return (q @ Quaternion(spin.x * 0.5, spin.y * 0.5, spin.z * 0.5, 0.0)).parts


@dataclass(frozen=True, init=False)
class PlanarRigid(Body):
    """A rigid body in the x-y plane: x = [x y angle], v = [vx vy ω] in its own frame (as a planar joint).

    Gravity acts by its components along x and y.

    Parameters
    ----------
    mass, com, inertia
        Mass (kg), centre of mass (m, two numbers, body frame) and moment of inertia about it (kg m²), both positive.
    """

    moments: tuple[float, ...]

    def __init__(self, mass: float = 1.0, com: ArrayLike = (0.0, 0.0), inertia: float = 1.0) -> None:
        m = read_mass(mass, "a planar rigid body")
        c = read_floats(com, "the centre of mass of a planar rigid body", "two finite numbers (metres)")
        J = read_floats(inertia, "the inertia of a planar rigid body", "a positive number (kg m²)")
        if c.shape != (2,) or not np.isfinite(c).all():
            raise ModelError(f"the centre of mass of a planar rigid body is {com!r}, expected two finite numbers (m)")
        if J.shape != () or not (np.isfinite(J) and J > 0.0):
            raise ModelError(f"the inertia of a planar rigid body is {inertia!r}, expected a positive number (kg m²)")
        moments = (m, *(m * float(x) for x in c), float(J) + m * float(c @ c))
        object.__setattr__(self, "moments", moments)

    numbers = ("moments",)
    nx = 3
    nv = 3
    space = 2

    def mass(self, parameters: Scalars, x: Scalars) -> Sequence[Scalars]:
        m, hx, hy, J = parameters
        return [[m, 0.0, -hy], [0.0, m, hx], [-hy, hx, J]]

    def force(self, parameters: Scalars, x: Scalars, v: Scalars, gravity: Vector) -> Scalars:
        m, hx, hy, _ = parameters
        c, s = cos(x[2]), sin(x[2])
        gx, gy = c * gravity.x + s * gravity.y, c * gravity.y - s * gravity.x
        px, py = m * v[0] - hy * v[2], m * v[1] + hx * v[2]  # momentum
        return [m * gx + v[2] * py, m * gy - v[2] * px, (hx * gy - hy * gx) - (v[0] * py - v[1] * px)]

    def rate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        return [*self.direction(parameters, x, v[:2]), v[2]]

    def integrate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        return PLANAR.integrate((), x, v)

    def point(self, parameters: Scalars, x: Scalars, place: Scalars) -> Scalars:
        turned = self.direction(parameters, x, place)
        return [x[0] + turned[0], x[1] + turned[1]]

    def direction(self, parameters: Scalars, x: Scalars, d: Scalars) -> Scalars:
        c, s = cos(x[2]), sin(x[2])
        return [c * d[0] - s * d[1], s * d[0] + c * d[1]]

    def spin(self, parameters: Scalars, x: Scalars, v: Scalars) -> Vector:
        return Vector(0.0, 0.0, v[2])
