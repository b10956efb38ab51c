"""Runs whose steps are as long as their errors allow, each state of a batch with steps of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.soft.dormand_prince import FAILED_STEP
from bough.kernel.arguments import FloatArray
from bough.kernel.function import Function
from bough.model import Model, Parameter
from bough.reading import number
from bough.simulation.arguments import ACTING, per_state, read_acting, read_servo, read_start, read_values
from bough.simulation.events import Event, Occurrence, located, read_events
from bough.simulation.progress import progress
from bough.simulation.run import Sense

if TYPE_CHECKING:
    from bough.simulation.trajectory import Trajectory

__all__ = ["AdaptiveRun", "adaptive_run"]

SERVO = ("target", "kp", "kd")

SAFE, LEAST_FACTOR, MOST_FACTOR = 0.9, 0.2, 5.0
"""Of the length that would have met the accuracy, how much the next step has, and bounds of the change."""

LEAST_STEP = 1e-13
"""Steps shorter than this part of the duration make no progress."""

NOT_FINITE, INTERRUPTED, NOT_SOLVED, ENDED = 1, 3, 4, 5


class AdaptiveRun:
    """A run on its way; `trial` makes steps from q, v, a, length and part."""

    def __init__(
        self,
        trial: Callable[..., Any],
        q: FloatArray,
        v: FloatArray,
        times: NDArray[np.float64],
        accuracy: float,
        first: float,
        events: Mapping[str, Event],
    ) -> None:
        self._trial, self._accuracy, self._watched = trial, accuracy, events
        self._batch = q.shape[:-1]
        self._q, self._v = q.reshape(-1, q.shape[-1]).copy(), v.reshape(-1, v.shape[-1]).copy()
        count = len(self._q)
        self._a, self._h, self._t = np.zeros_like(self._v), np.full(count, first), np.zeros(count)
        self._next = np.ones(count, np.int64)  # the sample that comes next
        self.times = times
        self.qs, self.vs = (np.repeat(x[np.newaxis], len(times), axis=0) for x in (self._q, self._v))
        self.status, self.taken = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.occurrences: list[Occurrence] = []
        self._values = [self._watch(k, 0.0, self._q[k], self._v[k]) for k in range(count)]

    def go(self, show_progress: bool | None) -> None:
        """Make all steps, keep samples and events."""
        end = float(self.times[-1])
        running = (self._t < end) & (self.status == 0)
        with progress(1000, show_progress) as tell:
            try:
                while running.any():
                    self._advance(np.flatnonzero(running), end)
                    running = (self._t < end) & (self.status == 0)
                    tell(int(1000 * self._t.min() / end))
            except KeyboardInterrupt:
                self.status[running] = INTERRUPTED
        self._close()

    def trajectory(self, model: Model, sense: Sense | None, acting: Mapping[str, Any]) -> Trajectory:
        """What was kept, with the axes of the batch."""
        from bough.simulation.trajectory import Trajectory

        q, v = (x.reshape(len(self.times), *self._batch, x.shape[-1]) for x in (self.qs, self.vs))
        states: dict[str, Any] = {"status": self.status, "taken": self.taken, "stopped": self._t}
        return Trajectory(
            model,
            self.times,
            q,
            v,
            sensors=None if sense is None else sense(q, v, acting),
            events=tuple(self.occurrences),
            **{name: x.reshape(self._batch) for name, x in states.items()},
        )

    def _advance(self, k: NDArray[np.int64], end: float) -> None:
        """A step of some states, and of each what it was good for."""
        left = end - self._t[k]
        last = self._h[k] >= left * (1.0 - LEAST_STEP)
        h = np.where(last, left, self._h[k])
        q, v, a, error = self._tried(k, h, np.ones(len(k)))[2:]
        ratio = error / self._accuracy
        good = ratio <= 1.0
        with np.errstate(divide="ignore"):
            factor = np.clip(SAFE * ratio**-0.2, LEAST_FACTOR, MOST_FACTOR)
        self._h[k] = np.where(last & good, np.maximum(self._h[k], h * factor), h * factor)
        lost = ~good & (self._h[k] < LEAST_STEP * end)
        self.status[k[lost]] = np.where(error[lost] >= FAILED_STEP, NOT_FINITE, NOT_SOLVED)
        part, stops = np.ones(len(k)), np.zeros(len(k), bool)
        for row in np.flatnonzero(good) if self._watched else ():
            part[row], stops[row] = self._looked(int(k[row]), float(h[row]), q[row], v[row])
        self._sample(k[good], h[good], part[good])
        for row in np.flatnonzero(stops):
            one, at = k[row : row + 1], part[row : row + 1]
            q[row], v[row] = (x[0] for x in self._tried(one, h[row : row + 1], at)[:2])
            self.status[k[row]] = ENDED
        done = k[good]
        arrived = np.where(last & ~stops, end, self._t[k] + part * h)
        self._q[done], self._v[done], self._a[done], self._t[done] = q[good], v[good], a[good], arrived[good]
        self.taken[done] += 1

    def _tried(self, k: NDArray[np.int64], h: FloatArray, part: FloatArray) -> tuple[FloatArray, ...]:
        """Q and v at a part of steps; q, v, a at their ends, and their errors."""
        q1, v1, q, v, a, error = self._trial(k, self._q[k], self._v[k], self._a[k], h, part)
        return q, v, q1, v1, a, error

    def _sample(self, k: NDArray[np.int64], h: FloatArray, part: FloatArray) -> None:
        """Keep the samples that lie within steps."""
        reached = np.searchsorted(self.times, self._t[k] + part * h * (1.0 + LEAST_STEP), side="right")
        counts = np.maximum(reached - self._next[k], 0)
        rows = np.repeat(np.arange(len(k)), counts)
        if len(rows):
            within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
            sample = self._next[k][rows] + within
            parts = np.minimum((self.times[sample] - self._t[k][rows]) / h[rows], 1.0)
            self.qs[sample, k[rows]], self.vs[sample, k[rows]] = self._tried(k[rows], h[rows], parts)[:2]
            self._next[k] += counts

    def _watch(self, k: int, time: float, q: FloatArray, v: FloatArray) -> list[float]:
        return [event.value(name, time, q, v) for name, event in self._watched.items()]

    def _looked(self, k: int, h: float, q: FloatArray, v: FloatArray) -> tuple[float, bool]:
        """Find what happens in a step; the part of it that is made, and whether the state ends there."""
        begin, before = float(self._t[k]), self._values[k]
        one = np.array([k])

        def within(part: float) -> tuple[float, FloatArray, FloatArray]:
            there = self._tried(one, np.array([h]), np.array([part]))
            return begin + part * h, there[0][0], there[1][0]

        after = self._watch(k, begin + h, q, v)
        found = []
        for (name, event), g0, g1 in zip(self._watched.items(), before, after, strict=True):
            if event.happens(g0, g1):
                part = located(lambda p, name=name, event=event: event.value(name, *within(p)), g0, g1)  # type: ignore[misc]
                found.append((part, name, event.stop))
        self._values[k] = after
        place = tuple(int(x) for x in np.unravel_index(k, self._batch)) if self._batch else ()
        for part, name, stop in sorted(found):
            time, at, speed = within(part)
            self.occurrences.append(Occurrence(name, time, place, at, speed))
            if stop:
                return part, True
        return 1.0, False

    def _close(self) -> None:
        """States that ended early keep their last values, and the last sample is where the last of them ended."""
        last = float(self._t.max(initial=0.0))
        for k in np.flatnonzero(self._t < self.times[-1]):
            self.qs[self._next[k] :, k], self.vs[self._next[k] :, k] = self._q[k], self._v[k]
        if len(self._t) and last < self.times[-1]:
            kept = int(np.searchsorted(self.times, last * (1.0 - LEAST_STEP)))
            self.times = np.append(self.times[:kept], last)
            self.qs = np.concatenate([self.qs[:kept], self._q[np.newaxis]])
            self.vs = np.concatenate([self.vs[:kept], self._v[np.newaxis]])
        self.occurrences.sort(key=lambda x: (x.time, x.state))


def adaptive_run(
    model: Model,
    trial: Function,
    parameters: Sequence[Parameter],
    dt: float,
    q: Any,
    v: Any,
    samples: tuple[int, int],
    accuracy: Any,
    events: Any,
    acting: Mapping[str, Any],
) -> AdaptiveRun:
    """A run of a simulation by trials, to begin with; samples are so many of its steps, and every so many of them."""
    start, velocity = (x.astype(np.float64) for x in read_start(model, q, v))
    total, every = samples
    times = dt * np.unique([*range(0, total, every), total])
    near = number(accuracy, "accuracy", "a positive number", above=0.0)
    given = dict(zip(ACTING, read_acting(acting, "argument of run"), strict=True))
    if any(given[name] is not None for name in SERVO):
        target, kp, kd = (given[name] for name in SERVO)
        given |= dict(zip(SERVO, read_servo(target, kp, kd, model.nv), strict=True))
    given["parameters"] = read_values(parameters, given["parameters"])
    batch = start.shape[:-1]
    flat = {n: per_state(n, x, 2 if n == "f_ext" else 1, batch) for n, x in given.items() if x is not None}

    def tried(k: Any, q: Any, v: Any, a: Any, length: Any, part: Any) -> Any:
        return trial(q=q, v=v, a=a, dt=dt, length=length, part=part, **{n: x[k] for n, x in flat.items()})

    return AdaptiveRun(tried, start, velocity, times, near, dt, read_events(events))
