"""The same bodies and joints hung otherwise: from another body, or by other joints of their loops.

Where every body is stays as it was; who carries whom changes. A joint that comes to be crossed the other way is turned
round, and its coordinates keep sign and meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bough.errors import ModelError
from bough.model.constraints import Constraint, Loop, Tie
from bough.model.joints import Free, Joint
from bough.model.joints.reversed import reverse
from bough.model.parts import HERE, JointEntry, Placement
from bough.model.stations import require_all_rigid
from bough.tree import Tree

if TYPE_CHECKING:
    from bough.model.model import Model

__all__ = ["Connection", "connections", "hung_from", "model_on_joints", "root_that_floats", "turned_round"]


def turned_round(joint: Joint, placement: Placement, inner: Placement) -> tuple[Joint, Placement, Placement]:
    """A joint seen from the body it moves, with its placements on both bodies: P T(q) C becomes C⁻¹ T(q)⁻¹ P⁻¹."""
    return reverse(joint), inner.inverse, placement.inverse


@dataclass(frozen=True)
class Connection:
    """A joint between two bodies: its entry says where it is on the parent, `frame` where the child is in it."""

    entry: JointEntry
    parent: int
    child: int
    frame: Placement

    @property
    def reversed(self) -> Connection:
        """The joint seen from its other side: parent and child are exchanged."""
        joint, placement, frame = turned_round(self.entry.joint, self.entry.placement, self.frame)
        return Connection(replace(self.entry, joint=joint, placement=placement), self.child, self.parent, frame)


def connections(model: Model) -> list[Connection]:
    """The joints of a model, in order."""
    rows = zip(model.joints, model.tree.parents, model.bodies, strict=True)
    return [Connection(entry, parent, i, body.frame) for i, (entry, parent, body) in enumerate(rows, start=1)]


def model_on_joints(model: Model, joints: Sequence[Connection], constraints: Sequence[Constraint]) -> Model:
    """The bodies of a model on given joints, one for each body.

    Joints come in the given order, but for those that carry others: these come before them.
    """
    by_child = {c.child: c for c in joints}
    order = _carriers_first(joints, by_child)
    number = {0: 0} | {c.child: k for k, c in enumerate(order, start=1)}

    def renumber(x: Constraint) -> Constraint:
        if isinstance(x, Tie):
            return replace(x, bodies=tuple(replace(side, body=number[side.body]) for side in x.bodies))
        if not isinstance(x, Loop):
            return x
        first, second = (replace(side, body=number[side.body]) for side in (x.predecessor, x.successor))
        return replace(x, predecessor=first, successor=second)

    return model.with_checked(
        tree=Tree([number[c.parent] for c in order]),
        bodies=tuple(replace(model.bodies[c.child - 1], frame=c.frame) for c in order),
        joints=tuple(c.entry for c in order),
        frames=tuple(replace(frame, body=number[frame.body]) for frame in model.frames),
        geometries=tuple(replace(shape, body=number[shape.body]) for shape in model.geometries),
        constraints=tuple(renumber(x) for x in constraints),
        inner_root=0,
    )


def _carriers_first(joints: Sequence[Connection], by_child: dict[int, Connection]) -> list[Connection]:
    order: list[Connection] = []
    placed = {0}
    for c in joints:
        waiting = []
        while c.child not in placed:
            placed.add(c.child)
            waiting.append(c)
            c = by_child.get(c.parent, c)
        order += reversed(waiting)
    return order


def root_that_floats(model: Model, body: int) -> int:
    """The body on the base that carries a given one, if it floats; else `ModelError` says why it does not."""
    if body == 0:
        raise ModelError("the base cannot be the new root: expected a body, or a frame on one")
    require_all_rigid(model, "a tree cannot be hung from another of its bodies")
    root = model.tree.path(body)[0]
    entry = model.joints[root - 1]
    if not isinstance(entry.joint, Free):
        raise ModelError(
            f"body {model.bodies[body - 1].name!r} is connected to the base by joint {entry.name!r}, {entry.joint!r}; "
            "expected a free joint: only floating trees can be rerooted"
        )
    if any(entry.armature):
        raise ModelError(
            f"joint {entry.name!r} has the armature {entry.armature}, expected none: rerooting would move it to "
            "another body"
        )
    return root


def hung_from(model: Model, body: int) -> Model:
    """A model whose floating tree hangs from another of its bodies, which has the free joint: q and v are others."""
    root = root_that_floats(model, body)
    joints = connections(model)
    for i in model.tree.path(body)[1:]:
        joints[i - 1] = joints[i - 1].reversed
    joints[root - 1] = replace(joints[root - 1], child=body, frame=HERE)
    return model_on_joints(model, joints, ())
