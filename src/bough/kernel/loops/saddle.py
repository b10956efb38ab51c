"""Motions nearest to a free one that meet constraints: small dense systems with a rank test, many at a time in LAPACK.

Nearest means in the metric of the mass matrix, which is Gauss's principle; rows are scaled in that metric, each group
to unit length. Methods 1, 2 and 3 of Featherstone & Orin 2000, section 3.4, are `whole_system`, `nearest` and
`in_null_space`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SingularError
from bough.kernel.arguments import FloatArray
from bough.scalar.tolerances import CONFLICT, DEPENDENT, RANK, RESIDUAL

__all__ = ["Driven", "Nearest", "driven", "free_motion", "in_null_space", "nearest", "whole_system"]

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


class _Split:
    """Motions split into those that constraints determine and those they leave free; many states at a time.

    With M = R Rᵀ and G = s L R⁻ᵀ = U Σ Vᵀ, the former are R⁻ᵀ V where Σ is not zero, and the latter are the rest.
    States with something that is not finite are replaced by others, and `told` gives NaN for them.
    """

    def __init__(
        self, M: FloatArray, L: FloatArray, free: FloatArray, force: FloatArray, aims: FloatArray, groups: Sequence[int]
    ) -> None:
        batch = np.broadcast_shapes(M.shape[:-2], L.shape[:-2], free.shape[:-1], force.shape[:-1])
        matrices, vectors = (
            (_spread(batch, M, 2), _spread(batch, L, 2)),
            [_spread(batch, x, 1) for x in (free, force, aims)],
        )
        self._lost = ~_finite(len(batch), *matrices, *vectors)  # LAPACK gets something else for these
        self.M, self.L = (
            _replaced(self._lost, matrices[0], np.eye(M.shape[-1])),
            _replaced(self._lost, matrices[1], 0.0),
        )
        self.free, self.force, self.aims = (_replaced(self._lost, x, 0.0) for x in vectors)
        R = _cholesky(self.M)
        G = np.swapaxes(np.linalg.solve(R, np.swapaxes(self.L, -1, -2)), -1, -2)
        self.scales = _scales(G, groups)
        U, sigma, Vt = np.linalg.svd(G * self.scales[..., np.newaxis], full_matrices=True)
        fewer = sigma.shape[-1]
        self.kept = sigma > RANK * sigma.max(axis=-1, keepdims=True, initial=0.0)
        self.inverse = np.divide(1.0, sigma, out=np.zeros_like(sigma), where=self.kept)
        self.U, self.outward = U[..., :fewer], np.linalg.inv(np.swapaxes(R, -1, -2))  # R⁻ᵀ
        held = np.zeros((*self.kept.shape[:-1], M.shape[-1]), np.bool_)
        held[..., :fewer] = self.kept
        self.V = np.swapaxes(Vt[..., :fewer, :], -1, -2)
        self.K = self.outward @ (np.swapaxes(Vt, -1, -2) * ~held[..., np.newaxis, :])  # zero where V is not free
        self.held = held

    def along(self, values: FloatArray) -> FloatArray:
        """Σ⁻¹ Uᵀ s of numbers of rows."""
        return np.asarray(self.inverse * _times(np.swapaxes(self.U, -1, -2), self.scales * values))

    def across(self, values: FloatArray) -> FloatArray:
        """s U Σ⁻¹ of numbers of directions: multipliers, of many the smallest in these scales."""
        return np.asarray(self.scales * _times(self.U, self.inverse * values))

    def told(self, x: FloatArray, multipliers: FloatArray) -> Nearest:
        """The result, judged."""
        x, multipliers = _replaced(self._lost, x, np.nan), _replaced(self._lost, multipliers, np.nan)
        return _judged(self.L, self.free, self.aims, x, multipliers, np.count_nonzero(self.kept, axis=-1))


def nearest(M: FloatArray, L: FloatArray, free: FloatArray, aims: FloatArray, groups: Sequence[int]) -> Nearest:
    """The x nearest to `free` with L x = aims, in the sense of least squares where no x has that: multipliers first.

    `groups` says which rows are measured alike (see `row_groups`).
    """
    split = _Split(M, L, free, free, aims, groups)
    part = split.along(split.aims - _times(split.L, split.free))
    return split.told(split.free + _times(split.outward, _times(split.V, part)), split.across(part))


def whole_system(
    M: FloatArray, L: FloatArray, free: FloatArray, force: FloatArray, aims: FloatArray, groups: Sequence[int]
) -> Nearest:
    """The same from [[M, Lᵀ], [L, 0]] [x, -λ] = [force, aims] (20), solved at once: method 1.

    Rows are combined to orthogonal ones of unit length. Those that depend on others become rows of zeros by this, and
    get no multiplier.
    """
    split = _Split(M, L, free, force, aims, groups)
    rows = split.inverse[..., np.newaxis] * (np.swapaxes(split.U, -1, -2) @ (split.scales[..., np.newaxis] * split.L))
    n, count = split.M.shape[-1], rows.shape[-2]
    t = 1.0 / np.sqrt(np.diagonal(split.M, axis1=-2, axis2=-1))  # units are left behind: M with a unit diagonal
    A = np.zeros((*rows.shape[:-2], n + count, n + count))
    A[..., :n, :n] = split.M * t[..., np.newaxis] * t[..., np.newaxis, :]
    A[..., n:, :n] = rows * t[..., np.newaxis, :]
    A[..., :n, n:] = np.swapaxes(A[..., n:, :n], -1, -2)
    A[..., range(n, n + count), range(n, n + count)] = ~split.kept
    b = np.concatenate([t * split.force, split.along(split.aims)], axis=-1)
    y = np.linalg.solve(A, b[..., np.newaxis])[..., 0]
    return split.told(t * y[..., :n], -split.across(y[..., n:]))


def in_null_space(
    M: FloatArray, L: FloatArray, free: FloatArray, force: FloatArray, aims: FloatArray, groups: Sequence[int]
) -> Nearest:
    """The same as x = K y + x₀ with L K = 0 and L x₀ = aims, where Kᵀ M K y = Kᵀ (force - M x₀) (22): method 3."""
    split = _Split(M, L, free, force, aims, groups)
    start, Kt = _times(split.outward, _times(split.V, split.along(split.aims))), np.swapaxes(split.K, -1, -2)
    A = Kt @ split.M @ split.K
    A[..., range(A.shape[-1]), range(A.shape[-1])] += split.held
    y = np.linalg.solve(A, _times(Kt, split.force - _times(split.M, start))[..., np.newaxis])[..., 0]
    x = _times(split.K, y) + start
    excess = _times(np.swapaxes(split.outward, -1, -2), _times(split.M, x) - split.force)  # R⁻¹ Lᵀ λ
    return split.told(x, split.across(_times(np.swapaxes(split.V, -1, -2), excess)))


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
