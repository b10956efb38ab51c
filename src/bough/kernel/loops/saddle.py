"""Motions nearest to a free one that meet constraints: small dense systems with a rank test, many at a time in LAPACK.

Nearest means in the metric of the mass matrix, which is Gauss's principle. With M = R Rᵀ and rows scaled in that
metric, each group to unit length, G = s L R⁻ᵀ = U Σ Vᵀ: motions split into those the constraints determine (V) and
those they leave free, q̈ = K y + q̈₀ with Kᵀ M K = 1 (Featherstone & Orin 2000, section 3.4, method 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SingularError
from bough.kernel.arguments import FloatArray
from bough.scalar.tolerances import CONDITIONING, CONFLICT, DEPENDENT, RANK, RESIDUAL

__all__ = ["Driven", "Nearest", "driven", "free_motion", "nearest", "whole_system"]

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

    `groups` says which rows are measured alike (see `row_groups`).
    """
    batch = np.broadcast_shapes(M.shape[:-2], L.shape[:-2], free.shape[:-1])
    M, L, free, aims = _spread(batch, M, 2), _spread(batch, L, 2), _spread(batch, free, 1), _spread(batch, aims, 1)
    lost = ~_finite(len(batch), M, L, free, aims)  # not asked to be checked: LAPACK gets something else for these
    M, L = _replaced(lost, M, np.eye(M.shape[-1])), _replaced(lost, L, 0.0)
    free, aims = _replaced(lost, free, 0.0), _replaced(lost, aims, 0.0)
    R = _cholesky(M)
    G = np.swapaxes(np.linalg.solve(R, np.swapaxes(L, -1, -2)), -1, -2)
    s = _scales(G, groups)
    U, sigma, Vt = np.linalg.svd(G * s[..., np.newaxis], full_matrices=False)
    kept = sigma > RANK * sigma.max(axis=-1, keepdims=True, initial=0.0)
    inverse = np.divide(1.0, sigma, out=np.zeros_like(sigma), where=kept)
    missing = aims - _times(L, free)
    # λ = s U Σ⁻² Uᵀ s (aims - L free), and R⁻ᵀ V Σ⁻¹ Uᵀ of the same is what it adds to the motion
    part = inverse * _times(np.swapaxes(U, -1, -2), s * missing)
    multipliers: FloatArray = s * _times(U, inverse * part)
    x: FloatArray = free + _times(np.linalg.inv(np.swapaxes(R, -1, -2)), _times(np.swapaxes(Vt, -1, -2), part))
    x, multipliers = _replaced(lost, x, np.nan), _replaced(lost, multipliers, np.nan)
    return _judged(L, free, aims, x, multipliers, np.count_nonzero(kept, axis=-1))


def whole_system(
    M: FloatArray, L: FloatArray, free: FloatArray, force: FloatArray, aims: FloatArray, groups: Sequence[int]
) -> Nearest:
    """The same from [[M, Lᵀ], [L, 0]] [x, -λ] = [force, aims] (20), where that has one solution: method 1."""
    batch = np.broadcast_shapes(M.shape[:-2], L.shape[:-2], free.shape[:-1], force.shape[:-1])
    M, L, free, aims = _spread(batch, M, 2), _spread(batch, L, 2), _spread(batch, free, 1), _spread(batch, aims, 1)
    rows, n = L.shape[-2:]
    # units are left behind: M with a unit diagonal, groups of rows of L of unit length
    t = 1.0 / np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))
    scale = np.concatenate([t, _scales(L * t[..., np.newaxis, :], groups)], axis=-1)
    A = np.zeros((*batch, n + rows, n + rows))
    A[..., :n, :n], A[..., :n, n:], A[..., n:, :n] = M, np.swapaxes(L, -1, -2), L
    A = A * scale[..., np.newaxis, :] * scale[..., np.newaxis]
    clear = _finite(len(batch), A)
    clear[clear] = np.linalg.cond(A[clear]) * CONDITIONING < 1.0
    found = nearest(M, L, free, aims, groups)
    b = scale * np.concatenate([np.broadcast_to(force, (*batch, n)), aims], axis=-1)
    y = (scale[clear] * np.linalg.solve(A[clear], b[clear][..., np.newaxis])[..., 0]) if clear.any() else None
    x, multipliers = found.x.copy(), found.multipliers.copy()
    if y is not None:
        x[clear], multipliers[clear] = y[..., :n], -y[..., n:]
    return _judged(L, free, aims, x, multipliers, found.rank)


def free_motion(M: FloatArray, force: FloatArray) -> FloatArray:
    """M⁻¹ f (..., n); NaN in states where something is not finite."""
    batch = np.broadcast_shapes(M.shape[:-2], force.shape[:-1])
    M, force = _spread(batch, M, 2), _spread(batch, force, 1)
    lost = ~_finite(len(batch), M, force)
    R = _cholesky(_replaced(lost, M, np.eye(M.shape[-1])))
    half = np.linalg.solve(R, _replaced(lost, force, 0.0)[..., np.newaxis])
    return _replaced(lost, np.asarray(np.linalg.solve(np.swapaxes(R, -1, -2), half)[..., 0]), np.nan)


@dataclass(frozen=True, eq=False)
class Driven:
    """Forces of drives (..., drives), joint forces that are missing (..., n), and what is not met.

    Not met (..., rows + n) are rows of constraints that the accelerations break, and coordinates that lack a force.
    """

    forces: FloatArray
    missing: FloatArray
    unmet: NDArray[np.bool_]


def driven(
    M: FloatArray, L: FloatArray, P: FloatArray, needed: FloatArray,
    accelerations: tuple[FloatArray, FloatArray, FloatArray], groups: Sequence[int],
) -> Driven:  # fmt: skip
    """The smallest forces u with Lᵀ λ + Pᵀ u = needed for some λ, or nearly so.

    In the metric of M, less the directions that the constraints determine, these are as many equations as there are
    free motions. `accelerations` are L v̇, what it should be, and by how much it may differ.
    """
    R = _cholesky(M)
    G = np.swapaxes(np.linalg.solve(R, np.swapaxes(L, -1, -2)), -1, -2)
    _, sigma, Vt = np.linalg.svd(G * _scales(G, groups)[..., np.newaxis], full_matrices=False)
    V = Vt * (sigma > RANK * sigma.max(axis=-1, keepdims=True, initial=0.0))[..., np.newaxis]
    free = np.eye(M.shape[-1]) - np.swapaxes(V, -1, -2) @ V
    whole, b = np.linalg.solve(R, np.swapaxes(P, -1, -2)), np.linalg.solve(R, needed[..., np.newaxis])
    E, left = free @ whole, free @ b
    # ranks are told of columns of unit length, as drives may be of different units, but u is smallest as it is
    lengths, most = np.linalg.norm(E, axis=-2, keepdims=True), np.linalg.norm(whole, axis=-2, keepdims=True)
    moves = lengths > RANK * most
    E = E * moves
    U, s, _ = np.linalg.svd(np.divide(E, lengths, out=np.zeros_like(E), where=moves), full_matrices=False)
    Ut = np.swapaxes(U, -1, -2) * (s > RANK * s.max(axis=-1, keepdims=True, initial=0.0))[..., np.newaxis]
    u = np.linalg.pinv(Ut @ E, rcond=DEPENDENT) @ (Ut @ left)
    rest = left - E @ u
    missing, size = R @ rest, np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))
    short = np.linalg.norm(rest, axis=-2) > CONFLICT * np.linalg.norm(b, axis=-2)
    share = np.abs(missing[..., 0]) / size
    lacking = short & (share > TELLING * share.max(axis=-1, keepdims=True, initial=0.0))
    have, wanted, slack = accelerations
    scale = np.sqrt(np.sum(have * have + wanted * wanted, axis=-1, keepdims=True))
    broken = np.abs(have - wanted) > np.maximum(CONFLICT * scale, RESIDUAL) + slack
    return Driven(u[..., 0], missing[..., 0], np.concatenate([broken, lacking], axis=-1))


def _finite(axes: int, *arrays: FloatArray) -> NDArray[np.bool_]:
    """Which states, by so many batch axes, have finite numbers only."""
    checks = [np.isfinite(a).all(axis=tuple(range(axes, a.ndim))) for a in arrays]
    return np.asarray(np.logical_and.reduce(checks))


def _replaced(states: NDArray[np.bool_], a: FloatArray, by: Any) -> FloatArray:
    """The array with the numbers of some states replaced."""
    return a if not states.any() else np.where(states.reshape(states.shape + (1,) * (a.ndim - states.ndim)), by, a)


def _scales(G: FloatArray, groups: Sequence[int]) -> FloatArray:
    """One over the length of the group that each row belongs to; zero where that is zero."""
    number = np.asarray(groups, dtype=int)
    squares = np.sum(G * G, axis=-1) @ np.equal.outer(number, number).astype(float)
    return np.asarray(np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0.0))


def _judged(
    L: FloatArray, free: FloatArray, aims: FloatArray, x: FloatArray, multipliers: FloatArray, rank: Any
) -> Nearest:
    reached = _times(L, x)
    size = np.sqrt(np.sum(aims * aims + _times(L, free) ** 2, axis=-1, keepdims=True))
    residual = reached - aims
    broken = np.abs(residual) > np.maximum(CONFLICT * size, RESIDUAL)
    return Nearest(x, multipliers, np.asarray(rank, np.int64), residual, broken)


def _cholesky(M: FloatArray) -> FloatArray:
    try:
        return np.asarray(np.linalg.cholesky(M))
    except np.linalg.LinAlgError:
        raise SingularError("the mass matrix is not positive definite in some state") from None


def _spread(batch: tuple[int, ...], a: FloatArray, axes: int) -> FloatArray:
    return np.broadcast_to(a, (*batch, *a.shape[a.ndim - axes :]))


def _times(A: FloatArray, x: FloatArray) -> FloatArray:
    return np.asarray((A @ x[..., np.newaxis])[..., 0])
