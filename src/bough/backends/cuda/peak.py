"""What a GPU can do at most, measured on it: multiply-adds per second, and bytes per second from memory to memory."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from bough.backends.cuda.compiler import architecture, compile_cuda, cupy

__all__ = ["device_seconds", "memory_bandwidth", "peak_operations"]

CHAINS, LINKS = 8, 64
"""Multiply-adds that a thread has under way at once, and those of a chain in one round."""

ROUNDS, WIDE_BLOCK, BLOCKS_EACH = 400, 256, 16
"""Rounds of a thread, threads of a block, and blocks for each multiprocessor."""

BUSY_ROUNDS = 5000
"""Rounds of one block that take a GPU some milliseconds."""

MOST_COPIED = 1 << 30
"""Bytes of the array that is copied: far more than caches hold."""


def device_seconds(run: Callable[[], Any], rounds: int = 7, launches: int = 5) -> float:
    """Seconds that the GPU takes for one of several launches in a row: the median of some rounds, after a first one.

    The GPU is busy while they queue up, so that what happens here between one launch and the next does not count.
    """
    events, times = cupy().cuda, []
    busy = _multiply_adds(np.dtype(np.float32), 1, BUSY_ROUNDS)
    run()
    for _ in range(rounds):
        start, end = events.Event(), events.Event()
        busy()
        start.record()
        for _ in range(launches):
            run()
        end.record()
        end.synchronize()
        times.append(events.get_elapsed_time(start, end) * 1e-3 / launches)
    return float(statistics.median(times))


def peak_operations(dtype: np.dtype[Any]) -> float:
    """Operations per second, two for a multiply-add, of threads that do nothing else."""
    blocks = BLOCKS_EACH * int(cupy().cuda.Device().attributes["MultiProcessorCount"])
    seconds = device_seconds(_multiply_adds(dtype, blocks, ROUNDS))
    return 2.0 * CHAINS * LINKS * ROUNDS * WIDE_BLOCK * blocks / seconds


def _multiply_adds(dtype: np.dtype[Any], blocks: int, rounds: int) -> Callable[[], None]:
    """What launches so many blocks of threads that multiply and add."""
    cp = cupy()
    module = cp.cuda.function.Module()
    real = "double" if dtype == np.float64 else "float"
    module.load(compile_cuda(peak_source(real), architecture(cp.cuda.Device().id)))
    kernel, out = module.get_function("multiply_adds"), cp.zeros(blocks * WIDE_BLOCK, dtype)
    return lambda: kernel((blocks,), (WIDE_BLOCK,), (out, dtype.type(0.5), np.int32(rounds)))


def peak_source(real: str) -> str:
    """A kernel that multiplies and adds."""
    return f"""\
extern "C" __global__ void multiply_adds({real} *out, {real} x, int rounds) {{
    {real} a[{CHAINS}];
    for (int k = 0; k < {CHAINS}; ++k) a[k] = threadIdx.x + k;
    for (int r = 0; r < rounds; ++r)
#pragma unroll
        for (int j = 0; j < {LINKS}; ++j)
#pragma unroll
            for (int k = 0; k < {CHAINS}; ++k) a[k] = fma(a[k], x, x);
    {real} sum = 0;
    for (int k = 0; k < {CHAINS}; ++k) sum += a[k];
    out[(long long)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}}
"""


def memory_bandwidth() -> float:
    """Bytes per second, read and written, of a copy from memory to memory."""
    cp = cupy()
    count = min(MOST_COPIED, int(cp.cuda.runtime.memGetInfo()[0]) // 4)
    here = cp.zeros(count, np.uint8)
    there = cp.empty_like(here)
    return 2.0 * int(count) / device_seconds(lambda: cp.copyto(there, here))
