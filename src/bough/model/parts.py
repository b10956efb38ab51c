"""What a model is made of: bodies, frames, and joints with their limits."""

from __future__ import annotations

from dataclasses import dataclass

from bough.model.inertia import Inertia
from bough.model.joints import Joint
from bough.model.placement import HERE, Placement, Vec3
from bough.model.surface import SOFT, Softness

__all__ = ["HERE", "Body", "Frame", "Inertia", "JointEntry", "Placement", "Vec3"]


@dataclass(frozen=True, slots=True)
class Body:
    """A moving body.

    `frame` places the body frame in the moving side of the body's joint. Whatever is said of a body (its inertia,
    joints and frames on it, forces that act on it) is in the body frame.
    """

    name: str
    inertia: Inertia
    frame: Placement = HERE


@dataclass(frozen=True, slots=True)
class Frame:
    """A named frame fixed to a body (0 is the base).

    `inertia` is that part of the body's inertia that came with a link on a fixed joint, in this frame, where it was
    asked to be kept: for the record, since the body has it already.
    """

    name: str
    body: int
    placement: Placement
    inertia: Inertia | None = None


@dataclass(frozen=True, slots=True)
class JointEntry:
    """The joint of one body: its type, where its fixed side sits on the parent, and its limits and losses.

    `lower` and `upper` bound q, `rest` is where a spring is at rest (length nq); the others are per degree of freedom
    (length nv). Limits, damping (N m s/rad or N s/m), dry friction (N m or N) and the stiffness of springs (N m/rad or
    N/m) are carried for simulation and control; the dynamics functions use `armature` (kg m² or kg), which is added to
    the diagonal of the mass matrix. How softly limits and dry friction hold in a simulation is told by two `Softness`.
    """

    name: str
    joint: Joint
    placement: Placement
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]
    damping: tuple[float, ...]
    friction: tuple[float, ...]
    armature: tuple[float, ...]
    stiffness: tuple[float, ...]
    rest: tuple[float, ...]
    limit_softness: Softness = SOFT
    friction_softness: Softness = SOFT
