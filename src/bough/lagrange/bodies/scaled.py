"""A rigid body that grows and shrinks: Baraff's example of a degree of freedom that is not rigid.

The point ρ of the body is at p + s R ρ and moves, in the axes of the body, with v + s ω × ρ + ṡ ρ. Half the square of
that, summed over the mass, is the kinetic energy, which is where the mass matrix comes from. What velocities add to the
accelerations of the points is ω × v + s ω × (ω × ρ) + 2 ṡ ω × ρ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from bough.lagrange.attributes import read_inertia
from bough.lagrange.bodies.rigid import FREE, quaternion_rate
from bough.model.ties.body import Body, Scalars
from bough.scalar import Scalar
from bough.spatial import UNITS, Quaternion, Symmetric, Vector

__all__ = ["ScaledRigid"]


@dataclass(frozen=True, init=False)
class ScaledRigid(Body):
    """A rigid body in space with a uniform scale: x = [x y z qx qy qz qw s], v = [twist in its own frame, ds/dt].

    Parameters
    ----------
    mass, com, inertia
        As of a `Rigid` body, for the scale 1. The mass is the same at every scale.
    """

    moments: tuple[float, ...]

    def __init__(self, mass: float = 1.0, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = 1.0) -> None:
        object.__setattr__(self, "moments", read_inertia(mass, com, inertia, "a scaled rigid body"))

    numbers = ("moments",)
    nx = 8
    nv = 7
    quaternions = (3,)

    def neutral(self) -> tuple[float, ...]:
        return (*FREE.neutral(), 1.0)

    def mass(self, parameters: Scalars, x: Scalars) -> Sequence[Scalars]:
        m, h, J, s = parameters[0], Vector.of(parameters[1:4]), Symmetric(*parameters[4:10]), x[7]
        rows: list[list[Scalar]] = []
        for unit in UNITS:  # what a linear unit velocity has of linear, angular and scaling momentum
            rows.append([*(unit * m).parts, *(h.cross(unit) * s).parts, h.dot(unit)])
        for unit in UNITS:
            rows.append([*(unit.cross(h) * s).parts, *(J.times(unit) * (s * s)).parts, 0.0])
        rows.append([*h.parts, 0.0, 0.0, 0.0, _trace(J)])
        return rows

    def force(self, parameters: Scalars, x: Scalars, v: Scalars, gravity: Vector) -> Scalars:
        m, h, J, s = parameters[0], Vector.of(parameters[1:4]), Symmetric(*parameters[4:10]), x[7]
        linear, spin, growth = Vector.of(v[:3]), Vector.of(v[3:6]), v[6]
        # every point has the acceleration -a - s ω × (ω × ρ) - 2 ṡ ω × ρ, with a the same for all
        a = FREE.transform((), x[:7]).rotation.transposed_times(gravity) - spin.cross(linear)
        moment = J.times(spin)
        f = a * m - spin.cross(spin.cross(h)) * s - spin.cross(h) * (2.0 * growth)
        n = h.cross(a) * s - spin.cross(moment) * (s * s) - moment * (2.0 * (s * growth))
        return [*f.parts, *n.parts, h.dot(a) + s * spin.dot(moment)]

    def rate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        turning = quaternion_rate(Quaternion.of(x[3:7]), Vector.of(v[3:6]))
        return [*self.direction(parameters, x, v[:3]), *turning, v[6]]

    def integrate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        return [*FREE.integrate((), x[:7], v[:6]), x[7] + v[6]]

    def point(self, parameters: Scalars, x: Scalars, place: Scalars) -> Scalars:
        X = FREE.transform((), x[:7])
        return (X.rotation.times(Vector.of(place)) * x[7] + X.translation).parts

    def place(self, parameters: Scalars, x: Scalars, position: Scalars) -> Scalars:
        return [d / x[7] for d in super().place(parameters, x, position)]

    def direction(self, parameters: Scalars, x: Scalars, d: Scalars) -> Scalars:
        return FREE.transform((), x[:7]).rotation.times(Vector.of(d)).parts

    def spin(self, parameters: Scalars, x: Scalars, v: Scalars) -> Vector:
        return Vector.of(self.direction(parameters, x, v[3:6]))


def _trace(J: Symmetric) -> Scalar:
    """The sum of m ρ² over the body, half the trace of its inertia."""
    return (J.xx + J.yy + J.zz) * 0.5
