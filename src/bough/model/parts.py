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

    `frame` is the placement of the body frame in the moving side of its joint. All data of a body (inertia, joints and
    frames on it, forces on it) are in the body frame.
    """

    name: str
    inertia: Inertia
    frame: Placement = HERE


@dataclass(frozen=True, slots=True)
class Frame:
    """A named frame fixed to a body (0 is the base).

    `inertia` is the inertia of a link on a fixed joint, in this frame: of links on the base always, of others if
    requested. It is for information only, and for files: the base needs none, and that of another body includes it.
    """

    name: str
    body: int
    placement: Placement
    inertia: Inertia | None = None


@dataclass(frozen=True, slots=True)
class JointEntry:
    """The joint of one body: its type, the placement of its fixed side on the parent, and its limits and losses.

    `lower` and `upper` are limits of q, and `rest` is the rest position of a spring (length nq). The others are per
    degree of freedom (length nv). Simulations use limits, damping (N m s/rad or N s/m), dry friction (N m or N) and
    stiffness (N m/rad or N/m); dynamics functions use them only on request. They always add `armature` (kg m² or kg) to
    the diagonal of the mass matrix. Two `Softness` describe limits and dry friction in simulations.
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
