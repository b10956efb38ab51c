"""Parts taken away from a model, with all that hangs on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bough.errors import ModelError
from bough.model.constraints import Attachment, Constraint, Equality, Loop, Tie
from bough.model.joints import Mimic
from bough.model.parts import Body
from bough.model.simulation import rearranged
from bough.tree import Tree

if TYPE_CHECKING:
    from bough.model.model import Model

__all__ = ["remaining"]


def remaining(model: Model, names: Sequence[str], meant: Callable[[str], tuple[str, int]]) -> Model:
    """The model without the parts named; `meant` tells what each name stands for, and its number."""
    gone: dict[str, set[int]] = {"body": set(), "frame": set(), "constraint": set()}
    for name in names:
        what, k = meant(name)
        gone[what].add(k)
    number = {0: 0}  # of each body that stays, its number afterwards
    for i, parent in enumerate(model.tree.parents, start=1):
        if i not in gone["body"] and parent in number:
            number[i] = len(number)
    stay = list(number)[1:]
    joints = {model.joints[i - 1].name for i in stay}
    _require_leaders(model, stay, joints)
    lost = {frame.name for k, frame in enumerate(model.frames) if k in gone["frame"] or frame.body not in number}
    constraints = (x for k, x in enumerate(model.constraints) if k not in gone["constraint"])
    kept = (_renumbered(x, number, joints) for x in constraints)
    left = model.with_checked(
        tree=Tree([number[model.tree.parents[i - 1]] for i in stay]),
        bodies=tuple(_without_parts(model, i, gone["frame"]) for i in stay),
        joints=tuple(model.joints[i - 1] for i in stay),
        frames=tuple(replace(f, body=number[f.body]) for f in model.frames if f.name not in lost),
        geometries=tuple(
            replace(g, body=number[g.body]) for g in model.geometries if g.body in number and g.frame not in lost
        ),
        constraints=tuple(x for x in kept if x is not None),
        inner_root=number.get(model.inner_root, 0),
    )
    here = joints | {loop.name for loop in left.loops}
    shapes = {g.name for g in left.geometries}
    data = model.simulation.without(here, set(left.frame_names), shapes)
    sizes = [(x.name, x.joint.nq) for x in model.joints]
    q = rearranged(data.reference, sizes, [(x.name, x.joint.neutral()) for x in left.joints])
    return left.with_checked(simulation=replace(data, reference=q))


def _require_leaders(model: Model, stay: Sequence[int], joints: set[str]) -> None:
    for i in stay:
        entry = model.joints[i - 1]
        if isinstance(entry.joint, Mimic) and entry.joint.source not in joints:
            raise ModelError(
                f"joint {entry.name!r} follows joint {entry.joint.source!r}, which would be removed: expected both to "
                "be removed, or neither"
            )


def _renumbered(x: Constraint, number: dict[int, int], joints: set[str]) -> Constraint | None:
    """A constraint between what is left; None if one of its sides is gone."""
    if isinstance(x, Equality):
        return x if x.joint in joints and (x.other is None or x.other in joints) else None
    if isinstance(x, Tie):
        stays = all(end.body in number for end in x.bodies) and joints.issuperset(x.joints)
        return replace(x, bodies=tuple(replace(end, body=number[end.body]) for end in x.bodies)) if stays else None
    if x.predecessor.body not in number or x.successor.body not in number:
        return None

    def renumbered(end: Attachment) -> Attachment:
        return replace(end, body=number[end.body])

    loop: Loop = replace(x, predecessor=renumbered(x.predecessor), successor=renumbered(x.successor))
    return loop


def _without_parts(model: Model, body: int, frames: set[int]) -> Body:
    """A body less the inertias that came with frames which go."""
    left = model.bodies[body - 1]
    for k in frames:
        frame = model.frames[k]
        if frame.body == body and frame.inertia is not None:
            left = replace(left, inertia=left.inertia.minus(frame.inertia.placed(frame.placement)))
    return left
