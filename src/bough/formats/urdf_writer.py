"""URDF from a model: links for the base, the bodies and the frames, joints between them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from bough.formats.description import Connection
from bough.formats.losses import Losses
from bough.formats.structure import in_order
from bough.formats.text import numbers_text, quoted
from bough.formats.urdf import UNLIMITED
from bough.model import (
    BASE,
    Fixed,
    Frame,
    Free,
    Geometry,
    Inertia,
    Joint,
    JointEntry,
    Mimic,
    Model,
    Placement,
    Planar,
    Prismatic,
    Revolute,
)
from bough.model.parts import HERE
from bough.model.simulation import NOTHING_SAID
from bough.model.surface import DEFAULT_SURFACE, SOFT

__all__ = ["write_urdf"]

GRAVITY = (0.0, 0.0, -9.81)


def write_urdf(model: Model, losses: Losses) -> str:
    """The text of a URDF file; what it cannot hold goes to `losses`."""
    return _Writer(model, losses).text()


class _Writer:
    def __init__(self, model: Model, losses: Losses) -> None:
        self._model, self._losses = model, losses
        self._taken = {BASE, *model.frame_names}
        self._joint_names = set(model.joint_names)
        self._lines: list[str] = []
        self._connections: list[Connection] = []  # as a reader will find them
        self._shapes: dict[str, list[Geometry]] = {}
        for geometry in model.geometries:
            self._shapes.setdefault(geometry.frame, []).append(geometry)

    def text(self) -> str:
        model = self._model
        if model.gravity != GRAVITY:
            self._losses.add(f"gravity {model.gravity}, other than {GRAVITY}", "gravity")
        for constraint in model.constraints:
            self._losses.add(f"the constraint {constraint.name!r}", "constraints")
        self._lose_simulation()
        frames: dict[int, list[Frame]] = {}
        for frame in model.frames:
            frames.setdefault(frame.body, []).append(frame)
        self._link(BASE, None)
        for body in range(model.nbodies + 1):
            if body:
                self._body(body, frames.get(body, []))
            for frame in frames.get(body, []):
                self._link(frame.name, frame.inertia)
                self._fixed(model.frame_names[body], frame.name, frame.placement)
        order = [c.name for c in in_order(self._connections, BASE, "pinocchio") if not isinstance(c.joint, Fixed)]
        if order != list(model.joint_names):
            self._lines.insert(0, '<bough order="file"/>')
        lines = "".join(f"  {line}\n" for line in self._lines)
        head = f"<robot name={quoted(model.name)}{self._version()}>"
        return f'<?xml version="1.0" encoding="utf-8"?>\n{head}\n{lines}</robot>\n'

    def _version(self) -> str:
        """Other programs read capsules in files of version 1.2 alone."""
        return ' version="1.2"' if any(g.shape == "capsule" for g in self._model.geometries) else ""

    def _lose_simulation(self) -> None:
        model = self._model
        if model.simulation != NOTHING_SAID:
            self._losses.add("options, actuators or pairs of shapes for simulation", "simulation")
        for g in model.geometries:
            if g.surface != DEFAULT_SURFACE:
                self._losses.add(f"the surface of the {g.shape} {g.name!r} on {g.frame!r}", "simulation")
        for entry in model.joints:
            if {entry.limit_softness, entry.friction_softness} != {SOFT}:
                self._losses.add(f"the softness of joint {entry.name!r}", "simulation")

    # --- links ---

    def _body(self, number: int, frames: Iterable[Frame]) -> None:
        model = self._model
        body, parent = model.bodies[number - 1], model.frame_names[model.tree.parents[number - 1]]
        inertia = body.inertia
        for frame in frames:
            if frame.inertia is not None:
                inertia = inertia.minus(frame.inertia.placed(frame.placement))
        if body.frame == HERE:
            self._link(body.name, inertia)
            self._joint(model.joints[number - 1], parent, body.name)
            return
        moving = self._new(f"{body.name}_at_joint", self._taken)
        self._link(moving, None)
        self._joint(model.joints[number - 1], parent, moving)
        self._link(body.name, inertia)
        self._fixed(moving, body.name, body.frame)

    def _link(self, name: str, inertia: Inertia | None) -> None:
        parts = [*_inertial(inertia), *(line for g in self._shapes.get(name, ()) for line in self._geometry(g, name))]
        if not parts:
            self._lines.append(f"<link name={quoted(name)}/>")
            return
        self._lines += [f"<link name={quoted(name)}>", *(f"  {part}" for part in parts), "</link>"]

    def _geometry(self, g: Geometry, link: str) -> list[str]:
        size = [numbers_text([x]) for x in g.size]
        match g.shape:
            case "box":
                solid = f'<box size="{numbers_text(g.size)}"/>'
            case "sphere":
                solid = f'<sphere radius="{size[0]}"/>'
            case "cylinder" | "capsule":
                solid = f'<{g.shape} radius="{size[0]}" length="{size[1]}"/>'
            case "mesh" if g.file:
                solid = f'<mesh filename={quoted(g.file)} scale="{numbers_text(g.size)}"/>'
            case _:
                self._losses.add(f"the {g.shape} on {link!r}", "geometries")
                return []
        placed = self._model.frame(link)
        place = placed.placement.inverse.then(g.placement) if placed.body == g.body else g.placement
        name = f" name={quoted(g.name)}" if g.name else ""
        colour = ""
        if g.rgba:  # materials of one name must have one colour
            rgba = numbers_text(g.rgba)
            colour = f'<material name="rgba {rgba}"><color rgba="{rgba}"/></material>'
        return [f"<{g.purpose}{name}>{_origin(place)}<geometry>{solid}</geometry>{colour}</{g.purpose}>"]

    # --- joints ---

    def _fixed(self, parent: str, child: str, placement: Placement) -> None:
        name = self._new(f"{child}_fixed", self._joint_names)
        self._write_joint(name, "fixed", Fixed(), parent, child, _origin(placement))

    def _joint(self, entry: JointEntry, parent: str, child: str) -> None:
        joint, follow = entry.joint, ""
        if isinstance(joint, Mimic):
            law = f'multiplier="{joint.ratio!r}" offset="{joint.offset!r}"'
            follow = f"<mimic joint={quoted(joint.source)} {law}/>"
            joint = joint.joint
        kind = _kind(joint)
        if kind is None:
            self._losses.add(f"joint {entry.name!r}, which moves like {joint!r}")
            return
        if any(entry.armature):
            self._losses.add(f"the armature of joint {entry.name!r}", "armature")
        if any(entry.stiffness):
            self._losses.add(f"the spring of joint {entry.name!r}", "springs")
        axis = f'<axis xyz="{numbers_text(joint.axis)}"/>' if isinstance(joint, Revolute | Prismatic | Planar) else ""
        inner = _origin(entry.placement) + axis + self._limits(entry, kind) + self._dynamics(entry) + follow
        self._write_joint(entry.name, kind, joint, parent, child, inner)

    def _write_joint(self, name: str, kind: str, joint: Joint, parent: str, child: str, inner: str) -> None:
        ends = f"<parent link={quoted(parent)}/><child link={quoted(child)}/>"
        self._lines.append(f"<joint name={quoted(name)} type={quoted(kind)}>{ends}{inner}</joint>")
        self._connections.append(Connection(name, joint, parent, child))

    def _limits(self, entry: JointEntry, kind: str) -> str:
        bounds = (*entry.lower, *entry.upper, *entry.velocity, *entry.effort)
        if kind in ("planar", "floating"):
            if any(map(math.isfinite, bounds)):
                self._losses.add(f"limits of joint {entry.name!r}, which is {kind}", "limits")
            return ""
        both = f'effort="{_bound(entry.effort[0])}" velocity="{_bound(entry.velocity[0])}"'
        if kind == "continuous":
            if any(map(math.isfinite, (*entry.lower, *entry.upper))):
                self._losses.add(f"limits of joint {entry.name!r}, which is continuous", "limits")
            return f"<limit {both}/>" if any(map(math.isfinite, (*entry.velocity, *entry.effort))) else ""
        return f'<limit lower="{_bound(entry.lower[0])}" upper="{_bound(entry.upper[0])}" {both}/>'

    def _dynamics(self, entry: JointEntry) -> str:
        if len({*entry.damping}) > 1 or len({*entry.friction}) > 1:
            self._losses.add(f"different losses in the directions of joint {entry.name!r}", "losses")
            return ""
        damping, friction = entry.damping[0], entry.friction[0]
        return f'<dynamics damping="{damping!r}" friction="{friction!r}"/>' if damping or friction else ""

    def _new(self, name: str, taken: set[str]) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name


def _kind(joint: Joint) -> str | None:
    """The word of the format for a joint, if there is one."""
    match joint:
        case Revolute():
            return "continuous" if joint.continuous else "revolute"
        case Prismatic():
            return "prismatic"
        case Planar():
            return "planar"
        case Free():
            return "floating"
        case _:
            return None


def _inertial(inertia: Inertia | None) -> list[str]:
    if inertia is None or (inertia.mass == 0.0 and not any(inertia.rotational)):
        return []
    names = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")
    moments = " ".join(f'{name}="{x!r}"' for name, x in zip(names, inertia.rotational, strict=True))
    origin = f'<origin xyz="{numbers_text(inertia.com)}"/>'
    return [f'<inertial>{origin}<mass value="{inertia.mass!r}"/><inertia {moments}/></inertial>']


def _origin(placement: Placement) -> str:
    if placement == HERE:
        return ""
    return f'<origin xyz="{numbers_text(placement.origin)}" rpy="{numbers_text(placement.rpy)}"/>'


def _bound(value: float) -> str:
    return repr(min(max(value, -UNLIMITED), UNLIMITED))
