"""The arrays of a trajectory as they are given: made plain, or refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import FiniteError, ShapeError
from bough.kernel.arguments import FloatArray, Shape, as_floats, read_only, require_finite
from bough.kernel.configuration import neutral
from bough.kernel.functions import read
from bough.model import Model
from bough.model.sensor import SENSORS
from bough.reading import instance, shown
from bough.simulation.scene import Scene, require_scene_of

if TYPE_CHECKING:
    from bough.simulation.trajectory import Trajectory

__all__ = ["STATUS_NAMES", "read_trajectory", "require_running"]

STATUS_NAMES = (
    "finished", "not finite", "ran away", "interrupted", "not solved", "ended by an event", "raised an error",
)  # fmt: skip
"""How a state can end, by number."""

GO_ON = (0, 3, 5)
"""States by whose end a run may be resumed: finished, interrupted, and ended by an event, which stay as they are."""

IntArray = NDArray[np.int64]


def require_running(before: Trajectory) -> None:
    """Raise for a trajectory to resume all states of which came to a bad end."""
    status = before.status.ravel()
    if status.size and not np.isin(status, GO_ON).any():
        last, which = float(before.stopped.max()), "it" if status.size == 1 else "the last of its states"
        told = STATUS_NAMES[status[int(before.stopped.argmax())]]
        told = told if told == "ran away" else f"was {told}"
        raise ShapeError(f"resume has nothing to go on with: {which} {told} at {last:.6g} s")


def read_trajectory(given: Trajectory) -> dict[str, Any]:
    """All arrays of a trajectory that is being made, read-only, by name."""
    model = instance(given.model, "the model", Model)
    time = _read_times(given.time)
    q = as_floats("q", given.q, (model.nq,), "samples, batch axes, nq")
    lead = q.shape[:-1]
    if lead[:1] != time.shape:
        raise ShapeError(f"q has shape {q.shape}, expected ({time.size}, ..., {model.nq}): a sample for each time")
    arrays: dict[str, Any] = {"time": time, "q": q, "v": _led("v", given.v, lead, (model.nv,))}
    count = sum(SENSORS[sensor.kind].size for sensor in model.simulation.sensors)
    more: tuple[tuple[str, tuple[int | str, ...]], ...] = (
        ("tau", (model.nv,)), ("control", ("nu",)), ("contact_forces", ("k", "c")), ("sensors", (count,)),
    )  # fmt: skip
    for name, last in more:
        value = getattr(given, name)
        arrays[name] = None if value is None else _led(name, value, lead, last)
    if arrays["contact_forces"] is not None and not arrays["contact_forces"].shape[-1]:
        raise ShapeError("contact_forces has no components, expected the normal force of each contact and more")
    last_one = given.a_last
    arrays["a_last"] = None if last_one is None else _led("a_last", last_one, lead[1:], ("n",))
    _require_quaternions(model, q)
    arrays["status"] = _whole("status", given.status, lead[1:], 0, len(STATUS_NAMES) - 1)
    arrays["taken"] = _whole("taken", given.taken, lead[1:], time.size - 1, 2**62)
    arrays["stopped"] = _stop_times(given.stopped, time, arrays["status"], arrays["taken"])
    if given.scene is not None:
        require_scene_of(model, instance(given.scene, "scene", Scene, ShapeError), ShapeError)
    if not isinstance(given.labels, Mapping):
        raise ShapeError(f"labels is {shown(given.labels)}, expected a dictionary of arrays {lead[1:]} by name")
    found = {name: read_only(_label(name, x, lead[1:])) for name, x in given.labels.items()}
    # in the byte order of this machine, and not to be written to
    plain = {name: None if a is None else np.asarray(a, np.dtype(a.dtype.char)) for name, a in arrays.items()}
    arrays = {name: None if a is None else read_only(a) for name, a in plain.items()}
    return arrays | {"labels": found}


def _label(name: str, value: ArrayLike, batch: Shape) -> NDArray[Any]:
    """Numbers or words, one for each state."""
    a = np.asarray(value)
    if a.shape != batch or a.dtype.kind not in "biufU":
        what = f"has data type {a.dtype} and shape {a.shape}"
        raise ShapeError(f"label {name!r} {what}, expected numbers or words {batch}, one for each state")
    return a


def _read_times(value: ArrayLike) -> FloatArray:
    time = as_floats("time", value, ()).astype(np.float64, copy=False)
    if time.ndim != 1 or not time.size:
        raise ShapeError(f"time has shape {time.shape}, expected (T,), with at least one sample")
    require_finite("time", time)
    falls = np.flatnonzero(np.diff(time) <= 0)
    if falls.size:
        k = int(falls[0])
        raise ShapeError(f"time[{k + 1}] is {time[k + 1]} after {time[k]}, expected times that ascend")
    return time


def _led(name: str, value: ArrayLike, lead: Shape, last: tuple[int | str, ...]) -> FloatArray:
    """An array whose first axes are those of q; of the last ones, those that have a number have that length."""
    a = as_floats(name, value, ())
    rest = a.shape[len(lead) :]
    fits = a.shape[: len(lead)] == lead and len(rest) == len(last)
    if not fits or any(isinstance(n, int) and n != got for n, got in zip(last, rest, strict=True)):
        expected = ", ".join(map(str, (*lead, *last)))
        raise ShapeError(f"{name} has shape {a.shape}, expected ({expected}): the samples and batch axes of q first")
    return a


def _require_quaternions(model: Model, q: FloatArray) -> None:
    """Raise unless all quaternions have unit length, but for those of states that are not finite."""
    if any(entry.joint.quaternions for entry in model.joints):
        finite = np.isfinite(q).all(axis=-1, keepdims=True)
        read(model, "q", q if finite.all() else np.where(finite, q, neutral(model).astype(q.dtype)))


def _whole(name: str, value: ArrayLike | None, batch: Shape, usual: int, most: int) -> IntArray:
    """Whole numbers from 0 to `most`, one for each state."""
    try:
        a = np.asarray(usual if value is None else value)
    except (ValueError, TypeError):
        raise ShapeError(f"{name} is {shown(value)}, expected whole numbers {batch}") from None
    if a.dtype.kind not in "iu" or a.shape not in (batch, ()):
        raise ShapeError(f"{name} has data type {a.dtype} and shape {a.shape}, expected whole numbers {batch}")
    if a.size and not 0 <= a.min() <= a.max() <= most:
        raise ShapeError(f"{name} has entries from {a.min()} to {a.max()}, expected whole numbers from 0 to {most}")
    return np.broadcast_to(a.astype(np.int64), batch)


def _stop_times(value: ArrayLike | None, time: FloatArray, status: IntArray, taken: IntArray) -> FloatArray:
    """When states made their last steps; NaN where there is no telling."""
    if value is None:
        known = np.where(taken < time.size, time[np.minimum(taken, time.size - 1)], np.nan)
        return np.where(status == 0, time[-1], known)
    stopped = as_floats("stopped", value, ()).astype(np.float64, copy=False)
    if stopped.shape not in (status.shape, ()):
        raise ShapeError(f"stopped has shape {stopped.shape}, expected {status.shape}: a time for each state")
    if np.isinf(stopped).any():
        raise FiniteError("stopped is infinite, expected times in s, or NaN where they are not known")
    return np.broadcast_to(stopped, status.shape)
