"""Derivatives of forward dynamics with loops and couplings, by the conditions that its solution obeys.

M q̈ + C = τ + Lᵀ λ + Bᵀ f and L q̈ = c, with forces f on loop joints, hold wherever q, v and τ go. So with ∂τ those of
inverse dynamics less those of Lᵀ λ + Bᵀ f at fixed λ and f,

    M ∂q̈ - Lᵀ ∂λ = -∂τ,   L ∂q̈ = -∂(L q̈ - c) at fixed q̈.

∂λ is not needed, so the first equation is solved in the null space of L, where redundant rows do no harm. The rows of
loops are differentiated along each degree of freedom by dual numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.algorithms.closed_loops import TIME_CONSTANT, aim_of_row
from bough.algorithms.loops import constraint_terms, loop_drives, loop_motions
from bough.algorithms.rnea import ZEROS
from bough.backends import Argument
from bough.errors import SingularError
from bough.kernel.arguments import FloatArray, require_on_cpu, write_out
from bough.kernel.forward_dynamics import forward_dynamics
from bough.kernel.function import Function
from bough.kernel.functions import PLAIN, algorithm, inputs_of, mechanism, owners_of, require_model
from bough.kernel.table import entry
from bough.model import Mechanism, Model
from bough.scalar import Array, Index, Scalar, Table, array, derivative, gather, keeping_loops, repeat
from bough.scalar.tolerances import SINGULAR_VALUE

__all__ = ["LoopedDerivatives"]


class LoopedDerivatives:
    """Derivatives of forward dynamics on a model with constraints."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def entry(self, q: Any, v: Any, tau: Any, f_ext: Any, out: Any, check: Any, loop_tau: Any = None) -> FloatArray:
        """∂q̈/∂q, ∂q̈/∂v and ∂q̈/∂τ, stacked (..., 3, nv, nv)."""
        model = self._model
        require_on_cpu(q=q, v=v, tau=tau, f_ext=f_ext, loop_tau=loop_tau)
        moved = forward_dynamics(model, q, v, tau, f_ext, loop_tau=loop_tau, full=True, check=check)
        a, λ = moved.motion.astype(float), moved.loop_forces.astype(float)
        forces = entry(model, "rnea_derivatives", algorithm)(q, v, a, f_ext, None, check)
        L = entry(model, "constraint_jacobian", algorithm)(q, None, check)
        of_rows = entry(model, "derivatives of constraints", _of_constraints)(q, v, a, λ, loop_tau, None, check)
        n, batch = model.nv, a.shape[:-1]
        by_rows, of_force = of_rows[..., :-n, :], of_rows[..., -n:, :n]
        right = np.zeros((*batch, 3, n, n))
        right[..., 0, :, :], right[..., 1, :, :] = of_force - forces[..., 0, :, :], -forces[..., 1, :, :]
        right[..., 2, :, :] = np.eye(n)
        moves = np.zeros((*batch, 3, L.shape[-2], n))
        moves[..., 0, :, :], moves[..., 1, :, :] = -by_rows[..., :n], -by_rows[..., n:]
        M = np.broadcast_to(forces[..., 2, :, :], (*batch, n, n))
        L = np.broadcast_to(L, (*batch, *L.shape[-2:]))
        result = np.empty((*batch, 3, n, n))
        for state in np.ndindex(batch):
            result[state] = _solved(M[state], L[state], right[state], moves[state])
        result = result.astype(moved.motion.dtype)
        return result if out is None else write_out(out, result)


def _solved(M: FloatArray, L: FloatArray, right: FloatArray, moves: FloatArray) -> FloatArray:
    """x with L x = `moves`, and M x = `right` in the null space of L; rank by singular values of scaled columns."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(M), np.diag(M).max() * np.finfo(float).eps))
    U, s, Vt = np.linalg.svd(L * scale)
    rank = int((s > SINGULAR_VALUE * s.max(initial=0.0)).sum())
    held, free = scale[:, None] * Vt[:rank].T, scale[:, None] * Vt[rank:].T
    x = held @ ((U[:, :rank].T @ moves) / s[:rank, None])
    try:
        return np.asarray(x + free @ np.linalg.solve(free.T @ M @ free, free.T @ (right - M @ x)))
    except np.linalg.LinAlgError:
        raise SingularError("a motion that the loops allow has no inertia; expected a positive one") from None


def _of_constraints(model: Model, key: str) -> Function:
    """∂(L a - c) by q and v, and below it ∂(Lᵀ λ + Bᵀ f) by q, beside zeros (rows + nv, 2 nv)."""
    require_model(model)
    given = {a.name: a for a in inputs_of(model, "constrained_reactions", PLAIN)}
    inside = mechanism(model)
    shape = (len(model.constraint_names) + model.nv, 2 * model.nv)
    return Function(
        key,
        [given[name] for name in ("q", "v", "a", "forces", "loop_tau")],
        [Argument("derivatives", shape)],
        lambda q, v, a, forces, loop_tau=None: {"derivatives": _columns(inside, q, v, a, forces, loop_tau)},
        size=model.nv,
        digest=lambda: None if inside.digest is None else f"{inside.digest}\0{key}",
        owners=owners_of(model),
        rolled=False,
        of=model.name,
    )


def _columns(m: Mechanism, q: Array, v: Array, a: Array, λ: Array, loop_tau: Array | None) -> Array:
    """Column by column, in a loop of straight-line code over the directions."""
    n, rows = m.model.nv, len(m.model.constraint_names)
    drives = sum(loop.joint.nv for loop in m.model.loops)
    x, speed = tuple(q[k] for k in range(m.model.nq)), tuple(v[k] for k in range(n))
    with keeping_loops():
        result = array((rows + n) * 2 * n)
    units = Table("units", np.eye(n).ravel())

    def terms(x: tuple[Scalar, ...], speed: tuple[Scalar, ...]) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        found = constraint_terms(m, list(x), list(speed), rounded=False)
        L = found.matrix
        aims = [aim_of_row(found, row, 1.0 / TIME_CONSTANT) for row in range(rows)]
        breach = tuple(_sum(L[row * n + k] * a[k] for k in range(n)) - aims[row] for row in range(rows))
        driven: Array = ZEROS
        if loop_tau is not None:
            driven = loop_drives(m, loop_motions(m, list(x))[1], [loop_tau[k] for k in range(drives)])
        return breach, tuple(driven[k] + _sum(L[row * n + k] * λ[row] for row in range(rows)) for k in range(n))

    def column(k: Index, carry: tuple[()]) -> tuple[()]:
        unit = [gather(units, k * n + j) for j in range(n)]
        breach, force = derivative(lambda y: terms(y, speed), x, _rates(m, x, unit))[1]
        for row, value in enumerate((*breach, *force)):
            result[k + row * 2 * n] = value
        slower = derivative(lambda u: terms(x, u)[0], speed, tuple(unit))[1]
        for row, value in enumerate(slower):
            result[k + (row * 2 * n + n)] = value
        return carry

    repeat(n, column, ())
    return result


def _rates(m: Mechanism, q: tuple[Scalar, ...], v: list[Scalar]) -> tuple[Scalar, ...]:
    """The rates of configuration variables at velocities."""
    found: list[Scalar] = []
    start = 0
    for item in m.model.joints:
        joint, first = item.joint, len(found)
        of_q, of_v = q[first : first + joint.nq], v[start : start + joint.nv]
        found += joint.canonical.rate(joint.parameters, of_q, of_v) if joint.nv else []
        start += joint.nv
    return tuple(found)


def _sum(values: Any) -> Scalar:
    total: Scalar = 0.0
    for x in values:
        total = total + x
    return total
