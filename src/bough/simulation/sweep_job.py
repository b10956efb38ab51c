"""A part of a sweep, to be run here or elsewhere; runs that raise an error are told apart from those that do not."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bough.simulation.run import INTERRUPTED

if TYPE_CHECKING:
    from bough.simulation.simulation import Simulation
    from bough.simulation.trajectory import Trajectory

__all__ = ["RAISED", "SAMPLES", "Finished", "Job", "run_job"]

RAISED = 6
"""The status of runs in which an error was raised."""

SAMPLES = {"q": "coordinate", "v": "dof", "tau": "dof", "control": "actuator", "sensors": "reading"}
"""What trajectories of a sweep have samples of, by what its last axis is called."""

MOST_ERRORS = 64
"""Times that an error is raised before the runs that are left are no longer told apart."""


class Job(NamedTuple):
    """Some runs: what each of them is given (n, ...), and what all are."""

    each: dict[str, Any]
    parameters: dict[str, Any]
    controller: Any
    numbers: dict[str, Any]
    shared: dict[str, Any]

    def given(self, some: slice) -> dict[str, Any]:
        """What `Simulation.run` is to be given for some of them; `numbers` are for the controller."""
        each, parameters, numbers = (
            {name: x[some] for name, x in values.items()} for values in (self.each, self.parameters, self.numbers)
        )
        found = self.shared | each | ({"parameters": parameters} if parameters else {})
        if self.controller is not None:
            found["controller"] = functools.partial(self.controller, **numbers) if numbers else self.controller
        return found


class Finished(NamedTuple):
    """Runs that were made, and what was raised in others: from which run to which, and what."""

    run: Trajectory
    errors: list[tuple[int, int, str]]


def run_job(sim: Simulation, job: Job) -> Finished:
    """Make runs as one batch; where an error is raised, by halves. If it is in all of them it comes out."""
    left, found, errors = [(0, len(job.each["q"]))], [], []
    first: Exception | None = None
    tries = 0
    while left:
        start, stop = left.pop()
        try:
            run = sim.run(**job.given(slice(start, stop)))
        except Exception as error:
            first, tries, middle = first or error, tries + 1, (start + stop) // 2
            if stop - start == 1 or tries > MOST_ERRORS:
                errors.append((start, stop, f"{type(error).__name__}: {error}"))
            else:
                left += [(middle, stop), (start, middle)]
            continue
        if (run.status == INTERRUPTED).any():
            return Finished(run, [])
        found.append((start, run))
    if first is not None and not found:
        raise first
    return Finished(found[0][1] if not errors and len(found) == 1 else _joined(sim, len(job.each["q"]), found), errors)


def _joined(sim: Simulation, count: int, found: list[tuple[int, Trajectory]]) -> Trajectory:
    """Runs beside each other; those of which there are none are NaN."""
    from bough.simulation.trajectory import Trajectory

    time = max((run.time for _, run in found), key=len)
    arrays: dict[str, Any] = {
        "status": np.full(count, RAISED),
        "taken": np.zeros(count, int),
        "stopped": np.zeros(count),
    }
    for start, run in found:
        those = slice(start, start + len(run.status))
        for name in ("status", "taken", "stopped"):
            arrays[name][those] = getattr(run, name)
        for name in SAMPLES:
            x = getattr(run, name)
            if x is not None:
                whole = arrays.setdefault(name, np.full((len(time), count, x.shape[-1]), np.nan))
                whole[: len(x), those] = x
                whole[len(x) :, those] = x[-1]  # runs that all ended early stay where they are
    return Trajectory(sim.model, time, **arrays)
