"""Numbers of constraints as users give them, or refused by name."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.model.joints.axis import read_axis
from bough.model.joints.reading import read_floats

__all__ = ["Vec3", "read_direction", "read_number", "read_place"]

Vec3 = tuple[float, float, float]


def read_place(place: ArrayLike, what: str) -> Vec3:
    """A point of a body: three numbers, or two in a plane."""
    p = read_floats(place, what, "two or three finite numbers (metres)")
    if p.shape not in ((2,), (3,)) or not np.isfinite(p).all():
        raise ModelError(f"{what} is {place!r}, expected two or three finite numbers (metres)")
    x, y, z = (*p.tolist(), 0.0)[:3]
    return (x, y, z)


def read_direction(direction: str | ArrayLike, what: str) -> Vec3:
    """A unit vector, from a name or from two or three numbers."""
    if not isinstance(direction, str):
        a = read_floats(direction, what, "two or three finite numbers")
        direction = [*a.tolist(), 0.0] if a.shape == (2,) else a
    return read_axis(direction, what)


def read_number(value: float, what: str, positive: bool = False) -> float:
    """A finite number."""
    expected = "a positive number" if positive else "a finite number"
    a = read_floats(value, what, expected)
    if a.shape != () or not math.isfinite(a) or (positive and not a > 0.0):
        raise ModelError(f"{what} is {value!r}, expected {expected}")
    return float(a)
