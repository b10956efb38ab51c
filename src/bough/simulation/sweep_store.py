"""Where the results of a sweep lie: in arrays in memory, with a file for each part, or in a Zarr store on disk."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import BoughError, LoadError, SaveError
from bough.formats.whole_file import whole_file
from bough.kernel.functions import require_model
from bough.model import Model
from bough.model.coordinates import coordinate_names
from bough.model.digest import model_digest
from bough.reading import shown
from bough.simulation.run import INTERRUPTED
from bough.simulation.sweep_axes import Axes, Runs, parts_of
from bough.simulation.sweep_job import RAISED, SAMPLES, Finished
from bough.simulation.trajectory_files import label_name

if TYPE_CHECKING:
    from bough.simulation.scene import Scene
    from bough.simulation.simulation import Simulation
    from bough.simulation.trajectory import Trajectory

__all__ = ["Record", "Store", "opened", "record_of", "stored"]

RECORD = "sweep.json"
"""The file of a folder of parts that says of what they are."""

KIND = "sweep 2"
ENDS: dict[str, float] = {"status": INTERRUPTED, "taken": 0, "stopped": 0.0}
"""What there is of each run, with the value before it is run."""

Record = dict[str, Any]
"""What a store says of its sweep: whether another one may go on with it, its axes and parts, and errors by part."""


def record_of(sim: Simulation, runs: Runs, hold: int, counts: tuple[int, int], chunks: tuple[int, ...]) -> Record:
    """What is said of a sweep: dt, integrator and whatever else its simulation is; controllers are known by name."""
    said = hashlib.sha256()
    for name, value in runs.values.items():
        for key, x in (value if isinstance(value, Mapping) else {"": value}).items():
            a: NDArray[Any] = np.asarray(x)
            said.update(f"{name} {key} {a.shape} {hold}".encode() + (a if a.dtype.kind == "U" else a * 1.0).tobytes())
    total, every = counts
    plain = {name.lstrip("_"): x for name, x in sim.__getstate__().items() if isinstance(x, str | int | float)}
    return plain | {
        "bough": KIND, "model": model_digest(sim.model), "scene": repr((sim.scene.shapes, sim.scene.exclude)),
        "counts": list(counts), "values": said.hexdigest(),
        "chunks": list(chunks), "times": (sim.dt * np.unique([*range(0, total, every), total])).tolist(),
        "axes": [[name, {key: x.tolist() for key, x in labels.items()}] for name, labels in runs.axes], "errors": {},
    }  # fmt: skip


class Store:
    """Results in memory."""

    def __init__(self, model: Model, record: Record) -> None:
        self.model, self.record = model, record
        self.axes: Axes = tuple((n, {key: np.array(x) for key, x in labels.items()}) for n, labels in record["axes"])
        self.times = np.array(record["times"])
        self.shape = tuple(len(next(iter(labels.values()))) for _, labels in self.axes)
        self.parts = parts_of(self.shape, tuple(record["chunks"]))
        self.arrays: dict[str, Any] = {}
        for name, value in ENDS.items():
            self.arrays[name] = self._new(name, (), np.float64 if name == "stopped" else np.int64, value)
        for k, errors in record["errors"].items():
            self._mark(int(k), errors)

    def put(self, k: int, done: Finished) -> None:
        """Keep a part that was run, and what was raised in some of its runs."""
        part, run = self.parts[k], done.run
        block = self._block(k)
        for name in SAMPLES:
            x = getattr(run, name)
            if x is not None:
                if name not in self.arrays:
                    self.arrays[name] = self._new(name, x.shape[-1:], x.dtype, np.nan)
                # runs, all of which may have ended early, stay where they are
                whole = np.concatenate([x, np.repeat(x[-1:], len(self.times) - len(x), axis=0)])
                self.arrays[name][(slice(None), *part)] = whole.reshape(len(whole), *block, x.shape[-1])
        self.record["errors"].pop(str(k), None)
        if done.errors:
            self.record["errors"][str(k)] = done.errors
        for name in reversed(ENDS):  # the status last: with it the part is there
            self.arrays[name][part] = getattr(run, name).reshape(block)

    def fail(self, k: int, error: BaseException) -> None:
        """Keep what was raised in all of a part."""
        errors = [(0, math.prod(self._block(k)), f"{type(error).__name__}: {error}")]
        self.record["errors"][str(k)] = errors
        self._mark(k, errors)

    def _mark(self, k: int, errors: Sequence[tuple[int, int, str]]) -> None:
        """Let runs of a part be known as those in which something was raised."""
        status = np.array(self.arrays["status"][self.parts[k]])
        for start, stop, _ in errors:
            status.reshape(-1)[start:stop] = RAISED
        self.arrays["status"][self.parts[k]] = status

    def _block(self, k: int) -> tuple[int, ...]:
        """The shape of a part."""
        return tuple(len(range(*some.indices(n))) for some, n in zip(self.parts[k], self.shape, strict=True))

    def missing(self) -> list[int]:
        """The parts that were not run yet."""
        return [
            k for k, part in enumerate(self.parts) if np.isin(self.arrays["status"][part], (INTERRUPTED, RAISED)).any()
        ]

    def error(self, place: tuple[int, ...]) -> str:
        """What was raised in a run."""
        for k, errors in self.record["errors"].items():
            at = tuple(i - some.start for i, some in zip(place, self.parts[int(k)], strict=True))
            block = self._block(int(k))
            if all(0 <= i < n for i, n in zip(at, block, strict=True)):
                number = int(np.ravel_multi_index(at, block))
                return next((f"raised {text}" for start, stop, text in errors if start <= number < stop), "")
        return "raised an error"

    def close(self) -> None:
        """All is there that will be."""

    def trajectory(self, labels: dict[str, NDArray[Any]], scene: Scene | None) -> Trajectory:
        """All runs as one trajectory; those that were not reached are NaN, and interrupted."""
        from bough.simulation.trajectory import Trajectory

        arrays: dict[str, Any] = {name: np.asarray(x[...]) for name, x in self.arrays.items()}
        for name, n in (("q", self.model.nq), ("v", self.model.nv)):
            arrays.setdefault(name, np.full((len(self.times), *self.shape, n), np.nan))
        return Trajectory(self.model, self.times, **arrays, labels=labels, scene=scene)

    def _new(self, name: str, last: tuple[int, ...], dtype: Any, value: float) -> Any:
        lead = (len(self.times),) if name in SAMPLES else ()
        return np.full((*lead, *self.shape, *last), value, dtype)


class Folder(Store):
    """Results in memory, and a file for each part."""

    def __init__(self, model: Model, record: Record, path: Path) -> None:
        from bough.simulation.trajectory import Trajectory

        super().__init__(model, record)
        self._path = path
        for k in range(len(self.parts)):
            try:
                if self._file(k).is_file():
                    errors = self.record["errors"].get(str(k), [])
                    super().put(k, Finished(Trajectory.load(self._file(k), model), errors))
            except (LoadError, ValueError):  # one that is damaged is made anew
                continue

    def put(self, k: int, done: Finished) -> None:
        done.run.save(self._file(k))
        super().put(k, done)

    def close(self) -> None:
        _write(self._path, self.record)

    def _file(self, k: int) -> Path:
        return self._path / f"part-{k:06d}.npz"


class ZarrStore(Store):
    """Results on disk: arrays that `xarray.open_zarr` opens, a chunk of each array for each part."""

    def __init__(self, model: Model, record: Record, path: Path) -> None:
        self._group = _zarr().open_group(path, mode="a", zarr_format=2, use_consolidated=False)
        self._chunks = tuple(record["chunks"])
        super().__init__(model, record)
        self.arrays |= {name: self._group[name] for name in SAMPLES if name in self._group}
        names = {k: x for k, x in coordinate_names(model, len(model.actuators)).items() if x}
        labels = {"time": ("time", self.times)}
        labels |= {dim: (dim, np.array(names[name])) for name, dim in SAMPLES.items() if name in names}
        axes = [(label_name(axis), columns) for axis, columns in self.axes]
        labels |= {label_name(name): (axis, x) for axis, columns in axes for name, x in columns.items()}
        for name, (dim, x) in labels.items():
            if name not in self._group:
                self._create(name, [dim], data=x)
        self.close()

    def close(self) -> None:
        self._group.attrs["sweep"] = self.record
        _zarr().consolidate_metadata(self._group.store)

    def _new(self, name: str, last: tuple[int, ...], dtype: Any, value: float) -> Any:
        if name in self._group:
            return self._group[name]
        lead, dims = ((len(self.times),), ["time"]) if name in SAMPLES else ((), [])
        shape, chunks = (*lead, *self.shape, *last), (*lead, *self._chunks, *last)
        dims += [*(label_name(axis) for axis, _ in self.axes), *([SAMPLES[name]] if last else [])]
        array = self._create(name, dims, shape=shape, chunks=chunks, dtype=dtype)
        array[...] = value
        return array

    def _create(self, name: str, dims: list[str], **given: Any) -> Any:
        """A new array, none of whose values means that there is none."""
        array = self._group.create_array(name, fill_value=None, **given)
        array.attrs["_ARRAY_DIMENSIONS"] = dims
        return array


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise BoughError("results in a .zarr folder need zarr: pip install 'bough[zarr]'") from None
    return zarr


def opened(model: Model, record: Record, path: str | os.PathLike[str] | None, any_parts: bool) -> Store:
    """The store at a path, new or of the same sweep; with `any_parts` cut in whatever parts it is there."""
    if path is None:
        return Store(model, record)
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise SaveError(f"path is {shown(path)}, expected that of a folder")
    folder = Path(path)
    if folder.suffix not in ("", ".zarr"):
        raise SaveError(f"path is {shown(str(path))}, expected a folder without a suffix, or one that ends in .zarr")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = _told(folder)
        if there is not None:
            other = [
                name for name in record if name not in ("errors", "times", "axes") and there.get(name) != record[name]
            ]
            if [name for name in other if name != "chunks" or not any_parts]:
                told = f"has parts of another sweep, with other {', '.join(other)}; expected an empty folder"
                raise SaveError(f"{str(folder)!r} {told}")
            record = there
        else:
            _require_room(folder)
            if folder.suffix != ".zarr":
                _write(folder, record)
        return (ZarrStore if folder.suffix == ".zarr" else Folder)(model, record, folder)
    except (OSError, ValueError) as error:
        if isinstance(error, SaveError):
            raise
        raise SaveError(f"the folder {str(folder)!r} cannot be used: {error}") from None


def _require_room(folder: Path) -> None:
    """Raise for a folder in which there is something, and no sweep."""
    there = sorted(x.name for x in folder.iterdir() if not x.name.startswith("."))
    if there:
        told = f"{there[0]!r}" + (f" and {len(there) - 1} more" if len(there) > 1 else "")
        raise SaveError(f"{str(folder)!r} has {told} in it, and no sweep; expected a new or empty folder, or a sweep's")


def stored(path: str | os.PathLike[str], model: Model) -> Store:
    """The store of a sweep that is there."""
    require_model(model)
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise LoadError(f"path is {shown(path)}, expected that of a folder")
    folder = Path(path)
    try:
        record = _told(folder)
    except (OSError, ValueError) as error:
        raise LoadError(f"it cannot be read: {error}", str(folder)) from None
    if record is None or record.get("bough") != KIND:
        raise LoadError("there is no sweep, expected a folder that sim.sweep(path=…) or Sweep.save wrote", str(folder))
    if record["model"] != model_digest(model):
        raise LoadError(f"it is of another model than {model.name!r}, expected the one that was run", str(folder))
    return (ZarrStore if folder.suffix == ".zarr" else Folder)(model, record, folder)


def _told(folder: Path) -> Record | None:
    """What a store says of its sweep; None if there is none."""
    if folder.suffix == ".zarr":
        there = (folder / ".zattrs").exists()
        found = dict(_zarr().open_group(folder, mode="r", use_consolidated=False).attrs).get("sweep") if there else None
    else:
        found = json.loads((folder / RECORD).read_text("utf-8")) if (folder / RECORD).exists() else None
    if found is not None and not isinstance(found, dict):
        raise ValueError(f"{RECORD} is not of a sweep")
    return found


def _write(folder: Path, record: Record) -> None:
    with whole_file(folder / RECORD) as stream:
        stream.write(json.dumps(record).encode("utf-8"))
