"""Events in runs with equal steps: what is watched at every step, and where within it something happened."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bough.kernel.arguments import FloatArray
from bough.kernel.configuration import difference, integrate
from bough.model import Model
from bough.simulation.events import Event, Occurrence, StateWithin, happened, place_of, values_of
from bough.simulation.state import State

__all__ = ["Watch"]


class Watch:
    """Events of the states of a batch on their way; `occurrences` are those that happened."""

    def __init__(self, model: Model, events: Mapping[str, Event], dt: float) -> None:
        self._model, self._events, self._dt = model, events, dt
        self._values: list[list[float]] = []
        self.occurrences: list[Occurrence] = []

    def begin(self, time: float, q: FloatArray, v: FloatArray) -> None:
        """Look at all states, before the first step."""
        self._values = [values_of(self._events, time, *state) for state in zip(_flat(q), _flat(v), strict=True)]

    def after(
        self, time: float, before: State, state: State, some: NDArray[np.bool_]
    ) -> tuple[State, NDArray[np.float64]]:
        """Look at some states after a step that began at a time; what ends in it is put where it ends.

        Returns
        -------
        state
            The state after the step.
        ended
            When each state ended (s), infinite for those that go on.
        """
        ended = np.full(some.size, np.inf)
        q, v = np.array(state.q), np.array(state.v)
        ways = [_flat(x) for x in (before.q, before.v, q, v)]
        found: list[Occurrence] = []
        for k in np.flatnonzero(some):
            old, self._values[k] = self._values[k], values_of(self._events, time + self._dt, ways[2][k], ways[3][k])
            within = self._within(time, *(x[k] for x in ways))
            told, part = happened(self._events, old, self._values[k], within, place_of(int(k), some.shape))
            found += told
            if part is not None:
                ended[k], ways[2][k], ways[3][k] = within(part)
        self.occurrences += sorted(found, key=lambda x: (x.time, x.state))
        return state._replace(q=q, v=v), ended.reshape(some.shape)

    def _within(self, time: float, q0: FloatArray, v0: FloatArray, q1: FloatArray, v1: FloatArray) -> StateWithin:
        """States within a step: cubic in motions from its begin (Hermite), velocities linear."""
        h, q1, v1 = self._dt, q1.copy(), v1.copy()

        def within(part: float) -> tuple[float, FloatArray, FloatArray]:
            if part == 1.0:
                return time + h, q1, v1
            left = part * (1.0 - part)
            way = difference(self._model, q0, q1) * (part * part * (3.0 - 2.0 * part))
            way = way + h * left * ((1.0 - part) * v0 - part * v1)
            moved = integrate(self._model, q0, way.astype(q0.dtype))
            return time + part * h, moved, (v0 + part * (v1 - v0)).astype(v0.dtype)

        return within


def _flat(x: FloatArray) -> FloatArray:
    """States of a batch one after the other, as a view."""
    return x.reshape(-1, x.shape[-1])
