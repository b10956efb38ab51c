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

MOST_COPIED = 1 << 30
"""Bytes of the array that is copied: far more than caches hold."""


def device_seconds(run: Callable[[], Any], rounds: int = 7, launches: int = 5) -> float:
    """Seconds that the GPU takes for one of several launches in a row: the median of some rounds, after a first one."""
    events, times = cupy().cuda, []
    run()
    for _ in range(rounds):
        start, end = events.Event(), events.Event()
        start.record()
        for _ in range(launches):
            run()
        end.record()
        end.synchronize()
        times.append(events.get_elapsed_time(start, end) * 1e-3 / launches)
    return float(statistics.median(times))


def peak_operations(dtype: np.dtype[Any]) -> float:
    """Operations per second, two for a multiply-add, of threads that do nothing else."""
    cp = cupy()
    device = cp.cuda.Device()
    module = cp.cuda.function.Module()
    module.load(compile_cuda(peak_source("double" if dtype == np.float64 else "float"), architecture(device.id)))
    kernel = module.get_function("multiply_adds")
    blocks = BLOCKS_EACH * int(device.attributes["MultiProcessorCount"])
    out = cp.zeros(blocks * WIDE_BLOCK, dtype)
    seconds = device_seconds(lambda: kernel((blocks,), (WIDE_BLOCK,), (out, dtype.type(0.5), np.int32(ROUNDS))))
    return 2.0 * CHAINS * LINKS * ROUNDS * WIDE_BLOCK * blocks / seconds


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
