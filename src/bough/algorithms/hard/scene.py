"""What may act on a mechanism under the law of hard contact, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bough.algorithms.limits import limit_sides
from bough.algorithms.soft.layout import filled, layout_of
from bough.algorithms.soft.scene import Drive, FrictionRow, LoopJointRow, SoftScene
from bough.complementarity import ContactRows
from bough.model import Model
from bough.scalar import Table

__all__ = ["KEPT", "MOST_CONTACTS", "HardScene", "hard_rows", "restitutions_of"]

KEPT = 4
"""Numbers that are kept of a contact: its own, counted from 1, and its impulses along normal and tangents."""

MOST_CONTACTS = 16
"""Contacts at a time that the program of a step has room for; more are a matter of other means."""


@dataclass(frozen=True)
class HardScene:
    """A scene whose contacts are hard: what it has in common with soft ones, and what these do not know.

    `restitutions` has one for each candidate. Errors of loops, and what has sunk in, decay at `rate` (1/s). There is
    `room` for so many contacts at a time; of `kept` of them the next step knows the impulses.
    """

    common: SoftScene
    restitutions: tuple[float, ...] = ()
    has_limits: bool = True
    has_loops: bool = True
    rate: float = 20.0
    room: int = MOST_CONTACTS
    kept: int = MOST_CONTACTS

    @property
    def drives(self) -> tuple[Drive, ...]:
        """The actuators."""
        return self.common.drives

    @property
    def contacts(self) -> int:
        """All that could touch."""
        return sum(group.count for group in layout_of(self.common).touches)

    def memory(self, model: Model) -> int:
        """How many numbers a step starts from: contacts with their impulses, and impulses of all other rows."""
        rows = hard_rows(model, self)
        return KEPT * self.kept + rows.count - rows.touch

    @property
    def frictions(self) -> tuple[FrictionRow | LoopJointRow, ...]:
        """Rows of dry friction, those of joints of the tree first."""
        return (*self.common.frictions, *(row for row in self.common.loop_joints if row.most is not None))

    @property
    def slots(self) -> int:
        """How many contacts there is room for at a time."""
        return min(self.contacts, self.room)


@lru_cache(maxsize=64)
def hard_rows(model: Model, scene: HardScene) -> ContactRows:
    """The rows of the problem of forces."""
    sides = limit_sides(model)
    limits = len(set(sides.rows.tolist())) if scene.has_limits else 0
    both_sides = tuple(zip(sides.rows.tolist(), sides.signs.tolist(), strict=True)) if limits else ()
    loops = len(model.constraint_names) if scene.has_loops else 0
    return ContactRows(scene.slots, "cone", loops, limits, both_sides, slides=False, boxes=len(scene.frictions))


@lru_cache(maxsize=64)
def restitutions_of(scene: HardScene) -> tuple[Table, ...]:
    """Restitution of each contact, by groups of them."""
    members = layout_of(scene.common).members
    return tuple(Table("restitution", np.array([scene.restitutions[k] for k in filled(some)])) for some in members)
