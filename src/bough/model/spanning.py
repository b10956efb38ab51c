"""Other spanning trees of a mechanism with loops: which joints are cut, and what the tree is then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bough.errors import ModelError
from bough.model.arguments import LIMITS, SOFTNESSES
from bough.model.constraints import Attachment, Equality, Loop, Tie
from bough.model.hanging import Connection, connections, model_on_joints
from bough.model.joints import Free, Mimic
from bough.model.parts import JointEntry
from bough.model.stations import require_all_rigid
from bough.reading import known_name

if TYPE_CHECKING:
    from bough.model.model import Model

__all__ = ["Graph", "respanned"]


@dataclass(frozen=True)
class Graph:
    """A mechanism as bodies and joints, those that close loops among them.

    Attributes
    ----------
    joints
        All of them by name: first those of the tree in order, then the loops.
    loops
        Names of those that are cut at present.
    kept
        Names of those that must stay in the tree, each with the reason.
    shut
        Names of loops that cannot be in it, each with the reason.
    """

    joints: dict[str, Connection]
    loops: tuple[str, ...]
    kept: dict[str, str]
    shut: dict[str, str]

    @staticmethod
    def of(model: Model) -> Graph:
        """The graph of a model and the loops among its constraints."""
        require_all_rigid(model, "another spanning tree cannot be taken")
        joints = {c.entry.name: c for c in connections(model)}
        loops = {x.name: _as_joint(x) for x in model.constraints if isinstance(x, Loop)}
        double = next((name for name in loops if name in joints), None)
        if double is not None:
            raise ModelError(f"constraint {double!r}: there is a joint of this name too, expected another name")
        shut = {name: "it moves nothing" for name, c in loops.items() if c.entry.joint.nv == 0}
        return Graph(joints | loops, tuple(loops), _not_to_be_cut(model), shut)

    def tree(self, cut: Iterable[str]) -> list[Connection] | None:
        """The joints that are left, turned so that each leads away from the base; None if they are no tree."""
        left = set(cut)
        at: dict[int, list[tuple[str, Connection]]] = {}
        for name, c in self.joints.items():
            if name not in left:
                at.setdefault(c.parent, []).append((name, c))
                at.setdefault(c.child, []).append((name, c))
        found: dict[str, Connection] = {}
        reached, waiting = {0}, [0]
        while waiting:
            body = waiting.pop()
            for name, c in at.get(body, ()):
                if name in found:
                    continue
                found[name] = c if c.parent == body else c.reversed
                if found[name].child in reached:
                    return None
                reached.add(found[name].child)
                waiting.append(found[name].child)
        if len(found) < len(self.joints) - len(left):
            return None
        return [found[name] for name in self.joints if name in found]


def respanned(model: Model, cut: Sequence[str]) -> Model:
    """The model whose tree is made of all joints and loops but those named."""
    graph = Graph.of(model)
    for name in cut:
        known_name(name, "joint or loop to cut", graph.joints)
        if name in graph.kept:
            raise ModelError(f"joint {name!r} cannot be cut: {graph.kept[name]}")
    for name, why in graph.shut.items():
        if name not in cut:
            raise ModelError(f"constraint {name!r} has to be cut: {why}")
    joints = graph.tree(cut)
    if joints is None or len(joints) != model.nbodies:
        raise ModelError(
            f"without {', '.join(map(repr, cut)) or 'cuts'} the joints do not form a tree of all bodies: expected "
            f"{len(graph.loops)} cut{'s'[: len(graph.loops) != 1]}, one in each loop"
        )
    others = [x for x in model.constraints if not isinstance(x, Loop)]
    return model_on_joints(
        model, joints, [*(_as_loop(graph.joints[name]) for name in graph.joints if name in cut), *others]
    )


def _as_joint(loop: Loop) -> Connection:
    """A loop as a joint, with its limits and losses."""
    place, end, armature = loop.predecessor, loop.successor, (0.0,) * loop.joint.nv
    limits = {name: getattr(loop, name) for name in (*LIMITS, *SOFTNESSES)}
    entry = JointEntry(loop.name, loop.joint, place.placement, armature=armature, **limits)
    return Connection(entry, place.body, end.body, end.placement.inverse)


def _as_loop(c: Connection) -> Loop:
    """A joint as a loop, with its limits and losses."""
    sides = Attachment(c.parent, c.entry.placement), Attachment(c.child, c.frame.inverse)
    return Loop(
        c.entry.name, c.entry.joint, *sides, **{name: getattr(c.entry, name) for name in (*LIMITS, *SOFTNESSES)}
    )


def _not_to_be_cut(model: Model) -> dict[str, str]:
    """The joints of the tree that a loop could not stand for, and why."""
    followed = {entry.joint.source: entry.name for entry in model.joints if isinstance(entry.joint, Mimic)}
    coupled = {name: x.name for x in model.constraints if isinstance(x, Equality) for name in (x.joint, x.other)}
    coupled |= {name: x.name for x in model.constraints if isinstance(x, Tie) for name in x.joints}
    reasons = {}
    for entry in model.joints:
        name = entry.name
        if isinstance(entry.joint, Mimic):
            reasons[name] = f"it follows joint {entry.joint.source!r}"
        elif isinstance(entry.joint, Free):
            reasons[name] = "it constrains nothing, so it cannot become a loop"
        elif name in followed:
            reasons[name] = f"joint {followed[name]!r} follows it"
        elif name in coupled:
            reasons[name] = f"constraint {coupled[name]!r} couples it"
        elif any(entry.armature):
            reasons[name] = f"it has the armature {entry.armature}, which a loop cannot have"
    return reasons
