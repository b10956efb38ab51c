"""Configurations and velocities that meet the constraints of a model, from ones that do not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import AssemblyError, ShapeError
from bough.kernel.arguments import FloatArray, write_out
from bough.kernel.configuration import integrate, interpolate, random
from bough.kernel.function import Function
from bough.kernel.functions import read, require_model
from bough.kernel.loops.bounds import Bounds, free_angles
from bough.kernel.loops.careful import careful_function
from bough.kernel.loops.constrained import errors, jacobian, program_pays
from bough.kernel.table import entry
from bough.model import Model
from bough.model.tying import position_rows
from bough.reading import names, number, whole_number
from bough.scalar.tolerances import TOUCHING

__all__ = ["assemble", "consistent_velocity", "project"]

LEAST_DAMPING = 1e-12
"""Damping never falls below this part of the mean diagonal entry of L Lᵀ: redundant rows leave it singular."""

MOST_DAMPING = 1e12
"""Where more damping is asked for, no step leads nearer."""

SLOW_STEPS = 20
"""So many steps in a row that each lead nearer by less than one part in a hundred lead nowhere."""

STARTS = 24
"""How many starts are tried where a limit is in the way."""


def assemble(
    model: Model,
    q: ArrayLike,
    *,
    hold: str | Sequence[str] = (),
    tolerance: float = 1e-10,
    iterations: int = 200,
    out: FloatArray | None = None,
) -> FloatArray:
    """Return a configuration (..., nq) near q that meets all constraints and limits, by damped Gauss-Newton steps.

    Joints of the tree stay within their limits; joints that close loops exceed theirs by at most the tolerance. If
    limits prevent the nearest assembly, the search continues farther away; it is deterministic.

    Parameters
    ----------
    model
        The mechanism.
    q
        A rough guess (..., nq), within limits or not. If there are several assemblies, the guess determines the result.
        Angles for which whole turns mean nothing are at most half a turn from the guess.
    hold
        Names of joints that keep their configuration, such as driven joints: one name, or several.
    tolerance
        Largest error of each row of `loops.errors` (m, rad).
    iterations
        Number of steps after which the search gives up, or continues elsewhere.
    out
        Array to write the result to.

    Raises
    ------
    AssemblyError
        If the search finds no solution; the message names the worst constraint, and joints at their limits. If no step
        reduces the errors further, the message says so, and gives the `tolerance` that would be met. Also if a joint in
        `hold` is outside its limits.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("belt")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> _ = b.add("b", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> b.equality("belt", "b", "a", (0.0, 2.0))
    >>> bough.loops.assemble(b.build(), [0.1, 0.0], hold=["a"]).round(9).tolist()
    [0.1, 0.2]
    """
    tolerance = number(tolerance, "tolerance", "a finite number (m, rad), not negative", least=0.0)
    iterations = whole_number(iterations, "iterations")
    hold = names(hold, "hold", ShapeError)
    guess = np.array(read(model, "q", q), dtype=np.float64)
    first, bounds = guess.reshape(math.prod(guess.shape[:-1]), model.nq), Bounds(model, hold)
    bounds.require_held(first, tolerance)
    states = bounds.clip(first)
    off, stalled = _close_loops(bounds, states, tolerance, iterations)
    _from_elsewhere(bounds, first, states, off, tolerance, iterations)
    if _are_open(off, tolerance).any():
        worst = int(np.argmax(np.max(np.abs(off), axis=-1)))
        where = f" in state {[int(k) for k in np.unravel_index(worst, guess.shape[:-1])]}" if guess.ndim > 1 else ""
        steps = None if stalled[worst] else iterations
        raise AssemblyError(_failure_in_words(bounds, first[worst], states[worst], off[worst], steps, where, tolerance))
    _wind_back(bounds, first, states, tolerance)
    result = states.reshape(guess.shape)
    return result if out is None else write_out(out, result)


def _close_loops(
    bounds: Bounds, states: FloatArray, tolerance: float, iterations: int
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Move states (n, nq) to constraints and limits; returns what is left (n, ·), and where no step led nearer (n)."""
    model, damping, slow = bounds.model, np.full(len(states), 1e-3), np.zeros(len(states), np.intp)
    off, on_positions = _misses(bounds, states), position_rows(model)[:, np.newaxis]
    for _ in range(iterations):
        at = np.flatnonzero(_are_open(off, tolerance) & (damping < MOST_DAMPING) & (slow < SLOW_STEPS))
        if not at.size:
            break
        q, L = states[at], jacobian(model, states[at]) * bounds.moving * on_positions
        d = bounds.step(q, L, off[at][:, : L.shape[1]], partial(_step, damping=damping[at] * _size(L)))
        moved = bounds.clip(integrate(model, q, d))
        left = _misses(bounds, moved)
        now, then = np.sum(left * left, axis=-1), np.sum(off[at] ** 2, axis=-1)
        better = now < then
        slow[at] = np.where(now < 0.99 * then, 0, slow[at] + better)
        states[at[better]], off[at[better]] = moved[better], left[better]
        damping[at] = np.clip(np.where(better, damping[at] * 0.1, damping[at] * 8.0), LEAST_DAMPING, MOST_DAMPING)
    return off, (damping >= MOST_DAMPING) | (slow >= SLOW_STEPS)


def _from_elsewhere(
    bounds: Bounds, first: FloatArray, states: FloatArray, off: FloatArray, tolerance: float, iterations: int
) -> None:
    """Close states that a limit keeps open from starts further and further away, the same ones in every call."""
    lost = np.flatnonzero(_are_open(off, tolerance) & bounds.at_limits(states).any(axis=-1))
    if not lost.size:
        return
    model = bounds.model
    still = np.array([x for entry in model.joints for x in [entry.name in bounds.hold] * entry.joint.nq], np.bool_)
    for k, there in enumerate(random(model, 0, STARTS), start=1):
        start = np.where(still, first[lost], interpolate(model, first[lost], there, k / STARTS))
        tries = bounds.clip(start)
        left, _ = _close_loops(bounds, tries, tolerance, iterations)
        found = ~_are_open(left, tolerance)
        states[lost[found]], off[lost[found]] = tries[found], left[found]
        lost = lost[~found]
        if not lost.size:
            return


def _wind_back(bounds: Bounds, first: FloatArray, states: FloatArray, tolerance: float) -> None:
    """Bring angles whose whole turns mean nothing to the turn nearest the first guess."""
    places = free_angles(bounds.model)
    turns = np.round((first[:, places] - states[:, places]) / (2.0 * np.pi))
    at = np.flatnonzero(turns.any(axis=-1))
    if at.size:
        wound = states[at]
        wound[:, places] += 2.0 * np.pi * turns[at]
        met = ~_are_open(_misses(bounds, wound), tolerance)
        states[at[met]] = wound[met]


def _misses(bounds: Bounds, q: FloatArray) -> FloatArray:
    """Errors of constraints, then by how much limits are passed that may be on the way (states, ·)."""
    return np.concatenate([errors(bounds.model, q), bounds.excess(q)], axis=-1)


def _are_open(off: FloatArray, tolerance: float) -> NDArray[np.bool_]:
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


def _failure_in_words(
    bounds: Bounds,
    guess: FloatArray,
    state: FloatArray,
    off: FloatArray,
    steps: int | None,
    where: str,
    tolerance: float,
) -> str:
    """Why there is no assembly from a guess to a state (nq), and what may help; without `steps` none led nearer."""
    rows = [f"constraint {name!r}" for name in bounds.model.constraint_names]
    rows += [f"limit of {bounds.names[k]}" for k in np.flatnonzero(~bounds.firm)]
    row = int(np.argmax(np.abs(off)))
    worst = float(abs(off[row]))
    text = f"{rows[row]} is not met{where}: it is off by {worst:.3g} m or rad, expected at most {tolerance:g}"
    moved, reached = _guess_moved_to(bounds, guess), bounds.limits_in_words(state)
    if moved:
        text += f". The guess was past its limits, and was moved to them first: {moved}"
    if steps is None:
        text += f". No step leads nearer: there is nothing better than {worst:.3g} near here"
        if worst <= 10.0 * TOUCHING:  # 1.5708 in a file is off by 4e-6 rad
            accepted = float(f"1e{math.ceil(math.log10(worst))}")
            text += f", as where the numbers of a file are rounded; tolerance={accepted:g} accepts it"
            return f"{text} ({reached})" if reached else text
    else:
        text += f". That is after {steps} steps; more iterations may lead nearer"
    if reached:
        text += f", and no assembly within the limits was found: {reached}"
        return f"{text}. Start nearer to one, hold fewer joints, or widen the limits"
    return f"{text}. Start nearer to an assembly, or hold fewer joints"


def _guess_moved_to(bounds: Bounds, guess: FloatArray) -> str:
    """The limits that a guess (nq) is past, in words, as far as it is moved to them; empty if there are none."""
    kept = bounds.clip(guess[np.newaxis])[0]
    past = [k for k in np.flatnonzero(bounds.firm) if guess[bounds.places[k]] != kept[bounds.places[k]]]
    told = [f"{bounds.names[k]!r} to {kept[bounds.places[k]]:g}" for k in past[:4]]
    return ", ".join(told) + (f", … ({len(past)} in all)" if len(past) > len(told) else "")


def consistent_velocity(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the velocity (..., nv) nearest to v that the constraints allow, L v = 0, in the metric of the mass matrix.

    It is the velocity after the constraints are suddenly enforced: the kinetic energy of the change is minimal.

    Parameters
    ----------
    model, q, v, out, check
        The mechanism, its configuration (..., nq) and its velocity (..., nv); all others as in `rnea`.

    Raises
    ------
    SingularError
        If a joint moves nothing that has inertia and no loop holds it; the message names it.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("belt")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> _ = b.add("b", bough.joints.Revolute("z"), mass=1.0, inertia=3.0)
    >>> b.equality("belt", "b", "a", (0.0, 1.0))
    >>> bough.loops.consistent_velocity(b.build(), [0.0, 0.0], [4.0, 0.0]).tolist()
    [1.0, 1.0]
    """
    return entry(model, ("consistent_velocity", "loops"), _projector)(q, v, out, check)


def project(model: Model, q: ArrayLike, v: ArrayLike, *, check: bool = True) -> tuple[FloatArray, FloatArray]:
    """Return a state (..., nq), (..., nv) nearer to the constraints: q after one Newton step, and a consistent v there.

    Both changes are minimal in the metric of the mass matrix. The error of q is squared, so one call after a step of an
    integrator brings the state back to rounding errors; far from the constraints use `assemble`. The function is one
    compiled program and costs about twice as much as `forward_dynamics`, unless there are hundreds of rows.

    Parameters
    ----------
    model, q, v, check
        The mechanism, its configuration (..., nq) and its velocity (..., nv); all others as in `rnea`.

    Raises
    ------
    SingularError
        As in `consistent_velocity`.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("belt")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> _ = b.add("b", bough.joints.Revolute("z"), mass=1.0, inertia=3.0)
    >>> b.equality("belt", "b", "a", (0.0, 1.0))
    >>> q, v = bough.loops.project(b.build(), [0.4, 0.0], [4.0, 0.0])
    >>> q.round(12).tolist(), v.round(12).tolist()
    ([0.1, 0.1], [1.0, 1.0])
    """
    return entry(model, ("onto_constraints", "loops"), _projector)(q, v, None, check)  # type: ignore[return-value]


def _projector(model: Model, key: tuple[str, str]) -> Function:
    """The program, unless it has too much to do."""
    require_model(model)
    return careful_function(model, key[0], is_long=not program_pays(model))
