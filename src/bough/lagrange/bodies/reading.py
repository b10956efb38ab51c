"""Masses and inertias of bodies in maximal coordinates, where every body must have both, and their space."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError, ShapeError
from bough.model import Inertia
from bough.model.joints.reading import read_floats
from bough.reading import shown, whole_number

__all__ = ["is_solid", "moments_at_origin", "read_inertia", "read_mass", "read_space"]


def read_mass(mass: float, what: str) -> float:
    """A positive mass."""
    m = read_floats(mass, f"the mass of {what}", "a positive number (kg)")
    if m.shape != () or not math.isfinite(m) or not m > 0.0:
        raise ModelError(f"the mass of {what} is {mass!r}, expected a positive number (kg)")
    return float(m)


def read_inertia(mass: float, com: ArrayLike, inertia: ArrayLike, what: str) -> tuple[float, ...]:
    """Mass, first moment and inertia about the origin of a body with three moments."""
    read_mass(mass, what)
    read = Inertia.of(mass, com, inertia, what)
    if not is_solid(read):
        moments = np.linalg.eigvalsh(read.matrix).tolist()
        raise ModelError(
            f"{what} has the central moments of inertia {moments} kg m², expected three positive ones: "
            "in maximal coordinates every body moves by itself"
        )
    return moments_at_origin(read)


def is_solid(inertia: Inertia) -> bool:
    """Whether there are a mass and three moments of inertia, none of them rounding."""
    central = np.linalg.eigvalsh(inertia.matrix)
    return bool(inertia.mass > 0.0 and central[0] > 64 * np.finfo(np.float64).eps * central[2])


def moments_at_origin(inertia: Inertia) -> tuple[float, ...]:
    """Mass, first moment m c, and inertia about the origin (xx yx yy zx zy zz): 10 numbers."""
    c = np.array(inertia.com)
    J = inertia.matrix + inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
    lower = [J[r, k] for r in range(3) for k in range(r + 1)]
    return tuple(float(x) + 0.0 for x in (inertia.mass, *(inertia.mass * c), *lower))


def read_space(space: int, what: str) -> int:
    """Two or three dimensions."""
    try:
        return whole_number(space, "space", least=2, most=3)
    except ShapeError:
        raise ModelError(f"the space of {what} has {shown(space)} dimensions, expected 2 or 3") from None
