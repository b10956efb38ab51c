"""From a description to a model: the options of `bough.load`, once for all formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from bough.errors import BoughError, LoadWarning, ModelError, UnknownNameError, warn
from bough.formats.description import Connection, Description, Follow, LinkGeometry, LinkLoop, Options
from bough.formats.floating import floating_joint
from bough.formats.report import Report
from bough.formats.structure import floating_on, in_order, is_carried, root_of, with_root
from bough.model import BASE, Builder, Equality, Fixed, Free, Inertia, Mimic, Model, Placement
from bough.model.constraints import misfit
from bough.model.effortless import effortless_joints
from bough.model.joints.reading import read_floats
from bough.model.massless import idle_joints
from bough.model.parts import HERE
from bough.model.simulation import rearranged

__all__ = ["BASE_JOINT", "assemble"]

BASE_JOINT = "root_joint"
"""Name of the joint that `floating_base` adds."""

CLOSED = 1e-6
"""How far apart (m or rad) the sides of a joint may be that joins parts of one body."""

PAIRED = ("lower", "upper", "stiffness", "rest")
"""Limits and springs that are right or wrong together; all others are so alone."""

NOTHING = Inertia(0.0, (0.0, 0.0, 0.0), (0.0,) * 6)


def assemble(description: Description, options: Options, report: Report) -> Model | None:
    """The model of a description; None where problems are collected and there are some that leave no model."""
    root = root_of(description, report)
    if root is None:
        _check_parts(description, report)
        if options.mimic:
            _laws(description.connections, report)
        return None
    _refuse_second_base(description, root, options, report)
    connections: Sequence[Connection] = description.connections
    if options.root is not None and options.root != root:
        if description.world is not None:
            raise ModelError(
                f"root={options.root!r}: this file attaches the robot to the world, so its root is {root!r}"
            )
        wanted = _known_link(options.root, description)
        free = floating_joint(description, root, options.lock)
        if free is not None and is_carried(connections, wanted, free):
            connections = floating_on(connections, wanted, free)
        else:
            root, connections = wanted, with_root(connections, wanted)
    _doubt_fixed_base(description, root, options, report)
    laws = _laws(connections, report) if options.mimic else {}
    options = _with_neutral_locks(connections, options)
    connections = _with_locks(connections, options, laws)
    connections = in_order(connections, root, description.order if options.order is None else options.order)
    return _Assembly(description, options, report).model(root, connections)


def _check_parts(description: Description, report: Report) -> None:
    """What is wrong with each joint and each shape by itself, where there is no tree to put them into."""
    for c in description.connections:
        with report.at(c.line):
            _put_each_limit(_put_alone, c, report)
    for g in description.geometries:
        with report.at(g.line):
            alone = Builder(description.name)
            if g.link not in ("", BASE):
                alone.frame(g.link, BASE)
            _put_shape(alone, g.link or BASE, g)


def _put_alone(c: Connection) -> None:
    Builder("alone").add("link", c.joint, joint_name=c.name, at=c.placement, inertia=NOTHING, **c.limits)


def _fault_alone(c: Connection, limits: Mapping[str, Any]) -> BoughError | None:
    """What is wrong with a joint that has these limits and losses and no others; None if nothing is."""
    try:
        _put_alone(replace(c, limits=limits))
    except BoughError as error:
        return error
    return None


def _put_each_limit(put: Callable[[Connection], None], c: Connection, report: Report) -> None:
    """Put a joint somewhere; a check tells each of its limits and losses that is refused, and puts it without them."""
    try:
        put(c)
    except BoughError:
        if not report.collect or _fault_alone(c, {}) is not None:
            raise
        sound: dict[str, Any] = {}
        for names in [PAIRED[:2], PAIRED[2:], *((name,) for name in c.limits if name not in PAIRED)]:
            given = {name: c.limits[name] for name in names if name in c.limits}
            fault = _fault_alone(c, given)
            if fault is None:
                sound |= given
            else:
                report.refuse(report.message(fault), c.line)
        if len(sound) == len(c.limits):
            raise
        put(replace(c, limits=sound))


def _put_shape(builder: Builder, body: str, g: LinkGeometry) -> None:
    builder.geometry(
        body, g.shape, g.size, name=g.name, at=g.placement, purpose=g.purpose, file=g.file, rgba=g.rgba,
        surface=g.surface, heights=g.heights, triangles=g.triangles,
    )  # fmt: skip


def _refuse_second_base(description: Description, root: str, options: Options, report: Report) -> None:
    if not options.floating_base:
        return
    c = floating_joint(description, root, options.lock)
    if root == description.world:
        over = "" if c is None else f", over which {c.child!r} floats already on joint {c.name!r}"
        report.refuse(f"floating_base: the root of this file, {root!r}, is the world itself{over}")
    elif c is not None:
        report.refuse(
            f"floating_base: the file floats already, on joint {c.name!r} between {c.parent!r}, which has no mass, and "
            f"{c.child!r}; load it without floating_base, or lock this joint",
            c.line,
        )


def _doubt_fixed_base(description: Description, root: str, options: Options, report: Report) -> None:
    """Warn of a base that is fixed without having been asked for, where the format lets it move; no fault of a file."""
    if description.floats and options.floating_base is None and not report.collect:
        line = next((link.line for link in description.links if link.name == root), None)
        report.doubt(
            f"link {root!r} is not attached to the world, and is fixed to it; give floating_base=True to let it move "
            "freely, as the format means it, or floating_base=False to fix it",
            line,
        )


def _known_link(name: str, description: Description) -> str:
    names = {link.name for link in description.links}
    if name not in names:
        raise UnknownNameError("link to take as root", name, names)
    return name


# --- joints that follow others, and joints that are held ---


def _laws(connections: Sequence[Connection], report: Report) -> dict[str, Follow]:
    """For each joint that follows another: the one it follows in the end, with the whole law."""
    by_name = {c.name: c for c in connections if not isinstance(c.joint, Fixed)}
    laws: dict[str, Follow] = {}
    refused: set[str] = set()
    for start in by_name.values():
        chain: dict[str, Follow] = {}
        c = start
        while c.follow is not None and c.name not in laws and c.name not in refused:
            if c.name in chain or c.follow.leader not in by_name:
                _refuse_law(c, chain, by_name, report)
                refused |= {c.name, *chain}
            else:
                chain[c.name] = c.follow
                c = by_name[c.follow.leader]
        if c.name in refused:
            refused |= set(chain)
            continue
        if chain and (c.joint.nq, c.joint.nv) != (1, 1):
            report.refuse(f"joint {start.name!r} mimics {c.name!r}, which moves like {c.joint!r}", start.line)
        law = laws.get(c.name, Follow(c.name))
        for name, own in reversed(chain.items()):
            law = Follow(law.leader, own.ratio * law.ratio, own.ratio * law.offset + own.offset)
            laws[name] = law
    return laws


def _refuse_law(c: Connection, chain: dict[str, Follow], by_name: dict[str, Connection], report: Report) -> None:
    if c.name in chain:
        names = " → ".join(repr(name) for name in [*list(chain)[:8], c.name])
        report.refuse(f"mimic joints follow each other in a circle: {names}", c.line)
    elif c.follow is not None:
        with report.at(c.line, f"joint {c.name!r} mimics a joint that it cannot follow"):
            raise UnknownNameError("joint that moves", c.follow.leader, by_name)


def _with_neutral_locks(connections: Sequence[Connection], options: Options) -> Options:
    """Joints that are held at nothing in particular are held where they are neutral."""
    neutral = {c.name: c.joint.neutral() for c in connections}
    return replace(options, lock={n: neutral.get(n) if q is None else q for n, q in options.lock.items()})


def _with_locks(connections: Sequence[Connection], options: Options, laws: dict[str, Follow]) -> list[Connection]:
    """Joints that are held become fixed, and so do those that follow them."""
    moving = {c.name: c for c in connections if not isinstance(c.joint, Fixed)}
    for name in options.lock:
        if name not in moving:
            raise UnknownNameError("joint to lock", name, moving)
        if name in laws:
            raise ModelError(f"joint {name!r} follows {laws[name].leader!r}: lock that one, or give mimic=False")
    return [_held(c, options, laws) for c in connections]


def _held(c: Connection, options: Options, laws: dict[str, Follow]) -> Connection:
    law = laws.get(c.name, Follow(c.name))
    if law.leader not in options.lock:
        return c
    value = options.lock[law.leader]
    assert value is not None, "it is neutral then"
    q = np.atleast_1d(read_floats(value, f"lock: the value of joint {law.leader!r}", "numbers"))
    if c.name in laws:
        q = law.ratio * q + law.offset
    joint, what = c.joint, f"lock: joint {c.name!r}"
    if q.shape != (joint.nq,) or not np.isfinite(q).all():
        raise ModelError(f"{what} is held at {value!r}, expected {joint.nq} finite number{'s'[: joint.nq != 1]}")
    for k in joint.quaternions:
        if abs(float(np.linalg.norm(q[k : k + 4])) - 1.0) > 1e-6:
            raise ModelError(f"{what} is held at {value!r}, whose quaternion is not of unit length")
    lower, upper = c.limits.get("lower", -np.inf), c.limits.get("upper", np.inf)
    if c.name in options.lock and not joint.quaternions and ((q < lower) | (q > upper)).any():
        warn(f"{what} is held at {value!r}, beyond its limits {lower} … {upper}", LoadWarning)
    place = c.placement.then(Placement.by_joint(joint, [float(x) for x in q]))
    return replace(c, joint=Fixed(), placement=place, follow=None, limits={})


# --- bodies ---


class _Assembly:
    """A description on its way into a builder."""

    def __init__(self, description: Description, options: Options, report: Report) -> None:
        self._description, self._options, self._report = description, options, report
        self._links = {link.name: link for link in description.links}
        self._builder = Builder(description.name, description.gravity)
        self._names: dict[str, str] = {}  # of links in the model

    def model(self, root: str, connections: Sequence[Connection]) -> Model | None:
        self._base(root)
        for c in connections:
            with self._report.at(c.line):
                self._add(c)
            if c.child not in self._names:  # the joint was refused: what is on its link is looked at all the same
                with suppress(BoughError):
                    self._put(Connection(c.name, Fixed(), BASE, c.child), BASE)
        self._attach()
        if self._report.problems:
            return None  # the builder would complain of the same once more
        model = None
        with self._report.at(None):
            model = self._with_simulation(self._builder.build())
        if model is not None and self._report.collect:
            self._remark_joints(model, connections)
        return None if model is None else self._with_parts(model)

    def _remark_joints(self, model: Model, connections: Sequence[Connection]) -> None:
        """Say which joints forward dynamics will refuse, and which no drive may move."""
        by_name = {c.name: c for c in connections}
        for c in (by_name[name] for name in idle_joints(model)):
            self._report.remark(
                f"joint {c.name!r} moves nothing that has inertia, so forward dynamics cannot be computed: expected "
                f"mass and inertia of link {c.child!r} or of those it carries, or an armature of the joint",
                c.line,
            )
        for c in (by_name[name] for name in effortless_joints(model) if name in by_name):
            told = "targets in a simulation do not move it, expected a positive effort, or none"
            self._report.remark(f"joint {c.name!r} has effort 0: {told}", c.line)

    def _base(self, root: str) -> None:
        """The root link: the base itself, fixed to it, or floating over it."""
        line = self._links[root].line
        with self._report.at(line):
            if self._options.floating_base:
                taken = {c.name for c in self._description.connections}
                name = next(name for name in (BASE_JOINT + "_" * k for k in count()) if name not in taken)
                self._put(Connection(name, Free(), BASE, root), BASE)
            elif root in (BASE, self._description.world):
                self._names[root] = BASE
            else:
                place = self._description.root_placement if self._options.root in (None, root) else HERE
                self._put(Connection(BASE_JOINT, Fixed(), BASE, root, place), BASE)

    def _add(self, c: Connection) -> None:
        if c.parent not in self._names:
            return  # its parent was refused
        if self._options.mimic and c.follow is not None and not isinstance(c.joint, Fixed):
            c = replace(c, joint=Mimic(c.joint, c.follow.leader, c.follow.ratio, c.follow.offset))
        parent = self._names[c.parent]
        _put_each_limit(lambda joint: self._put(joint, parent), c, self._report)

    def _put(self, c: Connection, parent: str) -> None:
        inertia = self._links[c.child].inertia or NOTHING
        name = self._name(c.child)
        self._builder.add(
            name,
            c.joint,
            parent,
            joint_name=c.name,
            at=c.placement,
            frame_at=c.child_placement,
            inertia=inertia,
            **c.limits,
        )
        self._names[c.child] = name

    def _name(self, link: str) -> str:
        """The name of a link in the model: its own, unless it is that of the base."""
        name = link
        while name == BASE or (name != link and name in self._links):
            name += "_link"
        return name

    def _attach(self) -> None:
        """Frames, geometries and constraints."""
        for frame in self._description.frames:
            with self._report.at(frame.line):
                self._builder.frame(frame.name, self._of(frame.link), at=frame.placement)
        for g in self._description.geometries:
            with self._report.at(g.line):
                _put_shape(self._builder, self._of(g.link), g)
        for loop in self._description.loops:
            with self._report.at(loop.line):
                self._close(loop)
        for law in self._description.equalities:
            self._couple(law)

    def _close(self, loop: LinkLoop) -> None:
        """A joint that closes a loop; one whose links became one body is met for ever, or never."""
        names = self._of(loop.predecessor), self._of(loop.successor)
        first, second = (self._builder.where(name) for name in names)
        if first.body == second.body:
            sides = first.placement.then(loop.placement), second.placement.then(loop.successor_placement)
            apart = misfit(loop.joint, sides[0].inverse.then(sides[1]))
            if apart > CLOSED and not self._report.problems:
                raise ModelError(
                    f"constraint {loop.name!r} joins {loop.predecessor!r} and {loop.successor!r}, which are fixed to "
                    f"each other, {apart:.3g} m or rad away from where it could hold them"
                )
            return
        self._builder.loop(
            loop.name,
            loop.joint,
            *names,
            at=loop.placement.origin,
            rotation=loop.placement.matrix,
            successor_at=loop.successor_placement.origin,
            successor_rotation=loop.successor_placement.matrix,
            **loop.limits,
        )

    def _couple(self, law: Equality) -> None:
        """A law between coordinates; one of a joint that is held becomes a law of the other alone."""
        lock, polynomial, other = self._options.lock, law.polynomial, law.other
        if law.joint in lock:
            if other is None or other in lock:
                return
            raise ModelError(f"lock: joint {law.joint!r} is coupled to {other!r} by constraint {law.name!r}; lock both")
        if other is not None and other in lock:
            x = float(np.ravel(np.asarray(lock[other], dtype=float))[0]) - law.other_zero
            polynomial, other = (float(np.polynomial.polynomial.polyval(x, polynomial)),), None
        other_zero = law.other_zero if other is not None else 0.0
        self._builder.equality(
            law.name, law.joint, other, polynomial, zero=law.zero, other_zero=other_zero, softness=law.softness
        )

    def _with_simulation(self, model: Model) -> Model:
        """The model with what the file says of simulation, less what refers to parts that are not in the model."""
        said = self._description.simulation
        excludes = tuple((self._of(first), self._of(second)) for first, second in said.excludes)
        joints = {*model.joint_names, *(loop.name for loop in model.loops)}
        shapes = {g.name for g in model.geometries}
        sizes = [(c.name, c.joint.nq) for c in self._description.connections]
        q = rearranged(said.reference, sizes, [(x.name, x.joint.neutral()) for x in model.joints])
        here = replace(said, excludes=excludes, reference=q).without(joints, set(model.frame_names), shapes)
        same = here == model.simulation and not (here.not_understood or here.reference or here.link_centres)
        return model if same else model.with_checked(simulation=here)

    def _of(self, link: str) -> str:
        if link not in self._names and link in self._links:
            return BASE  # the link was refused, and with it the model
        return self._names.get(link, link)

    def _with_parts(self, model: Model) -> Model:
        """The model whose frames tell inertias of links: of those on the base, which no body has; if asked, of all."""
        own = {self._names[name]: link.inertia for name, link in self._links.items() if link.inertia is not None}
        merges, frames = self._options.merge_fixed, model.frames
        told = {f.name for f in frames if not merges or (not f.body and own.get(f.name, NOTHING).mass)}
        if not told:
            return model
        parts = (replace(f, inertia=own.get(f.name)) if f.name in told else f for f in frames)
        return model.with_checked(frames=tuple(parts))
