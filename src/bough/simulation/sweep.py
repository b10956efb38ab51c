"""Sweeps: many runs of a simulation, over values of parameters and of states to begin with."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.errors import LoadError, SaveError, ShapeError, UnknownNameError
from bough.kernel.arguments import FloatArray, as_floats, require_finite
from bough.model.coordinates import coordinate_names
from bough.model.digest import model_digest
from bough.reading import shown
from bough.simulation.arguments import read_start, read_times
from bough.simulation.run import INTERRUPTED

if TYPE_CHECKING:
    from xarray import Dataset

    from bough.simulation.simulation import Simulation
    from bough.simulation.trajectory import Trajectory

__all__ = ["Sweep", "sweep_of"]

RECORD = "sweep.json"
"""The file of a folder of parts that says of what they are."""

CASE = "case"
"""What the axis of a table is called."""

GAINS = ("kp", "kd")


@dataclass(frozen=True, eq=False)
class Sweep:
    """The runs of a sweep.

    Attributes
    ----------
    trajectory
        All of them, with a batch axis for each entry of `axes`.
    axes
        What is different along each batch axis: names and values (n,). That of a table, called "case", has one name
        for each column.
    """

    trajectory: Trajectory
    axes: tuple[tuple[str, dict[str, FloatArray]], ...]

    @property
    def labels(self) -> dict[str, FloatArray]:
        """What each run began with, by name, in the shape of the batch."""
        shape = self.trajectory.batch
        found: dict[str, FloatArray] = {}
        for k, (_, values) in enumerate(self.axes):
            along = [1] * k + [-1] + [1] * (len(shape) - k - 1)
            found |= {name: np.broadcast_to(x.reshape(along), shape) for name, x in values.items()}
        return found

    @property
    def failed(self) -> list[tuple[dict[str, float], str]]:
        """Runs that did not finish: what each began with, and how it ended."""
        ends, labels = self.trajectory.status, self.labels
        return [
            ({name: float(x[place]) for name, x in labels.items()}, self.trajectory.status_names[ends[place]])
            for place in (tuple(row) for row in np.argwhere(ends != 0))
        ]

    def to_xarray(self) -> Dataset:
        """The arrays as an xarray dataset (the extra ``xarray``), its dimensions called as what is different."""
        data = self.trajectory.to_xarray()
        old = ["state"] if len(self.axes) == 1 else [f"state_{k}" for k in range(len(self.axes))]
        data = data.rename(dict(zip(old, (name for name, _ in self.axes), strict=True)))
        labels: dict[str, Any] = {
            name: (axis, values) for axis, columns in self.axes for name, values in columns.items()
        }
        return data.assign_coords(labels)

    def __repr__(self) -> str:
        told = " × ".join(f"{len(next(iter(values.values())))} {name}" for name, values in self.axes)
        return f"<Sweep of {self.trajectory.model.name!r}: {told}, {len(self.failed)} did not finish>"


class _Task(NamedTuple):
    """All runs of a sweep, one after the other: states to begin with, and what is different."""

    q: FloatArray
    v: FloatArray
    acting: dict[str, FloatArray]
    parameters: dict[str, FloatArray]


def sweep_of(
    sim: Simulation,
    q: Any,
    v: Any,
    grid: Any,
    table: Any,
    length: tuple[float, float | None],
    path: str | os.PathLike[str] | None,
    at_once: int,
    show_progress: bool | None,
    acting: dict[str, Any],
) -> Sweep:
    """Run a sweep, part after part; parts that a folder has already are read."""
    axes = tuple(_axes(sim, grid, table))
    shape = tuple(len(next(iter(values.values()))) for _, values in axes)
    flat = {
        name: np.broadcast_to(x.reshape([1] * k + [-1] + [1] * (len(shape) - k - 1)), shape).ravel()
        for k, (_, values) in enumerate(axes)
        for name, x in values.items()
    }
    task = _task(sim, q, v, flat)
    duration, rate = length
    total, every = read_times(duration, rate, sim.dt)
    times = sim.dt * np.unique([*range(0, total, every), total])
    folder = None if path is None else _folder(sim, path, task, acting, (total, every, at_once))
    parts: list[Trajectory] = []
    for k, start in enumerate(range(0, math.prod(shape), at_once)):
        some = slice(start, start + at_once)
        file = None if folder is None else folder / f"part-{k:06d}.npz"
        part = _read(file, sim) if file is not None else None
        if part is None:
            part = _run(sim, task, some, duration, rate, show_progress, acting)
            if (part.status == INTERRUPTED).any():
                break
            if file is not None:
                part.save(file)
        parts.append(part)
    return Sweep(_whole(sim, task, parts, times, shape), axes)


def _run(
    sim: Simulation,
    task: _Task,
    some: slice,
    duration: float,
    rate: float | None,
    show_progress: bool | None,
    acting: dict[str, Any],
) -> Trajectory:
    more: dict[str, Any] = acting | {name: x[some] for name, x in task.acting.items()}
    if task.parameters:
        more["parameters"] = {name: x[some] for name, x in task.parameters.items()}
    return sim.run(task.q[some], task.v[some], duration=duration, rate=rate, show_progress=show_progress, **more)


def _axes(sim: Simulation, grid: Any, table: Any) -> Iterator[tuple[str, dict[str, FloatArray]]]:
    columns = _columns(sim, table, "table")
    lengths = {name: len(x) for name, x in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ShapeError(f"the columns of the table have lengths {lengths}, expected one length")
    if columns:
        yield CASE, columns
    for name, values in _columns(sim, grid, "grid").items():
        if name in columns:
            raise ShapeError(f"{name!r} is in the grid and in the table, expected one of them")
        yield name, {name: values}
    if not columns and not grid:
        raise ShapeError("grid and table are empty, expected values of something by its name")


def _columns(sim: Simulation, given: Any, what: str) -> dict[str, FloatArray]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ShapeError(f"{what} is {shown(given)}, expected a dictionary of values by name")
    known = _names(sim)
    found: dict[str, FloatArray] = {}
    for name, values in given.items():
        if name not in known:
            raise UnknownNameError(f"thing that a {what} could have", name, known)
        x = as_floats(str(name), values, ())
        if x.ndim != 1 or not x.size:
            raise ShapeError(f"{name!r} of the {what} has shape {x.shape}, expected (n,), a value for each run")
        require_finite(str(name), x)
        found[str(name)] = x.astype(np.float64)
    return found


def _names(sim: Simulation) -> list[str]:
    """What may be different: scalar parameters, coordinates and velocities to begin with, gains."""
    names = coordinate_names(sim.model, 0)
    scalars = [p.name for p in sim.parameters if p.size == 1]
    return [*scalars, *(f"q of {x}" for x in names["q"]), *(f"v of {x}" for x in names["v"]), *GAINS]


def _task(sim: Simulation, q: Any, v: Any, flat: dict[str, FloatArray]) -> _Task:
    start, velocity = (x.astype(np.float64) for x in read_start(sim.model, q, v))
    if start.ndim > 1:
        raise ShapeError(f"q has shape {start.shape}, expected ({sim.model.nq},): one state, from which runs differ")
    count = len(next(iter(flat.values())))
    qs, vs = np.tile(start, (count, 1)), np.tile(velocity, (count, 1))
    names, scalars = coordinate_names(sim.model, 0), {p.name: p for p in sim.parameters}
    acting, parameters = {}, {}
    for name, values in flat.items():
        letter, _, of = name.partition(" of ")
        if name in scalars:
            parameters[name] = values.reshape(-1, *scalars[name].shape)
        elif name in GAINS:
            acting[name] = np.repeat(values[:, np.newaxis], sim.model.nv, axis=1)
        else:
            (qs if letter == "q" else vs)[:, names[letter].index(of)] = values
    return _Task(qs, vs, acting, parameters)


# ---- parts in a folder -----------------------------------------------------------------------------------------------


def _folder(
    sim: Simulation, path: str | os.PathLike[str], task: _Task, acting: dict[str, Any], counts: tuple[int, int, int]
) -> Path:
    """The folder of the parts, which says of what sweep they are."""
    folder, said = Path(path), hashlib.sha256()
    arrays: dict[str, Any] = {"q": task.q, "v": task.v, **task.acting, **task.parameters}
    for name, value in {**arrays, **acting}.items():
        inner = value if isinstance(value, Mapping) else {"": value}
        for key, x in inner.items():
            a: NDArray[Any] = np.asarray(x, np.float64)
            said.update(f"{name} {key} {a.shape}".encode() + a.tobytes())
    identity = {
        "bough": "sweep 1", "model": model_digest(sim.model), "scene": repr((sim.scene.shapes, sim.scene.exclude)),
        "dt": sim.dt, "integrator": sim.integrator, "counts": list(counts), "values": said.hexdigest(),
    }  # fmt: skip
    record = folder / RECORD
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if record.exists():
            there = json.loads(record.read_text("utf-8"))
            other = [name for name, x in identity.items() if not isinstance(there, dict) or there.get(name) != x]
            if other:
                told = f"has parts of another sweep, with other {', '.join(other)}; expected an empty folder"
                raise SaveError(f"{str(folder)!r} {told}")
        else:
            record.write_text(json.dumps(identity), "utf-8")
    except (OSError, ValueError) as error:
        if isinstance(error, SaveError):
            raise
        raise SaveError(f"the folder {str(folder)!r} cannot be used: {error}") from None
    return folder


def _read(file: Path, sim: Simulation) -> Trajectory | None:
    """A part that was finished before; one that is damaged is made anew."""
    from bough.simulation.trajectory import Trajectory

    if not file.is_file():
        return None
    try:
        return Trajectory.load(file, sim.model)
    except LoadError:
        return None


def _whole(
    sim: Simulation, task: _Task, parts: list[Trajectory], times: NDArray[np.float64], shape: tuple[int, ...]
) -> Trajectory:
    """All parts as one trajectory; what was not reached is interrupted at its beginning."""
    from bough.simulation.trajectory import Trajectory

    done, count = sum(len(part.status) for part in parts), math.prod(shape)
    arrays: dict[str, Any] = {}
    for name, first in (("q", task.q), ("v", task.v)):
        rest = np.repeat(first[np.newaxis, done:], len(times), axis=0)
        arrays[name] = np.concatenate([*(_padded(getattr(part, name), len(times)) for part in parts), rest], axis=1)
    if done == count and parts[0].sensors is not None:
        arrays["sensors"] = np.concatenate([_padded(part.sensors, len(times)) for part in parts], axis=1)
    ends = {"status": INTERRUPTED, "taken": 0, "stopped": 0.0}
    for name, value in ends.items():
        arrays[name] = np.concatenate([*(getattr(part, name) for part in parts), np.full(count - done, value)])
    shaped = {name: x.reshape(*shape) for name, x in arrays.items() if name in ends}
    shaped |= {name: x.reshape(len(times), *shape, x.shape[-1]) for name, x in arrays.items() if name not in ends}
    return Trajectory(sim.model, times, **shaped)


def _padded(x: Any, samples: int) -> FloatArray:
    """Samples of runs, all of which may have ended early, as many as there are."""
    return np.concatenate([x, np.repeat(x[-1:], samples - len(x), axis=0)])
