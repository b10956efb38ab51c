"""URDF: the robot description format of ROS, read as its own parser and Pinocchio read it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from bough.formats.description import Connection, Description, Follow, Link, LinkGeometry
from bough.formats.document import Document
from bough.formats.markup import Element
from bough.formats.numbers import name_of, number, numbers, placement_of, remark_length
from bough.formats.packages import find_file
from bough.formats.passed_over import doubt_misspelt, doubt_repeated, doubt_shape
from bough.formats.report import Report
from bough.formats.urdf_words import URDF_WORDS
from bough.model import Fixed, Free, Inertia, Joint, Planar, Prismatic, Revolute

__all__ = ["UNLIMITED", "read_urdf"]

UNLIMITED = sys.float_info.max  # what stands for no limit where the format wants a number
X = (1.0, 0.0, 0.0)  # the axis of a joint that has none
PARTS_OF_JOINTS = ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic")  # each at most once
NAMED_INERTIAS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
JOINTS: dict[str, Callable[[tuple[float, ...]], Joint]] = {
    "revolute": lambda axis: Revolute(axis),
    "continuous": lambda axis: Revolute(axis, continuous=True),
    "prismatic": lambda axis: Prismatic(axis),
    "planar": lambda axis: Planar(axis),
    "floating": lambda axis: Free(),
    "fixed": lambda axis: Fixed(),
}


def read_urdf(document: Document, report: Report) -> Description:
    """Links, joints and shapes of a URDF file.

    What is not of the format (gazebo, transmission, …) is passed over, unless it looks like a word of it misspelt.
    """
    return _Reader(document, report).description()


class _Reader:
    def __init__(self, document: Document, report: Report) -> None:
        self._root, self._report = document.root, report
        self._document = document
        self._colours: dict[str, tuple[float, ...] | None] = {}
        for material in self._root.all("material"):
            self._colours[material.attributes.get("name", "")] = self._colour(material)

    def description(self) -> Description:
        links = self._root.all("link")
        doubt_misspelt(self._root, URDF_WORDS, "the robot", self._report, apart=("link", "joint"))
        return Description(
            name=self._root.attributes.get("name") or "robot",
            links=tuple(self._link(element) for element in links),
            connections=tuple(self._connection(element) for element in self._root.all("joint")),
            geometries=tuple(g for element in links for g in self._geometries(element)),
            order=self._order(),
        )

    def _order(self) -> str:
        """Pinocchio's order, unless the file was written by us from a model in another one."""
        ours = self._root.first("bough")
        return "file" if ours is not None and ours.attributes.get("order") == "file" else "pinocchio"

    # --- links ---

    def _link(self, element: Element) -> Link:
        name = name_of(element, "name", "a link", self._report)
        what = f"link {name!r}"
        doubt_misspelt(element, URDF_WORDS, what, self._report, apart=("visual", "collision"))
        inertials = element.all("inertial")
        if len(inertials) > 1:
            self._report.refuse(f"{what} has {len(inertials)} <inertial> elements, expected one", inertials[1].line)
        return Link(name, self._inertia(inertials[0], what) if inertials else None, element.line)

    def _inertia(self, inertial: Element, what: str) -> Inertia | None:
        doubt_repeated(inertial, ("origin", "mass", "inertia"), f"{what}: <inertial>", self._report)
        mass, moments = inertial.first("mass"), inertial.first("inertia")
        if mass is None or moments is None:
            missing = "mass" if mass is None else "inertia"
            self._report.refuse(f"{what}: <inertial> has no <{missing}>", inertial.line)
            return None
        xx, xy, xz, yy, yz, zz = (number(moments, key, None, what, self._report) for key in NAMED_INERTIAS)
        m = number(mass, "value", None, what, self._report)
        place = placement_of(inertial.first("origin"), what, self._report)
        with self._report.at(moments.line if m >= 0 else mass.line):
            inertia = Inertia.read(m, (0.0, 0.0, 0.0), [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], what)
            if inertia.flaw is not None:
                self._report.doubt(f"{what}: {inertia.flaw}", moments.line)
            return inertia.placed(place)
        return None

    # --- joints ---

    def _connection(self, element: Element) -> Connection:
        name = name_of(element, "name", "a joint", self._report)
        what = f"joint {name!r}"
        doubt_misspelt(element, URDF_WORDS, what, self._report)
        doubt_repeated(element, PARTS_OF_JOINTS, what, self._report)
        ends = []
        for side in ("parent", "child"):
            end = element.first(side)
            if end is None:
                self._report.refuse(f"{what} has no <{side}>", element.line)
            ends.append("" if end is None else name_of(end, "link", what, self._report))
        return Connection(
            name=name,
            joint=self._joint(element, what),
            parent=ends[0],
            child=ends[1],
            placement=placement_of(element.first("origin"), what, self._report),
            follow=self._follow(element.first("mimic"), what),
            limits=self._limits(element, what),
            line=element.line,
        )

    def _joint(self, element: Element, what: str) -> Joint:
        kind = element.attributes.get("type", "")
        if kind not in JOINTS:
            expected = ", ".join(JOINTS)
            self._report.refuse(f"{what} is of type {kind!r}, expected one of {expected}", element.line)
            return Fixed()
        axis = element.first("axis")
        direction: tuple[float, ...] = X
        if axis is not None and kind not in ("fixed", "floating"):
            direction = numbers(axis, "xyz", X, what, self._report)
            remark_length(direction, what, axis.line, self._report)
        with self._report.at(axis.line if axis else element.line, what):
            return JOINTS[kind](direction)
        return JOINTS[kind](X)  # a check goes on: what else is wrong with this joint?

    def _follow(self, mimic: Element | None, what: str) -> Follow | None:
        if mimic is None:
            return None
        leader = name_of(mimic, "joint", what, self._report)
        ratio = number(mimic, "multiplier", 1.0, what, self._report)
        return Follow(leader, ratio, number(mimic, "offset", 0.0, what, self._report))

    def _limits(self, element: Element, what: str) -> dict[str, float]:
        """Limits and losses; the format bounds only revolute and prismatic joints."""
        kind = element.attributes.get("type", "")
        values: dict[str, float] = {}
        limit, dynamics = element.first("limit"), element.first("dynamics")
        if limit is None and kind in ("revolute", "prismatic"):
            told = f"{what} is {kind} and has no <limit>, which the format demands; it moves without limits"
            self._report.remark(told, element.line)
        if limit is not None and kind in ("revolute", "prismatic"):
            values |= {key: self._bound(limit, key, what) for key in ("lower", "upper")}
        if limit is not None and kind in ("revolute", "prismatic", "continuous"):
            given = [key for key in ("velocity", "effort") if key in limit.attributes]
            values |= {key: self._bound(limit, key, what) for key in given}
        if dynamics is not None and kind not in ("fixed",):
            values |= {key: number(dynamics, key, 0.0, what, self._report) for key in ("damping", "friction")}
        return values

    def _bound(self, limit: Element, key: str, what: str) -> float:
        value = number(limit, key, 0.0, what, self._report)
        return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value

    # --- shapes ---

    def _geometries(self, link: Element) -> list[LinkGeometry]:
        name = link.attributes.get("name", "")
        shapes = (self._geometry(e, name) for e in link.children if e.tag in ("collision", "visual"))
        return [shape for shape in shapes if shape is not None]

    def _geometry(self, element: Element, link: str) -> LinkGeometry | None:
        what = f"a <{element.tag}> of link {link!r}"
        doubt_misspelt(element, URDF_WORDS, what, self._report)
        doubt_repeated(element, ("origin", "geometry", "material"), what, self._report)
        geometry = element.first("geometry")
        solid = next((e for e in geometry.children if e.tag in SOLIDS), None) if geometry else None
        if solid is None:
            doubt_shape(element, tuple(SOLIDS), what, self._report)
            return None
        size = SOLIDS[solid.tag](solid, what, self._report)
        file = solid.attributes.get("filename", "") if solid.tag == "mesh" else ""
        if solid.tag == "mesh" and not file:
            self._report.refuse(f"{what}: <mesh> has no filename", solid.line)
        material = element.first("material")
        return LinkGeometry(
            link,
            solid.tag,
            size,
            name=element.attributes.get("name", ""),
            placement=placement_of(element.first("origin"), what, self._report),
            purpose=element.tag,
            file=find_file(file, self._document.package_dirs, self._document.path),
            rgba=None if material is None else self._colour(material),
            line=solid.line,
        )

    def _colour(self, material: Element) -> tuple[float, ...] | None:
        """The colour of a material: its own, or that of the robot's material of this name."""
        colour = material.first("color")
        if colour is None:
            return self._colours.get(material.attributes.get("name", ""))
        rgba = numbers(colour, "rgba", (0.0, 0.0, 0.0, 1.0), "a material", self._report)
        return tuple(min(max(part, 0.0), 1.0) for part in rgba)


def _cylinder(solid: Element, what: str, report: Report) -> tuple[float, ...]:
    return number(solid, "radius", None, what, report), number(solid, "length", None, what, report)


SOLIDS: dict[str, Callable[[Element, str, Report], tuple[float, ...]]] = {
    "box": lambda solid, what, report: numbers(solid, "size", (0.0, 0.0, 0.0), what, report),
    "sphere": lambda solid, what, report: (number(solid, "radius", None, what, report),),
    "cylinder": _cylinder,
    "capsule": _cylinder,
    "mesh": lambda solid, what, report: numbers(solid, "scale", (1.0, 1.0, 1.0), what, report),
}
