"""Axes of joints: reading them, and the rotation that takes z to them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ModelError
from bough.model.joints.reading import read_floats

__all__ = ["Axis", "AxisLike", "basis_with", "read_axis"]

Axis: TypeAlias = tuple[float, float, float]
AxisLike: TypeAlias = str | ArrayLike

_NAMED = {
    sign + name: tuple((-1.0 if sign == "-" else 1.0) * (k == j) + 0.0 for j in range(3))
    for sign in ("", "+", "-")
    for k, name in enumerate("xyz")
}


def read_axis(axis: AxisLike, what: str) -> Axis:
    """A unit vector from a name ("x", "-y", …) or from three numbers of any length but zero."""
    if isinstance(axis, str):
        if axis not in _NAMED:
            raise ModelError(f"{what} is {axis!r}, expected one of x, y, z, -x, -y, -z or three numbers")
        x, y, z = _NAMED[axis]
        return (x, y, z)
    a = read_floats(axis, what, "three finite numbers")
    if a.shape != (3,) or not np.isfinite(a).all():
        raise ModelError(f"{what} is {axis!r}, expected three finite numbers")
    largest = float(np.abs(a).max())
    if largest < 1e-12:
        raise ModelError(f"{what} is {axis!r}: a zero vector has no direction")
    if largest > 1.0:
        a = a / largest  # whose square cannot overflow
    length = float(np.sqrt(a @ a))
    if abs(length - 1.0) > 1e-15:
        a = a / length
    x, y, z = (float(part) + 0.0 for part in a)
    return (x, y, z)


def basis_with(z: Axis, x: Axis | None = None) -> NDArray[np.float64]:
    """A rotation whose third column is z (and whose first is x, if given): exact zeros and ones for coordinate axes."""
    third = np.array(z)
    if x is None:
        helper = np.eye(3)[(int(np.argmax(np.abs(third))) + 1) % 3]
        first = helper - third * (helper @ third)
        first /= np.sqrt(first @ first)
    else:
        first = np.array(x)
    return np.column_stack([first, np.cross(third, first), third]) + 0.0
