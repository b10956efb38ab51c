"""Joints that no drive may move: their effort is zero."""

from __future__ import annotations

from bough.model.model import Model

__all__ = ["effortless_joints"]


def effortless_joints(model: Model) -> tuple[str, ...]:
    """Joints, of those that may have targets, one of whose efforts is 0: targets draw them nowhere."""
    return tuple(
        entry.name
        for entry in model.joints
        if entry.joint.nv and entry.joint.nq == entry.joint.nv and 0.0 in entry.effort
    )
