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

    Its own configuration and velocity follow from those of its two sides, so it has no part in q and v. It takes 6 - nv
    degrees of freedom away, as rows of the constraint Jacobian: first those of translations, then those of rotations.

    Attributes
    ----------
    name
        Its name; constraints have names of their own.
    joint
        How the successor may move relative to the predecessor: `bough.joints.Spherical` holds two points together,
        `bough.joints.Fixed` two frames.
    predecessor, successor
        The frames of the two bodies it joins: its fixed and its moving side.
    lower, upper, velocity, effort, damping, friction, stiffness, rest
        Its limits and losses, as those of any joint (see `JointEntry`). It has no armature: that would couple bodies
        on different branches in the mass matrix.
    softness, limit_softness, friction_softness
        How softly it holds in a simulation with soft contact, and its limits and friction do.
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
        """How many scalar constraints it stands for."""
        return 6 - self.joint.nv


@dataclass(frozen=True)
class Equality:
    """A law between the coordinates of two joints: q - zero = c₀ + c₁ x + c₂ x² + …, where x = q(other) - other_zero.

    (A `bough.joints.Mimic` joint has such a law too, a linear one, and no coordinate of its own.)

    Attributes
    ----------
    name
        Its name; constraints have names of their own.
    joint
        Name of the joint that is held, with one degree of freedom.
    other
        Name of the joint it follows, with one degree of freedom too; None if it is held where it is, at zero + c₀.
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
        """The same as a constraint that says what must vanish."""
        joints = (self.joint,) if self.other is None else (self.joint, self.other)
        return Tie(self.name, Law(self.polynomial, self.zero, self.other_zero), (), joints, self.softness)


@dataclass(frozen=True)
class Tie:
    """A constraint that says what must vanish, on bodies, frames and joints of a model: one of your own, or a kind.

    Attributes
    ----------
    name
        Its name; constraints have names of their own.
    constraint
        What must vanish: a `bough.maximal.constraints.Constraint`, such as `Skate`, or one of your own.
    bodies
        The bodies and frames that it is on, in the order in which it is given their sides.
    joints
        Names of the joints whose coordinates it looks at; their sides come behind those of bodies.
    softness
        As of other constraints: how softly a simulation with soft contact holds it.
    """

    name: str
    constraint: Vanishing
    bodies: tuple[Attachment, ...]
    joints: tuple[str, ...] = ()
    softness: Softness = SOFT

    @property
    def rows(self) -> int:
        """How many scalar constraints it stands for."""
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
