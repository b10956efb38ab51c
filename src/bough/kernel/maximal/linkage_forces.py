"""Forces of the auxiliary constraints of a linkage, from how they answer to forces: a = A f + b.

Rows are scaled so that each answers with 1 to a unit force of its own on bodies without primary constraints. Those that
answer with less than `VANISHING` are held by other constraints already, and get no force.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bough import complementarity
from bough.complementarity import Conditions
from bough.complementarity.conditions import NO_NORMAL
from bough.complementarity.pivoting import is_undecided
from bough.kernel.arguments import FloatArray
from bough.kernel.contact.complementarity import pivoting
from bough.lagrange.layout import Layout
from bough.scalar.tolerances import SINGULAR_VALUE, TOUCHING, VANISHING

__all__ = ["equality_forces", "one_sided_forces"]


def equality_forces(A: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    """The smallest forces with A f + b = 0, in the sense of least squares where there are none; (..., k)."""
    f, equal = np.empty_like(b), Conditions.equalities(b.shape[-1])
    for place in np.ndindex(b.shape[:-1]):
        s = scale[place]
        scaled, right = A[place] * s[:, np.newaxis] * s, s * b[place]
        clear = _if_clear(scaled, -right)
        f[place] = s * (complementarity.pivoting(scaled, right, equal, np.zeros_like(s)).f if clear is None else clear)
    return f


def _if_clear(A: FloatArray, b: FloatArray) -> FloatArray | None:
    """The solution of A x = b if all pivots are well away from zero; else None."""
    try:
        pivots = np.diagonal(np.linalg.cholesky(A)) ** 2
    except np.linalg.LinAlgError:
        return None
    return np.linalg.solve(A, b) if pivots.min(initial=1.0) > SINGULAR_VALUE else None


def one_sided_forces(
    layout: Layout, A: FloatArray, b: FloatArray, scale: FloatArray, e: FloatArray, slip: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_], FloatArray, NDArray[np.bool_]]:
    """Forces by pivoting, and which rows are in conflict with others.

    Also by how much rows fail, and which states are undecided. Errors e say which constraints touch; `slip` are rates
    of rows that slide already. Rows that do not touch, or whose normal does not, stand alone and get no force.
    """
    conditions, one_sided = layout.conditions, layout.one_sided[layout.system.nc :]
    acts = (scale**2 * np.diagonal(A, axis1=-2, axis2=-1) > VANISHING) & (e <= TOUCHING) | ~one_sided
    acts &= (conditions.normal == NO_NORMAL) | acts[..., conditions.normal]
    slides = acts & one_sided & (np.abs(slip) > TOUCHING)
    A = np.where(acts[..., np.newaxis] & acts[..., np.newaxis, :], A, np.eye(conditions.n))
    found = pivoting(A, acts * b, conditions, layout.friction, slip=np.where(slides, slip, 0.0))
    undecided = np.zeros(found.pivots.shape, np.bool_)
    for place, reason in found.reasons.items():
        undecided[place] = is_undecided(reason)
    return found.f, found.conflicts & one_sided, found.residual * one_sided, undecided
