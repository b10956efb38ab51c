"""Forces of the auxiliary constraints of a linkage, from how they answer to forces: a = A f + b.

Rows are scaled so that each answers with 1 to a unit force of its own on bodies without primary constraints. Those that
answer with less than `VANISHING` are held by other constraints already, and get no force.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough import complementarity
from bough.complementarity import Conditions
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
    """Forces by pivoting, of states with the same acting rows together, and which rows are in conflict with others.

    Also by how much rows fail, and which states are undecided. Errors e say which constraints touch; `slip` are rates
    of rows that slide already.
    """
    f, wrong, failing = np.zeros_like(b), np.zeros(b.shape, np.bool_), np.zeros_like(b)
    undecided, one_sided = np.zeros(b.shape[:-1], np.bool_), layout.one_sided[layout.system.nc :]
    touching = (scale**2 * np.diagonal(A, axis1=-2, axis2=-1) > VANISHING) & (e <= TOUCHING)
    slip = np.where(np.abs(slip) > TOUCHING, slip, 0.0)
    alike: dict[bytes, list[tuple[int, ...]]] = {}
    for place in np.ndindex(b.shape[:-1]):
        alike.setdefault(touching[place].tobytes(), []).append(place)
    for members in alike.values():
        places: Any = members[0] if len(members) == 1 else tuple(np.array(members, np.intp).T)
        rows, conditions, mu = _acting_rows(layout, touching[members[0]])
        found = pivoting(
            A[places][..., rows[:, np.newaxis], rows],
            b[places][..., rows],
            conditions,
            mu,
            slip=slip[places][..., rows] * one_sided[rows],
        )
        parts = ((f, found.f), (wrong, found.conflicts & one_sided[rows]), (failing, found.residual * one_sided[rows]))
        for whole, some in parts:
            spread = np.zeros(b[places].shape, whole.dtype)
            spread[..., rows] = some
            whole[places] = spread
        stuck = np.zeros(found.pivots.shape, np.bool_)
        for place, reason in found.reasons.items():
            stuck[place] = is_undecided(reason)
        undecided[places] = stuck
    return f, wrong, failing, undecided


def _acting_rows(layout: Layout, touching: NDArray[np.bool_]) -> tuple[NDArray[np.intp], Conditions, FloatArray]:
    """The rows that act, those of equalities and of what touches, what they demand, and coefficients of friction."""
    rows: list[int] = []
    mu: list[float] = []
    conditions, start = Conditions.equalities(0), 0
    for k in layout.auxiliary:
        constraint = layout.ties[k].constraint
        span = range(start, start + constraint.rows)
        start += constraint.rows
        acting = [row for row in span if touching[row]]
        if not constraint.one_sided:
            acting = list(span)
            conditions = conditions + Conditions.equalities(len(acting))
        elif constraint.friction is not None:
            acting = acting if acting[:1] == [span[0]] else []  # without its normal there is no friction
            conditions = conditions + Conditions.contacts(int(bool(acting)), "pyramid", max(len(acting) - 1, 0))
        else:
            conditions = conditions + Conditions.inequalities(len(acting))
        rows += acting
        mu += [constraint.friction or 0.0] * len(acting)
    return np.array(rows, np.intp), conditions, np.array(mu)
