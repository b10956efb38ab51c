"""The launcher: loads compiled programs and runs them on batches, over threads."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.backends.llvm.artifact import ONE, Artifact
from bough.backends.llvm.batchcall import COMPUTE, INPUTS, RESULTS, TOGETHER, BatchCall
from bough.backends.llvm.fastcall import FastCall
from bough.backends.llvm.target import host
from bough.backends.llvm.types import Real
from bough.backends.protocol import FloatArray, require_size
from bough.backends.threads import run_in_threads, workers

__all__ = ["LlvmKernel"]

ALIGNMENT = 64
_ELEMENTS = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}
_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)


class _Loaded:
    """One artifact in memory, ready to run; its scratch memories are kept for the next call."""

    def __init__(self, artifact: Artifact) -> None:
        self.artifact = artifact
        self._engine = host().load(artifact.code)
        self._entry = _ENTRY(self._engine.get_function_address("kernel"))
        self._spaces: list[tuple[int, NDArray[np.uint8]]] = []  # address in it, scratch memory
        self._count = len(artifact.slots)
        self._pointers = (ctypes.c_void_p * self._count)()
        for k, slot in enumerate(artifact.slots):
            if slot.table is not None:
                self._pointers[k] = slot.table.ctypes.data

    def run(self, arrays: Mapping[str, FloatArray], first: int, states: int) -> None:
        """Run states first … first + states - 1; the interpreter is free for others meanwhile."""
        pointers = type(self._pointers).from_buffer_copy(self._pointers)
        strides = (ctypes.c_int64 * self._count)()
        for k, slot in enumerate(self.artifact.slots):
            if slot.role in ("input", "output"):
                a = arrays[slot.name]
                require_size(slot.name, a, slot.size)
                strides[k] = a.strides[0]
                pointers[k] = a.__array_interface__["data"][0] + first * a.strides[0]
        space = self._take()
        self._entry(pointers, strides, states, space[0])
        self._spaces.append(space)

    def fast(self, shape: tuple[int, ...]) -> FastCall | None:
        """The function that runs one state from Python and returns the first output in the given shape."""
        if not self.artifact.fast:
            return None
        space = np.zeros(self.artifact.space + ALIGNMENT, np.uint8)
        base = _aligned(space)
        buffers, keep = [], [space]
        for k, slot in enumerate(self.artifact.slots):
            if slot.role == "output":
                keep.append(np.zeros(8 * slot.size, np.uint8))
                buffers.append(keep[-1].ctypes.data)
            else:
                buffers.append(self._pointers[k] or 0 if slot.offset is None else base + slot.offset)
        spills, indices = base + self.artifact.spills, base + self.artifact.indices
        return FastCall(self._engine.get_function_address("call"), buffers, spills, indices, shape, (keep, self))

    @cached_property
    def _many(self) -> BatchCall | None:
        if not self.artifact.fast:
            return None
        tables = [pointer or 0 for pointer in self._pointers]
        dtype = np.dtype(np.float64 if self.artifact.real.element == "double" else np.float32)
        return BatchCall(self._engine.get_function_address("many"), tables, dtype, self)

    def many(
        self, inputs: tuple[object, ...], out: FloatArray, states: int, check: bool, fresh: bool
    ) -> FloatArray | None:
        """Fill `out` from plain arrays and return it; None if they are not plain or the result is not sound.

        Unless `out` is fresh, nothing is written before all inputs are known to be sound.
        """
        call = self._many
        if call is None:
            return None

        def work(what: int, first: int, count: int) -> FloatArray | None:
            space = self._take()
            done: FloatArray | None = call.function(*inputs, out, space[0], first, count, what)
            self._spaces.append(space)
            return done

        width = self.artifact.real.lanes
        if not check:
            passes: tuple[int, ...] = (COMPUTE,)
        elif fresh:
            passes = (TOGETHER + COMPUTE + RESULTS,)
        elif workers(states, width) == 1:
            passes = (INPUTS + COMPUTE + RESULTS,)
        else:
            passes = (INPUTS, COMPUTE + RESULTS)
        for what in passes:
            if any(part is None for part in run_in_threads(partial(work, what), states, width)):
                return None
        return out

    def _take(self) -> tuple[int, NDArray[np.uint8]]:
        try:
            return self._spaces.pop()
        except IndexError:
            space = np.zeros(self.artifact.space + ALIGNMENT, np.uint8)
            return _aligned(space), space


def _aligned(space: NDArray[np.uint8]) -> int:
    address: int = space.__array_interface__["data"][0]
    return -(-address // ALIGNMENT) * ALIGNMENT


class LlvmKernel:
    """Machine code for one algorithm on one structure, made when first needed: per data type, for one state or many."""

    def __init__(self, artifact: Callable[[Real], Artifact]) -> None:
        self._artifact = artifact
        self._loaded: dict[Real, _Loaded] = {}
        self._lock = threading.Lock()
        self._single: FastCall | None = None

    def __call__(self, inputs: Mapping[str, FloatArray], outputs: Mapping[str, FloatArray]) -> None:
        """Read each input (batch, size) and fill each output (batch, size)."""
        result = next(iter(outputs.values()))
        batch, dtype = result.shape[0], result.dtype
        if batch == 0:
            return
        arrays = {name: _rows(a, dtype) for name, a in inputs.items()} | dict(outputs)
        element = "double" if dtype == np.float64 else "float"
        width = host().vector_bytes // dtype.itemsize
        ready = self._ready(Real(element, 1 if batch == 1 else width))
        if batch < 2 * width:
            ready.run(arrays, 0, batch)
        else:
            run_in_threads(lambda first, states: ready.run(arrays, first, states), batch, width)

    def fast(self, shape: tuple[int, ...]) -> FastCall | None:
        """The function that runs one state in float64 from Python, if there can be one."""
        return self._ready(ONE).fast(shape)

    def many(self, inputs: tuple[object, ...], shape: tuple[int, ...], out: object, check: bool) -> FloatArray | None:
        """The first output, of this shape for one state, if all arrays are plain with one batch axis; else None.

        It is written to `out` unless that is None. What is None is left to the long way, which says what is wrong.
        """
        first = inputs[0]
        if type(first) is not np.ndarray or first.ndim == 0:
            return None
        if first.ndim == 1:
            return self._one(shape, inputs) if out is None else None
        if len(first) < 2:
            return None
        element = _ELEMENTS.get(first.dtype)
        if element is None:
            return None
        fresh = out is None
        if out is None:
            out = np.empty((len(first), *shape), first.dtype)
        elif type(out) is not np.ndarray:
            return None
        ready = self._ready(Real(element, host().vector_bytes // first.dtype.itemsize))
        return ready.many(inputs, out, len(first), check, fresh)

    def _one(self, shape: tuple[int, ...], inputs: tuple[object, ...]) -> FloatArray | None:
        """The first output for one state."""
        if self._single is None:
            made = self.fast(shape)
            if made is None:
                return None
            self._single = made
        result: FloatArray | None = self._single.function(*inputs)
        return result

    def _ready(self, real: Real) -> _Loaded:
        if real not in self._loaded:
            with self._lock:
                if real not in self._loaded:
                    self._loaded[real] = _Loaded(self._artifact(real))
        return self._loaded[real]


def _rows(a: FloatArray, dtype: np.dtype[Any]) -> FloatArray:
    """The array itself if its rows are contiguous and of the right type, else a copy."""
    if a.dtype != dtype:
        a = a.astype(dtype)
    return a if a.shape[1] <= 1 or a.strides[1] == a.itemsize else np.ascontiguousarray(a)
