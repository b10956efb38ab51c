"""Kinematics: placements, velocities and accelerations of bodies and frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from bough.model import BodyRecord, Frame, Mechanism, combine
from bough.scalar import Array, Scalar, Table, array, gather_index, switch
from bough.spatial import REST, STAY, Motion, Transform, Vector
from bough.tree.scans import outward

__all__ = ["FrameState", "Reference", "accelerations", "as_reference", "frame_states", "placements", "velocities"]

Reference: TypeAlias = Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"]


@dataclass(frozen=True, slots=True)
class FrameState:
    """Placement in the base, velocity and acceleration in own coordinates."""

    X: Transform
    v: Motion
    a: Motion
