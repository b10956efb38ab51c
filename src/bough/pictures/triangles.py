"""Triangles in space, and what lies between their corners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Triangles", "double_area", "shares"]

Floats: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Triangles:
    """Triangles of surfaces.

    Attributes
    ----------
    corners
        Where they are (n, 3, 3): triangle, corner, coordinate, in m; anticlockwise seen from outside.
    normals
        Unit vectors (n, 3, 3) out of the surface at the corners: what is between them looks round.
    colours
        Red, green and blue (n, 3), 0 to 1, as in sRGB.
    solid
        Whether they belong to closed surfaces (n,), whose inner side is never seen.
    """

    corners: Floats
    normals: Floats
    colours: Floats
    solid: NDArray[np.bool_]


def double_area(x: Floats, y: Floats) -> Floats:
    """Twice the areas (n,) of flat triangles with corners (3, n), positive where they turn from x to y."""
    return np.asarray((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]))


def shares(x: Floats, y: Floats, at_x: Floats, at_y: Floats) -> Floats:
    """How much each corner of flat triangles has of points, (3, n), in sum 1.

    Parameters
    ----------
    x, y
        Corners (3, n).
    at_x, at_y
        Points (n,), one for each triangle.
    """
    (x0, x1, x2), (y0, y1, y2) = x - at_x, y - at_y
    parts = np.stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0])
    return np.asarray(parts / parts.sum(axis=0))
