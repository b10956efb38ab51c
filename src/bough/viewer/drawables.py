"""What there is to draw of a model: triangles placed on its bodies, with colours. Knows no browser and no renderer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.cost.pattern import segments
from bough.errors import BoughError, LoadWarning, warn
from bough.model import Body, Geometry, Model, Placement

__all__ = [
    "LIMBS", "Drawable", "Drawables", "Triangles",
    "drawables", "file_triangles", "inertia_ellipsoid", "shapes_of", "tell_missing",
]  # fmt: skip

Floats = NDArray[np.floating[Any]]
Colour = tuple[float, float, float, float]

GREY: Colour = (0.72, 0.74, 0.78, 1.0)
STONE: Colour = (0.62, 0.63, 0.62, 1.0)
INERT: Colour = (0.35, 0.55, 0.80, 1.0)
"""Of collision shapes without a colour of their own, of shapes of the world, and of inertia ellipsoids."""

LIMBS = ("#4a86c5", "#ee9447", "#5ab582", "#c2679a", "#b3a04c", "#62b4c6", "#9079c4", "#cf665b")
"""Colours of bodies without one of their own, a colour for each stretch of the tree between branches."""

PLANE_SIDE = 20.0
"""Length (m) of the sides of a plane without end, as it is drawn."""

WATER = 1000.0
"""Density (kg/m³) of the ball that is drawn for a mass without extent."""

ROUND = 24
"""Corners of a circle."""


@dataclass(frozen=True, eq=False)
class Triangles:
    """A surface: corners (n, 3) in m, and for each triangle three of them (k, 3), counter-clockwise seen from outside.

    Surfaces are shared: two drawables with the same object may be drawn as instances of one. `smooth` says that it is
    round, so that light should not show its triangles.
    """

    corners: Floats
    faces: NDArray[np.int32]
    smooth: bool = False


@dataclass(frozen=True, eq=False)
class Drawable:
    """A surface on a body: stretched by `scale` along its own axes, then placed in the frame of the body.

    Attributes
    ----------
    body
        Number of the body that carries it; 0 is the base.
    placement
        Where it is in the frame of the body.
    scale
        Factors along x, y and z.
    triangles
        The surface before it is scaled.
    rgba
        Colour: red, green, blue, opacity, each 0 to 1.
    sort
        What it stands for: "visual", "collision", "inertia" (an ellipsoid), "bone" (from a joint to the next one),
        "plane" or "ground" (a height field).
    name
        The name of the shape, or of its body.
    """

    body: int
    placement: Placement
    scale: tuple[float, float, float]
    triangles: Triangles
    rgba: Colour
    sort: str
    name: str

    @property
    def corners(self) -> Floats:
        """The corners (n, 3) in the frame of the body, in m."""
        return self.placement.act(self.triangles.corners * np.array(self.scale))


@dataclass(frozen=True)
class Drawables:
    """All that there is to draw, and a line for each thing that could not be drawn as the model wants it."""

    shapes: tuple[Drawable, ...]
    missing: tuple[str, ...] = ()


def drawables(model: Model, world: Iterable[Geometry] = (), *, sort: str = "visual") -> Drawables:
    """What there is to draw of a model: for each body its visual shapes, else those for collision, else its inertia.

    Shapes without a colour of their own get one for each stretch of the tree between branches. Sticks from joint to
    joint are for models without any shape.

    Parameters
    ----------
    model
        The mechanism.
    world
        Further shapes on the base, such as those of a scene.
    sort
        "visual", or "collision": shapes for collision first, those for viewing where a body has none; in grey.

    Returns
    -------
    Drawables
        Shapes, and what is missing: files of meshes that are not there or cannot be read are told, and another shape
        of the body stands for them.

    Examples
    --------
    >>> import bough
    >>> from bough.viewer.drawables import drawables
    >>> found = drawables(bough.robots.load("quadruped"))
    >>> len(found.shapes), found.shapes[0].sort, found.missing
    (13, 'visual', ())
    """
    order = ("visual", "collision") if sort == "visual" else ("collision", "visual")
    on_body: dict[int, list[Geometry]] = {}
    for g in model.geometries:
        on_body.setdefault(g.body, []).append(g)
    missing: dict[str, None] = {}
    found = {body: _on_body(on_body.get(body, []), order, missing) for body in range(model.nbodies + 1)}
    is_shaped = any(found[body] for body in range(1, model.nbodies + 1))
    for i in range(1, model.nbodies + 1):
        bones = [] if is_shaped else list(_bones(model, i))
        found[i] = found[i] or [*bones, *inertia_ellipsoid(model.bodies[i - 1], i)]
    shapes = [shape for body in found for shape in found[body]]
    if sort == "visual":
        limb = segments(model.tree)
        shapes = [_coloured(shape, int(limb[shape.body - 1])) if shape.body else shape for shape in shapes]
    shapes += [shape for g in world for shape in shapes_of(g, missing)]
    return Drawables(tuple(shapes), tuple(missing))


def _coloured(shape: Drawable, limb: int) -> Drawable:
    """In the colour of its limb, unless it has one of its own."""
    if shape.rgba not in (GREY, INERT):
        return shape
    code = LIMBS[limb % len(LIMBS)]
    r, g, b = (int(code[k : k + 2], 16) / 255.0 for k in (1, 3, 5))
    return replace(shape, rgba=(r, g, b, 1.0))


def tell_missing(found: tuple[str, ...]) -> None:
    """Warn of meshes that are not drawn, the first of them by name."""
    if found:
        more = f" (and {len(found) - 1} more like it)" if len(found) > 1 else ""
        warn(f"some parts cannot be drawn as in the file: {found[0]}{more}", LoadWarning)


def _on_body(here: list[Geometry], order: tuple[str, str], missing: dict[str, None]) -> list[Drawable]:
    """The shapes of one purpose, or of the other one if there are none; it also stands for files that are missing."""
    first = [g for g in here if g.purpose == order[0]]
    second = [g for g in here if g.purpose == order[1]]
    made = {id(g): shapes_of(g, missing) for g in first}
    bare = {g.frame for g in first} - {g.frame for g in first if made[id(g)]}
    stand_in = [g for g in second if g.frame in bare] if first else second
    return [shape for group in (*made.values(), *(shapes_of(g, missing) for g in stand_in)) for shape in group]


def inertia_ellipsoid(body: Body, number: int) -> list[Drawable]:
    """The solid ellipsoid of uniform density with the mass and the moments of a body; none if it has no mass.

    A mass without moments is a ball of the density of water.
    """
    inertia = body.inertia
    if not inertia.mass > 0:
        return []
    moments, axes = np.linalg.eigh(inertia.matrix)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1.0
    squares = 2.5 / inertia.mass * (moments.sum() - 2.0 * moments)
    ball = (3.0 * inertia.mass / (4.0 * math.pi * WATER)) ** (1.0 / 3.0)
    longest = math.sqrt(max(float(squares.max()), 0.0))
    least = 0.05 * longest if longest > 1e-3 * ball else ball  # rods and plates are seen from every side
    radii = np.maximum(np.sqrt(np.maximum(squares, 0.0)), least)
    placement = Placement.of(axes, inertia.com, "the inertia ellipsoid")
    return [Drawable(number, placement, _three(radii), ball_triangles(), INERT, "inertia", body.name)]


def shapes_of(g: Geometry, missing: dict[str, None]) -> list[Drawable]:
    """A shape of a model as drawables: one, or several for a file of several colours, or none if it is `missing`."""
    if g.file:
        return _of_file(g, missing)
    s = g.size
    match g.shape:
        case "box":
            triangles, scale = _cube(), s
        case "sphere":
            triangles, scale = ball_triangles(), s * 3
        case "ellipsoid":
            triangles, scale = ball_triangles(), s
        case "cylinder":
            triangles, scale = _tube(), (s[0], s[0], s[1])
        case "capsule":
            triangles, scale = _capsule(round(s[1] / s[0], 6) if s[0] > 0 else 0.0), s[:1] * 3
        case "height_field":
            triangles, scale = field_triangles(g.heights, g.size), (1.0, 1.0, 1.0)
        case "mesh":
            triangles, scale = own_triangles(g.triangles), s
        case _:
            triangles, scale = square_triangles(), (*(min(x, PLANE_SIDE) or PLANE_SIDE for x in s), 1.0)
    sort = {"plane": "plane", "height_field": "ground"}.get(g.shape, g.purpose)
    colour = g.rgba or (STONE if g.body == 0 else GREY)
    return [Drawable(g.body, g.placement, _three(scale), triangles, colour, sort, g.name or g.frame)]


def _of_file(g: Geometry, missing: dict[str, None]) -> list[Drawable]:
    try:
        status = Path(g.file).stat()
        parts = file_triangles(g.file, status.st_mtime_ns)
    except Unreadable as error:
        missing[f"mesh {g.file!r} cannot be read: {error}"] = None
        return []
    except (OSError, ValueError):
        hint = ": give `package_dirs` to bough.load, or --packages to a command" if "://" in g.file else ""
        missing[f"mesh {g.file!r} of {g.frame!r} does not exist{hint}"] = None
        return []
    return [
        Drawable(g.body, g.placement, _three(g.size), part, own or g.rgba or GREY, g.purpose, g.name or g.frame)
        for part, own in parts
    ]


class Unreadable(BoughError):
    """A file of a mesh that is there, but is none."""


@lru_cache(maxsize=1024)
def file_triangles(file: str, _changed: int) -> tuple[tuple[Triangles, Colour | None], ...]:
    """The parts of a file of a mesh, each with its colour if the file says one; in metres, z up as robots have it."""
    try:
        import trimesh
    except ImportError:
        raise BoughError("meshes need trimesh: pip install 'bough[view]'") from None
    try:
        scene = trimesh.load_scene(file)
        found = [part for part in scene.dump() if isinstance(part, trimesh.Trimesh) and len(part.faces)]
    except Exception as error:  # whatever a broken file leads to inside the readers of trimesh
        raise Unreadable(f"{type(error).__name__}: {error}") from None
    if not found:
        raise Unreadable("it contains no triangles")
    return tuple(
        (
            Triangles(_metres(part) * np.array(part.vertices, np.float64), np.array(part.faces, np.int32)),
            _own_colour(part),
        )
        for part in found
    )


def _metres(part: Any) -> float:
    """The length in m of what a file takes as its unit; only COLLADA files say so."""
    told, times, _ = str(part.metadata.get("units", "")).partition(" * meters")
    return float(told) if times else 1.0


def _own_colour(part: Any) -> Colour | None:
    if not part.visual.defined:
        return None
    colour = getattr(getattr(part.visual, "material", None), "main_color", None)
    if colour is None:
        colour = part.visual.main_color
    r, g, b, a = (float(x) / 255.0 for x in np.asarray(colour, np.float64))
    return (r, g, b, a if a > 0 else 1.0)


def _bones(model: Model, body: int) -> Iterator[Drawable]:
    """Thin sticks from the joint of a body to the joints that it carries."""
    own = model.bodies[body - 1].frame.inverse  # the joint of the body, in its frame
    for child in model.tree.children(body):
        to = model.joints[child - 1].placement.vector - own.vector
        length = float(np.linalg.norm(to))
        if length > 1e-9:
            placement = Placement.of(_along(to / length), own.vector + 0.5 * to, "a bone")
            thick = 0.03 * length
            yield Drawable(body, placement, (thick, thick, length), _tube(), GREY, "bone", model.bodies[body - 1].name)


def _along(n: Floats) -> Floats:
    """A rotation whose third column is n."""
    first = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(n, first), n])


def _three(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return (x, y, z)


# --- surfaces of unit size ---


@lru_cache(maxsize=1)
def ball_triangles() -> Triangles:
    """A ball of radius 1."""
    return _turned([(math.sin(a), -math.cos(a)) for a in np.linspace(0.0, math.pi, ROUND // 2 + 1)])


@lru_cache(maxsize=256)
def _capsule(length: float) -> Triangles:
    """A capsule of radius 1 along z, of a length without the caps."""
    arc = [(math.sin(a), -math.cos(a)) for a in np.linspace(0.0, 0.5 * math.pi, ROUND // 4 + 1)]
    below = [(r, z - 0.5 * length) for r, z in arc]
    return _turned([*below, *((r, -z) for r, z in reversed(below))])


def _turned(outline: list[tuple[float, float]]) -> Triangles:
    """What an outline of (radius, height), from the lowest point to the highest, turned about z encloses."""
    turns = 2.0 * math.pi * np.arange(ROUND) / ROUND
    rings = [np.column_stack([r * np.cos(turns), r * np.sin(turns), np.full(ROUND, z)]) for r, z in outline[1:-1]]
    corners = np.concatenate([[[0.0, 0.0, outline[0][1]]], *rings, [[0.0, 0.0, outline[-1][1]]]])
    k, last = np.arange(ROUND), len(corners) - 1
    after = (k + 1) % ROUND
    faces = [np.column_stack([np.zeros_like(k), 1 + after, 1 + k])]
    for ring in range(len(rings) - 1):
        low, high = 1 + ring * ROUND, 1 + (ring + 1) * ROUND
        faces += [np.column_stack([low + k, low + after, high + after])]
        faces += [np.column_stack([low + k, high + after, high + k])]
    top = 1 + (len(rings) - 1) * ROUND
    faces += [np.column_stack([top + k, top + after, np.full_like(k, last)])]
    return Triangles(corners, np.concatenate(faces).astype(np.int32), smooth=True)


@lru_cache(maxsize=1)
def _tube() -> Triangles:
    """A cylinder of radius 1 and length 1 along z; the rims have corners of their own, so that they stay sharp."""
    turns = 2.0 * math.pi * np.arange(ROUND) / ROUND
    ring = np.column_stack([np.cos(turns), np.sin(turns)])
    low, high = (np.column_stack([ring, np.full(ROUND, z)]) for z in (-0.5, 0.5))
    corners = np.concatenate([low, high, low, high, [[0, 0, -0.5], [0, 0, 0.5]]])
    k = np.arange(ROUND)
    after = (k + 1) % ROUND
    n = ROUND
    sides = [np.column_stack([k, after, n + after]), np.column_stack([k, n + after, n + k])]
    caps = [
        np.column_stack([2 * n + after, 2 * n + k, np.full(n, 4 * n)]),
        np.column_stack([3 * n + k, 3 * n + after, np.full(n, 4 * n + 1)]),
    ]
    return Triangles(corners, np.concatenate([*sides, *caps]).astype(np.int32), smooth=True)


@lru_cache(maxsize=1)
def _cube() -> Triangles:
    """A box of lengths 1, each side with corners of its own."""
    corners: list[Floats] = []
    faces: list[tuple[int, int, int]] = []
    for axis in range(3):
        for sign in (-0.5, 0.5):
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            middle, turn = sign * np.eye(3)[axis], 1.0 if sign > 0 else -1.0
            start = len(corners)
            corners += [middle + 0.5 * (a * u + b * turn * v) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            faces += [(start, start + 1, start + 2), (start, start + 2, start + 3)]
    return Triangles(np.array(corners), np.array(faces, np.int32))


@lru_cache(maxsize=8)
def field_triangles(heights: tuple[tuple[float, ...], ...], size: tuple[float, ...]) -> Triangles:
    """A height field: two triangles between each four heights, as what stands on it feels them."""
    z = np.array(heights)
    (rows, columns), (x, y) = z.shape, (0.5 * length for length in size)
    across, along = np.meshgrid(np.linspace(-x, x, columns), np.linspace(-y, y, rows))
    k = np.arange(rows * columns, dtype=np.int32).reshape(z.shape)
    a, b, c, d = (part.ravel() for part in (k[:-1, :-1], k[:-1, 1:], k[1:, :-1], k[1:, 1:]))
    faces = np.concatenate([np.column_stack([a, b, d]), np.column_stack([a, d, c])])
    return Triangles(np.column_stack([across.ravel(), along.ravel(), z.ravel()]), faces)


@lru_cache(maxsize=64)
def own_triangles(rows: tuple[tuple[float, ...], ...]) -> Triangles:
    """A mesh without a file."""
    corners, faces = np.unique(np.reshape(rows, (-1, 3)), axis=0, return_inverse=True)
    return Triangles(corners, faces.reshape(-1, 3).astype(np.int32))


@lru_cache(maxsize=1)
def square_triangles() -> Triangles:
    """A square of lengths 1 in the plane z = 0, seen from above."""
    corners = np.array([[-0.5, -0.5, 0.0], [0.5, -0.5, 0.0], [0.5, 0.5, 0.0], [-0.5, 0.5, 0.0]])
    return Triangles(corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32))
