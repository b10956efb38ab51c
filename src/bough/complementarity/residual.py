"""How far forces are from meeting all conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import Conditions

__all__ = ["residual"]

Numbers = NDArray[np.floating[Any]]


def residual(
    A: Numbers,
    b: Numbers,
    f: Numbers,
    conditions: Conditions,
    mu: Numbers,
    slip: Numbers | None = None,
    bounds: Numbers | None = None,
) -> Numbers:
    """By how much each row fails, (*batch, n), in units of a: A_ii times the distance from f to where f - a / A_ii
    lies when put within its bounds. It is zero where and only where all conditions are met. `mu` is read at the rows of
    friction, `bounds` (*batch, n, 2) at the rows of boxes.
    """
    a = np.einsum("...ij,...j->...i", A, f) + b
    diagonal = np.einsum("...ii->...i", A)
    scale = np.where(diagonal > 0, diagonal, 1)  # a row that no force moves: a alone counts, and a force where a > 0
    scale, a, f, mu = np.broadcast_arrays(scale, a, f, mu)
    failing = np.abs(a)

    rows = conditions.inequality
    failing[..., rows] = np.abs(np.minimum(a[..., rows], scale[..., rows] * f[..., rows]))

    rows = conditions.pyramid
    if rows.size:
        bound, forces = _bounds(conditions, rows, f, mu), f[..., rows]
        wanted = np.minimum(np.maximum(forces - a[..., rows] / scale[..., rows], -bound), bound)
        if slip is not None:  # the force of a row that slides is known
            direction = np.sign(slip[..., rows])
            wanted = np.where(direction == 0, wanted, -direction * bound)
        failing[..., rows] = scale[..., rows] * np.abs(forces - wanted)

    rows = conditions.box
    if rows.size:
        assert bounds is not None
        forces = f[..., rows]
        wanted = np.clip(forces - a[..., rows] / scale[..., rows], bounds[..., rows, 0], bounds[..., rows, 1])
        failing[..., rows] = scale[..., rows] * np.abs(forces - wanted)

    first = conditions.cones
    if first.size:
        bound = _bounds(conditions, first, f, mu)
        larger = np.maximum(scale[..., first], scale[..., first + 1])
        steps = [f[..., rows] - a[..., rows] / larger for rows in (first, first + 1)]
        length = np.hypot(*steps)
        part = np.where(length > bound, bound / np.where(length > 0, length, 1), 1)
        for rows, step in zip((first, first + 1), steps, strict=True):
            failing[..., rows] = larger * np.abs(f[..., rows] - part * step)
    return np.asarray(failing)


def _bounds(conditions: Conditions, rows: NDArray[np.intp], f: Numbers, mu: Numbers) -> Numbers:
    return np.asarray(mu[..., rows] * np.maximum(f[..., conditions.normal[rows]], 0))
