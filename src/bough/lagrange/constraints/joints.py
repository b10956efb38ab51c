"""Joints as constraints between two rigid bodies in space, as those that close loops (`algorithms/loops.py`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.lagrange.attributes import ORIGIN
from bough.model import Joint, Mimic, Placement
from bough.model.arguments import FINITE, read_placement, require_joint, spread
from bough.model.joints.closing import Closure, least_squares
from bough.model.ties.body import Body, Scalars, World
from bough.model.ties.constraint import Constraint, Side, Sides
from bough.model.ties.sides import RigidKind
from bough.spatial import REST, STAY, Matrix, Motion, Transform, Vector

__all__ = ["Jointed", "placement_of", "twist_of"]


@dataclass(frozen=True, init=False)
class Jointed(Constraint):
    """The second body moves relative to the first as a joint allows; both are rigid bodies in space, or the world.

    Rows are along the axes of the joint's moving side: translations (m), then rotations (rad), less those it allows.

    Parameters
    ----------
    joint
        Any joint of bough but `Mimic`, or one of your own; `bough.joints.Fixed()` is a weld.
    at, rotation
        Placement of the joint's fixed side in the first body: position (m) and (3, 3) rotation.
    to, to_rotation
        Placement of the joint's moving side in the second body.
    armature
        Inertia that moves with each coordinate of the joint (kg m² or kg), such as that of geared rotors: one number,
        or one for each. There is one more row for each then, the multiplier of which is the force that the armature
        takes, divided by the root of the armature.
    """

    joint: Joint
    at: Placement
    to: Placement
    armature: tuple[float, ...]

    def __init__(
        self,
        joint: Joint,
        at: ArrayLike | Placement = ORIGIN,
        rotation: ArrayLike | None = None,
        to: ArrayLike | Placement = ORIGIN,
        to_rotation: ArrayLike | None = None,
        armature: ArrayLike = 0.0,
    ) -> None:
        require_joint(joint, "a joint between bodies")
        if isinstance(joint, Mimic):
            raise ModelError(f"the joint between bodies is {joint!r}, expected one with a motion of its own")
        object.__setattr__(self, "joint", joint)
        object.__setattr__(self, "at", read_placement(at, None, rotation, "the joint's fixed side"))
        object.__setattr__(self, "to", read_placement(to, None, to_rotation, "the joint's moving side"))
        rotors = spread(armature, joint.nv, "the armature of a joint between bodies", FINITE)
        object.__setattr__(self, "armature", rotors if any(rotors) else ())

    fewest = 2

    @property
    def rows(self) -> int:
        return 6 - self.joint.nv + self.inertial

    @property
    def inertial(self) -> int:  # type: ignore[override]
        return len(self.armature)

    @property
    def canonical(self) -> Jointed:
        return _canonical(self.joint.canonical, bool(self.armature))

    @property
    def parameters(self) -> tuple[float, ...]:
        ends = [end.then(_turn(self.joint)) for end in (self.at, self.to)]
        numbers = [k for end in ends for k in (*np.ravel(end.rotation).tolist(), *end.origin)]
        return (*self.joint.parameters, *numbers, *(math.sqrt(rotor) for rotor in self.armature))

    def accepts(self, bodies: Sequence[Body]) -> str | None:
        unfit = [body for body in bodies if not isinstance(body, RigidKind | World)]
        return f"a joint on {unfit[0]!r}, expected rigid bodies in space, or the world" if unfit else None

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        seen = self.closure(parameters, sides)
        return [seen.error.dot(force) for force in seen.reactions]

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        seen = self.closure(parameters, sides)
        return self._rows(parameters, seen, seen.V)

    def bias(self, parameters: Scalars, sides: Sides) -> Scalars:
        seen = self.closure(parameters, sides)
        return self._rows(parameters, seen, seen.turning)

    def _rows(self, parameters: Scalars, seen: Closure, motion: Motion) -> Scalars:
        """What of a motion the joint resists, then what its coordinates say of it, times the roots of the armature."""
        roots = parameters[len(parameters) - self.inertial :]
        along = least_squares(seen.subspace, motion) if self.armature else []
        return [motion.dot(force) for force in seen.reactions] + [a * b for a, b in zip(roots, along, strict=True)]

    def coordinates(self, parameters: Scalars, sides: Sides) -> Scalars:
        """The coordinates of the joint."""
        return self.closure(parameters, sides).x

    def closure(self, parameters: Scalars, sides: Sides) -> Closure:
        """The joint where the two bodies are."""
        count = len(parameters) - 24 - self.inertial
        first, second = _end(parameters[count : count + 12]), _end(parameters[count + 12 : count + 24])
        X = placement_of(sides[0]).then(first).inverse.then(placement_of(sides[1]).then(second))
        carried = X.to_child(first.to_child(twist_of(sides[0])))
        return Closure.of(self.joint.canonical, parameters[:count], X, carried, second.to_child(twist_of(sides[1])))


@lru_cache(maxsize=256)
def _canonical(joint: Joint, geared: bool) -> Jointed:
    return Jointed(joint, armature=1.0 if geared else 0.0)


@lru_cache(maxsize=256)
def _turn(joint: Joint) -> Placement:
    """Where the axes of a canonical joint are in those of a joint."""
    return Placement.of(joint.alignment, ORIGIN, "the axes of a joint")


def _end(numbers: Scalars) -> Transform:
    R = Matrix.of_rows([numbers[0:3], numbers[3:6], numbers[6:9]])
    return Transform(R, Vector.of(numbers[9:12]))


def placement_of(side: Side) -> Transform:
    """Where a rigid body, or the world, is in the world."""
    return side.body.placement(side.x) if isinstance(side.body, RigidKind) else STAY


def twist_of(side: Side) -> Motion:
    """The velocity of a rigid body, or of the world, in its own frame."""
    return side.body.twist(side.v) if isinstance(side.body, RigidKind) else REST
