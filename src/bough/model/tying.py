"""Constraints that say what must vanish, read from users, tried out, and asked which of their rows are on positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError, UnknownNameError
from bough.model.constraints import Attachment, Tie
from bough.model.coupling import own_joint
from bough.model.parts import Body, JointEntry, Placement
from bough.model.stations import require_rigid
from bough.model.surface import SOFT, Softness, require_softness
from bough.model.ties.body import WORLD
from bough.model.ties.body import Body as Side
from bough.model.ties.sides import FRAME, JointOfModel
from bough.model.ties.trial import require_constraint, require_no_time, unknown_side
from bough.reading import known_name, names
from bough.scalar import Control, activate

if TYPE_CHECKING:
    from bough.model.model import Model

__all__ = ["check_tie", "position_rows", "read_tie"]


def read_tie(
    name: str,
    constraint: Any,
    bodies: Sequence[object],
    joints: Any,
    places: Mapping[str, tuple[int, Placement]],
    parts: tuple[Sequence[Body], Sequence[JointEntry]],
    softness: Softness = SOFT,
) -> Tie:
    """A constraint on bodies, frames and joints by name; `places` says where bodies and frames are, `parts` what."""
    what = f"constraint {name!r}"
    for body in bodies:
        if not isinstance(body, str) or body not in places:
            raise UnknownNameError(f"body or frame that {what} could act on", body, places)
    tied = tuple(Attachment(*places[str(body)]) for body in bodies)
    tie = Tie(name, constraint, tied, names(joints, f"{what}: joints"), softness)
    check_tie(tie, parts, what)
    return tie


def check_tie(tie: Tie, parts: tuple[Sequence[Body], Sequence[JointEntry]], what: str) -> None:
    """Raise unless a constraint keeps the contract on what it is tied to."""
    require_softness(tie.softness, f"{what}: softness")
    known = {entry.name: entry for entry in parts[1]}
    for name in tie.joints:
        known_name(name, f"joint that {what} could act on", known)
    for end in tie.bodies:
        require_rigid(*parts, end.body, what)
    if not any(end.body for end in tie.bodies) and not tie.joints:
        raise ModelError(f"{what} has no moving body and no joint, expected at least one")
    sides = _kinds(tie, known)
    require_constraint(tie.constraint, sides, what)
    given = tie.constraint
    if given.one_sided or given.inertial:
        raise ModelError(
            f"{what} is {given!r}, which {'pushes and never pulls' if given.one_sided else 'has inertia'}; expected an "
            "equality: for contacts and limits use bough.contact, for armature the joints"
        )
    require_no_time(given, sides, what)


def _kinds(tie: Tie, joints: Mapping[str, JointEntry]) -> list[Side]:
    ends: list[Side] = [WORLD if end.is_world else FRAME for end in tie.bodies]
    return [*ends, *(JointOfModel(own_joint(joints[name].joint)) for name in tie.joints)]


@lru_cache(maxsize=128)
def position_rows(model: Model) -> NDArray[np.bool_]:
    """Which rows of the constraints of a model are on positions, and not on velocities alone."""
    found: list[bool] = []
    joints = {entry.name: entry for entry in model.joints}
    for constraint in model.constraints:
        held = constraint.rows
        if isinstance(constraint, Tie):
            own, sides = constraint.constraint.parameters, _kinds(constraint, joints)
            with activate(Control()):  # whatever is being traced
                held = len(constraint.constraint.errors(own, tuple(unknown_side(kind) for kind in (*sides, WORLD))))
        found += [True] * held + [False] * (constraint.rows - held)
    return np.array(found, np.bool_)
