"""Motions nearest to a free one that meet constraints: small dense systems with a rank test, many at a time in LAPACK.

Nearest means in the metric of the mass matrix M = R Rᵀ, which is Gauss's principle. Rows are scaled in that metric,
each group to unit length, and G = s L R⁻ᵀ = U Σ Vᵀ splits motions: R⁻ᵀ V, where Σ is not zero, are those that
constraints determine, and the rest is free. Where a body without mass, or almost, is on a joint that loops hold, M is
regular only with what the loops add to it (`regular_mass`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SingularError
from bough.kernel.arguments import FloatArray
from bough.kernel.factors import small_pivots, vanishing_pivots
from bough.kernel.overflow import require_finite_results
from bough.kernel.treematrix import unpacked
from bough.model import Model
from bough.model.massless import give_inertia
from bough.scalar.tolerances import CONFLICT, RESIDUAL, SINGULAR_VALUE

__all__ = ["Driven", "Nearest", "StateError", "drive_forces", "free_motion", "nearest", "regular_mass", "times"]

TELLING = 1e-3
"""Joints that lack a force are named if they lack this part of the one that lacks most, in the metric of the masses."""

Ranks: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Nearest:
    """Motions x (..., n), multipliers and residuals (..., rows), ranks (...), and which rows are not met."""

    x: FloatArray
    multipliers: FloatArray
    rank: Ranks
    residual: FloatArray
    broken: NDArray[np.bool_]


def nearest(M: FloatArray, L: FloatArray, free: FloatArray, aims: FloatArray, groups: Sequence[int]) -> Nearest:
    """The x nearest to `free` with L x = aims, in the sense of least squares where no x has that.

    Multipliers are, of many, the smallest in the scales of the rows. `groups` says which rows are measured alike (see
    `row_groups`).
    """
    require_finite_results("motion with constraints", M, L, free, aims)
    R, scales, U, sigma, Vt = _split(M, L, groups)
    inverse = np.divide(1.0, sigma, out=np.zeros_like(sigma), where=sigma > 0.0)
    have = times(L, free)
    part = inverse * times(np.swapaxes(U, -1, -2), scales * (aims - have))
    step = np.swapaxes(Vt, -1, -2) @ part[..., np.newaxis]
    x = free + np.linalg.solve(np.swapaxes(R, -1, -2), step)[..., 0]
    size = np.sqrt(np.sum(aims * aims + have**2, axis=-1, keepdims=True))
    residual = times(L, x) - aims
    broken = np.abs(residual) > np.maximum(CONFLICT * size, RESIDUAL)
    return Nearest(x, scales * times(U, inverse * part), np.count_nonzero(sigma, axis=-1), residual, broken)


def free_motion(M: FloatArray, force: FloatArray) -> FloatArray:
    """M⁻¹ f (..., n)."""
    R = _cholesky(M)
    return np.asarray(np.linalg.solve(np.swapaxes(R, -1, -2), np.linalg.solve(R, force[..., np.newaxis]))[..., 0])


@dataclass(frozen=True, eq=False)
class Driven:
    """Forces of drives (..., drives), and by how much (..., rows + n) rows and coordinates are off.

    Unmet are rows of constraints that the accelerations break, and coordinates that lack a force.
    """

    forces: FloatArray
    off: FloatArray
    unmet: NDArray[np.bool_]


def drive_forces(
    M: FloatArray, L: FloatArray, P: FloatArray, needed: FloatArray,
    accelerations: tuple[FloatArray, FloatArray, FloatArray], groups: Sequence[int],
) -> Driven:  # fmt: skip
    """The smallest forces u with Lᵀ λ + Pᵀ u = needed for some λ, or nearly so.

    In the metric of M, less the directions that the constraints determine, these are as many equations as there are
    free motions. `accelerations` are v̇, what L v̇ should be, and what brings errors back adds to that.
    """
    R, scales, U, sigma, Vt = _split(M, L, groups)
    a, wanted, returning = accelerations
    broken, off = _breaks((scales, U, sigma), times(Vt, times(np.swapaxes(R, -1, -2), a)), wanted, returning)
    V = Vt * (sigma > 0.0)[..., np.newaxis]
    free = np.eye(M.shape[-1]) - np.swapaxes(V, -1, -2) @ V
    whole, b = np.linalg.solve(R, np.swapaxes(P, -1, -2)), np.linalg.solve(R, needed[..., np.newaxis])
    E, left = free @ whole, free @ b
    # ranks are told of columns of unit length, as drives may be of different units, but u is smallest as it is
    lengths, most = np.linalg.norm(E, axis=-2, keepdims=True), np.linalg.norm(whole, axis=-2, keepdims=True)
    moves = lengths > SINGULAR_VALUE * most
    E = E * moves
    W, s, _ = np.linalg.svd(np.divide(E, lengths, out=np.zeros_like(E), where=moves), full_matrices=False)
    Wt = np.swapaxes(W, -1, -2) * (s > SINGULAR_VALUE * s.max(axis=-1, keepdims=True, initial=0.0))[..., np.newaxis]
    u = np.linalg.pinv(Wt @ E, rcond=SINGULAR_VALUE**2) @ (Wt @ left)
    rest = left - E @ u
    missing, size = R @ rest, np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))
    short = np.linalg.norm(rest, axis=-2) > CONFLICT * np.linalg.norm(b, axis=-2)
    share = np.abs(missing[..., 0]) / size
    lacking = short & (share > TELLING * share.max(axis=-1, keepdims=True, initial=0.0))
    unmet = np.concatenate([broken, lacking], axis=-1)
    return Driven(u[..., 0], np.concatenate([off, missing[..., 0]], axis=-1), unmet)


def _breaks(
    split: tuple[FloatArray, FloatArray, FloatArray], along: FloatArray, wanted: FloatArray, returning: FloatArray
) -> tuple[NDArray[np.bool_], FloatArray]:
    """Which rows accelerations break, given along the directions Vᵀ, and by how much; errors may be brought back.

    Of rows that depend on others, in the sense of the rank test, forward dynamics gives what all of them ask for
    together, P (wanted + returning): each may then be off by more than its own error, unless the constraints
    contradict each other for another reason than that error. What small singular values make of accelerations is of no
    rank.
    """
    scales, U, sigma = split
    U = U * (sigma > 0.0)[..., np.newaxis, :]
    unscaled = np.divide(1.0, scales, out=np.zeros_like(scales), where=scales > 0.0)
    have = unscaled * times(U, sigma * along)

    def possible(asked: FloatArray) -> FloatArray:
        return np.asarray(unscaled * times(U, times(np.swapaxes(U, -1, -2), scales * asked)))

    scale = np.sqrt(np.sum(have * have + wanted * wanted, axis=-1, keepdims=True))
    slight = np.maximum(CONFLICT * scale, RESIDUAL)
    slack = slight + 2.0 * np.abs(returning)
    agree = np.abs(wanted - possible(wanted)) <= slack
    closing = (agree & (np.abs(have - possible(wanted + returning)) <= slight)).all(axis=-1, keepdims=True)
    return (np.abs(have - wanted) > slack) & ~closing, have - wanted


def _split(M: FloatArray, L: FloatArray, groups: Sequence[int]) -> tuple[FloatArray, ...]:
    """R, the scales s of the rows, U, Σ with zeros where there is no rank, and Vᵀ."""
    R = _cholesky(M)
    G = np.swapaxes(np.linalg.solve(R, np.swapaxes(L, -1, -2)), -1, -2)
    squares = _sums(np.sum(G * G, axis=-1), groups)
    scales = np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0.0)
    U, sigma, Vt = np.linalg.svd(G * scales[..., np.newaxis], full_matrices=False)
    least = SINGULAR_VALUE * sigma.max(axis=-1, keepdims=True, initial=0.0)
    return R, scales, U, np.where(sigma > least, sigma, 0.0), Vt


def _cholesky(M: FloatArray) -> FloatArray:
    try:
        return np.asarray(np.linalg.cholesky(M))
    except np.linalg.LinAlgError:
        raise SingularError("the mass matrix is not positive definite in some state") from None


def times(A: FloatArray, x: FloatArray) -> FloatArray:
    """A x (..., m), for A (..., m, n) and x (..., n): state by state, so that bits do not depend on the others."""
    return np.asarray((A @ x[..., np.newaxis])[..., 0])


def _sums(x: FloatArray, groups: Sequence[int]) -> FloatArray:
    """For each row the sum over its group."""
    number = np.asarray(groups, dtype=int)
    return times(np.equal.outer(number, number).astype(float), x)


# ---- mass matrices that are regular only with loops ------------------------------------------------------------------


class StateError(Exception):
    """Something is wrong with one of some states: an error, what it says with a place for where, and which it is."""

    def in_batch(self, states: NDArray[np.bool_]) -> Exception:
        """The error, with the place of its state in a batch (*batch) of which the true ones were looked at."""
        kind, text, place = self.args
        where = np.argwhere(states)[place[0]].tolist() if states.ndim else []
        error: Exception = kind(text.format(f" in state {where}" if where else ""))
        return error


def regular_mass(
    model: Model, packed: FloatArray, L: FloatArray, groups: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """M + Lᵀ W L (..., n, n) and Lᵀ W (..., n, rows), where W is zero unless some joint moves almost nothing.

    Where L q̈ = c, M q̈ = f + Lᵀ λ and (M + Lᵀ W L) q̈ = f + Lᵀ W c + Lᵀ λ say the same, for any weights W. The second
    matrix is regular if every motion either has inertia or is held by a loop: all unique results can be computed from
    it. If it is singular too, a StateError names a joint; there is one batch axis then. M is given as packed path rows.
    """
    M, tree = unpacked(packed, model.dof_tree), model.dof_tree
    held = small_pivots(packed, tree, SINGULAR_VALUE).any(axis=-1, keepdims=True)
    weighted = np.swapaxes(L, -1, -2) * np.where(held, _weights(M, L, groups), 0.0)[..., np.newaxis, :]
    whole = M + weighted @ L
    if held.any():
        _require_regular(model, whole, np.asarray(vanishing_pivots(packed, tree)[0].any(axis=-1)))
    return whole, weighted


def _weights(M: FloatArray, L: FloatArray, groups: Sequence[int]) -> FloatArray:
    """The inertia that each group of rows moves, by the diagonal of M."""
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    largest = diagonal.max(axis=-1, keepdims=True, initial=0.0)
    mobility = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > SINGULAR_VALUE * largest)
    squares = _sums(times(L * L, mobility), groups)
    some = np.broadcast_to(np.where(largest > 0.0, largest, 1.0), squares.shape)
    return np.asarray(np.divide(1.0, squares, out=some.copy(), where=squares > 0.0))


def _require_regular(model: Model, whole: FloatArray, singular: NDArray[np.bool_]) -> None:
    for place in map(tuple, np.argwhere(singular).tolist()):
        matrix = whole[place]
        scale = np.sqrt(np.diagonal(matrix))
        if (scale > 0.0).all():
            values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
            if values[0] > SINGULAR_VALUE**2:
                continue
            k = int(np.argmax(np.abs(vectors[:, 0])))
        else:
            k = int(np.argmin(scale))
        raise StateError(
            SingularError,
            f"joint {model.dof_names[k]!r} moves nothing that has inertia{{}}, and no loop holds it: its motion "
            f"cannot be told. {give_inertia(model, k)}",
            place,
        )
