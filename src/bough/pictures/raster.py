"""Which triangle is seen where: a z-buffer, on NumPy alone, by spans of samples in the rows of an image.

Each triangle is cut into rows and each row into a span of samples, all triangles at a time; of the samples that several
triangles have, the nearest stays. Sides that two triangles share are computed alike from both, so that between them no
sample is left out and none is drawn twice.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bough.pictures.triangles import Floats

__all__ = ["NO_TRIANGLE", "nearest_triangles"]

Ints = NDArray[np.int64]

NO_TRIANGLE = -1
"""The number of the triangle where there is none."""

MOST_SAMPLES_AT_ONCE = 1 << 22
"""Samples of triangles that are held in memory: more triangles are drawn in several turns."""


def nearest_triangles(x: Floats, y: Floats, near: Floats, width: int, height: int) -> NDArray[np.int32]:
    """The triangle that is seen at each sample of an image, (height × width,), rows from top to bottom.

    Parameters
    ----------
    x, y
        Corners (3, triangles) in samples: x to the right, y down. The first sample has its middle at (0.5, 0.5).
        Triangles in either sense of rotation are drawn.
    near
        How near the corners are (3, triangles), positive; what is larger hides what is smaller. It must be linear in x
        and y over a triangle, as 1 / distance along the view is in perspective.
    width, height
        Samples in a row, and rows.
    """
    keys = np.zeros(width * height, dtype=np.uint64)
    if x.size:
        low, high = y.min(axis=0), y.max(axis=0)
        first = np.ceil(np.clip(low, 0, height) - 0.5).astype(np.int64)
        rows = np.ceil(np.clip(high, 0, height) - 0.5).astype(np.int64) - first
        leftmost, rightmost = x.min(axis=0), x.max(axis=0)
        seen = (rows > 0) & (rightmost > 0) & (leftmost < width)
        across = np.minimum(rightmost - leftmost, width) + 1.0
        for some in _turns(np.flatnonzero(seen), rows * across):
            _draw(keys, width, x[:, some], y[:, some], near[:, some], some, first[some], rows[some])
    return np.where(keys == 0, NO_TRIANGLE, (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)).astype(np.int32)


def _turns(triangles: Ints, areas: Floats) -> Iterator[Ints]:
    """Triangles in parts that fit into memory."""
    ends = np.cumsum(areas[triangles]) // MOST_SAMPLES_AT_ONCE
    yield from np.split(triangles, np.flatnonzero(np.diff(ends)) + 1)


def _draw(
    keys: NDArray[np.uint64], width: int, x: Floats, y: Floats, near: Floats, number: Ints, first: Ints, rows: Ints
) -> None:
    """Put triangles into a buffer of keys: how near, in the upper half, and the number of the triangle."""
    # A side from corner k to the next is a x + b y + c = 0, positive inside once the area is.
    next_x, next_y = np.roll(x, -1, axis=0), np.roll(y, -1, axis=0)
    a, b, c = y - next_y, next_x - x, x * next_y - next_x * y
    area = c.sum(axis=0)
    turned = np.where(area < 0, -1.0, 1.0)
    a, b, c, area = a * turned, b * turned, c * turned, np.abs(area)
    safe = np.where(area > 0, area, 1.0)
    others = np.roll(near, -2, axis=0)  # the corner across a side weighs as much as the side's function
    slope, steep, base = ((part * others).sum(axis=0) / safe for part in (a, b, c))
    # Rows: the span between the sides that bound it on the left and on the right.
    k = np.repeat(np.arange(len(rows)), rows)
    row = first[k] + _counted(rows)
    middle = row + 0.5
    left, right = np.full(len(k), -np.inf), np.full(len(k), np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        for side in range(3):
            slant = a[side, k]
            cut = -(b[side, k] * middle + c[side, k]) / slant
            left = np.where(slant > 0, np.maximum(left, cut), left)
            right = np.where(slant < 0, np.minimum(right, cut), right)
    start = np.ceil(np.clip(left, 0, width) - 0.5).astype(np.int64)
    length = np.ceil(np.clip(right, 0, width) - 0.5).astype(np.int64) - start
    length = np.where((length > 0) & (area[k] > 0), length, 0)
    # Samples: nearness grows by the same step along a span.
    at = (base + 0.5 * slope)[k] + steep[k] * middle + slope[k] * start
    s = np.repeat(np.arange(len(k)), length)
    along = _counted(length)
    depth = np.maximum(at[s] + slope[k][s] * along, 1e-30).astype(np.float32)
    key = depth.view(np.uint32).astype(np.uint64) << np.uint64(32) | number[k][s].astype(np.uint64)
    np.maximum.at(keys, (row * width + start)[s] + along, key)


def _counted(lengths: Ints) -> Ints:
    """0, 1, … for each length, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - lengths, lengths)
