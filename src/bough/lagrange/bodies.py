"""Kinds of bodies in maximal coordinates, for `bough.maximal.Linkage`; your own is a subclass of `Body`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

from numpy.typing import ArrayLike

from bough.lagrange.attributes import read_inertia, read_mass, read_number, read_space, read_vector
from bough.model import Free, Planar
from bough.model.ties.body import Body, Scalars
from bough.model.ties.sides import MovesAsJoint, RigidKind
from bough.scalar import Scalar, cos, sin
from bough.spatial import UNIT_MOTIONS, UNITS, Force, RigidInertia, Symmetric, Transform, Vector

__all__ = ["RIGID", "Body", "Particle", "PlanarRigid", "Rigid", "ScaledRigid"]

FREE, PLANAR = Free(), Planar("z")


@dataclass(frozen=True, init=False)
class Particle(Body):
    """A point with mass: x = [x y z] in metres (without z in the plane), v its rate.

    Constraints take hold of it at its only point, so their `at` is zero, or an arm that does not turn.

    Parameters
    ----------
    mass
        In kg, positive.
    space
        3, or 2 for a point in the x-y plane.
    """

    kilograms: float
    space: int

    def __init__(self, mass: float = 1.0, space: Literal[2, 3] = 3) -> None:
        object.__setattr__(self, "kilograms", read_mass(mass, "a particle"))
        object.__setattr__(self, "space", read_space(space, "a particle"))

    numbers = ("kilograms",)
    nx = property(attrgetter("space"))
    nv = property(attrgetter("space"))

    def mass(self, parameters: Scalars, x: Scalars) -> Sequence[Scalars]:
        return [[parameters[0] if r == c else 0.0 for c in range(self.space)] for r in range(self.space)]

    def force(self, parameters: Scalars, x: Scalars, v: Scalars, gravity: Vector) -> Scalars:
        return [g * parameters[0] for g in gravity.parts[: self.space]]

    def point(self, parameters: Scalars, x: Scalars, place: Scalars) -> Scalars:
        moved: list[Scalar] = [a + b for a, b in zip(x, place, strict=False)]
        return moved

    def direction(self, parameters: Scalars, x: Scalars, d: Scalars) -> Scalars:
        return list(d[: self.space])


@dataclass(frozen=True, init=False)
class Rigid(RigidKind, MovesAsJoint):
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
    joint = FREE

    def mass(self, parameters: Scalars, x: Scalars) -> Sequence[Scalars]:
        columns = [_inertia(parameters).times(unit) for unit in (*UNIT_MOTIONS[3:], *UNIT_MOTIONS[:3])]
        return [[*column.linear.parts, *column.angular.parts] for column in columns]

    def force(self, parameters: Scalars, x: Scalars, v: Scalars, gravity: Vector) -> Scalars:
        inertia, twist = _inertia(parameters), self.twist(v)
        g = self.placement(x).rotation.transposed_times(gravity)
        weight = Force(inertia.moment.cross(g), g * inertia.mass)
        total = weight - twist.cross_force(inertia.times(twist))
        return [*total.linear.parts, *total.angular.parts]

    def placement(self, x: Scalars) -> Transform:
        return FREE.transform((), x)


RIGID = Rigid()


def _inertia(p: Scalars) -> RigidInertia:
    return RigidInertia(p[0], Vector.of(p[1:4]), Symmetric(*p[4:10]))


@dataclass(frozen=True, init=False)
class PlanarRigid(MovesAsJoint):
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
        x, y, _ = read_vector(com, "the centre of mass of a planar rigid body", "two finite numbers (metres)", (2,))
        J = read_number(inertia, "the inertia of a planar rigid body", "a positive number (kg m²)", above=0.0)
        object.__setattr__(self, "moments", (m, m * x, m * y, J + m * (x * x + y * y)))

    numbers = ("moments",)
    joint = PLANAR
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

    def point(self, parameters: Scalars, x: Scalars, place: Scalars) -> Scalars:
        turned = self.direction(parameters, x, place)
        return [x[0] + turned[0], x[1] + turned[1]]

    def direction(self, parameters: Scalars, x: Scalars, d: Scalars) -> Scalars:
        c, s = cos(x[2]), sin(x[2])
        return [c * d[0] - s * d[1], s * d[0] + c * d[1]]

    def spin(self, parameters: Scalars, x: Scalars, v: Scalars) -> Vector:
        return Vector(0.0, 0.0, v[2])


@dataclass(frozen=True, init=False)
class ScaledRigid(Body):
    """A rigid body in space with a uniform scale: x = [x y z qx qy qz qw s], v = [twist in its own frame, ds/dt].

    It grows and shrinks: Baraff's example of a degree of freedom that is not rigid.

    Parameters
    ----------
    mass, com, inertia
        As of a `Rigid` body, for the scale 1. The mass is the same at every scale.
    """

    moments: tuple[float, ...]

    def __init__(self, mass: float = 1.0, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = 1.0) -> None:
        object.__setattr__(self, "moments", read_inertia(mass, com, inertia, "a scaled rigid body"))

    # The point ρ of the body is at p + s R ρ and moves, in the axes of the body, with v + s ω × ρ + ṡ ρ. Half the
    # square of that, summed over the mass, is the kinetic energy, which is where the mass matrix comes from. What
    # velocities add to the accelerations of the points is ω × v + s ω × (ω × ρ) + 2 ṡ ω × ρ.

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
        rows.append([*h.parts, 0.0, 0.0, 0.0, (J.xx + J.yy + J.zz) * 0.5])  # the sum of m ρ² over the body
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
        return [*FREE.rate((), x[:7], v[:6]), v[6]]

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
