"""Inertias, poses and shapes as MJCF writes them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.formats.losses import Losses
from bough.formats.mjcf.write_simulation import surface_attributes
from bough.formats.text import numbers_text, quoted
from bough.model import Geometry, Inertia, Placement
from bough.model.parts import HERE

__all__ = ["Asset", "asset", "geom", "inertial", "pose", "unreadable"]

LEAST_INERTIA = 1e-15  # mass and moments of a moving body that MuJoCo takes
MESH_FILES = (".stl", ".obj", ".msh")  # that MuJoCo reads
FLATTEST = 1e-12  # of a flat body: MuJoCo allows none in the triangle inequality


Asset: TypeAlias = tuple[str | tuple[tuple[float, ...], ...], tuple[float, ...]]
"""What tells meshes and height fields apart: file, triangles or heights, and scale or lengths."""


def pose(place: Placement) -> str:
    """Position and quaternion as attributes; nothing for a frame that is here."""
    if place == HERE:
        return ""
    turned = "" if place.rotation == HERE.rotation else f' quat="{numbers_text(_quaternion(place.matrix))}"'
    return f' pos="{numbers_text(place.origin)}"{turned}'


def _quaternion(R: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Unit quaternion (w x y z) of a rotation, from its largest part."""
    trace = float(np.trace(R))
    squares = [1 + trace, *(1 + 2 * float(R[k, k]) - trace for k in range(3))]  # 4w², 4x², 4y², 4z²
    largest = int(np.argmax(squares))
    w = (R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    mixed = {(1, 2): R[1, 0] + R[0, 1], (1, 3): R[2, 0] + R[0, 2], (2, 3): R[2, 1] + R[1, 2]}
    parts = []
    for k in range(4):
        if k == largest:
            parts.append(squares[k])
        elif 0 in (k, largest):
            parts.append(float(w[max(k, largest) - 1]))
        else:
            parts.append(float(mixed[min(k, largest), max(k, largest)]))
    length = math.hypot(*parts)
    a, b, c, d = (part / length for part in parts)
    return (a, b, c, d)


def inertial(inertia: Inertia, name: str, losses: Losses, moving: bool = True) -> str:
    """The inertia of a body, by its principal moments; one that does not move may have none."""
    moments, axes = np.linalg.eigh(inertia.matrix)
    if moving and (inertia.mass < LEAST_INERTIA or moments[0] < LEAST_INERTIA):
        losses.add(f"body {name!r}, which moves and lacks mass or a principal moment of inertia")
        return ""
    missing = float(moments[2] - moments[0] - moments[1])
    if missing > FLATTEST * moments[2] or moments[0] < 0.0:
        wrong = f"the inertia of body {name!r}, whose moments break the triangle inequality"
        losses.add(wrong, None if moving else "inertias")
        return ""
    while moments[0] + moments[1] < moments[2]:  # rounding
        moments[1] = np.nextafter(moments[1], np.inf)
    axes *= np.sign(np.linalg.det(axes))
    place = f'pos="{numbers_text(inertia.com)}"'
    turned = "" if np.array_equal(axes, np.eye(3)) else f' quat="{numbers_text(_quaternion(axes))}"'
    return f'<inertial {place}{turned} mass="{inertia.mass!r}" diaginertia="{numbers_text(moments)}"/>'


def asset(g: Geometry, name: str) -> str:
    """A mesh, or a height field, whose heights MuJoCo has from 0 to 1, and the last row first."""
    if g.shape == "mesh":
        source = f"file={quoted(g.file)}" if g.file else _corners_and_faces(g)
        return f'<mesh name={quoted(name)} {source} scale="{numbers_text(g.size)}"/>'
    heights = np.array(g.heights)
    low, high = float(heights.min()), float(heights.max())
    size = 0.5 * g.size[0], 0.5 * g.size[1], high - low or 1.0, 1.0
    rows, columns = heights.shape
    return (
        f'<hfield name={quoted(name)} nrow="{rows}" ncol="{columns}" size="{numbers_text(size)}" '
        f'elevation="{numbers_text((heights[::-1] - low).ravel().tolist())}"/>'
    )


def unreadable(g: Geometry) -> str:
    """Why MuJoCo cannot read the file of a mesh, as far as its name tells; nothing if it can."""
    if g.shape != "mesh" or not g.file:
        return ""
    if "://" in g.file:
        return f"whose file {g.file!r} was not found"
    readable = os.path.splitext(g.file)[1].lower() in MESH_FILES
    return "" if readable else f"whose file {g.file!r} is none of {', '.join(MESH_FILES)}"


def _corners_and_faces(g: Geometry) -> str:
    """Triangles as attributes of a mesh."""
    corners, faces = np.unique(np.reshape(g.triangles, (-1, 3)), axis=0, return_inverse=True)
    told = " ".join(map(str, faces.ravel().tolist()))
    return f'vertex="{numbers_text(corners.ravel().tolist())}" face="{told}"'


def geom(g: Geometry, name: str, moving: bool, assets: Mapping[Asset, str], losses: Losses) -> str:
    """A shape; nothing if MJCF has none like it."""
    s = g.size
    match g.shape:
        case "box":
            size: tuple[float, ...] = (s[0] / 2, s[1] / 2, s[2] / 2)
        case "sphere" | "ellipsoid":
            size = s
        case "cylinder" | "capsule":
            size = (s[0], s[1] / 2)
        case "plane":
            size = (*(0.0 if math.isinf(x) else x / 2 for x in s), 1.0)
        case _:
            size = ()
    what = f"the {g.shape} {g.name!r} on {g.frame!r}"
    if g.shape == "plane" and (moving or 0.0 in s):
        losses.add(f"{what}: planes do not move and have a size", "geometries")
        return ""
    if g.shape != "plane" and size and min(size) <= 0.0:
        losses.add(f"{what}, which has no size", "geometries")
        return ""
    why = unreadable(g)
    if why:
        losses.add(f"{what}, {why}", "geometries")
        return ""
    if g.surface.restitution:
        losses.add(f"the restitution of {what}", "simulation")
    sort = "hfield" if g.heights else g.shape
    text = f"<geom{f' name={quoted(name)}' if name else ''} type={quoted(sort)}"
    key, place = (g.source, s), g.placement
    if g.heights:
        place = place.then(Placement.of(np.eye(3), (0.0, 0.0, float(np.min(g.heights))), what))
    text += f" {sort}={quoted(assets[key])}" if key in assets else f' size="{numbers_text(size)}"'
    text += pose(place)
    text += "" if g.rgba is None else f' rgba="{numbers_text(g.rgba)}"'
    text += ' contype="0" conaffinity="0"' if g.purpose == "visual" else surface_attributes(g.surface)
    return text + "/>"
