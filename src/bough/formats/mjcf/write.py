"""MJCF from a model: bodies inside each other, sites for frames, and several joints where a body has them.

MuJoCo has no moving body without inertia. One that carries a single other body is written as further joints of that
body: P₁ T₁ C₁ with C₁ = F₁ P₂ F₂ places the last body by the first joint, as P₂ T₂ F₂ does by the second.
"""

from __future__ import annotations

import math
from dataclasses import replace

from bough.formats.losses import Losses
from bough.formats.mjcf.elements import Asset, asset, geom, inertial, pose, unreadable
from bough.formats.mjcf.joints import Step, joints
from bough.formats.mjcf.sensors import sensors_text
from bough.formats.mjcf.write_simulation import actuators, contact, options, soft_attributes
from bough.formats.text import numbers_text, quoted
from bough.model import Equality, Fixed, Frame, Free, Geometry, Loop, Model, Placement, Spherical, Tie
from bough.model.constraints import Attachment, Constraint
from bough.model.parts import HERE

__all__ = ["write_mjcf"]

DEEPEST_BODY = 450  # bodies inside each other
HIGHEST = 4  # power in the law of two coordinates


def write_mjcf(model: Model, losses: Losses) -> str:
    """The text of a MJCF file; what it cannot hold goes to `losses`."""
    return _Writer(model, losses).text()


class _Writer:
    def __init__(self, model: Model, losses: Losses) -> None:
        self._model, self._losses = model, losses
        self._children: list[list[int]] = [[] for _ in range(model.nbodies + 1)]
        for body, parent in enumerate(model.tree.parents, start=1):
            self._children[parent].append(body)
        self._shapes: list[list[Geometry]] = [[] for _ in range(model.nbodies + 1)]
        for geometry in model.geometries:
            self._shapes[geometry.body].append(geometry)
        self._sites: list[dict[str, Placement]] = [{} for _ in range(model.nbodies + 1)]
        self._static = _static_bodies(model)
        for frame in model.frames:
            if frame.name not in self._static:
                self._sites[frame.body][frame.name] = frame.placement
        assets: dict[Asset, Geometry] = {}
        for g in model.geometries:
            if g.shape in ("mesh", "height_field") and not unreadable(g):
                assets.setdefault((g.source, g.size), g)
        self._needed = {key: (f"{g.shape}{k}", g) for k, (key, g) in enumerate(assets.items())}
        self._site_names = {frame.name for frame in model.frames if frame.name not in self._static}
        self._geom_names: set[str] = set()
        self._body_names = set(self._static)
        self._written: list[str] = []  # names of joints, in the order MuJoCo will have them

    def text(self) -> str:
        model = self._model
        equalities = [line for constraint in model.constraints for line in self._equality(constraint)]
        bodies = self._bodies()
        if self._written != list(model.joint_names):
            self._losses.add("this order of joints: MuJoCo numbers them depth first", "order")
        option, flags = options(model.simulation)
        lines = [
            f"<mujoco model={quoted(model.name)}>",
            '  <compiler angle="radian" autolimits="false" inertiafromgeom="false"/>',
            f'  <option gravity="{numbers_text(model.gravity)}"{option}' + (f">{flags}</option>" if flags else "/>"),
            *_section("asset", self._assets()),
            *_section("worldbody", bodies),
            *_section("contact", list(contact(model, self._body_names, self._static, self._losses))),
            *_section("equality", equalities),
            *_section("actuator", list(actuators(model, self._losses))),
            *_section("sensor", list(sensors_text(model, self._site_names, self._losses))),
            "</mujoco>",
        ]
        return '<?xml version="1.0" encoding="utf-8"?>\n' + "\n".join(lines) + "\n"

    # --- bodies ---

    def _bodies(self) -> list[str]:
        """All bodies, depth first; nothing recurses."""
        lines = self._content(0, [g for g in self._shapes[0] if g.frame not in self._static])
        for frame in self._static.values():
            lines += self._static_body(frame)
        waiting: list[tuple[int | None, int]] = [(body, 0) for body in reversed(self._children[0])]
        while waiting:
            body, depth = waiting.pop()
            pad = "  " * depth
            if body is None:
                lines.append(f"{pad}</body>")
                continue
            if depth == DEEPEST_BODY:
                self._losses.add(f"more than {DEEPEST_BODY} bodies in a row, the last of them {self._name(body)!r}")
            steps, body = self._steps(body)
            self._body_names.add(self._name(body))
            place = steps[0].fixed.then(steps[0].after)
            lines.append(f"{pad}<body name={quoted(self._name(body))}{pose(place)}>")
            inside = [
                *joints(steps, self._model, self._losses),
                self._inertial(body),
                *self._content(body, self._shapes[body]),
            ]
            lines += [f"{pad}  {line}" for line in inside if line]
            self._written += [step.entry.name for step in steps]
            waiting.append((None, depth))
            waiting += [(child, depth + 1) for child in reversed(self._children[body])]
        return lines

    def _steps(self, body: int) -> tuple[list[Step], int]:
        """The joints up to the first body that is more than a joint, and that body."""
        model = self._model
        chain = [body]
        while self._is_only_a_joint(chain[-1]):
            chain.append(self._children[chain[-1]][0])
        steps: list[Step] = []
        after = HERE
        for number in reversed(chain):
            after = model.bodies[number - 1].frame.then(after)
            entry = model.joints[number - 1]
            steps.insert(0, Step(entry, entry.placement, after))
            after = entry.placement.then(after)
        return steps, chain[-1]

    def _is_only_a_joint(self, body: int) -> bool:
        inertia = self._model.bodies[body - 1].inertia
        empty = inertia.mass == 0.0 and not any(inertia.rotational)
        alone = isinstance(self._model.joints[body - 1].joint, Free)
        loaded = self._sites[body] or self._shapes[body]
        return empty and not alone and not loaded and len(self._children[body]) == 1

    def _inertial(self, body: int) -> str:
        return inertial(self._model.bodies[body - 1].inertia, self._name(body), self._losses)

    def _static_body(self, frame: Frame) -> list[str]:
        """A link with inertia on the base: a body without joints, which carries the shapes of the link."""
        assert frame.inertia is not None, "others are sites"
        back = frame.placement.inverse
        shapes = [replace(g, placement=back.then(g.placement)) for g in self._shapes[0] if g.frame == frame.name]
        inside = [inertial(frame.inertia, frame.name, self._losses, moving=False), *self._geoms(shapes, False)]
        return [
            f"<body name={quoted(frame.name)}{pose(frame.placement)}>",
            *(f"  {line}" for line in inside if line),
            "</body>",
        ]

    def _content(self, body: int, shapes: list[Geometry]) -> list[str]:
        """Sites and geoms."""
        sites = [f"<site name={quoted(name)}{pose(place)}/>" for name, place in self._sites[body].items()]
        return [*sites, *self._geoms(shapes, body > 0)]

    def _geoms(self, shapes: list[Geometry], moving: bool) -> list[str]:
        lines = (geom(g, self._geom_name(g), moving, self._asset_names, self._losses) for g in shapes)
        return [line for line in lines if line]

    def _name(self, body: int) -> str:
        return self._model.frame_names[body]

    def _geom_name(self, g: Geometry) -> str:
        """Names of geoms differ in MJCF."""
        name, number = g.name, 1
        while name and name in self._geom_names:
            number += 1
            name = f"{g.name}_{number}"
        self._geom_names.add(name)
        return name

    def _assets(self) -> list[str]:
        return [asset(g, name) for name, g in self._needed.values()]

    @property
    def _asset_names(self) -> dict[Asset, str]:
        return {key: name for key, (name, _) in self._needed.items()}

    # --- constraints ---

    def _equality(self, constraint: Constraint) -> list[str]:
        if isinstance(constraint, Equality):
            return self._law(constraint)
        if isinstance(constraint, Tie):
            self._losses.add(f"the constraint {constraint.name!r}, a {constraint.constraint!r}", "constraints")
            return []
        kind = {Spherical: "connect", Fixed: "weld"}.get(type(constraint.joint))
        if kind is None:
            self._losses.add(f"the loop {constraint.name!r}, closed by {constraint.joint!r}", "constraints")
            return []
        self._lose_limits(constraint)
        first = self._site(constraint.predecessor, f"{constraint.name}/predecessor")
        second = self._site(constraint.successor, f"{constraint.name}/successor")
        soft = soft_attributes(constraint.softness)
        return [f"<{kind} name={quoted(constraint.name)} site1={quoted(first)} site2={quoted(second)}{soft}/>"]

    def _site(self, side: Attachment, name: str) -> str:
        """A site in that place: one that is there, or a new one."""
        for known, place in self._sites[side.body].items():
            if place == side.placement:
                return known
        while name in self._site_names:
            name += "_"
        self._site_names.add(name)
        self._sites[side.body][name] = side.placement
        return name

    def _lose_limits(self, loop: Loop) -> None:
        """An equality is two points or frames held together: a joint without limits and losses."""
        what = f"the loop {loop.name!r}"
        if any(math.isfinite(x) for x in (*loop.lower, *loop.upper, *loop.velocity, *loop.effort)):
            self._losses.add(f"limits of {what}", "limits")
        if any((*loop.damping, *loop.friction)):
            self._losses.add(f"damping or friction of {what}", "losses")
        if any(loop.stiffness):
            self._losses.add(f"the spring of {what}", "springs")

    def _law(self, law: Equality) -> list[str]:
        """In MJCF coordinates are measured from the pose of the file, which is zero here."""
        c = [0.0]
        for coefficient in reversed(law.polynomial):  # times (x - zero), plus the next
            c = [a - law.other_zero * b for a, b in zip([0.0, *c], [*c, 0.0], strict=True)]
            c[0] += coefficient
        while len(c) > 1 and c[-1] == 0.0:
            c.pop()
        c[0] += law.zero
        if len(c) > HIGHEST + 1:
            self._losses.add(f"the law {law.name!r} with powers above {HIGHEST}", "constraints")
            return []
        c += [0.0] * (HIGHEST + 1 - len(c))
        other = "" if law.other is None else f" joint2={quoted(law.other)}"
        head = f"name={quoted(law.name)} joint1={quoted(law.joint)}{other}"
        return [f'<joint {head} polycoef="{numbers_text(c)}"{soft_attributes(law.softness)}/>']


def _static_bodies(model: Model) -> dict[str, Frame]:
    """Links with inertia on the base, unless a sensor needs them as sites."""
    sensors = (x for x in model.simulation.sensors if not x.kind.startswith("frame"))
    needed = {x.of for x in sensors}
    return {f.name: f for f in model.frames if not f.body and f.inertia is not None and f.name not in needed}


def _section(tag: str, lines: list[str]) -> list[str]:
    return [f"  <{tag}>", *(f"    {line}" for line in lines), f"  </{tag}>"] if lines else []
