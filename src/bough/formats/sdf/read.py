"""SDF in: one model, with its links, joints, frames and shapes.

Links and joints may form loops. Joints are taken in the order of the file; one that would give a link a second parent,
or close a circle, becomes a `Loop`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bough.errors import ModelError
from bough.formats.description import Connection, Description, Follow, Link, LinkFrame, LinkLoop
from bough.formats.document import Document
from bough.formats.markup import Element
from bough.formats.numbers import name_of, remark_length
from bough.formats.passed_over import doubt_misspelt
from bough.formats.report import Report
from bough.formats.sdf.frames import MODEL, WORLD, Frames
from bough.formats.sdf.shapes import shapes
from bough.formats.sdf.values import flag, pose, value, values, word
from bough.formats.sdf.words import SDF_WORDS
from bough.model import Fixed, Helical, Inertia, Joint, Prismatic, Revolute, Spherical, Universal
from bough.model.parts import HERE, Vec3

__all__ = ["read_sdf"]

UNLIMITED = 1e16  # what the format takes for no limit
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
UNSAID = Inertia(1.0, (0.0, 0.0, 0.0), (1.0, 0.0, 1.0, 0.0, 0.0, 1.0))  # of a link whose inertia is not told
NOT_READ = ("model", "include", "gripper")


def read_sdf(document: Document, report: Report) -> Description | None:
    """The model of an SDF file: alone, or alone in a world, whose gravity then holds."""
    root = document.root
    world = root.first("world")
    models = [*root.all("model"), *(() if world is None else world.all("model"))]
    if len(models) != 1:
        report.refuse(f"the file has {len(models)} models, expected one", root.line)
        return None
    what = f"model {models[0].attributes.get('name', '')!r}"
    for element in models[0].children:
        if element.tag in NOT_READ:
            report.refuse(f"{what}: <{element.tag}> is not read, expected links and joints", element.line)
            return None
    doubt_misspelt(root, SDF_WORDS, "the file", report, apart=("link", "joint"))
    gravity = values(world, "gravity", (0.0, 0.0, -9.81), "the world", report)
    with report.at(models[0].line):
        return _Reader(models[0], root.attributes.get("version", ""), document, report).description(gravity)
    return None


class _Reader:
    def __init__(self, model: Element, version: str, document: Document, report: Report) -> None:
        self._model, self._document, self._report = model, document, report
        self._axes_in_model = version in ("1.0", "1.2", "1.3", "1.4")
        self._own = pose(model.first("pose"), "the model", report)
        self._frames = Frames(model, self._own, report)
        self._carried: set[str] = set()
        self._trees: dict[str, str] = {}  # from each link towards a name for the tree it is in
        self._connections: list[Connection] = []
        self._loops: list[LinkLoop] = []

    def description(self, gravity: tuple[float, ...]) -> Description:
        model, frames = self._model, self._frames
        links = [self._link(element) for element in model.all("link")]
        if flag(model, "static", False):
            self._hold(links)
        else:
            for element in model.all("joint"):
                self._joint(element)
        in_world = any(c.parent == WORLD for c in self._connections)
        root = next((link.name for link in links if link.name not in self._carried), "")
        named = [
            element for element in model.all("frame") if frames.link_of(element.attributes.get("name", "")) != WORLD
        ]
        return Description(
            name=model.attributes.get("name") or "model",
            links=(*links, Link(WORLD)) if in_world else tuple(links),
            connections=tuple(self._connections),
            frames=tuple(self._frame(element) for element in named),
            geometries=tuple(g for element in model.all("link") for g in shapes(element, self._document, self._report)),
            gravity=_vec3(gravity),
            order="file",
            world=WORLD if in_world else None,
            root_placement=HERE if in_world or not root else self._own.then(frames.placement(root)),
            loops=tuple(self._loops),
            floats=not in_world,
        )

    def _frame(self, element: Element) -> LinkFrame:
        name = name_of(element, "name", "a frame", self._report)
        link = self._frames.link_of(name)
        return LinkFrame(name, link, self._frames.between(link, name), element.line)

    def _hold(self, links: Sequence[Link]) -> None:
        """Fix each link of a static model to the world where it stands; its joints do not move."""
        for link in links:
            with self._report.at(link.line):
                place = self._own.then(self._frames.placement(link.name))
                held = Connection(f"{link.name}_fixed", Fixed(), WORLD, link.name, place, line=link.line)
                self._connections.append(held)

    # --- links ---

    def _link(self, element: Element) -> Link:
        name = name_of(element, "name", "a link", self._report)
        what = f"link {name!r}"
        doubt_misspelt(element, SDF_WORDS, what, self._report, apart=("visual", "collision"))
        if not flag(element, "gravity", True) and "gravcomp" not in self._document.ignore:
            text = f"{what} feels no gravity, which bough cannot express; give ignore='gravcomp'"
            self._report.refuse(text, element.line)
        if flag(element, "kinematic", False):
            self._report.refuse(f"{what} is kinematic, which bough cannot express", element.line)
        return Link(name, self._inertia(element.first("inertial"), what), element.line)

    def _inertia(self, inertial: Element | None, what: str) -> Inertia | None:
        """The inertia of a link: where the file says nothing, 1 kg, and 1 kg m² about each axis."""
        if inertial is None:
            return UNSAID
        line = inertial.line
        if flag_of(inertial, "auto") or inertial.first("fluid_added_mass"):
            self._report.refuse(f"{what}: an inertia that is computed from shapes or fluids is not read", line)
            return None
        mass = value(inertial, "mass", 1.0, what, self._report)
        moments = inertial.first("inertia")
        defaults = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
        pairs = zip(MOMENTS, defaults, strict=True)
        xx, xy, xz, yy, yz, zz = (value(moments, tag, default, what, self._report) for tag, default in pairs)
        place = pose(inertial.first("pose"), what, self._report)
        with self._report.at(line):
            inertia = Inertia.read(mass, (0.0, 0.0, 0.0), [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], what)
            if inertia.flaw is not None:
                self._report.doubt(f"{what}: {inertia.flaw}", line)
            return inertia.placed(place)
        return None

    # --- joints ---

    def _joint(self, element: Element) -> None:
        name = name_of(element, "name", "a joint", self._report)
        what, kind = f"joint {name!r}", element.attributes.get("type", "")
        doubt_misspelt(element, SDF_WORDS, what, self._report)
        if kind == "gearbox" and "constraints" in self._document.ignore:
            return
        frames = self._frames
        with self._report.at(element.line, what):
            parent, child = (frames.link_of(word(element, side)) for side in ("parent", "child"))
            if parent == child:
                raise ModelError(f"it joins link {parent!r} with itself, expected two links")
            joint = self._kind(kind, name, element, what)
            placement, after = frames.between(parent, name), frames.between(name, child)
            limits, follow = self._limits(element, joint, what), self._follow(element)
            if self._closes_a_loop(parent, child):
                if follow is not None:
                    raise ModelError("it closes a loop and follows another joint, which bough cannot express")
                sides = (parent, child, placement, after.inverse)
                self._loops.append(LinkLoop(name, joint, *sides, limits, element.line))
                return
            self._carried.add(child)
            self._trees[self._tree(child)] = self._tree(parent)
            self._connections.append(
                Connection(name, joint, parent, child, placement, after, follow, limits, element.line)
            )

    def _closes_a_loop(self, parent: str, child: str) -> bool:
        """Whether the child has a parent already, or carries the parent."""
        return child in self._carried or self._tree(parent) == self._tree(child)

    def _tree(self, link: str) -> str:
        path = []
        while link in self._trees:
            path.append(link)
            link = self._trees[link]
        self._trees.update(dict.fromkeys(path, link))
        return link

    def _kind(self, kind: str, name: str, element: Element, what: str) -> Joint:
        match kind:
            case "fixed":
                return Fixed()
            case "ball":
                return Spherical()
            case "revolute" | "continuous":
                return Revolute(self._axis(element, "axis", name, what), continuous=kind == "continuous")
            case "prismatic":
                return Prismatic(self._axis(element, "axis", name, what))
            case "universal" | "revolute2":
                return Universal(*(self._axis(element, tag, name, what) for tag in ("axis", "axis2")))
            case "screw" if element.first("screw_thread_pitch"):
                per_turn = value(element, "screw_thread_pitch", 1.0, what, self._report)
                return Helical(self._axis(element, "axis", name, what), per_turn / (2 * math.pi))
            case "screw":
                raise ModelError("a screw without <screw_thread_pitch> (m per turn)")
            case "gearbox":
                raise ModelError("a gearbox, which bough cannot express; give ignore='constraints'")
            case _:
                known = "fixed, ball, revolute, continuous, prismatic, universal, revolute2, screw"
                raise ModelError(f"the type is {kind!r}, expected one of {known}")

    def _axis(self, element: Element, tag: str, name: str, what: str) -> Any:
        """An axis in the frame of the joint."""
        axis = element.first(tag)
        if axis is None:
            raise ModelError(f"there is no <{tag}>")
        xyz = values(axis, "xyz", (0.0, 0.0, 1.0), what, self._report)
        where = axis.first("xyz")
        if not any(xyz):
            self._report.refuse(f"{what}: the axis (0, 0, 0) of <{tag}> has no direction", (where or axis).line)
            xyz = (0.0, 0.0, 1.0)  # a check goes on: what else is wrong with this joint?
        remark_length(xyz, what, (where or axis).line, self._report)
        inside = "" if where is None else where.attributes.get("expressed_in", "")
        if not inside and flag(axis, "use_parent_model_frame", self._axes_in_model):
            inside = MODEL
        return self._frames.between(name, inside).matrix @ np.array(xyz) if inside else np.array(xyz)

    def _limits(self, element: Element, joint: Joint, what: str) -> dict[str, Any]:
        if isinstance(joint, Fixed | Spherical):
            return {}
        axes = [axis for tag in ("axis", "axis2")[: joint.nv] if (axis := element.first(tag)) is not None]
        limits = [axis.first("limit") for axis in axes]
        dynamics = [axis.first("dynamics") for axis in axes]
        report = self._report

        def bounds(tag: str, default: float) -> list[float]:
            read = [value(limit, tag, default, what, report, infinite=True) for limit in limits]
            return [math.copysign(math.inf, x) if abs(x) >= UNLIMITED else x for x in read]

        def losses(tag: str) -> list[float]:
            return [value(part, tag, 0.0, what, report) for part in dynamics]

        result: dict[str, Any] = {"lower": bounds("lower", -UNLIMITED), "upper": bounds("upper", UNLIMITED)}
        for tag in ("effort", "velocity"):  # negative ones are none
            result[tag] = [math.inf if x < 0 else x for x in bounds(tag, -1.0)]
        result.update(damping=losses("damping"), friction=losses("friction"), stiffness=losses("spring_stiffness"))
        if any(result["stiffness"]):
            result["rest"] = losses("spring_reference")
        return result

    def _follow(self, element: Element) -> Follow | None:
        """The law of a joint that mimics another: multiplier · (q - reference) + offset."""
        axis = element.first("axis")
        mimic = None if axis is None else axis.first("mimic")
        if mimic is None:
            return None
        what = f"joint {element.attributes.get('name', '')!r}"
        numbers = (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
        ratio, offset, reference = (value(mimic, tag, default, what, self._report) for tag, default in numbers)
        return Follow(name_of(mimic, "joint", what, self._report), ratio, offset - ratio * reference)


def flag_of(element: Element, attribute: str) -> bool:
    """A truth value of an attribute."""
    return element.attributes.get(attribute, "").lower() in ("1", "true")


def _vec3(numbers: tuple[float, ...]) -> Vec3:
    x, y, z = numbers
    return (x, y, z)
