"""Shadows of a sun: on the floor, the softer the higher what throws them, and of one body on another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.pictures.raster import NO_TRIANGLE, nearest_triangles
from bough.pictures.triangles import Floats, Triangles, double_area, shares

__all__ = ["Shadow", "shadow_of"]

SPREAD = 0.08
"""Width of the half-shadow in parts of the height of what throws it."""

LEVELS = 4  # widths of half-shadows, each this many times the one before:
WIDER = 3.0

SUN_PART, SKY_PART = 0.62, 0.6
"""How much darker the floor is where the sun, and where the sky is hidden."""

AROUND = 0.35
"""Free space around the shadow, in parts of its size, into which it fades."""


@dataclass(frozen=True)
class Shadow:
    """Maps (size, size) of the floor, seen along the light.

    Attributes
    ----------
    low, texel
        The corner (2,) of the maps on the floor, and how wide one entry is, in m.
    sun
        Unit vector (3,) to the sun.
    floor
        Height (m) of the floor.
    bright
        How bright the floor is, 0 to 1.
    top
        Height (m) above the floor at which a ray of the sun first meets a surface; less than any where it does not.
    """

    low: Floats
    texel: float
    sun: Floats
    floor: float
    bright: Floats
    top: Floats

    def on_floor(self, x: Floats, y: Floats) -> Floats:
        """How bright points of the floor are, 0 to 1."""
        size = len(self.bright)
        u, v = (x - self.low[0]) / self.texel - 0.5, (y - self.low[1]) / self.texel - 0.5
        found = np.ones(x.shape, dtype=np.float32)
        inside = np.nonzero((u > 0) & (v > 0) & (u < size - 1.001) & (v < size - 1.001))
        u, v = u[inside], v[inside]
        i, j = u.astype(np.intp), v.astype(np.intp)
        fu, fv = u - i.astype(np.float32), v - j.astype(np.float32)
        upper = self.bright[j, i] * (1 - fu) + self.bright[j, i + 1] * fu
        lower = self.bright[j + 1, i] * (1 - fu) + self.bright[j + 1, i + 1] * fu
        found[inside] = upper * (1 - fv) + lower * fv
        return found

    def on_surface(self, points: Floats) -> Floats:
        """How much of the sun is hidden from points (3, n) of surfaces, 0 to 1."""
        height = points[2] - self.floor
        size = len(self.top)
        u, v = ((points[k] - self.sun[k] / self.sun[2] * height - self.low[k]) / self.texel - 0.5 for k in (0, 1))
        i, j = (np.clip(x.astype(np.intp), 0, size - 2) for x in (u, v))
        fu, fv = np.clip(u - i, 0, 1), np.clip(v - j, 0, 1)
        slack = 2.5 * self.texel
        hidden = np.zeros(len(height))
        for di, dj, weight in (
            (0, 0, (1 - fu) * (1 - fv)),
            (1, 0, fu * (1 - fv)),
            (0, 1, (1 - fu) * fv),
            (1, 1, fu * fv),
        ):
            above = self.top[j + dj, i + di] - height
            hidden += weight * np.clip(above / slack - 1.0, 0.0, 1.0)
        return hidden


def shadow_of(triangles: Triangles, sun: Floats, floor: float, size: int) -> Shadow:
    """The shadow of triangles on a floor, in maps of size × size."""
    x, y, height = np.ascontiguousarray(triangles.corners.T)  # each (corners, triangles)
    height = height - floor
    x, y = x - sun[0] / sun[2] * height, y - sun[1] / sun[2] * height  # where the floor is behind them
    low, high = np.array([x.min(), y.min()]), np.array([x.max(), y.max()])
    extent = max(float(np.max(high - low)), 1e-6) * (1.0 + 2.0 * AROUND)
    low = 0.5 * (low + high) - 0.5 * extent
    texel = extent / size
    x, y = (x - low[0]) / texel, (y - low[1]) / texel
    area, above = double_area(x, y), height.max(axis=0) > 0
    lower = _heights(x, y, height, above & ~(triangles.solid & (area > 0)), -1.0, size)
    upper = _heights(x, y, height, above & ~(triangles.solid & (area < 0)), 1.0, size)
    thrown = np.isfinite(lower)
    bright = _softened(thrown, np.where(thrown, np.maximum(lower, 0.0), 0.0) / texel, extent / texel)
    return Shadow(low, texel, sun, floor, bright, np.where(np.isfinite(upper), upper, -np.inf))


def _heights(x: Floats, y: Floats, height: Floats, some: NDArray[np.bool_], sign: float, size: int) -> Floats:
    """Heights (size, size) of the uppermost triangles (sign 1) or the lowest (-1); infinite where there is none."""
    x, y, height = x[:, some], y[:, some], height[:, some]
    found = np.full(size * size, np.inf)
    if x.size:
        first = nearest_triangles(x, y, sign * height - np.min(sign * height) + 1.0, size, size)
        (places,) = np.nonzero(first != NO_TRIANGLE)
        k = first[places]
        found[places] = (shares(x[:, k], y[:, k], places % size + 0.5, places // size + 0.5) * height[:, k]).sum(axis=0)
    return found.reshape(size, size)


def _softened(thrown: NDArray[np.bool_], height: Floats, extent: float) -> Floats:
    """What is left of the light: half-shadows as wide as the height (in entries) asks for, less sky near contacts."""
    size = len(thrown)
    frequency = 2.0 * np.pi * np.hypot(np.fft.fftfreq(size)[:, np.newaxis], np.fft.rfftfreq(size))
    width = np.log(np.maximum(SPREAD * height, 0.8) / 0.8) / np.log(WIDER)  # as a level, not whole
    total = np.zeros_like(frequency, dtype=np.complex128)
    for level in range(LEVELS):
        weight = np.clip(1.0 - np.abs(np.clip(width, 0, LEVELS - 1) - level), 0.0, 1.0)
        total += np.fft.rfft2(thrown * weight) * np.exp(-0.5 * (0.8 * WIDER**level * frequency) ** 2)
    dark = np.clip(np.fft.irfft2(total, s=thrown.shape), 0.0, 1.0)
    reach = 0.035 * extent
    near = np.fft.rfft2(thrown * np.exp(-height / reach)) * np.exp(-0.5 * (0.6 * reach * frequency) ** 2)
    close = np.clip(np.fft.irfft2(near, s=thrown.shape), 0.0, 1.0)
    return ((1.0 - SUN_PART * dark) * (1.0 - SKY_PART * close)).astype(np.float32)
