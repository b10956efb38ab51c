"""Trajectories as files (NumPy's NPZ, without pickled objects) and as xarray datasets.

A file from elsewhere can do no harm. Only members that a trajectory has are looked at; what they say of their size is
compared with what there is before any memory is asked for; nothing that is compressed, or made of objects, is read.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import BoughError, LoadError, SaveError, printable
from bough.formats.own import read_parts, write_parts
from bough.formats.whole_file import whole_file
from bough.kernel.functions import require_model
from bough.model import Geometry, Model
from bough.model.digest import model_digest
from bough.model.geometry import read_geometry
from bough.pictures.files import MOVING, STILL, target_of
from bough.reading import instance, shown, truth
from bough.simulation.events import Occurrence
from bough.simulation.trajectory_pictures import save_pictures
from bough.viewer.html import motion_html

if TYPE_CHECKING:
    from xarray import Dataset

    from bough.simulation.scene import Scene
    from bough.simulation.trajectory import Trajectory

__all__ = ["dataset_of", "joints_of", "label_name", "load", "other_joints", "save"]

KIND = "bough trajectory 1"
"""What the member "format" of a file says."""

ARRAYS = (
    "time", "q", "v", "tau", "control", "status", "taken", "contact_forces", "stopped", "sensors",
    "a_last", "scene",
)  # fmt: skip
OF_DATASETS = (*ARRAYS, "coordinate", "dof", "actuator", "contact", "component", "reading")
"""What arrays and dimensions of datasets are called, and nothing else."""

EVENTS = ("event_names", "event_times", "event_states", "event_q", "event_v")
"""Of all events: what they are called (E,), when they were (E,), which state they are of (E, axes), its q and its v."""

MUST_BE = ("format", "digest", "joints", "time", "q", "v", "status", "taken", "stopped")
SCENE = {"shapes": tuple[Geometry, ...], "exclude": tuple[tuple[str, str], ...], "self_collision": bool}
"""What is told of a scene, as JSON in UTF-8."""

LONGEST_TEXT = 4096  # bytes: of names of joints, four for each letter
MOST_HEADER = 10_000  # letters that say what an array is like


def save(trajectory: Trajectory, path: str | os.PathLike[str], scene: Scene | None = None, **options: Any) -> None:
    """Write a file, whole or not at all: pictures or arrays, as its name ends."""
    world = _world(trajectory, scene)
    if isinstance(path, str | os.PathLike) and Path(os.fsdecode(path)).suffix.lower() in STILL + MOVING:
        grounds = (*world, *(g for g in trajectory.model.geometries if g.body == 0))
        floor = "auto" if any(g.shape == "plane" for g in grounds) else None
        save_pictures(trajectory, path, **{"world": world, "floor": floor} | options)
        return
    target = target_of(path, (".npz", ".html", ".htm", *STILL, *MOVING))
    for name in options:
        raise SaveError(
            f"{name} is an option of pictures, and {os.fspath(path)!r} is not a picture: {', '.join(STILL + MOVING)}"
        )
    if target.suffix.lower() in (".html", ".htm"):
        page = motion_html(trajectory.model, trajectory.time, trajectory.q, world)
        with whole_file(target) as stream:
            stream.write(page.encode("utf-8"))
        return
    arrays: dict[str, Any] = {name: x for name in ARRAYS if (x := getattr(trajectory, name)) is not None}
    if trajectory.scene is not None:
        text = write_parts(**{name: getattr(trajectory.scene, name) for name in SCENE})
        arrays["scene"] = np.frombuffer(text.encode(), np.uint8)
    with whole_file(Path(path)) as stream:
        np.savez(stream, **arrays | _told(trajectory) | _identity(trajectory.model))


def _told(trajectory: Trajectory) -> dict[str, NDArray[Any]]:
    """What happened, as arrays; none if nothing did."""
    if not trajectory.events:
        return {}
    names, *numbers = zip(*trajectory.events, strict=True)
    return dict(zip(EVENTS, (np.array(names, str), *map(np.array, numbers)), strict=True))


def _happened(members: dict[str, NDArray[Any]], model: Model, axes: int) -> tuple[Occurrence, ...]:
    """What happened, from the arrays of a file."""
    if not any(name in members for name in EVENTS):
        return ()
    shapes = dict(zip(EVENTS, ((), (), (axes,), (model.nq,), (model.nv,)), strict=True))
    count = members["event_names"].shape[:1] if "event_names" in members else ()
    for name, shape in shapes.items():
        if name not in members or members[name].shape != (*count, *shape):
            raise LoadError(f"its array {name!r} is missing or does not fit the other arrays of events")
    arrays = [members[name] for name in EVENTS]
    return tuple(
        Occurrence(str(name), float(time), tuple(int(k) for k in state), q, v)
        for name, time, state, q, v in zip(*arrays, strict=True)
    )


def _world(trajectory: Trajectory, scene: Scene | None) -> tuple[Geometry, ...]:
    """The shapes of a scene, which must be one of the model that moved; its own unless another is given."""
    from bough.simulation.scene import Scene, require_scene_of

    if scene is None:
        return () if trajectory.scene is None else trajectory.scene.shapes
    require_scene_of(trajectory.model, instance(scene, "scene", Scene, SaveError), SaveError)
    return tuple(scene.shapes)


def _scene(text: bytes, model: Model) -> Scene:
    """The scene that a file tells of, its shapes checked as those of a user are."""
    from bough.simulation.scene import Scene

    found = read_parts(text.decode(), **SCENE)
    shapes = [
        read_geometry(g.name, g.frame, g.body, g.placement, g.shape, g.size, g.purpose, g.file, g.rgba, g.surface,
                      f"shape {k} of its scene", g.heights or None, g.triangles or None)
        for k, g in enumerate(found.pop("shapes"))
    ]  # fmt: skip
    return Scene(model, tuple(shapes), **found)


def _identity(model: Model) -> dict[str, NDArray[Any]]:
    """What a file says of its model: joints by name with their coordinates, and a digest of all numbers."""
    joints = np.array(joints_of(model), str)
    return {"format": np.array(KIND), "digest": np.array(model_digest(model) or ""), "joints": joints}


def joints_of(model: Model) -> list[str]:
    """The joints of a model by name, with their coordinates."""
    return [f"{entry.name}: {entry.joint.nq}, {entry.joint.nv}" for entry in model.joints]


def other_joints(theirs: Sequence[str], model: Model) -> str:
    """The first of some joints (`joints_of`) that differs from that of a model, in words; nothing if none does."""
    for k, (there, here) in enumerate(zip_longest(theirs, joints_of(model), fillvalue="nothing")):
        got, expected = printable(there), printable(here)
        if got != expected:
            return f"joint {k} (name: nq, nv) is {got!r} there and {expected!r} in model {model.name!r}"
    return ""


def load(path: str | os.PathLike[str], model: Model, strict: bool, make: type[Trajectory]) -> Trajectory:
    """Read a file, and compare the model with the one that is told of there."""
    require_model(model)
    strict = truth(strict, "strict")
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise LoadError(f"path is {shown(path)}, expected the path of a file")
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise LoadError(f"there is no file {printable(name)[:200]!r}")
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member: _read(archive, member) for member in _members(archive)}
        _compare(members, model, strict)
        arrays: dict[str, Any] = {key: members[key] for key in ARRAYS if key in members}
        if "scene" in arrays:
            arrays["scene"] = _scene(arrays["scene"].tobytes(), model)
        return make(model, events=_happened(members, model, arrays["q"].ndim - 2), **arrays)
    except BoughError as error:
        raise LoadError(str(error), name) from None
    except Exception as error:  # whatever the readers of foreign formats come upon
        raise LoadError(f"it cannot be read: {type(error).__name__}: {error}", name) from None


def _members(archive: zipfile.ZipFile) -> list[str]:
    """The arrays of a file; all that there must be, each once, none that is not known or is compressed."""
    infos = archive.infolist()
    found = [info.filename.removesuffix(".npy") for info in infos]
    if missing := [name for name in MUST_BE if name not in found]:
        raise LoadError(f"it has no array {missing[0]!r}, expected a file that Trajectory.save wrote")
    for name, info in zip(found, infos, strict=True):
        if name not in MUST_BE + ARRAYS + EVENTS or info.filename != f"{name}.npy" or found.count(name) > 1:
            raise LoadError(f"its member {shown(info.filename)} is not of a trajectory, or there twice")
        if info.compress_type != zipfile.ZIP_STORED:
            raise LoadError(f"its array {name!r} is compressed, expected a file that Trajectory.save wrote")
    return found


def _read(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array, once its size is known to be that of the bytes that are there."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as stream:
        shape, in_columns, dtype = _header(stream)
        kind = {"format": "U", "digest": "U", "joints": "U", "event_names": "U", "scene": "u"}.get(name, "fi")
        size = dtype.itemsize
        if dtype.hasobject or dtype.kind not in kind or dtype.subdtype or (kind == "U" and size > LONGEST_TEXT):
            raise LoadError(f"its array {name!r} has data type {shown(dtype)}, which a trajectory has not")
        here, there = math.prod(shape) * size, info.file_size - stream.tell()
        if here != there:
            raise LoadError(f"its array {name!r} should have {here} bytes, but has {there}")
        data = stream.read()  # as many as there are: nothing is compressed
    if len(data) != here:
        raise LoadError(f"its array {name!r} ends too early")
    flat = np.frombuffer(data, dtype) if data else np.zeros(shape, dtype)
    return flat.reshape(shape, order="F" if in_columns else "C")


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise LoadError(f"it holds arrays of version {version}, expected 1.0 or 2.0")
    shape, in_columns, dtype = readers[version](stream, max_header_size=MOST_HEADER)
    return tuple(int(n) for n in shape), bool(in_columns), dtype


def _compare(members: dict[str, NDArray[Any]], model: Model, strict: bool) -> None:
    """Raise unless a file is a trajectory of this model."""
    own = _identity(model)
    if members["format"].shape != () or str(members["format"]) != KIND:
        raise LoadError(f"its format is {shown(members['format'].tolist())}, expected {KIND!r}")
    if what := other_joints(members["joints"].ravel().tolist(), model):
        raise LoadError(f"it is of another model: {what}")
    digests = [str(x["digest"]) for x in (members, own)]
    if strict and all(digests) and digests[0] != digests[1]:
        what = f"joints have the names of {model.name!r}, but inertias, placements or other numbers differ"
        raise LoadError(f"it is of another model: {what} (strict=False loads it anyway)")


def label_name(name: str) -> str:
    """What a label of states is called in a dataset, whose arrays and dimensions have names of their own."""
    return f"{name} of run" if name in OF_DATASETS else name


def dataset_of(trajectory: Trajectory) -> Dataset:
    """An xarray dataset, with names as labels."""
    try:
        import xarray
    except ImportError:
        raise BoughError("to_xarray needs xarray: pip install 'bough[xarray]'") from None
    axes = len(trajectory.batch)
    states = ("state",) if axes == 1 else tuple(f"state_{k}" for k in range(axes))
    last: dict[str, tuple[str, ...]] = {"q": ("coordinate",), "v": ("dof",), "tau": ("dof",), "control": ("actuator",)}
    last |= {"contact_forces": ("contact", "component"), "sensors": ("reading",)}
    data: dict[str, Any] = {
        name: (("time", *states, *dims), x)
        for name, dims in last.items()
        if (x := getattr(trajectory, name)) is not None
    }
    meaning = " ".join(name.replace(" ", "_") for name in trajectory.status_names)
    flags = {"flag_values": list(range(len(trajectory.status_names))), "flag_meanings": meaning}
    data |= {"status": (states, trajectory.status, flags), "taken": (states, trajectory.taken)}
    data["stopped"] = (states, trajectory.stopped, {"units": "s"})
    labels: dict[str, Any] = {"time": ("time", trajectory.time, {"units": "s"})}
    for name, (dim, *_) in last.items():
        if name in data and name in trajectory.names:
            labels[dim] = list(trajectory.names[name])
            labels[f"{name}_unit"] = (dim, list(trajectory.units[name]))
    if "contact_forces" in data:
        data["contact_forces"] = (*data["contact_forces"], {"units": "N"})
    labels |= {label_name(name): (states, x) for name, x in trajectory.labels.items()}
    return xarray.Dataset(data, labels, {"model": trajectory.model.name})
