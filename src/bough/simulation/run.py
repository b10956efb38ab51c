"""A run of a simulation on its way: states, what drives them, and the samples that are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import ShapeError
from bough.kernel.arguments import FloatArray
from bough.simulation.interrupts import Interrupted
from bough.simulation.progress import progress
from bough.simulation.state import State
from bough.simulation.trajectory_reading import require_running
from bough.simulation.trajectory_samples import joined
from bough.simulation.watch import Watch

if TYPE_CHECKING:
    from bough.simulation.scene import Scene
    from bough.simulation.trajectory import Trajectory

__all__ = ["Asked", "Run", "Sense"]

INTERRUPTED, ENDED = 3, 5
WHOLE = 1e-6
"""By how much a number of steps may differ from a whole one."""

Asked = Callable[[float, FloatArray, FloatArray], Mapping[str, Any]]
"""From time (s), q and v to what acts from then on, by name."""

Sense = Callable[[FloatArray, FloatArray, "Mapping[str, Any]"], FloatArray]
"""From q, v and what acts to the numbers of all sensors."""


class Run:
    """A run on its way; for sensors it may remember from what the steps after each sample start."""

    def __init__(
        self,
        step: Callable[..., State],
        dt: float,
        q: FloatArray,
        v: FloatArray,
        a: FloatArray,
        acting: dict[str, Any],
        controller: Asked | None,
        hold: int,
        before: Trajectory | None = None,
        watch: Watch | None = None,
        remembers: bool = False,
    ) -> None:
        self._step, self._dt, self._acting, self._controller, self._hold = step, dt, acting, controller, hold
        first = np.broadcast_to(a, (*v.shape[:-1], a.size)).astype(v.dtype)
        self._state = State(q, v, first, np.zeros(q.shape[:-1]), np.zeros(q.shape[:-1]))
        self._before, self._watch, self._first, self._done, self._spacing = before, watch, 0, 0, dt
        self.times, self.qs, self.vs = [0.0], [q], [v]
        self._starts: list[FloatArray] | None = [] if remembers else None  # of the steps from each sample on
        self._given: list[Mapping[str, Any]] = []  # what acts from each sample on
        self.taken = np.zeros(q.shape[:-1], np.int64)
        self.status = np.zeros(q.shape[:-1], np.int64)
        self.stopped = np.zeros(q.shape[:-1])
        if before is not None:
            self._go_on(before)
        if self._starts is not None:
            self._starts.append(self._state.a)
        if watch is not None:
            watch.begin(self.times[0], q, v)

    def go(self, total: int, every: int, show_progress: bool | None) -> None:
        """Make all steps, and keep a sample every so many."""
        first, done, end, self._spacing = self._first, self._first, self._first + total, every * self._dt
        with progress(total, show_progress) as tell:
            try:
                while done < end and not (self.status.size and self.status.all()):
                    ahead = min(every - done % every, end - done) if self._watch is None else 1
                    if self._controller is not None:
                        ahead = min(ahead, self._hold - done % self._hold)
                    self._advance(done, ahead, done % every == 0 or done == self._first)
                    done += ahead
                    over = self._watch is not None and bool(self.status.size) and bool(self.status.all())
                    if over or done % every == 0 or done == end:
                        self._keep(float(self.stopped.max()) if over else done * self._dt)
                    tell(done - first)
            except KeyboardInterrupt:
                self.status = np.where(self.status == 0, INTERRUPTED, self.status)
                if self._done * self._dt > self.times[-1]:
                    self._keep(self._done * self._dt)

    def _keep(self, time: float) -> None:
        """Keep a sample."""
        self.times.append(time)
        self.qs.append(self._state.q)
        self.vs.append(self._state.v)
        if self._starts is not None:
            self._starts.append(self._state.a)

    def _go_on(self, before: Trajectory) -> None:
        """Begin where another run ended, with its bits."""
        require_running(before)
        last = float(before.time[-1]) / self._dt
        over = bool(before.status.size) and bool((before.status == ENDED).all())  # there is nothing to go on with
        whole = abs(last - round(last)) <= WHOLE and not (before.taken > round(last)).any()
        if not over and (before.a_last is None or not whole):
            raise ShapeError(
                "the trajectory to resume does not end with a step of this simulation, expected the unchanged result "
                "of a run with fixed steps of the same length"
            )
        self._first = self._done = round(last)
        self.times = [float(before.time[-1])]
        if before.a_last is not None:
            self._state = self._state._replace(a=before.a_last)
        self.taken, self.status = before.taken.copy(), np.where(before.status == INTERRUPTED, 0, before.status)
        self.stopped = np.array(before.stopped, np.float64)

    def trajectory(self, scene: Scene, sense: Sense | None) -> Trajectory:
        """What was kept."""
        from bough.simulation.trajectory import Trajectory

        q, v = np.array(self.qs), np.array(self.vs)
        made = Trajectory(
            scene.model,
            np.array(self.times),
            q,
            v,
            tau=self._held("tau"),
            control=self._held("control"),
            status=self.status,
            taken=self.taken,
            sensors=None if sense is None else self._sensed(q, v, sense),
            stopped=self.stopped,
            a_last=self._state.a,
            events=() if self._watch is None else tuple(self._watch.occurrences),
            scene=scene,
        )
        return made if self._before is None else joined(self._before, made, self._spacing)

    def _sensed(self, q: FloatArray, v: FloatArray, sense: Sense) -> FloatArray:
        """What sensors read in all samples, under what acts from each of them on, with the start of the next step."""
        begin = {} if self._starts is None else {"a": np.array(self._starts)}
        if self._controller is None:
            return sense(q, v, {**self._acting, **begin})
        given = self._given[: len(q)]
        given += [self._acting] * (len(q) - len(given))
        if self._starts is not None:
            given = [{**some, "a": a} for some, a in zip(given, self._starts, strict=True)]
        return np.array([sense(*sample) for sample in zip(q, v, given, strict=True)])

    def _held(self, name: str) -> FloatArray | None:
        """The joint forces or controls from each sample on; None if there were none in some."""
        values: list[Any] = [given.get(name) for given in self._given[: len(self.times) - 1]]
        if not values or len(values) < len(self.times) - 1 or any(x is None for x in values):
            return None
        batch = self._state.q.shape[:-1]
        return np.array([np.broadcast_to(x, (*batch, np.shape(x)[-1])) for x in (*values, values[-1])], dtype=float)

    def _advance(self, done: int, ahead: int, sampled: bool) -> None:
        acting = self._acting
        if self._controller is not None and (done % self._hold == 0 or done == self._first):
            given = self._controller(done * self._dt, self._state.q, self._state.v)
            acting = self._acting = {**acting, **given}
        if sampled:
            self._given.append(acting)
        steps: Any = ahead if not self.status.any() else np.where(self.status == 0, float(ahead), 0.0)
        before = self._state
        try:
            made = self._step(before.q, before.v, steps=steps, a=before.a, **acting)
        except Interrupted as interrupt:
            made = interrupt.state
            self._go_to(made, done + int(np.max(made.taken, initial=0)), None)
            raise
        ended = None
        if self._watch is not None:  # which may be interrupted: then the step was not made
            going = (self.status == 0) & (np.asarray(made.status) == 0.0)
            made, ended = self._watch.after(done * self._dt, before, made, going)
        self._go_to(made, done + ahead, ended)

    def _go_to(self, state: State, done: int, ended: FloatArray | None) -> None:
        """Be in a state after so many steps, some states of which `ended` by an event at a time, if it is finite.

        It happens all at once, since an interrupt may come between two calls.
        """
        running, taken = self.status == 0, self.taken + np.asarray(state.taken, np.int64)
        status = np.where(running, np.asarray(state.status, np.int64), self.status)
        stopped = np.where(running, taken * self._dt, self.stopped)
        if ended is not None:
            status, stopped = np.where(ended < np.inf, ENDED, status), np.minimum(stopped, ended)
        self._state, self._done, self.taken, self.status, self.stopped = state, done, taken, status, stopped
