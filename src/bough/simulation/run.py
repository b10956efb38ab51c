"""A run of a simulation on its way: states, what drives them, and the samples that are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ShapeError
from bough.kernel.arguments import FloatArray
from bough.reading import shown
from bough.simulation.arguments import read_acting
from bough.simulation.progress import progress
from bough.simulation.state import State

__all__ = ["Controller", "Run"]

INTERRUPTED = 3

Controller = Callable[[float, FloatArray, FloatArray], "ArrayLike | Mapping[str, ArrayLike]"]
"""From time (s), q and v to joint forces, or to any of tau, control, target, kp, kd, f_ext by name."""


class Run:
    """A run on its way."""

    def __init__(
        self,
        step: Callable[..., State],
        dt: float,
        q: FloatArray,
        v: FloatArray,
        acting: dict[str, Any],
        controller: Controller | None,
        hold: int,
    ) -> None:
        self._step, self._dt, self._acting, self._controller, self._hold = step, dt, acting, controller, hold
        self._state = State(q, v, np.zeros_like(v), np.zeros(q.shape[:-1]), np.zeros(q.shape[:-1]))
        self.times, self.qs, self.vs = [0.0], [q], [v]
        self._given: dict[str, list[Any]] = {"tau": [], "control": []}  # at the beginning of each sample
        self.taken = np.zeros(q.shape[:-1], np.int64)
        self.status = np.zeros(q.shape[:-1], np.int64)

    def go(self, total: int, every: int, show_progress: bool | None) -> None:
        """Make all steps, and keep a sample every so many."""
        done = 0
        with progress(total, show_progress) as tell:
            try:
                while done < total and not self.status.all():
                    ahead = min(every - done % every, total - done)
                    if self._controller is not None:
                        ahead = min(ahead, self._hold - done % self._hold)
                    self._advance(done, ahead, done % every == 0)
                    done += ahead
                    if done % every == 0 or done == total:
                        self.times.append(done * self._dt)
                        self.qs.append(self._state.q)
                        self.vs.append(self._state.v)
                    tell(done)
            except KeyboardInterrupt:
                self.status = np.where(self.status == 0, INTERRUPTED, self.status)

    def given(self, name: str) -> FloatArray | None:
        """The joint forces or controls from each sample on; None if there were none in some."""
        values = self._given[name][: len(self.times) - 1]
        if not values or len(values) < len(self.times) - 1 or any(x is None for x in values):
            return None
        batch = self._state.q.shape[:-1]
        return np.array([np.broadcast_to(x, (*batch, np.shape(x)[-1])) for x in (*values, values[-1])], dtype=float)

    def _advance(self, done: int, ahead: int, sampled: bool) -> None:
        acting = self._acting
        if self._controller is not None and done % self._hold == 0:
            given = self._controller(done * self._dt, self._state.q, self._state.v)
            acting = self._acting = {**acting, **_read_orders(given, done * self._dt)}
        for name, values in self._given.items() if sampled else ():
            values.append(acting.get(name))
        steps: Any = ahead if not self.status.any() else np.where(self.status == 0, float(ahead), 0.0)
        self._state = self._step(self._state.q, self._state.v, steps=steps, a=self._state.a, **acting)
        self.taken = self.taken + np.asarray(self._state.taken, np.int64)
        self.status = np.where(self.status == 0, np.asarray(self._state.status, np.int64), self.status)


def _read_orders(given: Any, time: float) -> Mapping[str, Any]:
    """What a controller returned, by name."""
    if isinstance(given, Mapping):
        read_acting(given, "thing that a controller could return")
        return given
    if given is None:
        raise ShapeError(
            f"the controller returned {shown(given)} at {time:.6g} s, expected joint forces (..., nv), or a dictionary "
            "with any of tau, control, target, kp, kd and f_ext ({} to leave all as it is)"
        )
    return {"tau": given}
