"""Models as linkages: rigid bodies, constraints for joints, loops and laws between joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bough.errors import ModelError
from bough.lagrange.bodies import Body, Rigid
from bough.lagrange.constraints import Coupled, Jointed
from bough.lagrange.constraints.joints import Framed
from bough.lagrange.layout import Layout
from bough.model import BASE, Loop, Mimic, Model, Tie
from bough.model.coupling import own_joint
from bough.model.stations import require_all_rigid
from bough.reading import kind_of

__all__ = ["parts_of", "require_rigid"]


Constraints = dict[str, tuple[object, ...]]


def parts_of(model: Model) -> tuple[dict[str, Body], Constraints]:
    """Bodies and constraints by name."""
    if not isinstance(model, Model):
        raise ModelError(f"the model is {kind_of(model)}, expected a bough.Model")
    require_all_rigid(model, "a linkage")
    names = (BASE, *model.body_names)
    bodies: dict[str, Body] = {}
    constraints: Constraints = {}
    for body, entry, parent in zip(model.bodies, model.joints, model.tree.parents, strict=True):
        bodies[body.name] = Rigid(body.inertia.mass, body.inertia.com, body.inertia.matrix)
        own, to = own_joint(entry.joint), body.frame.inverse
        joint = Jointed(own, at=entry.placement, to=to, armature=entry.armature)
        constraints[entry.name] = (joint, names[parent], body.name)
    joints, added = dict(constraints), list[tuple[str, tuple[object, ...]]]()
    for entry in model.joints:
        if isinstance(law := entry.joint, Mimic):
            coupling = _coupling_of(joints, entry.name, law.source, (law.offset, law.ratio))
            added.append((f"{entry.name} follows {law.source}", coupling))
    for made in model.constraints:
        if isinstance(made, Loop):
            one, two = made.predecessor, made.successor
            joint = Jointed(made.joint, at=one.placement, to=two.placement)
            added.append((made.name, (joint, names[one.body], names[two.body])))
        elif isinstance(made, Tie):
            added.append((made.name, _frames_of(joints, made, names)))
        else:
            zeros = (made.zero, made.other_zero)
            added.append((made.name, _coupling_of(joints, made.joint, made.other, made.polynomial, *zeros)))
    for name, given in added:
        if name in constraints:
            told = f"constraint {name!r} is called as a joint or another constraint"
            raise ModelError(f"{told}, expected a name of its own")
        constraints[name] = given
    return bodies, constraints


def _coupling_of(
    joints: Constraints,
    name: str,
    other: str | None,
    polynomial: tuple[float, ...],
    zero: float = 0.0,
    other_zero: float = 0.0,
) -> tuple[object, ...]:
    """A law between the coordinates of two joints, and the bodies that these are between, each once."""
    held, *on = joints[name]
    followed, *other_on = (None, *on) if other is None else joints[other]
    bodies, pairs = _each_once(on, other_on)
    return (Coupled(held, followed, polynomial, zero, other_zero, *pairs), *bodies)  # type: ignore[arg-type]


def _frames_of(joints: Constraints, tie: Tie, names: tuple[str, ...]) -> tuple[object, ...]:
    """A constraint on frames and joints, and the bodies that these are on or between, each once."""
    held = [joints[name] for name in tie.joints]
    bodies, (on, *between) = _each_once([names[end.body] for end in tie.bodies], *(ends for _, *ends in held))
    frames = tuple((k, end.placement) for k, end in zip(on, tie.bodies, strict=True))
    pairs: Any = tuple((joint, ends) for (joint, *_), ends in zip(held, between, strict=True))
    return (Framed(tie.constraint, frames, pairs, len(bodies)), *bodies)


def _each_once(*groups: Sequence[object]) -> tuple[list[object], list[tuple[int, ...]]]:
    """Bodies of several groups, each once, and which of them each group has."""
    bodies = list(dict.fromkeys(body for group in groups for body in group))
    return bodies, [tuple(map(bodies.index, group)) for group in groups]


def require_rigid(layout: Layout) -> None:
    """Raise unless all bodies are rigid ones in space."""
    other = [body for body in layout.bodies if not isinstance(body, Rigid)]
    if other:
        raise ModelError(f"a body is {other[0]!r}, expected rigid bodies in space: no other has a placement")
