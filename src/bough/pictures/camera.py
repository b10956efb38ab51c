"""Cameras: from where a scene is seen, and what of space is where in the image."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bough.pictures.triangles import Floats

__all__ = ["Camera", "camera_around"]

FIELD = 0.6
"""Angle (rad) that the longer side of an image takes: narrow, so that nothing looks stretched at the edges."""

MARGIN = 0.08
"""Part of the image that stays free on each side of what is framed."""


@dataclass(frozen=True)
class Camera:
    """A camera in perspective, upright.

    Attributes
    ----------
    eye, target
        Where it is and the point in the middle of the image, (3,) in metres.
    field
        Angle (rad) from the lower edge of the image to the upper one.
    width, height
        Size of the image in pixels.
    """

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    field: float
    width: int
    height: int

    @property
    def axes(self) -> Floats:
        """Unit vectors (3, 3) in rows: to the right, down, and forward."""
        forward = _unit(np.subtract(self.target, self.eye))
        right = np.cross(forward, (0.0, 0.0, 1.0))
        right = _unit(right) if np.linalg.norm(right) > 1e-9 else np.array([0.0, -1.0, 0.0])
        return np.array([right, np.cross(forward, right), forward])

    @property
    def focus(self) -> float:
        """Distance of the image from the eye, in pixels."""
        return 0.5 * self.height / math.tan(0.5 * self.field)

    def seen(self, points: Floats) -> Floats:
        """Points (..., 3) in m as (..., 3): right, down and forward of the eye."""
        return np.asarray((points - np.array(self.eye)) @ self.axes.T)

    def moved(self, shift: ArrayLike) -> Camera:
        """The camera elsewhere, looking in the same direction."""
        eye, target = (
            [float(a + b) for a, b in zip(x, np.asarray(shift), strict=True)] for x in (self.eye, self.target)
        )
        return Camera((eye[0], eye[1], eye[2]), (target[0], target[1], target[2]), self.field, self.width, self.height)


def camera_around(points: Floats, width: int, height: int, azimuth: float = 0.7, elevation: float = 0.25) -> Camera:
    """A camera that has all of some points (..., 3) in its image, as large as they fit.

    Parameters
    ----------
    points
        What is to be seen, in m.
    width, height
        Size of the image in pixels.
    azimuth, elevation
        Where the camera is, seen from the points: the angle about z, from x to y, and that above the horizon, in rad.
    """
    field = 2.0 * math.atan(math.tan(0.5 * FIELD) * min(1.0, height / width))
    flat = points.reshape(-1, 3)
    low, high = flat.min(axis=0), flat.max(axis=0)
    middle, size = 0.5 * (low + high), max(float(np.linalg.norm(high - low)), 1e-6)
    away = np.array([math.cos(azimuth), math.sin(azimuth), 0.0]) * math.cos(elevation)
    away[2] = math.sin(elevation)
    half_y = math.tan(0.5 * field) * (1.0 - 2.0 * MARGIN)
    half_x = half_y * width / height
    camera = Camera(_three(middle + away), _three(middle), field, width, height)
    right, down, forward = camera.seen(flat).T
    # A point is in the image if it is between two planes through the eye, left and right, and above and below: the
    # eye is put where the outermost points lie on them.
    ends_x = [float(np.max(sign * right / half_x - forward + 1.0)) for sign in (1, -1)]
    ends_y = [float(np.max(sign * down / half_y - forward + 1.0)) for sign in (1, -1)]
    nearest = float(np.max(1.0 - forward))
    distance = max(0.5 * sum(ends_x), 0.5 * sum(ends_y), nearest + 0.2 * size)
    target = middle + 0.5 * half_x * (ends_x[0] - ends_x[1]) * camera.axes[0]
    target = target + 0.5 * half_y * (ends_y[0] - ends_y[1]) * camera.axes[1]
    for _ in range(3):  # where there is room to spare, what is seen is moved to the middle of it
        camera = Camera(_three(target + distance * away), _three(target), field, width, height)
        right, down, forward = camera.seen(flat).T
        x, y = right / forward, down / forward
        spare = [x.max() + x.min(), y.max() + y.min()] @ camera.axes[:2]
        target = target + 0.5 * distance * spare
    return Camera(_three(target + distance * away), _three(target), field, width, height)


def _unit(x: Floats) -> Floats:
    return np.asarray(x / np.linalg.norm(x))


def _three(x: Floats) -> tuple[float, float, float]:
    return float(x[0]), float(x[1]), float(x[2])
