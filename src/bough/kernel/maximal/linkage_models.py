"""Models as linkages: rigid bodies, constraints for joints, loops and laws between joints."""

from __future__ import annotations

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
    joints = dict(constraints)
    for entry in model.joints:
        if isinstance(law := entry.joint, Mimic):
            _add(
                constraints,
                f"{entry.name} follows {law.source}",
                _coupling_of(joints, entry.name, law.source, (law.offset, law.ratio)),
            )
    for made in model.constraints:
        if isinstance(made, Loop):
            ends = (made.predecessor, made.successor)
            joint = Jointed(made.joint, at=ends[0].placement, to=ends[1].placement)
            _add(constraints, made.name, (joint, names[ends[0].body], names[ends[1].body]))
        elif isinstance(made, Tie):
            _add(constraints, made.name, _frames_of(joints, made, names))
        else:
            zeros = (made.zero, made.other_zero)
            _add(constraints, made.name, _coupling_of(joints, made.joint, made.other, made.polynomial, *zeros))
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
    held, *ends = joints[name]
    followed, *others = (None, *ends) if other is None else joints[other]
    bodies = list(dict.fromkeys([*ends, *others]))
    (a, b), (c, d) = (map(bodies.index, pair) for pair in (ends, others))
    assert isinstance(held, Jointed)
    assert followed is None or isinstance(followed, Jointed)
    return (Coupled(held, followed, polynomial, zero, other_zero, on=(a, b), other_on=(c, d)), *bodies)


def _frames_of(joints: Constraints, tie: Tie, names: tuple[str, ...]) -> tuple[object, ...]:
    """A constraint on frames and joints, and the bodies that these are on or between, each once."""
    ends = [joints[name] for name in tie.joints]
    between = [body for _, *pair in ends for body in pair]
    bodies = list(dict.fromkeys([*(names[end.body] for end in tie.bodies), *between]))
    frames = tuple((bodies.index(names[end.body]), end.placement) for end in tie.bodies)
    held = []
    for joint, first, second in ends:
        assert isinstance(joint, Jointed)
        held.append((joint, (bodies.index(first), bodies.index(second))))
    return (Framed(tie.constraint, frames, tuple(held), len(bodies)), *bodies)


def _add(constraints: Constraints, name: str, entry: tuple[object, ...]) -> None:
    if name in constraints:
        raise ModelError(f"constraint {name!r} is called as a joint or another constraint, expected a name of its own")
    constraints[name] = entry


def require_rigid(layout: Layout) -> None:
    """Raise unless all bodies are rigid ones in space."""
    other = [body for body in layout.bodies if not isinstance(body, Rigid)]
    if other:
        raise ModelError(f"a body is {other[0]!r}, expected rigid bodies in space: no other has a placement")
