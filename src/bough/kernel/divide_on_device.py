"""Divide and conquer on a GPU: the same rounds on arrays that stay there, each batch of runs or pairs one kernel.

Launching a kernel from Python takes longer than most of them run, so the rounds are recorded once, as a graph of all
kernels with memory of its own, and launched as a whole from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from bough.backends import Argument
from bough.backends.cuda import cupy
from bough.errors import ShapeError
from bough.kernel.arguments import is_on_device
from bough.kernel.device import as_cupy, as_kind, plain_on_device, stream_of
from bough.kernel.divide_and_conquer import SHORT, Rounds, Where
from bough.kernel.handle_programs import Call
from bough.kernel.verdict import SQUARED
from bough.model import Model

__all__ = ["OnDevice"]


class OnDevice:
    """Forward dynamics of a model by divide and conquer on the GPU that its arguments are on.

    Parameters
    ----------
    model
        The mechanism.
    on_cpu
        The same on arrays in the memory of the CPU: it gets what something is wrong with.
    """

    def __init__(self, model: Model, on_cpu: Callable[..., Any]) -> None:
        self._model, self._on_cpu = model, on_cpu
        self._recorded: dict[Any, _Recorded] = {}

    def __call__(self, arguments: Sequence[Argument], values: Sequence[Any], out: Any, check: bool) -> Any:
        """Accelerations (..., nv) from q, v, tau, and f_ext or not."""
        cp, leader = cupy(), next(x for x in values if is_on_device(x))
        with stream_of(cp, leader):
            given = plain_on_device(arguments, values)
            states = [
                cp.broadcast_to(x, (*given.batch, *a.shape)).reshape(-1, *a.shape)
                for x, a in zip(given.arrays, arguments, strict=True)
            ]
            result = cp.empty((given.states, self._model.nv), given.dtype)
            recorded = self._ready(cp, given.dtype, len(arguments))
            wrong = [recorded([x[k] for x in states], result[k]) for k in range(given.states)]
            result = result.reshape(*given.batch, self._model.nv)
            if any(wrong) or (check and not _sound(cp, arguments, states, result)):
                whole = [x.get().reshape(*given.batch, *a.shape) for x, a in zip(states, arguments, strict=True)]
                result = cp.asarray(self._on_cpu(*whole, *[None] * (4 - len(whole)), None, check))
            return as_kind(leader, result) if out is None else _written(cp, out, result)

    def _ready(self, cp: Any, dtype: np.dtype[Any], count: int) -> _Recorded:
        key = (cp.cuda.Device().id, dtype, count)
        if key not in self._recorded:
            self._recorded[key] = _Recorded(self._model, cp, dtype, count)
        return self._recorded[key]


class _Recorded:
    """All rounds as one graph: from arrays of its own to arrays of its own."""

    def __init__(self, model: Model, cp: Any, dtype: np.dtype[Any], count: int) -> None:
        shapes = [(model.nq,), (model.nv,), (model.nv,), (model.nbodies, 6)][:count]
        self._pool, self._lock = cp.cuda.MemoryPool(), Lock()  # nobody else may have what the graph writes to
        stream = cp.cuda.Stream(non_blocking=True)
        with cp.cuda.using_allocator(self._pool.malloc), stream:
            self._wrong = cp.zeros(1, np.int32)
            self._given = [cp.zeros(shape, dtype) for shape in shapes]
            self._given[0][...] = cp.asarray([x for item in model.joints for x in item.joint.neutral()], dtype)
            rounds = Rounds(model, Where(dtype, SHORT, cp, self._call))  # a thread goes along a run alone
            arrays = [*self._given, *[None] * (4 - count)]
            rounds(*arrays)  # compiles all kernels, and takes the memory that they need
            stream.synchronize()
            stream.begin_capture()
            self._wrong[...] = 0
            self._result = rounds(*arrays)
            self._graph = stream.end_capture()

    def __call__(self, state: Sequence[Any], result: Any) -> bool:
        """Fill accelerations (nv,) from one state; whether a pivot vanishes, perhaps, or an angle is far away."""
        with self._lock:
            for own, x in zip(self._given, state, strict=True):
                own[...] = x
            self._graph.launch()
            result[...] = self._result
            return bool(int(self._wrong[0]))

    def _call(self, name: str, of: Any, count: int, dtype: np.dtype[Any]) -> Call:
        return DeviceCall(name, of, count, dtype, self._wrong)


class DeviceCall(Call):
    """A function on all of a batch, by one kernel."""

    def __init__(self, name: str, of: Any, count: int, dtype: np.dtype[Any], wrong: Any) -> None:
        super().__init__(name, of, count, dtype)
        self._wrong, self._made = wrong, cupy().empty((count, self.function.outputs[0].size), dtype)

    def __call__(self, *arrays: Any) -> Any:
        places = [*arrays, *[None] * (len(self.function.inputs) - len(arrays))]
        self.function.form(places).device.fill([x for x in arrays if x is not None], self._made, self._wrong)
        return self._made


def _sound(cp: Any, arguments: Sequence[Argument], states: Sequence[Any], result: Any) -> bool:
    """Whether quaternions are of unit length, and accelerations finite, as they are not if an argument is not."""
    sound = cp.isfinite(result).all()
    for a, x in zip(arguments, states, strict=True):
        for start in a.quaternions:
            sound &= (abs((x[:, start : start + 4] ** 2).sum(axis=1) - 1.0) < SQUARED).all()
    return bool(sound)


def _written(cp: Any, out: Any, result: Any) -> Any:
    if not is_on_device(out):
        raise ShapeError(f"out is {type(out).__name__}, expected an array on the GPU, as the arguments are")
    target = as_cupy(cp, out)
    if target.shape != result.shape or target.dtype != result.dtype:
        raise ShapeError(f"out is {target.dtype} {target.shape}, expected an array of {result.dtype} {result.shape}")
    target[...] = result
    return out
