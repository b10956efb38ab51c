"""Inverse masses along rows of constraints, L M⁻¹ Lᵀ, by which the soft law measures how stiff the rows are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.crba import crba
from bough.factor import dense
from bough.kernel.configuration import random
from bough.kernel.functions import mechanism
from bough.model import Model

__all__ = ["LEAST_WEIGHT", "inverse_masses", "inverse_of_mass_matrix", "matrix_of"]

LEAST_WEIGHT = 1e-15
"""The least inverse mass of a row, which nothing moves."""

VANISHED = 1e-2
"""An inverse mass this small beside that in other configurations is that of a row that vanishes: it is a tenth as long
there. In the middle between a row that is only short, and one that is zero but for rounding."""

TRIED = 7
"""Configurations in which rows are looked at where one vanishes: enough for a median, odd for one of them."""

Rows = Callable[[Sequence[float]], NDArray[np.float64]]
"""Rows (rows, nv) in a configuration."""


def inverse_of_mass_matrix(model: Model, q: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """M⁻¹ and M in a configuration."""
    m = mechanism(model)
    M = np.array(dense(m.coupling.dof_tree, crba(m, list(q))), dtype=float).reshape(model.nv, model.nv)
    return np.linalg.inv(M), M


def inverse_masses(model: Model, q: NDArray[np.float64], inverse: NDArray[np.float64], rows: Rows) -> list[float]:
    """The inverse mass along each row in a configuration q, where M⁻¹ is `inverse`.

    A row may vanish there, as that of a rod whose ends are both at the origin, or not be known. Any force along it
    would then seem to move it by nothing, and the row would be so stiff that rounding decides. Its inverse mass is the
    median of those in random configurations within the limits of the joints.
    """
    found = _along(rows, q, inverse)
    tried: list[NDArray[np.float64]] = []
    for other in random(model, 0, TRIED):
        try:
            tried.append(_along(rows, other, inverse_of_mass_matrix(model, other.tolist())[0]))
        except np.linalg.LinAlgError:
            continue
    result = []
    for k in range(max(map(len, (found, *tried)), default=0)):
        usual = [felt[k] for felt in tried if k < len(felt) and 0.0 < felt[k] < np.inf]
        most = float(np.median(usual)) if usual else 0.0
        here = float(found[k]) if k < len(found) and np.isfinite(found[k]) else 0.0
        result.append(max(here if here >= VANISHED * most else most, LEAST_WEIGHT))
    return result


def _along(rows: Rows, q: NDArray[np.float64], inverse: NDArray[np.float64]) -> NDArray[np.float64]:
    """L M⁻¹ Lᵀ of each row; none where one of them is not defined, as it divides by zero."""
    with np.errstate(all="ignore"):
        try:
            L = rows(q.tolist())
        except (ArithmeticError, ValueError):
            return np.empty(0)
        felt: NDArray[np.float64] = (L @ inverse * L).sum(axis=1)
    return felt


def matrix_of(values: Any, rows: int, columns: int) -> NDArray[np.float64]:
    """Numbers of a matrix, row by row, as an array."""
    return np.array([values[k] for k in range(rows * columns)], dtype=float).reshape(rows, columns)
