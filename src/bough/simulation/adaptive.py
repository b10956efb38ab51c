"""Runs whose steps are as long as their errors allow, each state of a batch with steps of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.soft.dormand_prince import FAILED_STEP
from bough.kernel.arguments import FloatArray
from bough.kernel.function import Function
from bough.model import Model, Parameter
from bough.reading import number
from bough.scalar.tolerances import SAME_TIME
from bough.simulation.arguments import ACTING, per_state, read_acting, read_servo, read_values
from bough.simulation.events import Event, Occurrence, happened, place_of, read_events, values_of
from bough.simulation.progress import progress
from bough.simulation.run import Asked, Sense
from bough.simulation.trajectory_reading import require_running
from bough.simulation.trajectory_samples import ends_early

if TYPE_CHECKING:
    from bough.simulation.scene import Scene
    from bough.simulation.trajectory import Trajectory

__all__ = ["AdaptiveRun", "Orders", "adaptive_run"]

SERVO = ("target", "kp", "kd")

SAFE, LEAST_FACTOR, MOST_FACTOR = 0.9, 0.2, 5.0
"""Of the length that would have met the accuracy, how much the next step has, and bounds of the change."""

LEAST_STEP = 1e-13
"""Steps shorter than this part of the duration make no progress."""

NOT_FINITE, INTERRUPTED, NOT_SOLVED, ENDED = 1, 3, 4, 5


class AdaptiveRun:
    """A run on its way; `trial` makes steps from q, v, a, length and part, under what acts on each state."""

    def __init__(
        self,
        trial: Callable[..., Any],
        begin: tuple[FloatArray, FloatArray],
        times: NDArray[np.float64],
        spacing: float,
        accuracy: float,
        first: float,
        events: Mapping[str, Event],
        orders: Orders,
        before: Trajectory | None,
    ) -> None:
        self._trial, self._accuracy, self._watched, self._orders = trial, accuracy, events, orders
        q, v = begin
        self._batch, self._spacing = q.shape[:-1], spacing
        self._q, self._v = q.reshape(-1, q.shape[-1]).copy(), v.reshape(-1, v.shape[-1]).copy()
        count = len(self._q)
        self._a, self._h, self._t = np.zeros_like(self._v), np.full(count, first), np.zeros(count)
        self.times = times
        self.qs, self.vs = (np.repeat(x[np.newaxis], len(times), axis=0) for x in (self._q, self._v))
        self.status, self.taken = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.occurrences: list[Occurrence] = []
        if before is not None:
            self._go_on(before)
        self._next = np.searchsorted(times, self._t, side="right")  # the sample that comes next
        self._values = [values_of(events, self._t[k], self._q[k], self._v[k]) for k in range(count)]

    def _go_on(self, before: Trajectory) -> None:
        """Begin where another run ended, each state at its own time."""
        require_running(before)
        self.qs[: len(before)] = before.q.reshape(len(before), *self._q.shape)
        self.vs[: len(before)] = before.v.reshape(len(before), *self._v.shape)
        self.status = np.where(before.status == INTERRUPTED, 0, before.status).reshape(-1)
        self.taken, self.occurrences = before.taken.reshape(-1).copy(), list(before.events)
        self._t = before.stopped.reshape(-1).astype(np.float64)

    def go(self, show_progress: bool | None) -> None:
        """Make all steps, keep samples and events."""
        end = float(self.times[-1])
        running = (self._t < end) & (self.status == 0)
        with progress(1000, show_progress) as tell:
            try:
                while running.any():
                    q, v = (x.reshape(*self._batch, x.shape[-1]) for x in (self._q, self._v))
                    until = self._orders.until(float(self._t[running].min()), end, q, v)
                    here = running & (self._t < until)
                    while here.any():
                        self._advance(np.flatnonzero(here), until, end)
                        here = running & (self._t < until) & (self.status == 0)
                        tell(int(1000 * self._t.min() / end))
                    running = (self._t < end) & (self.status == 0)
            except KeyboardInterrupt:
                self.status[running & (self.status == 0) & (self._t < end)] = INTERRUPTED
        self._close()

    def trajectory(self, scene: Scene, sense: Sense | None, before: Trajectory | None) -> Trajectory:
        """What was kept, with the axes of the batch."""
        from bough.simulation.trajectory import Trajectory

        q, v = (x.reshape(len(self.times), *self._batch, x.shape[-1]) for x in (self.qs, self.vs))
        states: dict[str, Any] = {"status": self.status, "taken": self.taken, "stopped": self._t}
        samples: dict[str, Any] = {"q": q, "v": v, **self._orders.kept(self.times, q, v, sense, before)}
        told = np.arange(len(self.times))
        if before is not None and len(told) > len(before) and ends_early(before.time, self._spacing):
            told = np.delete(told, len(before) - 1)
        samples = {name: None if x is None else x[told] for name, x in samples.items()}
        return Trajectory(
            scene.model,
            self.times[told],
            events=tuple(self.occurrences),
            scene=scene,
            **{name: x.reshape(self._batch) for name, x in states.items()},
            **samples,
        )

    def _advance(self, k: NDArray[np.int64], until: float, end: float) -> None:
        """A step of some states, not beyond a time, and of each what it was good for."""
        left = until - self._t[k]
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
        part, stops, told = np.ones(len(k)), np.zeros(len(k), bool), list[Occurrence]()
        for row in np.flatnonzero(good) if self._watched else ():
            part[row], stops[row], found = self._looked(int(k[row]), float(h[row]), q[row], v[row])
            told += found
        self._sample(k[good], h[good], part[good])
        for row in np.flatnonzero(stops):
            one, at = k[row : row + 1], part[row : row + 1]
            q[row], v[row] = (x[0] for x in self._tried(one, h[row : row + 1], at)[:2])
            self.status[k[row]] = ENDED
        done = k[good]
        arrived = np.where(last & ~stops, until, self._t[k] + part * h)
        self._q[done], self._v[done], self._a[done], self._t[done] = q[good], v[good], a[good], arrived[good]
        self.taken[done] += 1
        self.occurrences += told  # with the step: an interrupt before it leaves both out

    def _tried(self, k: NDArray[np.int64], h: FloatArray, part: FloatArray) -> tuple[FloatArray, ...]:
        """Q and v at a part of steps; q, v, a at their ends, and their errors."""
        given = {name: x[k] for name, x in self._orders.flat.items()}
        q1, v1, q, v, a, error = self._trial(self._q[k], self._v[k], self._a[k], h, part, given)
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

    def _looked(self, k: int, h: float, q: FloatArray, v: FloatArray) -> tuple[float, bool, list[Occurrence]]:
        """The part of a step that is made, whether the state ends there, and what happens in it."""
        begin, before, one = float(self._t[k]), self._values[k], np.array([k])

        def within(part: float) -> tuple[float, FloatArray, FloatArray]:
            there = self._tried(one, np.array([h]), np.array([part]))
            return begin + part * h, there[0][0], there[1][0]

        self._values[k] = values_of(self._watched, begin + h, q, v)
        found, part = happened(self._watched, before, self._values[k], within, place_of(k, self._batch))
        return (1.0, False, found) if part is None else (part, True, found)

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


class Orders:
    """What acts on the states of an adaptive run: the same all the time, or what a controller says now and then."""

    def __init__(
        self,
        model: Model,
        parameters: Sequence[Parameter],
        batch: tuple[int, ...],
        acting: Mapping[str, Any],
        controller: Asked | None,
        interval: float,
    ) -> None:
        self._model, self._parameters, self._batch = model, parameters, batch
        self._controller, self._interval = controller, interval
        self._given: list[tuple[float, Mapping[str, Any]]] = [(0.0, acting)]
        self.flat = self._read(acting)

    def until(self, time: float, end: float, q: FloatArray, v: FloatArray) -> float:
        """Ask the controller what acts from a time on; until when it does."""
        if self._controller is None:
            return end
        given = self._controller(time, q, v)
        self._given.append((time, {**self._given[-1][1], **given}))
        self.flat = self._read(self._given[-1][1])
        after = (math.floor(time / self._interval * (1.0 + SAME_TIME)) + 1) * self._interval
        return end if after > end * (1.0 - SAME_TIME) else after

    def kept(
        self, times: FloatArray, q: FloatArray, v: FloatArray, sense: Sense | None, before: Trajectory | None
    ) -> dict[str, Any]:
        """What sensors read in samples, and the joint forces and controls from each on, if there are some in all."""
        places = np.searchsorted([time for time, _ in self._given], times * (1.0 + SAME_TIME), side="right") - 1
        first = 0 if before is None else len(before) - 1  # samples before it are as they were
        given = [self._given[k][1] for k in places[first:]]
        new: dict[str, Any] = {name: [x.get(name) for x in given] for name in ("tau", "control")}
        new = {name: values for name, values in new.items() if all(x is not None for x in values)}
        for name, values in new.items():
            new[name] = [np.broadcast_to(x, (*self._batch, np.shape(x)[-1])) for x in values]
        if sense is not None:
            if self._controller is None:
                new["sensors"] = sense(q[first:], v[first:], given[0])
            else:
                new["sensors"] = [sense(*sample) for sample in zip(q[first:], v[first:], given, strict=True)]
        old = {name: () if before is None else getattr(before, name) for name in new}
        return {n: np.array([*old[n][:first], *x], float) for n, x in new.items() if old[n] is not None}

    def _read(self, acting: Mapping[str, Any]) -> dict[str, FloatArray]:
        """All that acts, for each state."""
        given = dict(zip(ACTING, read_acting(acting, "argument of run"), strict=True))
        if any(given[name] is not None for name in SERVO):
            target, kp, kd = (given[name] for name in SERVO)
            given |= dict(zip(SERVO, read_servo(target, kp, kd, self._model.nv), strict=True))
        given["parameters"] = read_values(self._parameters, given["parameters"])
        known = {name: x for name, x in given.items() if x is not None}
        return {name: per_state(name, x, 2 if name == "f_ext" else 1, self._batch) for name, x in known.items()}


def adaptive_run(
    trial: Function,
    dt: float,
    begin: tuple[FloatArray, FloatArray],
    samples: tuple[int, int],
    accuracy: Any,
    events: Any,
    orders: Orders,
    before: Trajectory | None,
) -> AdaptiveRun:
    """A run of a simulation by trials, to begin with; samples are so many of its steps, and every so many of them."""
    q, v = (x.astype(np.float64) for x in begin)
    total, every = samples
    times = dt * np.unique([*range(0, total, every), total])
    if before is not None:
        last = float(before.time[-1])
        steps = np.arange(math.floor(last / dt), round(last / dt + total) + 1)
        new = dt * steps[(steps % every == 0) | (steps == steps[-1])]
        times = np.concatenate([before.time, new[new > last * (1.0 + SAME_TIME)]])
    near = number(accuracy, "accuracy", "a positive number", above=0.0)

    def tried(q: Any, v: Any, a: Any, length: Any, part: Any, given: dict[str, Any]) -> Any:
        return trial(q=q, v=v, a=a, dt=dt, length=length, part=part, **given)

    return AdaptiveRun(tried, (q, v), times, every * dt, near, dt, read_events(events), orders, before)
