"""Many steps in calls of bounded time: machine code hears no signal, and Ctrl-C is heard between calls."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bough.kernel.arguments import FloatArray
from bough.simulation.arguments import (
    MOST_SINGLE_STEPS,
    are_single,
    in_single,
    is_single,
    read_servo,
    read_steps,
    read_values,
    written,
)
from bough.simulation.interrupts import Interrupted
from bough.simulation.state import State

if TYPE_CHECKING:
    from bough.simulation.simulation import Simulation

__all__ = ["FEW_STEPS", "in_pieces", "is_long"]

FEW_STEPS = 8
"""So many steps are made in one call, however many states there are."""

SHORT_WORK = 20_000
"""Steps of all states together that are made in one call, and at first where there are more."""

SECONDS = 0.2
"""How long a call should take."""

PLAIN = (np.ndarray, list, tuple, int, float, np.generic, type(None))


def is_long(steps: int | ArrayLike, given: Sequence[Any]) -> bool:
    """Whether so many steps of states may take long; of tensors it is not known."""
    try:
        states = _states((steps, *given))
    except ValueError:  # not rectangular: whoever reads it tells of it
        return False
    if type(steps) is int and steps * states <= SHORT_WORK:
        return False
    most = np.max(np.asarray(steps), initial=0.0)
    return bool(most > FEW_STEPS and most * states > SHORT_WORK) and all(map(_is_plain, given))


def _states(given: Sequence[Any]) -> int:
    """Of about how many states numbers of steps and arguments are: of as many as the one with most.

    Axes of one state are the last one; of parameters by name it is not known, and all are counted.
    """
    steps, *arrays = given
    most = 1 if type(steps) is int else max(1, math.prod(np.shape(steps)))
    for x in arrays:
        if x is None or (type(x) is np.ndarray and x.ndim < 2):  # most are of one state
            continue
        shapes = map(np.shape, x.values()) if isinstance(x, Mapping) else (np.shape(x)[:-1],)
        most = max(most, 1, *map(math.prod, shapes))
    return most


def _is_plain(x: Any) -> bool:
    return all(map(_is_plain, x.values())) if isinstance(x, Mapping) else isinstance(x, PLAIN)


def in_pieces(
    sim: Simulation, count: FloatArray, begin: Sequence[Any], acting: Sequence[Any], out: State | None
) -> State:
    """So many steps (...) as many calls, with the bits of one: from q, v, a, under what acts, by place.

    An interrupt between two calls raises `Interrupted`, with the state so far.
    """
    (q, v, a), (tau, control, target, kp, kd, f_ext, parameters) = begin, acting
    single = is_single(q) and are_single(v, a, *acting[:-1])
    if single:
        read_steps(count, MOST_SINGLE_STEPS)
    rounded = single and sim.law == "hard"
    if rounded:  # impulses are found in float64, and one call rounds at its end alone
        q, v = np.asarray(q, np.float64), np.asarray(v, np.float64)
    if target is not None or kp is not None or kd is not None:
        target, kp, kd = read_servo(target, kp, kd, sim._drawn)
    values = (read_values(sim.parameters, parameters),) if sim.parameters or parameters is not None else ()
    held = (tau, control, target, kp, kd, f_ext, *values)

    def made(begin: Sequence[Any], steps: FloatArray) -> State:
        return sim._made((*begin, sim._dt, steps, *held), single and not rounded)

    def told(made: State, taken: FloatArray, status: FloatArray) -> State:
        whole = made._replace(taken=taken.astype(made.taken.dtype), status=status.astype(made.status.dtype))
        return State._make(in_single(whole)) if rounded else whole

    ahead = max(1.0, SHORT_WORK // _states((count, q, v, a, *acting)))
    state = made((q, v, sim._zeros if a is None else a), np.minimum(count, ahead))
    reached = state, np.asarray(state.taken), np.asarray(state.status)
    try:
        while True:
            state, taken, status = reached
            left = np.where(status == 0.0, count - taken, 0.0)
            if not left.any():
                break
            began = time.perf_counter()
            state = made(state[:3], np.minimum(left, ahead))
            ahead = max(1.0, np.floor(ahead * min(4.0, SECONDS / max(time.perf_counter() - began, 1e-9))))
            reached = state, taken + state.taken, np.where(status == 0.0, state.status, status)
    except KeyboardInterrupt:
        raise Interrupted(told(*reached)) from None
    state = told(*reached)
    return state if out is None else written(out, state)
