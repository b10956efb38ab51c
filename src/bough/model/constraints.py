"""Constraints beside the tree: loops of joints, couplings of coordinates, and whatever else must vanish.

`forward_dynamics`, `inverse_dynamics` and the functions of loops and contact heed them; `aba`, `rnea`, `crba` and the
rest compute the motion of the tree alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bough.model.joints import Joint
from bough.model.parts import HERE, Placement
from bough.model.surface import SOFT, Softness
from bough.model.ties.constraint import Constraint as Vanishing
from bough.model.ties.constraint import Law
from bough.spatial import Matrix, Transform, Vector

__all__ = ["Attachment", "Constraint", "Equality", "Loop", "Tie", "misfit"]


@dataclass(frozen=True)
class Attachment:
    """A frame on a body: number of the body (0 is the base), and placement in the body frame."""

    body: int
    placement: Placement

    @property
    def is_world(self) -> bool:
        """Whether it is the base frame itself."""
        return self.body == 0 and self.placement == HERE


@dataclass(frozen=True)
class Loop:
    """A joint that closes a loop.

    Its configuration and velocity follow from those of its two sides, so it has no entries in q and v. It adds 6 - nv
    rows to the constraint Jacobian: first translations, then rotations.

    Attributes
    ----------
    name
        Its name; constraints have names of their own.
    joint
        Allowed motion of the successor relative to the predecessor: `bough.joints.Spherical` connects two points,
        `bough.joints.Fixed` two frames.
    predecessor, successor
        The frames of the two bodies that it connects: its fixed side and its moving side.
    lower, upper, velocity, effort, damping, friction, stiffness, rest
        Limits and losses, as for other joints (see `JointEntry`). A loop joint has no armature, because it would couple
        bodies of different branches in the mass matrix.
    softness, limit_softness, friction_softness
        Softness of the loop, of its limits and of its friction in a simulation with soft contact.
    """

    name: str
    joint: Joint
    predecessor: Attachment
    successor: Attachment
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]
    damping: tuple[float, ...]
    friction: tuple[float, ...]
    stiffness: tuple[float, ...]
    rest: tuple[float, ...]
    softness: Softness = SOFT
    limit_softness: Softness = SOFT
    friction_softness: Softness = SOFT

    @property
    def rows(self) -> int:
        """Number of scalar constraints."""
        return 6 - self.joint.nv


@dataclass(frozen=True)
class Equality:
    """A law between the coordinates of two joints: q - zero = c₀ + c₁ x + c₂ x² + …, where x = q(other) - other_zero.

    A `bough.joints.Mimic` joint also follows a (linear) law, but has no coordinate of its own.

    Attributes
    ----------
    name
        Its name; constraints have names of their own.
    joint
        Name of the constrained joint, which has one degree of freedom.
    other
        Name of the joint that it follows, which has one degree of freedom; None: constant, at zero + c₀.
    polynomial
        c₀, c₁, …
    zero, other_zero
        The coordinates (rad or m) from which the two are measured.
    softness
        How softly it holds in a simulation with soft contact.
    """

    name: str
    joint: str
    other: str | None
    polynomial: tuple[float, ...]
    zero: float = 0.0
    other_zero: float = 0.0
    softness: Softness = SOFT

    @property
    def rows(self) -> int:
        """One scalar constraint."""
        return 1

    @property
    def tie(self) -> Tie:
        """The same law as a `Tie`."""
        joints = (self.joint,) if self.other is None else (self.joint, self.other)
        return Tie(self.name, Law(self.polynomial, self.zero, self.other_zero), (), joints, self.softness)


@dataclass(frozen=True)
class Tie:
    """A constraint that computes what must vanish, on bodies, frames and joints of a model.

    Attributes
    ----------
    name
        Its name; constraints have names of their own.
    constraint
        The constraint: a `bough.maximal.constraints.Constraint`, such as `Skate`, or your own.
    bodies
        The bodies and frames, in the order of the sides that the constraint receives.
    joints
        Names of the joints whose coordinates it uses. Their sides come after those of the bodies.
    softness
        Softness in a simulation with soft contact.
    """

    name: str
    constraint: Vanishing
    bodies: tuple[Attachment, ...]
    joints: tuple[str, ...] = ()
    softness: Softness = SOFT

    @property
    def rows(self) -> int:
        """Number of scalar constraints."""
        return self.constraint.rows

    @property
    def tie(self) -> Tie:
        """Itself."""
        return self


Constraint: TypeAlias = Loop | Equality | Tie


def misfit(joint: Joint, X: Placement) -> float:
    """How far a placement of one side of a joint in the other is from those that the joint allows (m or rad)."""
    turn = joint.alignment
    R, p = turn.T @ X.matrix @ turn, turn.T @ X.vector
    place = Transform(Matrix.of_rows(R.tolist()), Vector.of(p.tolist()))
    nearest = [float(x) for x in joint.canonical.nearest(joint.parameters, place)]
    there = Placement.by_joint(joint, nearest)
    return float(max(np.abs(there.matrix - X.matrix).max(), np.abs(there.vector - X.vector).max()))
