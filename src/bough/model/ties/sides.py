"""What constraints on a model act on: bodies and frames, which have points, and joints, which have coordinates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from bough.model.joints import Joint
from bough.model.ties.body import Body, Scalars
from bough.scalar import Scalar
from bough.spatial import Matrix, Motion, Transform, Vector

__all__ = ["FRAME", "FrameOfModel", "JointOfModel", "MovesAsJoint", "RigidKind", "numbers_of"]


class RigidKind(Body):
    """A body whose points keep their distances: it has a placement and a twist, and points, directions and spin."""

    nv = 6

    @abstractmethod
    def placement(self, x: Scalars) -> Transform:
        """Where the body is in the world."""

    @staticmethod
    def twist(v: Scalars) -> Motion:
        """The velocity in its own frame."""
        return Motion(Vector.of(v[3:6]), Vector.of(v[:3]))

    def point(self, parameters: Scalars, x: Scalars, place: Scalars) -> Scalars:
        X = self.placement(x)
        return (X.rotation.times(Vector.of(place)) + X.translation).parts

    def direction(self, parameters: Scalars, x: Scalars, d: Scalars) -> Scalars:
        return self.placement(x).rotation.times(Vector.of(d)).parts

    def spin(self, parameters: Scalars, x: Scalars, v: Scalars) -> Vector:
        return self.placement(x).rotation.times(self.twist(v).angular)


class MovesAsJoint(Body):
    """What moves as a joint does: its position is the configuration of that, its velocity those of the joint."""

    joint: Joint

    @property
    def nx(self) -> int:
        return self.joint.nq

    @property
    def nv(self) -> int:
        return self.joint.nv

    @property
    def quaternions(self) -> tuple[int, ...]:
        return self.joint.quaternions

    def neutral(self) -> tuple[float, ...]:
        return tuple(self.joint.neutral())

    def rate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        return self.joint.canonical.rate(parameters, x, v)

    def integrate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        return self.joint.canonical.integrate(parameters, x, v)


class WithoutInertia(Body):
    """What moves with a model, which knows its inertia."""

    def mass(self, parameters: Scalars, x: Scalars) -> Sequence[Scalars]:
        self._refuse("mass of its own")

    def force(self, parameters: Scalars, x: Scalars, v: Scalars, gravity: Vector) -> Scalars:
        self._refuse("force of its own")


class FrameOfModel(RigidKind, WithoutInertia):
    """A body or frame of a model: x is its rotation, column by column, and its origin (12); v as that of a free joint.

    A rotation matrix is what a tree of joints gives; a quaternion would have to be made of it, and a matrix of that.
    """

    nx = 12

    def neutral(self) -> tuple[float, ...]:
        return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)

    def placement(self, x: Scalars) -> Transform:
        return Transform(Matrix(Vector.of(x[:3]), Vector.of(x[3:6]), Vector.of(x[6:9])), Vector.of(x[9:12]))

    def rate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        R, w, u = self.placement(x).rotation, Vector.of(v[3:6]), Vector.of(v[:3])
        turning = (Vector(0.0, w.z, -w.y), Vector(-w.z, 0.0, w.x), Vector(w.y, -w.x, 0.0))  # ω × each axis
        return [*(k for d in turning for k in R.times(d).parts), *R.times(u).parts]

    def integrate(self, parameters: Scalars, x: Scalars, v: Scalars) -> Scalars:
        return numbers_of(self.placement(x).then(Transform.exp(self.twist(v))))

    def __repr__(self) -> str:
        return "a body or frame of a model"


FRAME = FrameOfModel()


def numbers_of(X: Transform) -> list[Scalar]:
    """The x of a frame that is placed in the world."""
    return [*(k for column in X.rotation.columns for k in column.parts), *X.translation.parts]


@dataclass(frozen=True)
class JointOfModel(WithoutInertia, MovesAsJoint):
    """A joint of a model: x is its part of q, v its part of v. It has no points."""

    joint: Joint

    @property
    def canonical(self) -> JointOfModel:
        return JointOfModel(self.joint.canonical)

    @property
    def parameters(self) -> tuple[float, ...]:
        return tuple(self.joint.parameters)
