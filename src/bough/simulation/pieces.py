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
    ACTING,
    MOST_SINGLE_STEPS,
    are_single,
    in_single,
    is_single,
    read_steps,
    written,
)
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
    """Whether so many steps of states, the first of what is given, may take long; of tensors it is not known."""
    states = math.prod(np.shape(given[0])[:-1])
    if type(steps) is int and steps * states <= SHORT_WORK:
        return False
    most = np.max(np.asarray(steps), initial=0.0)
    return bool(most > FEW_STEPS and most * states > SHORT_WORK) and all(map(_is_plain, given))


def _is_plain(x: Any) -> bool:
    return all(map(_is_plain, x.values())) if isinstance(x, Mapping) else isinstance(x, PLAIN)


def in_pieces(
    sim: Simulation, count: FloatArray, begin: Sequence[Any], acting: Sequence[Any], out: State | None
) -> State:
    """So many steps (...) as many calls, with the bits of one: from q, v, a, under what acts, by place."""
    (q, v, a), held = begin, dict(zip(ACTING, acting, strict=True))
    single = is_single(q) and are_single(v, a, *acting[:-1])
    if single:
        read_steps(count, MOST_SINGLE_STEPS)
    rounded = single and sim.law == "hard"
    if rounded:  # impulses are found in float64, and one call rounds at its end alone
        q, v = np.asarray(q, np.float64), np.asarray(v, np.float64)
    ahead = max(1.0, SHORT_WORK // max(1, math.prod(np.shape(q)[:-1])))
    state = sim.step(q, v, steps=np.minimum(count, ahead), a=a, **held)
    taken, status = np.asarray(state.taken), np.asarray(state.status)
    while True:
        left = np.where(status == 0.0, count - taken, 0.0)
        if not left.any():
            break
        began = time.perf_counter()
        state = sim.step(*state[:2], steps=np.minimum(left, ahead), a=state.a, **held)
        ahead = max(1.0, np.floor(ahead * min(4.0, SECONDS / max(time.perf_counter() - began, 1e-9))))
        taken, status = taken + state.taken, np.where(status == 0.0, state.status, status)
    state = State(state.q, state.v, state.a, taken.astype(state.taken.dtype), status.astype(state.status.dtype))
    state = State._make(in_single(state)) if rounded else state
    return state if out is None else written(out, state)
