"""Constraints beside the tree: loops of joints, and couplings of coordinates. They are data: no dynamics function uses
them, and each computes the motion of the tree alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bough.model.joints import Joint
from bough.model.parts import Placement

__all__ = ["Attachment", "Constraint", "Equality", "Loop"]


@dataclass(frozen=True)
class Attachment:
    """A frame on a body: number of the body (0 is the base), and placement in the body frame."""

    body: int
    placement: Placement


@dataclass(frozen=True)
class Loop:
    """A joint that closes a loop. Carried as data: the dynamics functions take no notice of it.

    Attributes
    ----------
    name
        Its name; constraints have names of their own.
    joint
        How the successor may move relative to the predecessor: `bough.Spherical` holds two points together,
        `bough.Fixed` two frames.
    predecessor, successor
        The frames of the two bodies it joins: its fixed and its moving side.
    """

    name: str
    joint: Joint
    predecessor: Attachment
    successor: Attachment


@dataclass(frozen=True)
class Equality:
    """A law between the coordinates of two joints: q - zero = c₀ + c₁ x + c₂ x² + …, where x = q(other) - other_zero.

    Carried as data: the dynamics functions take no notice of it. (A `bough.Mimic` joint is one they do know.)

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
    """

    name: str
    joint: str
    other: str | None
    polynomial: tuple[float, ...]
    zero: float = 0.0
    other_zero: float = 0.0


Constraint: TypeAlias = Loop | Equality
