"""A joint of your own: a wheel that rolls along a line."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import bough
from bough.scalar import Scalar, cos, sin
from bough.spatial import Motion, Transform, Vector, about_y


@dataclass(frozen=True)
class Rolling(bough.joints.Joint):
    """Rolling along x without slipping: q = [angle], the centre moves by radius * angle."""

    radius: float

    nq = 1
    nv = 1

    def transform(self, parameters: Sequence[Scalar], q: Sequence[Scalar]) -> Transform:
        """Placement of the wheel in the joint frame."""
        return Transform(about_y(cos(q[0]), sin(q[0])), Vector(self.radius * q[0], 0.0, 0.0))

    def subspace(self, parameters: Sequence[Scalar], q: Sequence[Scalar]) -> tuple[Motion, ...]:
        """Velocity of the wheel for a unit rate of the angle, in the coordinates of the wheel, which turn with it."""
        forward = Vector(self.radius * cos(q[0]), 0.0, self.radius * sin(q[0]))
        return (Motion(Vector(0.0, 1.0, 0.0), forward),)

    def subspace_rate(
        self, parameters: Sequence[Scalar], q: Sequence[Scalar], v: Sequence[Scalar]
    ) -> tuple[Motion, ...]:
        """How that velocity changes, seen from the wheel."""
        turning = Vector(-self.radius * sin(q[0]) * v[0], 0.0, self.radius * cos(q[0]) * v[0])
        return (Motion(Vector(0.0, 0.0, 0.0), turning),)


# A wheel on a slope of 0.1 rad, which is gravity turned by as much.
slope, radius, mass = 0.1, 0.3, 2.0
inertia = 0.5 * mass * radius**2
builder = bough.Builder("wheel", gravity=(9.81 * np.sin(slope), 0.0, -9.81 * np.cos(slope)))
builder.add("wheel", Rolling(radius), mass=mass, inertia=(0.6 * inertia, inertia, 0.6 * inertia))
model = builder.build()

# Every algorithm knows the joint now. A disc rolls down with 2/3 of the acceleration of a sliding body.
qdd = bough.aba(model, [0.4], [1.0], [0.0])
assert np.isclose(qdd[0] * radius, 2 / 3 * 9.81 * np.sin(slope))
assert np.allclose(bough.crba(model, [0.4]), inertia + mass * radius**2)
print(f"the wheel rolls with {qdd[0] * radius:.3f} m/s²")
