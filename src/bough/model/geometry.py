"""Shapes on bodies, for contact and viewing. Dynamics never needs them, and files of meshes are never opened here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.model.joints.reading import read_floats
from bough.model.parts import Placement
from bough.model.surface import DEFAULT_SURFACE, Surface
from bough.reading import known_name, shown

__all__ = ["PURPOSES", "SHAPES", "Geometry", "geometry_title", "read_geometry", "require_surface"]

SHAPES = {
    "box": ("lengths along x, y and z", 3),
    "sphere": ("radius", 1),
    "cylinder": ("radius and length along z", 2),
    "capsule": ("radius and length along z without the caps", 2),
    "ellipsoid": ("half axes along x, y and z", 3),
    "plane": ("lengths along x and y; the normal is z", 2),
    "height_field": ("lengths along x and y", 2),
    "mesh": ("factors along x, y and z, by which the file is scaled", 3),
}
"""What the numbers of each shape mean, and how many there are."""

MOST_TRIANGLES = 1 << 20
"""The most triangles of a mesh that has no file."""

MOST_HEIGHTS = 1 << 24
"""The most heights of a field: whole numbers up to here are exact in float32, in which they may be looked up."""

PURPOSES = ("collision", "visual")


@dataclass(frozen=True)
class Geometry:
    """A shape fixed to a body.

    Attributes
    ----------
    name
        Name, or empty. Names need not be unique.
    frame, body
        Name of the body or frame to which it was added, and number of the body that carries it (0: the base).
    placement
        Placement of the shape in the frame of the body. The origin of a shape is its centre.
    shape, size
        "box": lengths (x, y, z) · "sphere": (radius,) · "cylinder": (radius, length), along z · "capsule": (radius,
        length without the caps), along z · "ellipsoid": half axes (x, y, z) · "plane": lengths (x, y), infinite ones
        allowed, normal z · "height_field": lengths (x, y) of a rectangle · "mesh": factors (x, y, z) by which the file
        is scaled. Lengths in metres.
    purpose
        "collision" or "visual".
    file
        Reference to a mesh file, as given; empty for other shapes and for meshes with triangles.
    rgba
        Colour (red, green, blue, opacity), each from 0 to 1, or None.
    surface
        Contact properties: friction, softness, masks; see `bough.Scene`.
    heights
        Heights (m) of a height field above its origin: rows along y, columns along x, starting at -x and -y; empty for
        other shapes.
    triangles
        Triangles of a mesh without a file: nine numbers (m) each, for three corners, counter-clockwise seen from
        outside. They are scaled like those of a file.
    """

    name: str
    frame: str
    body: int
    placement: Placement
    shape: str
    size: tuple[float, ...]
    purpose: str
    file: str = ""
    rgba: tuple[float, float, float, float] | None = None
    surface: Surface = DEFAULT_SURFACE
    heights: tuple[tuple[float, ...], ...] = ()
    triangles: tuple[tuple[float, ...], ...] = ()

    @property
    def source(self) -> str | tuple[tuple[float, ...], ...]:
        """Source of the form of a mesh or height field: its file, triangles or heights."""
        return self.file or self.triangles or self.heights


def geometry_title(name: str, frame: str) -> str:
    """What a geometry is called in messages: by its name if it has one, and by the body or frame it is on."""
    return f"a geometry of {frame!r}" if isinstance(name, str) and not name else f"geometry {name!r} of {frame!r}"


def read_geometry(
    name: str,
    frame: str,
    body: int,
    placement: Placement,
    shape: str,
    size: ArrayLike,
    purpose: str,
    file: str,
    rgba: ArrayLike | None,
    surface: Surface,
    what: str,
    heights: ArrayLike | None = None,
    triangles: ArrayLike | None = None,
) -> Geometry:
    """A geometry, checked."""
    known_name(shape, "shape", SHAPES)
    known_name(purpose, "purpose of a geometry", PURPOSES)
    meaning, count = SHAPES[shape]
    numbers = np.atleast_1d(read_floats(size, f"{what}: the size", meaning))
    allowed = np.isfinite(numbers) | (shape == "plane") & (numbers == np.inf)
    if numbers.shape != (count,) or not allowed.all():
        plural = "s" if count > 1 else ""
        raise ModelError(f"{what}: the size of a {shape} is {size!r}, expected {count} number{plural}: {meaning}")
    may_vanish = purpose == "visual" or shape == "plane"
    needed = numbers[:1] if shape == "capsule" else numbers  # without length it is a ball
    if (shape != "mesh" and (numbers < 0).any()) or ((needed == 0).any() and not may_vanish):
        told, verb = ", ".join(f"{x:g}" for x in numbers), "are" if count > 1 else "is"
        wrong, unit = "negative" if (numbers < 0).any() else "nothing can touch that", "" if shape == "mesh" else " m"
        expected = "expected positive lengths" if count > 1 else "expected a positive length"
        if shape == "mesh":
            expected = "expected factors that are not 0"
        raise ModelError(
            f"{what}: the {meaning.partition(';')[0]} of a {shape} {verb} {told}{unit}: {wrong}, {expected}"
        )
    wanted = shape == "mesh" and triangles is None
    if not isinstance(name, str) or not isinstance(file, str) or wanted != bool(file):
        raise ModelError(f"{what}: file is {file!r}, expected the file of a mesh, and none for other shapes")
    colour = None
    if rgba is not None:
        values = read_floats(rgba, f"{what}: the colour", "four numbers 0 to 1")
        if values.shape != (4,) or not ((values >= 0) & (values <= 1)).all():
            raise ModelError(f"{what}: the colour is {rgba!r}, expected red, green, blue, opacity, each 0 to 1")
        colour = (float(values[0]), float(values[1]), float(values[2]), float(values[3]))
    require_surface(surface, what)
    sizes = tuple(float(x) for x in numbers)
    rows, corners = _heights(heights, shape, sizes, what), _triangles(triangles, shape, what)
    return Geometry(name, frame, body, placement, shape, sizes, purpose, file, colour, surface, rows, corners)


def _triangles(triangles: ArrayLike | None, shape: str, what: str) -> tuple[tuple[float, ...], ...]:
    """The triangles of a mesh without a file, checked."""
    if triangles is None:
        return ()
    wanted = "rows of nine finite numbers (m), three corners each"
    if shape != "mesh":
        raise ModelError(f"{what}: triangles are {shown(triangles)}, expected none for a {shape}")
    values = read_floats(triangles, f"{what}: what was given for triangles", wanted)
    if values.ndim != 2 or values.shape[1] != 9 or not len(values) or not np.isfinite(values).all():
        raise ModelError(f"{what}: the triangles have shape {values.shape}, expected {wanted}")
    if len(values) > MOST_TRIANGLES:
        raise ModelError(f"{what}: there are {len(values)} triangles, expected at most {MOST_TRIANGLES}")
    return tuple(tuple(row) for row in values.tolist())


def _heights(
    heights: ArrayLike | None, shape: str, size: tuple[float, ...], what: str
) -> tuple[tuple[float, ...], ...]:
    """The heights of a height field, checked."""
    wanted = "expected at least 2 rows of at least 2 finite numbers (m)"
    if shape != "height_field":
        if heights is not None:
            raise ModelError(f"{what}: heights are {shown(heights)}, expected none for a {shape}")
        return ()
    if heights is None:
        raise ModelError(f"{what}: a height field has no heights, {wanted}")
    values = read_floats(heights, f"{what}: what was given for heights", "rows of equally many finite numbers (m)")
    if values.ndim != 2 or min(values.shape) < 2:
        raise ModelError(f"{what}: the heights have shape {values.shape}, {wanted}")
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0].tolist()
        raise ModelError(f"{what}: the height in row {row}, column {column} is {values[row, column]}, {wanted}")
    if values.size > MOST_HEIGHTS:
        raise ModelError(f"{what}: there are {values.size} heights, expected at most {MOST_HEIGHTS}")
    if min(size) <= 0.0:
        raise ModelError(f"{what}: the size of a height field is {size}, expected positive lengths")
    return tuple(tuple(row) for row in values.tolist())


def require_surface(surface: object, what: str) -> None:
    """Raise unless this is a surface."""
    if not isinstance(surface, Surface):
        raise ModelError(f"{what}: the surface is {shown(surface)}, expected a bough.simulation.Surface")
