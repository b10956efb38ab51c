"""Masses and inertias of bodies in maximal coordinates, where every body must have both."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.model import Inertia
from bough.model.joints.reading import read_floats

__all__ = ["read_inertia", "read_mass"]

FLAT = 1e-14
"""A central moment of inertia below this part of the largest is none."""


def read_mass(mass: float, what: str) -> float:
    """A positive mass."""
    m = read_floats(mass, f"the mass of {what}", "a positive number (kg)")
    if m.shape != () or not math.isfinite(m) or not m > 0.0:
        raise ModelError(f"the mass of {what} is {mass!r}, expected a positive number (kg)")
    return float(m)


def read_inertia(mass: float, com: ArrayLike, inertia: ArrayLike, what: str) -> tuple[float, ...]:
    """Mass, first moment m c, and inertia about the origin (xx yx yy zx zy zz) of a body with three moments: 10."""
    read_mass(mass, what)
    read = Inertia.of(mass, com, inertia, what)
    moments = np.linalg.eigvalsh(read.matrix)
    if not moments[0] > FLAT * moments[2]:
        raise ModelError(
            f"{what} has the central moments of inertia {moments.tolist()} kg m², expected three positive ones: "
            "in maximal coordinates every body moves by itself"
        )
    c = np.array(read.com)
    J = read.matrix + read.mass * (c @ c * np.eye(3) - np.outer(c, c))
    lower = [J[r, k] for r in range(3) for k in range(r + 1)]
    return tuple(float(x) + 0.0 for x in (read.mass, *(read.mass * c), *lower))
