"""Problems that programs do not solve, or not with the smallest forces: one state after the other, on NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough import complementarity
from bough.complementarity import FAILING, NO_NORMAL, NOT_SMALLEST, SOLVED, Conditions
from bough.kernel.arguments import FloatArray, Shape
from bough.kernel.compile import get_backend

__all__ = ["at_friction", "one_by_one", "shape_of", "worthwhile"]


def worthwhile(conditions: Conditions) -> bool:
    """Whether to guess by a program: to interpret it takes longer than Lemke's path, which is for pyramids."""
    return bool(conditions.cones.size) or get_backend() != "reference"


def one_by_one(
    conditions: Conditions,
    arrays: Mapping[str, FloatArray],
    verdict: FloatArray,
    whole: FloatArray,
    conflicts: NDArray[np.bool_],
    solve: Callable[..., complementarity.Answer] = complementarity.pivoting,
) -> dict[tuple[int, ...], str]:
    """See to the states that are not solved, or have larger forces than need be; returns what went wrong in which."""
    n, reasons = conditions.n, {}
    each = {name: np.broadcast_to(a, verdict.shape + shape_of(name, n)) for name, a in arrays.items()}
    for place in map(tuple, np.argwhere(verdict != SOLVED).tolist()):
        one = {name: np.ascontiguousarray(a[place]) for name, a in each.items()}
        A, b, slip, bounds = one["A"], one["b"], one.get("slip"), one.get("bounds")
        further: Any = (conditions, at_friction(one["mu"], conditions), slip, bounds)
        pivots = whole[(*place, 3 * n)]
        if verdict[place] == NOT_SMALLEST:
            f = complementarity.smallest(A, whole[place][:n], conditions)
            failing = complementarity.residual(A, b, f, *further)
        if verdict[place] != NOT_SMALLEST or (failing > FAILING * complementarity.scale(A, b)).any():
            f, conflicts[place], reason, pivots = solve(A, b, *further)
            failing = complementarity.residual(A, b, f, *further)
            if reason:
                reasons[place] = reason
        whole[place] = np.concatenate([f, A @ f + b, failing, [pivots]])
    return reasons


def shape_of(name: str, n: int) -> Shape:
    """The shape of an argument for one state."""
    return {"A": (n, n), "bounds": (n, 2), "stop": (2,)}.get(name, (n,))


def at_friction(mu: FloatArray, conditions: Conditions) -> FloatArray:
    """Coefficients of friction at the rows of friction, from those at the normals."""
    return np.where(conditions.normal == NO_NORMAL, mu.dtype.type(0), mu[..., conditions.normal])
