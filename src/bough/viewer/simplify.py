"""Surfaces with fewer triangles, by joining corners that are near each other."""

from __future__ import annotations

import numpy as np

from bough.viewer.drawables import Floats, Triangles

__all__ = ["simplified"]

STIFFNESS = 1e-3
"""How strongly a joined corner is held at the mean of those it stands for, beside the planes through them."""


def simplified(surface: Triangles, most: int) -> Triangles:
    """The surface with at most about `most` triangles: corners in one cell of a grid become one.

    That one is nearest to the planes of the triangles around them (Lindstrom 2000), so that flat sides stay flat and
    edges sharp. Triangles that lose a corner vanish. The finest grid with few enough of them is taken, by bisection.
    """
    if len(surface.faces) <= most:
        return surface
    low, high = 1, 512  # cells along the longest side
    cells, faces = _on_grid(surface, low)
    while high - low > 1:
        middle = (low + high) // 2
        tried = _on_grid(surface, middle)
        if len(tried[1]) <= most:
            low, (cells, faces) = middle, tried
        else:
            high = middle
    if not len(faces):
        return surface
    return Triangles(_joined(surface, cells, low), faces.astype(np.int32), surface.smooth)


def _on_grid(surface: Triangles, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The cell (n,) of each corner, and the triangles (k, 3) between different cells."""
    corners = surface.corners
    place = np.floor((corners - corners.min(axis=0)) / _side(corners, count)).astype(np.int64)
    keys = (place[:, 0] * (count + 2) + place[:, 1]) * (count + 2) + place[:, 2]
    cells = np.unique(keys, return_inverse=True)[1].reshape(-1)
    faces = cells[surface.faces]
    a, b, c = faces.T
    return cells, faces[(a != b) & (b != c) & (c != a)]


def _side(corners: Floats, count: int) -> float:
    return max(float(np.ptp(corners, axis=0).max()) / count, 1e-12)


def _joined(surface: Triangles, cells: np.ndarray, count: int) -> Floats:
    """For each cell the point nearest to the planes of triangles with a corner in it, within reach of their mean."""
    total = int(cells.max()) + 1
    means = _summed(surface.corners, cells, total) / np.bincount(cells, minlength=total)[:, None]
    a, b, c = (surface.corners[surface.faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    planes, heights = np.zeros((total, 9)), np.zeros((total, 3))  # sums of n nᵀ and of n nᵀ (p - mean), by area squared
    for k in range(3):
        at = cells[surface.faces[:, k]]
        planes += _summed((normals[:, :, None] * normals[:, None, :]).reshape(-1, 9), at, total)
        heights += _summed(normals * (normals * (a - means[at])).sum(axis=1)[:, None], at, total)
    matrices = planes.reshape(-1, 3, 3)
    held = STIFFNESS * np.trace(matrices, axis1=1, axis2=2) + np.finfo(float).tiny
    moves = np.linalg.solve(matrices + held[:, None, None] * np.eye(3), heights[:, :, None])[:, :, 0]
    reach = 0.5 * _side(surface.corners, count)
    return np.asarray(means + np.clip(moves, -reach, reach))


def _summed(values: Floats, index: np.ndarray, total: int) -> Floats:
    """Rows of values, added up by index."""
    return np.stack([np.bincount(index, column, total) for column in values.T], axis=1)
