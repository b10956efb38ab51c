"""One compiled program in memory, and the slow way to run it: every interpreter has that."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bough.backends.llvm.artifact import Artifact
from bough.backends.llvm.target import host
from bough.backends.protocol import FloatArray, require_size
from bough.program import VERDICT

__all__ = ["ALIGNMENT", "Loaded"]

ALIGNMENT = 64
_KERNEL = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p
)


class Loaded:
    """An artifact that can run, with what keeps it alive.

    Attributes
    ----------
    address
        Where its kernel is, see `entry_source`.
    pointers
        For each buffer the address of its table, or zero; then as many zeros for the strides.
    """

    def __init__(self, artifact: Artifact) -> None:
        self.artifact = artifact
        self._code = host().load(artifact.code, ["kernel"])
        self.address: int = self._code["kernel"]
        tables = [0 if slot.table is None else slot.table.ctypes.data for slot in artifact.slots]
        self.pointers: NDArray[np.int64] = np.array(tables + [0] * len(tables), np.int64)

    def __call__(self, inputs: Mapping[str, FloatArray], outputs: Mapping[str, FloatArray]) -> None:
        """Read each input (batch, size) and fill each output (batch, size)."""
        arrays, copies = {**inputs, **outputs}, []
        dtype = np.dtype(np.float64 if self.artifact.real.element == "double" else np.float32)
        for slot in self.artifact.slots:
            if slot.role in ("input", "output") and slot.name != VERDICT:
                a = arrays[slot.name]
                require_size(slot.name, a.shape[1], slot.size)
                if a.dtype != dtype or (slot.size > 1 and a.strides[1] != a.itemsize):
                    arrays[slot.name] = np.ascontiguousarray(a, dtype)
                    copies.append(slot.name)
        verdicts = np.zeros(next(iter(arrays.values())).shape[0])
        if len(verdicts):
            self.bound(arrays, verdicts)()
        if VERDICT in outputs:
            outputs[VERDICT][:, 0] = verdicts
        for name in outputs.keys() & copies:
            outputs[name][...] = arrays[name]

    def bound(self, arrays: Mapping[str, FloatArray], verdicts: NDArray[np.float64]) -> Callable[[], int]:
        """What runs it on arrays (batch, size) that stay where they are, again and again; returns what is wrong."""
        words, count = self.pointers.copy(), len(self.artifact.slots)
        for k, slot in enumerate(self.artifact.slots):
            if slot.role in ("input", "output") and slot.name != VERDICT:
                words[k], words[count + k] = arrays[slot.name].ctypes.data, arrays[slot.name].strides[0]
        space = np.zeros(self.artifact.space + ALIGNMENT, np.uint8)
        aligned, first = -(-space.ctypes.data // ALIGNMENT) * ALIGNMENT, words.ctypes.data
        run, given = _KERNEL(self.address), (first, first + 8 * count, 0, len(verdicts), aligned, verdicts.ctypes.data)
        return partial(lambda kept: int(run(*given)), (self, arrays, verdicts, words, space))
