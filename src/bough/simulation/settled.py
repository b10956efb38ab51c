"""Impulses of hard contact that hold: a solution that starts from them finds them again.

Rows of hard contact give way to changes of impulses, so the first solution from unknown impulses falls short of those
that hold heavy bodies up. Solving again from the solution closes in on them: by fixed-point iterations, each of which
goes on along the last change as far as the last two suggest (Irons and Tuck 1969).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BEFORE", "MORE", "settled", "some_states"]

BEFORE = 2
"""The place of the impulses of before among the arguments."""

MORE = 3
"""So many results, the last ones, are about impulses: these, what is left over of their change, and a status."""

HOLDING = 1e-6
"""Impulses hold if rows give way to their change by less than this part of the rates that they had to stop."""

MOST_SOLUTIONS = 100
"""So many times a state is solved at most."""

MUCH_LESS = 0.5
"""Where something is wedged in, impulses grow without end: a solution counts if it leaves so much less over."""

MOST_AHEAD = 1e4
"""How many times the last change an iteration goes on at most."""

SIZES = (1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1)
"""Axes beyond those of the batch of the arguments: q, v, a, dt, tau, control, target, kp, kd, f_ext, parameters."""


def some_states(given: Sequence[Any], some: NDArray[np.bool_], sizes: Sequence[int] = SIZES) -> list[Any]:
    """The arguments of some states, one behind the other; None where there are none."""
    result = []
    for x, size in zip(given, sizes, strict=False):
        core = np.shape(x)[np.ndim(x) - size :] if x is not None else ()
        result.append(None if x is None else np.broadcast_to(x, (*some.shape, *core))[some])
    return result


def settled(measure: Callable[..., Sequence[Any]], given: Sequence[Any], first: Sequence[Any]) -> list[NDArray[Any]]:
    """What is measured in states under impulses that hold, by a function whose results end with those in `MORE`.

    `first` are its results for what is given.
    """
    results = [np.array(x) for x in first]
    impulses, left_over, status = results[-MORE:]
    start, last = impulses.copy(), np.zeros_like(impulses)
    ahead = np.ones(status.shape)
    waiting = np.asarray((status == 0.0) & (left_over > HOLDING))
    for _ in range(MOST_SOLUTIONS):
        if not waiting.any():
            break
        some = some_states(given, waiting)
        some[BEFORE] = begin = start[waiting]
        found = [np.asarray(x) for x in measure(*some)]
        better = found[-MORE + 1] < MUCH_LESS * left_over[waiting]
        those = waiting.copy()
        those[waiting] = better
        for x, y in zip(results, found, strict=True):
            x[those] = y[better]
        change = found[-MORE] - begin
        ahead[waiting] = factor = _ahead(ahead[waiting], last[waiting], change)
        start[waiting], last[waiting] = begin + factor[:, np.newaxis] * change, change
        waiting &= left_over > HOLDING
    return results


def _ahead(before: NDArray[Any], last: NDArray[Any], change: NDArray[Any]) -> NDArray[Any]:
    """How far to go along each change, from how far the one before went along the last one."""
    bend = last - change
    below = (bend * bend).sum(axis=-1)
    with np.errstate(all="ignore"):
        found = before * (last * bend).sum(axis=-1) / below
    return np.where(last.any(axis=-1) & (below > 0.0), np.clip(found, 1.0, MOST_AHEAD), 1.0)
