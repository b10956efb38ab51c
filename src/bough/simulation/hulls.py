"""Convex hulls that stand for meshes in contact: few corners of a file's triangles, and how much they leave out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import BoughError
from bough.model import Geometry
from bough.scalar.lazy import cached_property

__all__ = ["Hull", "Hulls", "find_hulls", "hull_of"]

MOST_CORNERS = 64
DIRECTIONS = 1000
HARDLY_MISSED = 1e-3
"""Corners are added until no direction lacks more than this part of the size of the mesh."""

BLOCK = 1 << 22  # products of corners and directions at a time


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull that replaces a mesh in contact.

    Attributes
    ----------
    file
        File of the mesh, or empty.
    corners
        Corners (n, 3) of the hull in the frame of the mesh, scaled (m): at most 64 of the corners of the mesh.
    mesh_corners
        Number of distinct corners of the mesh.
    error
        Largest distance (m) by which the mesh exceeds the hull, over 1000 directions.

    Examples
    --------
    >>> import numpy as np
    >>> from bough.simulation.hulls import hull_of
    >>> hull = hull_of("ball.stl", np.random.default_rng(0).normal(size=(500, 3)))
    >>> print(len(hull.corners) <= 64, hull.mesh_corners, hull.error < 0.2)
    True 500 True
    """

    file: str
    corners: NDArray[np.float64]
    mesh_corners: int
    error: float

    @cached_property
    def centre(self) -> NDArray[np.float64]:
        """Centre (3,) of the axis-aligned bounding box of the hull (m)."""
        return np.asarray(0.5 * (self.corners.min(axis=0) + self.corners.max(axis=0)))

    def __str__(self) -> str:
        missing = f", within {1e3 * self.error:.2g} mm" if self.error else ""
        name = Path(self.file).name or "a mesh without a file"
        return f"{name}: {len(self.corners)} of {self.mesh_corners} corners{missing}"


Hulls: TypeAlias = Mapping[tuple[str | tuple[tuple[float, ...], ...], tuple[float, ...]], "Hull | str"]
"""By source (a file, or triangles) and scale, the hull of a mesh, or why it has none."""


def find_hulls(shapes: Iterable[Geometry]) -> Hulls:
    """The hulls of all meshes among shapes whose files can be read; of others, why not."""
    found: dict[tuple[str | tuple[tuple[float, ...], ...], tuple[float, ...]], Hull | str] = {}
    for g in shapes:
        key = g.source, g.size
        if g.shape != "mesh" or key in found:
            continue
        if g.triangles:
            found[key] = hull_of("", np.reshape(g.triangles, (-1, 3)) * np.array(g.size))
            continue
        try:
            found[key] = _of_file(g.file, g.size, Path(g.file).stat().st_mtime_ns)
        except (OSError, ValueError):
            found[key] = f"its file {g.file!r} does not exist"
        except BoughError as error:
            found[key] = f"its file {g.file!r} cannot be read: {error}"
    return found


@lru_cache(maxsize=1024)
def _of_file(file: str, scale: tuple[float, ...], changed: int) -> Hull:
    from bough.viewer.drawables import file_triangles

    points = np.concatenate([part.corners for part, _ in file_triangles(file, changed)])
    return hull_of(file, points * np.array(scale))


def hull_of(file: str, points: NDArray[np.float64]) -> Hull:
    """The hull of points (n, 3): those that reach furthest where what was taken before lacks most."""
    points = np.unique(points, axis=0)
    if not np.isfinite(points).all():
        raise BoughError("corners are not finite")
    if len(points) <= MOST_CORNERS:
        return Hull(file, points, len(points), 0.0)
    directions = _directions()
    most, which = np.full(DIRECTIONS, -np.inf), np.zeros(DIRECTIONS, np.int64)
    step = max(1, BLOCK // DIRECTIONS)
    for start in range(0, len(points), step):
        reach = directions @ points[start : start + step].T
        best = reach.argmax(axis=1)
        here = reach[np.arange(DIRECTIONS), best]
        which, most = np.where(here > most, start + best, which), np.maximum(here, most)
    taken: list[int] = []
    lacking, little = np.full(DIRECTIONS, np.inf), HARDLY_MISSED * float(np.ptp(points, axis=0).max())
    while len(taken) < MOST_CORNERS and lacking.max() > little:
        taken.append(int(which[lacking.argmax()]))
        lacking = np.minimum(lacking, most - directions @ points[taken[-1]])
    return Hull(file, points[sorted(taken)], len(points), max(float(lacking.max()), 0.0))


@lru_cache(maxsize=1)
def _directions() -> Any:
    """Unit vectors (DIRECTIONS, 3) on a spiral around the sphere, the axes first."""
    k = np.arange(DIRECTIONS - 6) + 0.5
    z, angle = 1.0 - 2.0 * k / len(k), np.pi * (1.0 + 5.0**0.5) * k
    r = np.sqrt(1.0 - z * z)
    return np.concatenate([np.eye(3), -np.eye(3), np.column_stack([r * np.cos(angle), r * np.sin(angle), z])])
