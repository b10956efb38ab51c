"""A floor of squares that fades into the distance."""

from __future__ import annotations

import math

import numpy as np

from bough.pictures.camera import Camera
from bough.pictures.shadow import Shadow
from bough.pictures.triangles import Floats

__all__ = ["background", "linear", "square_side"]


def linear(code: str) -> list[float]:
    """Amounts of light (3,) of a colour such as "#3b6ea5"."""
    return [(int(code[k : k + 2], 16) / 255.0) ** 2.2 for k in (1, 3, 5)]


SKY_LOW, SKY_HIGH = linear("#f7f9fb"), linear("#d9e3ee")
SQUARES = linear("#dfe5ec"), linear("#f0f3f6")
SHADE = linear("#3d4b63")
"""Where neither sun nor sky gets to the floor, it has this much of its light."""


def square_side(size: float) -> float:
    """A round length (m) for the squares of a floor below something of a size (m): 1, 2 or 5 times a power of 10."""
    wanted = 0.25 * size
    power = 10.0 ** math.floor(math.log10(wanted))
    return max(power * k for k in (1, 2, 5) if power * k <= wanted * 1.0001)


def background(camera: Camera, shadow: Shadow | None, height: float | None, size: float, side: float) -> Floats:
    """Light (3, height, width) of sky and floor.

    Parameters
    ----------
    camera
        From where.
    shadow
        What is thrown on the floor.
    height
        Of the floor (m); None for no floor.
    size
        Of what stands on it (m): further away the floor fades.
    side
        Of the squares (m).
    """
    rows = (np.arange(camera.height) + 0.5) / camera.height
    sky = np.array([high + (low - high) * rows**0.8 for low, high in zip(SKY_LOW, SKY_HIGH, strict=True)])
    image = np.repeat(sky.astype(np.float32)[:, :, np.newaxis], camera.width, axis=2)
    if height is None:
        return image
    right, down, forward = camera.axes
    eye = np.array(camera.eye)
    # The view is upright: how far a ray goes to the floor depends on the row alone.
    v = (np.arange(camera.height) + 0.5 - 0.5 * camera.height) / camera.focus
    u = (np.arange(camera.width) + 0.5 - 0.5 * camera.width) / camera.focus
    rays = forward + v[:, np.newaxis] * down
    below = rays[:, 2] * (height - eye[2]) > 1e-9
    if not below.any() or eye[2] <= height:
        return image
    rays = rays[below]
    far = (height - eye[2]) / rays[:, 2]
    x, y = (_plane(eye[k] + far * rays[:, k], far * right[k], u) for k in (0, 1))
    change = [far * down[k] - far * down[2] / rays[:, 2] * rays[:, k] for k in (0, 1)]
    steps = [np.maximum(np.abs(far * right[k]), np.abs(change[k])) / camera.focus for k in (0, 1)]
    mixed = 0.5 - 0.5 * _striped(x / side, steps[0] / side) * _striped(y / side, steps[1] / side)
    reach = 2.6 * size
    there = np.exp(-(((x - camera.target[0]) / reach) ** 2) - ((y - camera.target[1]) / reach) ** 2)
    light = np.ones_like(there) if shadow is None else shadow.on_floor(x, y)
    for k in range(3):
        plain = SQUARES[0][k] + (SQUARES[1][k] - SQUARES[0][k]) * mixed
        image[k, below] += there * (plain * (SHADE[k] + (1.0 - SHADE[k]) * light) - image[k, below])
    return image


def _plane(start: Floats, slope: Floats, u: Floats) -> Floats:
    """What is linear along each row, in half the precision: it is for looking at alone."""
    first, step = (x.astype(np.float32)[:, np.newaxis] for x in (start, slope))
    return np.asarray(first + step * u.astype(np.float32))


def _striped(x: Floats, width: Floats) -> Floats:
    """Stripes of 1 and -1, each one wide, averaged over a width that each row has."""
    w = width.astype(np.float32)[:, np.newaxis] + np.float32(1e-6)

    def summed(at: Floats) -> Floats:
        return np.asarray(np.abs(at - 2 * np.floor(at / 2) - 1))

    return np.asarray((summed(x + w / 2) - summed(x - w / 2)) / w)
