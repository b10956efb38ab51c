"""Sweeps: many runs of a simulation, over values of parameters, of states to begin with, and of controllers."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.model import Model
from bough.reading import whole_number
from bough.scalar.lazy import cached_property
from bough.simulation.arguments import read_times
from bough.simulation.open_loops import tell_of_open_loops
from bough.simulation.progress import progress
from bough.simulation.run import INTERRUPTED
from bough.simulation.sweep_axes import Axes, Runs
from bough.simulation.sweep_job import RAISED, Finished
from bough.simulation.sweep_plot import plot_sweep
from bough.simulation.sweep_store import Store, opened, record_of, stored
from bough.simulation.sweep_workers import Done, client_of, run_here, run_there
from bough.simulation.trajectory_files import label_name
from bough.simulation.trajectory_reading import STATUS_NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from bough.simulation.scene import Scene
    from bough.simulation.simulation import Simulation
    from bough.simulation.trajectory import Trajectory

__all__ = ["Sweep", "sweep_of"]

AT_ONCE = 4096
"""Runs of one part."""

ROUNDS = 4
"""Parts for each worker, at least: who is early gets more."""


class Sweep:
    """Results of a sweep. `bough.Simulation.sweep` and `Sweep.load` return it.

    Attributes
    ----------
    axes
        For each batch axis, the names and labels (n,) of what varies. The axis of a table is called "case" and has one
        name per column. Controllers are labelled by name, rows of numbers by text: "0, 0, -9.81".

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> found = bough.Simulation(arm).sweep([0.0] * 6, duration=0.02, grid={"q of elbow": [0.0, 0.5, 1.0]})
    >>> found.trajectory.q.shape, found.labels["q of elbow"].tolist(), found.failed
    ((3, 3, 6), [0.0, 0.5, 1.0], [])
    """

    def __init__(self, store: Store, scene: Scene | None = None) -> None:
        self._store, self._scene = store, scene
        self.axes: Axes = store.axes

    @cached_property
    def trajectory(self) -> Trajectory:
        """All runs, with a batch axis for each entry of `axes`; NaN for missing runs. It is read from disk if
        needed.
        """
        return self._store.trajectory(self.labels, self._scene)

    @property
    def status(self) -> NDArray[np.int64]:
        """How each run ended, as `status` of a trajectory, with the shape of the batch; 6: the run raised an error."""
        return np.asarray(self._store.arrays["status"][...])

    @property
    def labels(self) -> dict[str, NDArray[Any]]:
        """Values that each run used, by name, with the shape of the batch."""
        shape = self._store.shape
        found: dict[str, NDArray[Any]] = {}
        for k, (_, values) in enumerate(self.axes):
            along = [1] * k + [-1] + [1] * (len(shape) - k - 1)
            found |= {name: np.broadcast_to(x.reshape(along), shape) for name, x in values.items()}
        return found

    @property
    def failed(self) -> list[tuple[dict[str, Any], str]]:
        """Runs that did not finish, with their values and how they ended."""
        ends, labels = self.status, self.labels
        return [
            (
                {name: x[place].item() for name, x in labels.items()},
                self._store.error(place) if ends[place] == RAISED else STATUS_NAMES[ends[place]],
            )
            for place in (tuple(int(k) for k in row) for row in np.argwhere(ends != 0))
        ]

    def to_xarray(self) -> Dataset:
        """Return the arrays as an xarray dataset whose dimensions are named like the axes (needs the extra ``xarray``).

        Labels that are called like an array of the dataset ("q", "tau", …) are called "q of run" and so on. For results
        larger than memory, use ``xarray.open_zarr("runs.zarr")``.
        """
        labels: dict[str, Any] = {
            label_name(name): (label_name(axis), x) for axis, columns in self.axes for name, x in columns.items()
        }
        old = ["state"] if len(self.axes) == 1 else [f"state_{k}" for k in range(len(self.axes))]
        dims = dict(zip(old, (label_name(axis) for axis, _ in self.axes), strict=True))
        return self.trajectory.to_xarray().drop_vars(labels).rename(dims).assign_coords(labels)

    def plot(self, *what: str, by: str | None = None) -> Figure:
        """Plot the runs over time with Matplotlib, coloured by label (needs the extra ``plot``).

        Parameters
        ----------
        what
            Quantities, one panel each: "q of knee", "v of knee", "tau of knee", "energy". Default: all coordinates
            except quaternions, at most eight.
        by
            Label that determines the colour (default: the first one).

        Returns
        -------
        matplotlib.figure.Figure
            To save (``.savefig("runs.png")``) or to change; no window is opened.
        """
        figure: Figure = plot_sweep(self.trajectory, self.labels, what, by)
        return figure

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sweep to a folder, or to a Zarr store if its name ends in ``.zarr`` (the extra ``zarr``).

        The format is that of ``sim.sweep(path=…)``, which can continue it.

        Raises
        ------
        SaveError
            If it cannot be written, or if the folder contains another sweep.
        """
        mine = self._store
        other = opened(mine.model, {**mine.record, "errors": dict(mine.record["errors"])}, path, False)
        for k, part in enumerate(mine.parts):
            if not np.isin(self.status[part], (INTERRUPTED, RAISED)).all():
                other.put(k, Finished(self.trajectory.state(*part), mine.record["errors"].get(str(k), [])))
        other.close()

    @staticmethod
    def load(path: str | os.PathLike[str], model: Model) -> Sweep:
        """Load a sweep that `save` or ``sim.sweep(path=…)`` wrote, bit for bit, finished or not.

        Parameters
        ----------
        path
            The folder. Runs of a Zarr store are read on demand.
        model
            The model of the sweep.

        Raises
        ------
        LoadError
            If there is no sweep, or if it is of another model.
        """
        return Sweep(stored(path, model))

    def __repr__(self) -> str:
        told = " × ".join(f"{n} {name}" for n, (name, _) in zip(self._store.shape, self.axes, strict=True))
        failed = np.count_nonzero(self.status)
        return f"<Sweep of {self._store.model.name!r}: {told}, {failed} did not finish>"


def sweep_of(
    sim: Simulation,
    runs: Runs,
    length: tuple[float, float | None],
    hold: int,
    path: str | os.PathLike[str] | None,
    at_once: Any,
    workers: Any,
    show_progress: bool | None,
) -> Sweep:
    """Run a sweep, part after part; parts that are there already are read."""
    duration, rate = length
    on_disk = isinstance(path, str | os.PathLike) and str(path).endswith(".zarr")
    size = 0 if on_disk else 8 * runs.count * (sim.model.nq + sim.model.nv)
    counts = read_times(duration, rate, sim.dt, size, f"keep the {runs.count} runs on disk: path='runs.zarr'")
    most = None if at_once is None else whole_number(at_once, "at_once", least=1)
    shared: dict[str, Any] = {"duration": duration, "rate": rate, "hold": hold}

    def work(client: Any) -> Store:
        some = most if most is not None else AT_ONCE if client is None else _share(runs.count, client)
        record = record_of(sim, runs, hold, counts, runs.chunks(some))
        store = opened(sim.model, record, path, most is None)
        left = store.missing()
        if client is not None and left:  # what workers warn of, nobody sees
            tell_of_open_loops(sim.model, runs.job(store.parts[left[0]], {}).each["q"])
        inner = show_progress if client is None and len(left) == 1 else False
        jobs = ((k, runs.job(store.parts[k], shared | {"show_progress": inner})) for k in left)
        done = run_here(sim, jobs) if client is None else run_there(sim, jobs, client)
        _collect(store, done, len(left), False if inner is not False else show_progress)
        return store

    if workers is None:
        return Sweep(work(None), sim.scene)
    with client_of(workers) as client:
        if sys.stderr.isatty() if show_progress is None else show_progress:
            sys.stderr.write(f"dashboard: {client.dashboard_link}\n")
        return Sweep(work(client), sim.scene)


def _share(count: int, client: Any) -> int:
    """How many runs a part has, so that all workers have some."""
    workers: int = sum(client.nthreads().values())
    return max(1, min(AT_ONCE, -(-count // (ROUNDS * max(1, workers)))))


def _collect(store: Store, done: Done, count: int, show_progress: bool | None) -> None:
    """Keep parts as they are finished, and errors of others; if nothing is there in the end, raise the first."""
    first: Exception | None = None
    with progress(count, show_progress) as tell:
        try:
            for number, (k, found) in enumerate(done, start=1):
                if isinstance(found, Exception):
                    first = first or found
                    store.fail(k, found)
                elif (found.run.status == INTERRUPTED).any():
                    break
                else:
                    store.put(k, found)
                tell(number)
        except KeyboardInterrupt:
            pass
        finally:
            done.close()
            store.close()
    if first is not None and np.isin(store.arrays["status"][...], (INTERRUPTED, RAISED)).all():
        raise first
