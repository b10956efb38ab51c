"""Shapes of SDF links."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from bough.formats.description import LinkGeometry
from bough.formats.document import Document
from bough.formats.markup import Element
from bough.formats.packages import find_file
from bough.formats.passed_over import doubt_misspelt, doubt_shape
from bough.formats.report import Report
from bough.formats.sdf.values import pose, value, values, word
from bough.formats.sdf.words import SDF_WORDS
from bough.model import Surface
from bough.model.surface import DEFAULT_SURFACE

__all__ = ["shapes"]

SOLIDS = ("box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh")


def shapes(link: Element, document: Document, report: Report) -> Iterator[LinkGeometry]:
    """The collision and visual shapes of a link that bough knows; others (height maps, outlines, …) are told of."""
    owner = link.attributes.get("name", "")
    for element in link.children:
        if element.tag not in ("collision", "visual"):
            continue
        what = f"a {element.tag} of link {owner!r}"
        doubt_misspelt(element, SDF_WORDS, what, report)
        geometry = element.first("geometry")
        solid = geometry.children[0] if geometry is not None and geometry.children else None
        size = None if solid is None else _size(solid, what, report)
        if solid is None or size is None:
            if solid is None or solid.tag not in (*SOLIDS, "empty"):
                doubt_shape(element, SOLIDS, what, report)
            continue
        material = element.first("material")
        colour = None if material is None else material.first("diffuse") or material.first("ambient")
        rgba = None
        if material is not None and colour is not None and len(colour.text.split()) == 4:
            rgba = np.clip(values(material, colour.tag, (0.0,) * 4, what, report), 0.0, 1.0)
        yield LinkGeometry(
            link=owner,
            shape=solid.tag,
            size=size,
            name=element.attributes.get("name", ""),
            placement=pose(element.first("pose"), what, report),
            purpose=element.tag,
            file=find_file(word(solid, "uri"), document.package_dirs, document.path) if solid.tag == "mesh" else "",
            rgba=rgba,
            surface=_surface(element, what, report),
            line=element.line,
        )


def _surface(element: Element, what: str, report: Report) -> Surface:
    """The coefficient of sliding friction, where one is told."""
    told: Element | None = element
    for tag in ("surface", "friction", "ode"):
        told = None if told is None else told.first(tag)
    if told is None or told.first("mu") is None:
        return DEFAULT_SURFACE
    mu = value(told, "mu", 1.0, what, report, infinite=True)
    return Surface(friction=(mu,)) if 0.0 <= mu < math.inf else DEFAULT_SURFACE


def _size(solid: Element, what: str, report: Report) -> tuple[float, ...] | None:
    match solid.tag:
        case "box":
            return values(solid, "size", (1.0, 1.0, 1.0), what, report)
        case "sphere":
            return (value(solid, "radius", 1.0, what, report),)
        case "cylinder" | "capsule":
            return (value(solid, "radius", 1.0, what, report), value(solid, "length", 1.0, what, report))
        case "ellipsoid":
            return values(solid, "radii", (1.0, 1.0, 1.0), what, report)
        case "plane" if values(solid, "normal", (0.0, 0.0, 1.0), what, report) == (0.0, 0.0, 1.0):
            return values(solid, "size", (1.0, 1.0), what, report)
        case "mesh" if word(solid, "uri"):
            return values(solid, "scale", (1.0, 1.0, 1.0), what, report)
        case "plane":
            report.doubt(f"{what}: the normal of <plane> is not 0 0 1; this shape is ignored", solid.line)
        case "mesh":
            report.doubt(f"{what}: <mesh> has no <uri>; this shape is ignored", solid.line)
    return None
