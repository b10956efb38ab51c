"""Kernels: loaded and launched through CuPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bough.backends.cuda.code import code_of
from bough.backends.cuda.compiler import cupy, turn
from bough.backends.cuda.source import ENTRY, STRAIGHT_BLOCK

__all__ = ["CudaKernel"]

NOWHERE = np.uintp(0)

SHARED_ATTRIBUTE = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: a kernel that is launched with much shared memory has to say so."""

LEAST_ORDERED = 4096
"""States below which they are run in the order in which they lie."""


class CudaKernel:
    """A program that is loaded on the present GPU, from what `program_code` made: one kernel, or several in a row.

    Threads of a warp wait for each other. Of a program that searches, states that cost much in the last call are run
    beside each other, and first: robots that lie on the floor do so for a while. What comes out does not depend on it.
    """

    def __init__(self, stored: bytes, dtype: np.dtype[Any]) -> None:
        self._code = code_of(stored)
        self._dtype, self._parts, self._kernels = dtype, self._code.parts, []
        self._costs: Any = None
        self._processors = int(cupy().cuda.Device().attributes["MultiProcessorCount"])
        for part in self._parts:
            module = cupy().cuda.function.Module()
            module.load(part.code)
            kernel = module.get_function(ENTRY)
            if part.shared:
                cupy().cuda.driver.funcSetAttribute(kernel.ptr, SHARED_ATTRIBUTE, part.shared)
            self._kernels.append(kernel)

    def __call__(
        self, states: int, inputs: Sequence[Any], outputs: Sequence[Any], wrong: Any = None, verdicts: Any = None
    ) -> None:
        """Run it for so many states on the current stream; what is wrong, and verdicts, are told where asked for."""
        cp = cupy()
        flags = [NOWHERE if x is None else x for x in (wrong, verdicts)]
        whole, written = -(-states // STRAIGHT_BLOCK) * STRAIGHT_BLOCK, list(outputs)
        for k in self._code.turned:
            written[k] = cp.empty((outputs[k].size // states, states), self._dtype)
        known = {
            "input": inputs,
            "output": written,
            "carried": [cp.empty(size * whole, self._dtype) for size in self._code.carried],
        }
        for kernel, part in zip(self._kernels, self._parts, strict=True):
            arguments = (np.int64(states), flags[0], *(known[x.role][x.number] for x in part.arrays), flags[1])
            if part.is_search:
                arguments = (*arguments, *self._order(states))
            blocks, threads = part.blocks(states, self._processors), part.threads(states, self._processors)
            kernel((blocks,), (threads,), arguments, shared_mem=part.shared)
        for k in self._code.turned:
            turn(written[k], outputs[k])

    def _order(self, states: int) -> tuple[Any, Any]:
        """The order in which states are run, and where they tell what they cost."""
        cp, before = cupy(), self._costs
        if states < LEAST_ORDERED:
            return NOWHERE, NOWHERE
        self._costs = cp.zeros(states, np.int32)
        if before is None or len(before) != states:
            return NOWHERE, self._costs
        return cp.argsort(-before).astype(np.int32), self._costs

    @property
    def registers(self) -> int:
        """Registers of a thread, the most of all parts."""
        return max(int(cupy().cuda.driver.funcGetAttribute(4, kernel.ptr)) for kernel in self._kernels)

    @property
    def local_bytes(self) -> int:
        """Bytes of a thread that fit in no register and not in shared memory, the most of all parts."""
        return max(int(cupy().cuda.driver.funcGetAttribute(3, kernel.ptr)) for kernel in self._kernels)
