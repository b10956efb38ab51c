"""A joint turned round: the body it moved carries the body it was on, and its coordinates keep their meaning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.model.joints.axis import Axis
from bough.model.joints.cylindrical import Cylindrical
from bough.model.joints.fixed import Fixed
from bough.model.joints.helical import Helical
from bough.model.joints.joint import Joint, Scalars
from bough.model.joints.mimic import Mimic
from bough.model.joints.prismatic import Prismatic
from bough.model.joints.revolute import Revolute
from bough.scalar import Scalar
from bough.spatial import REST, Motion, Transform

__all__ = ["Reversed", "reverse"]


def reverse(joint: Joint) -> Joint:
    """The joint whose transform at any q is the inverse of that of the given one."""
    match joint:
        case Fixed():
            return joint
        case Revolute():
            return Revolute(_opposite(joint.axis), joint.continuous)
        case Prismatic():
            return Prismatic(_opposite(joint.axis))
        case Helical():
            return Helical(_opposite(joint.axis), joint.pitch)
        case Cylindrical():
            return Cylindrical(_opposite(joint.axis))
        case Mimic():
            return Mimic(reverse(joint.joint), joint.source, joint.ratio, joint.offset)
        case Reversed():
            return joint.joint
        case _:
            return Reversed(joint)


def _opposite(axis: Axis) -> Axis:
    x, y, z = (0.0 - part for part in axis)
    return (x, y, z)


@dataclass(frozen=True)
class Reversed(Joint):
    """A joint seen from its other side: q and v are those of `joint`, its transform is the inverse."""

    joint: Joint

    @property
    def nq(self) -> int:
        return self.joint.nq

    @property
    def nv(self) -> int:
        return self.joint.nv

    @property
    def canonical(self) -> Joint:
        return Reversed(self.joint.canonical)

    @property
    def parameters(self) -> tuple[float, ...]:
        return self.joint.parameters

    @property
    def alignment(self) -> NDArray[np.float64]:
        return self.joint.alignment

    @property
    def quaternions(self) -> tuple[int, ...]:
        return self.joint.quaternions

    @property
    def circles(self) -> tuple[int, ...]:
        return self.joint.circles

    @property
    def reach(self) -> tuple[float, ...]:
        return self.joint.reach

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        return self.joint.nearest(parameters, X.inverse)

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return self.joint.transform(parameters, q).inverse

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        # -X S: the other body moves the other way, seen from where it is
        X = self.joint.transform(parameters, q)
        return tuple(X.to_parent(s) * -1.0 for s in self.joint.subspace(parameters, q))

    def subspace_rate(self, parameters: Scalars, q: Scalars, v: Scalars) -> tuple[Motion, ...]:
        # -X (S v × S + Ṡ): X changes as its body moves
        X, S = self.joint.transform(parameters, q), self.joint.subspace(parameters, q)
        velocity = REST
        for column, rate in zip(S, v, strict=True):
            velocity = velocity + column * rate
        rates = self.joint.subspace_rate(parameters, q, v)
        return tuple(X.to_parent(velocity.cross(s) + r) * -1.0 for s, r in zip(S, rates, strict=True))

    def neutral(self) -> tuple[float, ...]:
        return self.joint.neutral()

    def integrate(self, parameters: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        return self.joint.integrate(parameters, q, v)

    def rate(self, parameters: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        return self.joint.rate(parameters, q, v)

    def difference(self, parameters: Scalars, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return self.joint.difference(parameters, q0, q1)

    def stretch(self, parameters: Scalars, rest: Scalars, q: Scalars) -> list[Scalar]:
        return self.joint.stretch(parameters, rest, q)

    def random(
        self,
        rng: np.random.Generator,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        size: tuple[int, ...] = (),
    ) -> NDArray[np.float64]:
        return self.joint.random(rng, lower, upper, size)
