"""Surfaces with fewer triangles, by joining corners that are near each other."""

from __future__ import annotations

import numpy as np

from bough.viewer.drawables import Triangles

__all__ = ["simplified"]


def simplified(surface: Triangles, most: int) -> Triangles:
    """The surface with at most about `most` triangles: corners in one cell of a grid become their mean.

    Triangles that lose a corner vanish. The finest grid with few enough triangles is taken, found by bisection.
    """
    if len(surface.faces) <= most:
        return surface
    low, high = 1, 512  # cells along the longest side
    best = _on_grid(surface, low)
    while high - low > 1:
        middle = (low + high) // 2
        tried = _on_grid(surface, middle)
        if len(tried.faces) <= most:
            low, best = middle, tried
        else:
            high = middle
    return best if len(best.faces) else surface


def _on_grid(surface: Triangles, cells: int) -> Triangles:
    corners = surface.corners
    start = corners.min(axis=0)
    side = max(float((corners.max(axis=0) - start).max()) / cells, 1e-12)
    place = np.floor((corners - start) / side).astype(np.int64)
    keys = (place[:, 0] * (cells + 2) + place[:, 1]) * (cells + 2) + place[:, 2]
    _, index, counts = np.unique(keys, return_inverse=True, return_counts=True)
    index = index.reshape(-1)
    means = np.stack([np.bincount(index, corners[:, k], len(counts)) for k in range(3)], axis=1) / counts[:, None]
    faces = index[surface.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    return Triangles(means, faces.astype(np.int32), surface.smooth)
