"""Configurations and velocities that meet the constraints of a model, from ones that do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.loops import row_groups
from bough.errors import AssemblyError, SingularError
from bough.kernel.border import FloatArray, write_out
from bough.kernel.configuration import integrate
from bough.kernel.dynamics import crba
from bough.kernel.loops.constrained import all_single, constraint_errors, constraint_jacobian, multipliers_pay
from bough.kernel.loops.regular import made_regular, massless
from bough.kernel.loops.saddle import nearest
from bough.kernel.run import NO_CALLS, mechanism, read, run
from bough.model import Model

__all__ = ["assemble", "consistent_velocity", "onto_constraints"]

LEAST = 1e-12
"""Damping never falls below this part of the mean diagonal entry of L Lᵀ: redundant rows leave it singular."""


def assemble(
    model: Model,
    q: ArrayLike,
    *,
    hold: Sequence[str] = (),
    tolerance: float = 1e-10,
    iterations: int = 200,
    out: FloatArray | None = None,
) -> FloatArray:
    """A configuration (..., nq) near q that meets all constraints of the model, by damped Gauss-Newton steps.

    Parameters
    ----------
    model
        The mechanism.
    q
        A rough guess (..., nq). Which of several assemblies is found depends on it.
    hold
        Names of joints that keep their configuration, such as the driven ones.
    tolerance
        How far each row of `constraint_errors` may be from zero (m, rad).
    iterations
        Number of steps after which to give up.
    out
        Array to write the result to.

    Raises
    ------
    AssemblyError
        If the constraints cannot be met from there; the message names the worst one.
    """
    guess = np.array(read(model, "q", q), dtype=np.float64)
    states = guess.reshape(-1, model.nq)
    moving = np.ones(model.nv)
    for name in hold:
        moving[model.v_slice(name)] = 0.0
    errors = constraint_errors(model, states)
    damping = np.full(len(states), 1e-3)
    for _ in range(iterations):
        open_ = np.flatnonzero((np.abs(errors) > tolerance).any(axis=-1))
        if not open_.size:
            break
        L = constraint_jacobian(model, states[open_]) * moving
        moved = integrate(model, states[open_], _step(L, errors[open_], damping[open_]))
        left = constraint_errors(model, moved)
        better = np.sum(left * left, axis=-1) < np.sum(errors[open_] ** 2, axis=-1)
        states[open_[better]], errors[open_[better]] = moved[better], left[better]
        damping[open_] = np.clip(np.where(better, damping[open_] * 0.1, damping[open_] * 8.0), LEAST, 1e12)
    _require_closed(model, errors.reshape(*guess.shape[:-1], -1), tolerance)
    return guess if out is None else write_out(out, guess)


def _step(L: FloatArray, errors: FloatArray, damping: FloatArray) -> FloatArray:
    """-Lᵀ (L Lᵀ + μ 1)⁻¹ e, where μ is the damping times the mean diagonal entry."""
    A = L @ np.swapaxes(L, -1, -2)
    rows = A.shape[-1]
    mean = np.trace(A, axis1=-2, axis2=-1) / rows
    mu = damping * np.where(mean > 0.0, mean, 1.0)
    x = np.linalg.solve(A + mu[:, np.newaxis, np.newaxis] * np.eye(rows), errors[..., np.newaxis])
    return np.asarray(-(np.swapaxes(L, -1, -2) @ x)[..., 0])


def _require_closed(model: Model, errors: FloatArray, tolerance: float) -> None:
    if not (np.abs(errors) > tolerance).any():
        return
    *place, row = (int(k) for k in np.unravel_index(np.argmax(np.abs(errors)), errors.shape))
    where = f" in state {place}" if place else ""
    raise AssemblyError(
        f"constraint {model.constraint_names[row]!r} is not met{where}: it is off by {abs(errors[(*place, row)]):.3g} "
        f"m or rad, expected at most {tolerance:g}. Start nearer to an assembly, or hold fewer joints"
    )


def consistent_velocity(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """The velocity (..., nv) nearest to v that the constraints allow, L v = 0, in the metric of the mass matrix.

    It is what v becomes when the constraints are suddenly enforced: the change has the least kinetic energy.
    """
    place, speed = (read(model, key, x, check).astype(np.float64, copy=False) for key, x in (("q", q), ("v", v)))
    result = _shortest(model, place, speed, None, check)
    result = result.astype(np.float32) if all_single(q, v) else result
    return result if out is None else write_out(out, result)


def onto_constraints(model: Model, q: ArrayLike, v: ArrayLike, *, check: bool = True) -> tuple[FloatArray, FloatArray]:
    """A state (..., nq), (..., nv) nearer to the constraints: q after one Newton step, and v as they allow there.

    Both steps are the shortest in the metric of the mass matrix. The error of q becomes its square, so that after a
    step of an integrator one call brings the state back to rounding; far from the constraints see `assemble`. It is
    one compiled program and costs about twice `constrained_dynamics`, unless there are hundreds of rows.

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (..., nq).
    v
        Velocity (..., nv).
    check
        Whether to refuse NaN and infinity. Shapes are always checked.

    Raises
    ------
    SingularError
        If a joint moves nothing that has inertia and no loop holds it; the message names it.
    """
    fast = getattr(model, "calls", NO_CALLS).get("onto_constraints")
    state: FloatArray | None = fast(q, v) if fast is not None and check else None
    if state is None:
        place, speed = (read(model, key, x, check).astype(np.float64, copy=False) for key, x in (("q", q), ("v", v)))
        state = _projected(model, place, speed, check)
        state = state.astype(np.float32) if all_single(q, v) else state
    return state[..., : model.nq], state[..., model.nq :]


def _projected(model: Model, q: FloatArray, v: FloatArray, check: bool) -> FloatArray:
    """The state after `onto_constraints`, q and v in one array."""
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    q, v = np.broadcast_to(q, (*batch, model.nq)), np.broadcast_to(v, (*batch, model.nv))
    if not multipliers_pay(model):
        return _projected_by_rank(model, q, v, check)
    try:
        results = run(model, "onto_constraints", {"q": q, "v": v}, check=check, call_as="onto_constraints")
    except SingularError:
        held = massless(model, q)
        if not model.constraints or not held.any():
            raise
        state = _projected_by_rank(model, q, v, check)
        if not held.all():
            state[~held] = _projected(model, q[~held], v[~held], check)
        return state
    if "pivots" in results:
        doubtful = results["pivots"][..., model.nv] < 0.0
        if doubtful.any():
            results["state"][doubtful] = _projected_by_rank(model, q[doubtful], v[doubtful], check)
    return results["state"]


def _projected_by_rank(model: Model, q: FloatArray, v: FloatArray, check: bool) -> FloatArray:
    errors = constraint_errors(model, q, check=check)
    q = integrate(model, q, _shortest(model, q, np.zeros_like(v), -errors, check), check=check)
    return np.concatenate([q, _shortest(model, q, v, None, check)], axis=-1)


def _shortest(model: Model, q: FloatArray, v: FloatArray, aims: FloatArray | None, check: bool) -> FloatArray:
    """The motion nearest to v with L v = aims, or zero, in the metric of the mass matrix."""
    L, M, groups = constraint_jacobian(model, q, check=check), crba(model, q, check=check), row_groups(mechanism(model))
    M, _ = made_regular(model, q, M, L, groups)
    return nearest(M, L, v, np.zeros(L.shape[:-1]) if aims is None else aims, groups).x
