"""Forces of the auxiliary constraints of a linkage, from how they answer to forces: a = A f + b.

Rows are scaled so that each answers with 1 to a unit force of its own on bodies without primary constraints. Directions
in which they answer with less than `EIGENVALUE` are held by other constraints already, and get no force.
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
from bough.scalar.tolerances import ACTING, EIGENVALUE, INDEPENDENT, SLIDING

__all__ = ["equality_forces", "one_sided_forces"]

BY_PIVOTS_FROM = 32
"""Beyond so many rows, eigenvalues are only asked for where pivots leave a doubt."""

Ints = NDArray[np.intp]


def equality_forces(A: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    """The smallest forces with A f + b = 0, in the sense of least squares where there are none; (..., k)."""
    scaled = A * scale[..., np.newaxis] * scale[..., np.newaxis, :]
    if b.shape[-1] <= BY_PIVOTS_FROM:
        return _by_rank(scaled, b, scale)
    f = np.empty_like(b)
    for place in np.ndindex(b.shape[:-1]):
        solved = _if_clear(scaled[place], -scale[place] * b[place])
        f[place] = _by_rank(scaled[place], b[place], scale[place]) if solved is None else scale[place] * solved
    return f


def _if_clear(A: FloatArray, b: FloatArray) -> FloatArray | None:
    """The solution of A x = b if all pivots are well away from zero; else None."""
    try:
        pivots = np.diagonal(np.linalg.cholesky(A)) ** 2
    except np.linalg.LinAlgError:
        return None
    return np.linalg.solve(A, b) if pivots.min() > INDEPENDENT else None


def _by_rank(A: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    """The same from the eigenvalues of the scaled A."""
    values, vectors = np.linalg.eigh(A)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > EIGENVALUE)
    along = np.swapaxes(vectors, -1, -2) @ (-scale * b)[..., np.newaxis]
    return np.asarray(scale * (vectors @ (inverse[..., np.newaxis] * along))[..., 0])


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
    touching = (scale**2 * np.diagonal(A, axis1=-2, axis2=-1) > EIGENVALUE) & (e <= ACTING)
    slip = np.where(np.abs(slip) > SLIDING, slip, 0.0)
    alike: dict[tuple[bytes, int], list[tuple[tuple[int, ...], FloatArray]]] = {}
    for place in np.ndindex(b.shape[:-1]):
        held = _independent(A[place], scale[place], equal)
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


def _independent(A: FloatArray, scale: FloatArray, equal: Ints) -> FloatArray:
    """Combinations of the equalities, one in each row, that are independent and are all they hold."""
    if not equal.size:
        return np.zeros((0, scale.size))
    s = scale[equal]
    values, vectors = np.linalg.eigh(A[np.ix_(equal, equal)] * s[:, np.newaxis] * s)
    chosen = np.zeros((np.count_nonzero(values > EIGENVALUE), scale.size))
    chosen[:, equal] = (vectors[:, values > EIGENVALUE] * s[:, np.newaxis]).T
    return chosen


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
