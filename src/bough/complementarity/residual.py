"""How far the forces of one state are from meeting all conditions: what programs say, on plain numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import Conditions
from bough.complementarity.demands import Demands

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
    """By how much each row of one state fails, (n,), in units of a.

    That is A_ii times the distance from f to where f - a / A_ii lies when put within its bounds. `mu` is read at the
    rows of friction, `bounds` (n, 2) at the rows of boxes.
    """
    n, rows, a, failing = conditions.n, conditions.tangents, A @ f + b, [0.0] * conditions.n
    at_normals = np.zeros(n)
    at_normals[conditions.normal[rows]] = mu[rows]
    sliding, ends = (None if x is None else x.ravel().tolist() for x in (slip, bounds))
    demands = Demands(conditions, A.ravel(), b, at_normals.tolist(), sliding, ends)
    demands.fail(f.tolist(), a.tolist(), failing)
    return np.array(failing)
