"""Motions nearest to a free one that meet constraints: small dense systems with a rank test, many at a time in LAPACK.

Nearest means in the metric of the mass matrix M = R Rᵀ, which is Gauss's principle. Rows are scaled in that metric,
each group to unit length, and G = s L R⁻ᵀ = U Σ Vᵀ splits motions: R⁻ᵀ V, where Σ is not zero, are those that
constraints determine, and the rest is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SingularError
from bough.kernel.arguments import FloatArray
from bough.kernel.overflow import require_finite_results
from bough.scalar.tolerances import CONFLICT, RESIDUAL, SINGULAR_VALUE

__all__ = ["Driven", "Nearest", "driven", "free_motion", "nearest"]

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
    have = _times(L, free)
    part = inverse * _times(np.swapaxes(U, -1, -2), scales * (aims - have))
    step = np.swapaxes(Vt, -1, -2) @ part[..., np.newaxis]
    x = free + np.linalg.solve(np.swapaxes(R, -1, -2), step)[..., 0]
    size = np.sqrt(np.sum(aims * aims + have**2, axis=-1, keepdims=True))
    residual = _times(L, x) - aims
    broken = np.abs(residual) > np.maximum(CONFLICT * size, RESIDUAL)
    return Nearest(x, scales * _times(U, inverse * part), np.count_nonzero(sigma, axis=-1), residual, broken)


def free_motion(M: FloatArray, force: FloatArray) -> FloatArray:
    """M⁻¹ f (..., n)."""
    R = _cholesky(M)
    return np.asarray(np.linalg.solve(np.swapaxes(R, -1, -2), np.linalg.solve(R, force[..., np.newaxis]))[..., 0])


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
    R, _, _, sigma, Vt = _split(M, L, groups)
    V = Vt * (sigma > 0.0)[..., np.newaxis]
    free = np.eye(M.shape[-1]) - np.swapaxes(V, -1, -2) @ V
    whole, b = np.linalg.solve(R, np.swapaxes(P, -1, -2)), np.linalg.solve(R, needed[..., np.newaxis])
    E, left = free @ whole, free @ b
    # ranks are told of columns of unit length, as drives may be of different units, but u is smallest as it is
    lengths, most = np.linalg.norm(E, axis=-2, keepdims=True), np.linalg.norm(whole, axis=-2, keepdims=True)
    moves = lengths > SINGULAR_VALUE * most
    E = E * moves
    U, s, _ = np.linalg.svd(np.divide(E, lengths, out=np.zeros_like(E), where=moves), full_matrices=False)
    Ut = np.swapaxes(U, -1, -2) * (s > SINGULAR_VALUE * s.max(axis=-1, keepdims=True, initial=0.0))[..., np.newaxis]
    u = np.linalg.pinv(Ut @ E, rcond=SINGULAR_VALUE**2) @ (Ut @ left)
    rest = left - E @ u
    missing, size = R @ rest, np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))
    short = np.linalg.norm(rest, axis=-2) > CONFLICT * np.linalg.norm(b, axis=-2)
    share = np.abs(missing[..., 0]) / size
    lacking = short & (share > TELLING * share.max(axis=-1, keepdims=True, initial=0.0))
    have, wanted, slack = accelerations
    scale = np.sqrt(np.sum(have * have + wanted * wanted, axis=-1, keepdims=True))
    broken = np.abs(have - wanted) > np.maximum(CONFLICT * scale, RESIDUAL) + slack
    return Driven(u[..., 0], missing[..., 0], np.concatenate([broken, lacking], axis=-1))


def _split(M: FloatArray, L: FloatArray, groups: Sequence[int]) -> tuple[FloatArray, ...]:
    """R, the scales s of the rows, U, Σ with zeros where there is no rank, and Vᵀ."""
    R, number = _cholesky(M), np.asarray(groups, dtype=int)
    G = np.swapaxes(np.linalg.solve(R, np.swapaxes(L, -1, -2)), -1, -2)
    squares = np.sum(G * G, axis=-1) @ np.equal.outer(number, number).astype(float)
    scales = np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0.0)
    U, sigma, Vt = np.linalg.svd(G * scales[..., np.newaxis], full_matrices=False)
    least = SINGULAR_VALUE * sigma.max(axis=-1, keepdims=True, initial=0.0)
    return R, scales, U, np.where(sigma > least, sigma, 0.0), Vt


def _cholesky(M: FloatArray) -> FloatArray:
    try:
        return np.asarray(np.linalg.cholesky(M))
    except np.linalg.LinAlgError:
        raise SingularError("the mass matrix is not positive definite in some state") from None


def _times(A: FloatArray, x: FloatArray) -> FloatArray:
    return np.asarray((A @ x[..., np.newaxis])[..., 0])
