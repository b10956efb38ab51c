"""Forces of the auxiliary constraints of a linkage, from how they answer to forces: a = A f + b.

Rows are scaled so that each answers with 1 to a unit force of its own on bodies without primary constraints. Directions
in which they answer with less than `VANISHING` are held by other constraints already, and get no force.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.complementarity import Conditions
from bough.complementarity.pivoting import is_undecided
from bough.kernel.arguments import FloatArray
from bough.kernel.contact.complementarity import pivoting
from bough.lagrange.layout import Layout
from bough.scalar.tolerances import SINGULAR_VALUE, TOUCHING, VANISHING

__all__ = ["equality_forces", "one_sided_forces"]

Ints = NDArray[np.intp]


def equality_forces(A: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    """The smallest forces with A f + b = 0, in the sense of least squares where there are none; (..., k)."""
    f, equal = np.empty_like(b), np.arange(b.shape[-1])
    for place in np.ndindex(b.shape[:-1]):
        s = scale[place]
        solved = _if_clear(A[place] * s[:, np.newaxis] * s, -s * b[place])
        if solved is None:
            held, values = _independent(A[place], s, equal)
            f[place] = -(held @ b[place] / values) @ held
        else:
            f[place] = s * solved
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
    undecided = np.zeros(b.shape[:-1], np.bool_)
    equal = np.flatnonzero(~layout.one_sided[layout.system.nc :])
    touching = (scale**2 * np.diagonal(A, axis1=-2, axis2=-1) > VANISHING) & (e <= TOUCHING)
    slip = np.where(np.abs(slip) > TOUCHING, slip, 0.0)
    alike: dict[tuple[bytes, int], list[tuple[tuple[int, ...], FloatArray]]] = {}
    for place in np.ndindex(b.shape[:-1]):
        held, _ = _independent(A[place], scale[place], equal)
        alike.setdefault((touching[place].tobytes(), len(held)), []).append((place, held))
    for (_, k), members in alike.items():
        places: Any = members[0][0] if len(members) == 1 else tuple(np.array([p for p, _ in members], np.intp).T)
        held = members[0][1] if len(members) == 1 else np.stack([held for _, held in members])
        rows, conditions, mu = _acting(layout, touching[members[0][0]])
        pushing = np.broadcast_to(np.eye(b.shape[-1])[rows], (*held.shape[:-2], len(rows), b.shape[-1]))
        unknown = np.concatenate([held, pushing], axis=-2)  # equalities by what they hold together, then the others
        found = pivoting(
            unknown @ A[places] @ np.swapaxes(unknown, -1, -2),
            (unknown @ b[places][..., np.newaxis])[..., 0],
            Conditions.equalities(k) + conditions,
            np.concatenate([np.zeros(k), mu]),
            slip=np.concatenate([np.zeros((*held.shape[:-2], k)), slip[places][..., rows]], axis=-1),
        )
        f[places] = (found.f[..., np.newaxis, :] @ unknown)[..., 0, :]
        for whole, some in ((wrong, found.conflicts), (failing, found.residual)):
            spread = np.zeros(b[places].shape, whole.dtype)
            spread[..., rows] = some[..., k:]
            whole[places] = spread
        stuck = np.zeros(found.pivots.shape, np.bool_)
        for place, reason in found.reasons.items():
            stuck[place] = is_undecided(reason)
        undecided[places] = stuck
    return f, wrong, failing, undecided


def _independent(A: FloatArray, scale: FloatArray, equal: Ints) -> tuple[FloatArray, FloatArray]:
    """Combinations of the equalities, a row each, that are independent and are all they hold; and their answers."""
    s = scale[equal]
    values, vectors = np.linalg.eigh(A[np.ix_(equal, equal)] * s[:, np.newaxis] * s)
    held = np.zeros((np.count_nonzero(values > VANISHING), scale.size))
    held[:, equal] = (vectors[:, values > VANISHING] * s[:, np.newaxis]).T
    return held, values[values > VANISHING]


def _acting(layout: Layout, touching: NDArray[np.bool_]) -> tuple[Ints, Conditions, FloatArray]:
    """The one-sided rows that act, what they demand, and their coefficients of friction."""
    rows: list[int] = []
    mu: list[float] = []
    conditions, start = Conditions.equalities(0), 0
    for k in layout.auxiliary:
        constraint = layout.ties[k].constraint
        span = range(start, start + constraint.rows)
        start += constraint.rows
        if not constraint.one_sided:
            continue
        acting = [row for row in span if touching[row]]
        if constraint.friction is not None:
            acting = acting if acting[:1] == [span[0]] else []  # without its normal there is no friction
            conditions = conditions + Conditions.contacts(int(bool(acting)), "pyramid", max(len(acting) - 1, 0))
        else:
            conditions = conditions + Conditions.inequalities(len(acting))
        rows += acting
        mu += [constraint.friction or 0.0] * len(acting)
    return np.array(rows, np.intp), conditions, np.array(mu)
