"""Configurations and velocities that meet the constraints of a model, from ones that do not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.algorithms.loops import row_groups
from bough.errors import AssemblyError, SingularError
from bough.kernel.border import FloatArray, write_out
from bough.kernel.configuration import integrate, interpolate, random
from bough.kernel.dynamics import crba
from bough.kernel.loops.bounds import Bounds
from bough.kernel.loops.constrained import all_single, constraint_errors, constraint_jacobian, multipliers_pay
from bough.kernel.loops.regular import made_regular, massless
from bough.kernel.loops.saddle import nearest
from bough.kernel.overflow import refusing_overflow, require_finite_results
from bough.kernel.run import NO_CALLS, mechanism, read, run
from bough.model import Model
from bough.reading import names, number, whole_number

__all__ = ["assemble", "consistent_velocity", "onto_constraints"]

LEAST = 1e-12
"""Damping never falls below this part of the mean diagonal entry of L Lᵀ: redundant rows leave it singular."""

MOST = 1e12
"""Where more damping is asked for, no step leads nearer."""

PATIENCE = 20
"""So many steps in a row that each lead nearer by less than one part in a hundred lead nowhere."""

STARTS = 24
"""How many starts are tried where a limit is in the way."""


def assemble(
    model: Model,
    q: ArrayLike,
    *,
    hold: Sequence[str] = (),
    tolerance: float = 1e-10,
    iterations: int = 200,
    out: FloatArray | None = None,
) -> FloatArray:
    """A configuration (..., nq) near q that meets all constraints and limits of a model, by damped Gauss-Newton steps.

    Joints of the tree are nowhere past their limits, those that close loops by no more than the tolerance. Where limits
    stand in the way of the nearest assembly, others are looked for further away, the same in every call.

    Parameters
    ----------
    model
        The mechanism.
    q
        A rough guess (..., nq), within limits or not. Which of several assemblies is found depends on it.
    hold
        Names of joints that keep their configuration, such as the driven ones.
    tolerance
        How far each row of `constraint_errors` may be from zero (m, rad).
    iterations
        Number of steps after which to give up, or to look elsewhere.
    out
        Array to write the result to.

    Raises
    ------
    AssemblyError
        If the constraints cannot be met from there; the message names the worst one, and joints at their limits. If a
        joint is held past its limits.
    """
    tolerance = number(tolerance, "tolerance", "a number that is not negative (m, rad)", least=0.0)
    iterations, hold = whole_number(iterations, "iterations"), names(hold, "hold")
    guess = np.array(read(model, "q", q), dtype=np.float64)
    first, bounds = guess.reshape(-1, model.nq), Bounds.of(model, hold)
    bounds.require_held(first, tolerance)
    states = bounds.kept(first)
    off = _closed(bounds, states, tolerance, iterations)
    _from_elsewhere(bounds, first, states, off, tolerance, iterations)
    _require_closed(bounds, states, off, guess.shape[:-1], tolerance)
    result = states.reshape(guess.shape)
    return result if out is None else write_out(out, result)


def _closed(bounds: Bounds, states: FloatArray, tolerance: float, iterations: int) -> FloatArray:
    """Move states (n, nq) to where constraints and limits are met, or nearly so; returns by how much they are not."""
    model, damping, slow = bounds.model, np.full(len(states), 1e-3), np.zeros(len(states), np.intp)
    off = _misses(bounds, states)
    for _ in range(iterations):
        at = np.flatnonzero(_open(off, tolerance) & (damping < MOST) & (slow < PATIENCE))
        if not at.size:
            break
        q, L = states[at], constraint_jacobian(model, states[at]) * bounds.moving
        d = bounds.step(q, L, off[at][:, : L.shape[1]], partial(_step, damping=damping[at] * _size(L)))
        moved = bounds.kept(integrate(model, q, d))
        left = _misses(bounds, moved)
        now, then = np.sum(left * left, axis=-1), np.sum(off[at] ** 2, axis=-1)
        better = now < then
        slow[at] = np.where(now < 0.99 * then, 0, slow[at] + better)
        states[at[better]], off[at[better]] = moved[better], left[better]
        damping[at] = np.clip(np.where(better, damping[at] * 0.1, damping[at] * 8.0), LEAST, MOST)
    return off


def _from_elsewhere(
    bounds: Bounds, first: FloatArray, states: FloatArray, off: FloatArray, tolerance: float, iterations: int
) -> None:
    """Close states that a limit keeps open from other starts, further and further from the first guess.

    These are the same in every call: on the way to configurations drawn within the limits.
    """
    lost = np.flatnonzero(_open(off, tolerance) & bounds.reached(states).any(axis=-1))
    if not lost.size:
        return
    model = bounds.model
    still = np.array([x for entry in model.joints for x in [entry.name in bounds.hold] * entry.joint.nq], np.bool_)
    for k, there in enumerate(random(model, 0, STARTS), start=1):
        start = np.where(still, first[lost], interpolate(model, first[lost], there, k / STARTS))
        tries = bounds.kept(start)
        left = _closed(bounds, tries, tolerance, iterations)
        found = ~_open(left, tolerance)
        states[lost[found]], off[lost[found]] = tries[found], left[found]
        lost = lost[~found]
        if not lost.size:
            return


def _misses(bounds: Bounds, q: FloatArray) -> FloatArray:
    """Errors of constraints, then by how much limits are passed that may be on the way (states, ·)."""
    return np.concatenate([constraint_errors(bounds.model, q), bounds.passed(q)], axis=-1)


def _open(off: FloatArray, tolerance: float) -> NDArray[np.bool_]:
    return np.asarray((np.abs(off) > tolerance).any(axis=-1))


def _step(L: FloatArray, errors: FloatArray, damping: FloatArray) -> FloatArray:
    """-Lᵀ (L Lᵀ + μ 1)⁻¹ e, where μ is the damping."""
    A = L @ np.swapaxes(L, -1, -2) + damping[:, np.newaxis, np.newaxis] * np.eye(L.shape[-2])
    x = np.linalg.solve(A, errors[..., np.newaxis])
    return np.asarray(-(np.swapaxes(L, -1, -2) @ x)[..., 0])


def _size(L: FloatArray) -> FloatArray:
    """The mean diagonal entry of L Lᵀ (states,), which damping is a part of."""
    mean = np.sum(L * L, axis=(-2, -1)) / max(L.shape[-2], 1)
    return np.where(mean > 0.0, mean, 1.0)


def _require_closed(
    bounds: Bounds, states: FloatArray, off: FloatArray, batch: tuple[int, ...], tolerance: float
) -> None:
    if not _open(off, tolerance).any():
        return
    state, row = (int(k) for k in np.unravel_index(np.argmax(np.abs(off)), off.shape))
    names = [f"constraint {name!r}" for name in bounds.model.constraint_names]
    where = f" in state {[int(k) for k in np.unravel_index(state, batch)]}" if batch else ""
    reached = bounds.told(states[state])
    within, advice = "", "Start nearer to an assembly, or hold fewer joints"
    if reached:
        within = f", and no assembly within the limits was found: {reached}"
        advice = "Start nearer to one, hold fewer joints, or widen the limits"
    raise AssemblyError(
        f"{[*names, *bounds.passed_names][row]} is not met{where}: it is off by {abs(off[state, row]):.3g} "
        f"m or rad, expected at most {tolerance:g}{within}. {advice}"
    )


def consistent_velocity(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """The velocity (..., nv) nearest to v that the constraints allow, L v = 0, in the metric of the mass matrix.

    It is what v becomes when the constraints are suddenly enforced: the change has the least kinetic energy.
    """
    place, speed = (read(model, key, x, check).astype(np.float64, copy=False) for key, x in (("q", q), ("v", v)))
    with refusing_overflow("consistent_velocity") if check else np.errstate(over="ignore"):
        result = _shortest(model, place, speed, None, check)
    if check:
        require_finite_results("consistent_velocity", result)
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
