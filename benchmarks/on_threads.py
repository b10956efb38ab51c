"""What more threads give: time per state for batches of all sizes, from one thread to all there are.

    python benchmarks/on_threads.py [ROUNDS]

It needs nothing but bough and its own robots, so that it runs where rivals are not installed.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial

import numpy as np
from measure import Call, interleaved, python
from report import Page

import bough

__all__ = ["measure_threads"]

SIZES = (32, 256, 1024, 4096, 65_536, 1_048_576)
JOBS = (
    ("inverse dynamics, arm", "arm", bough.rnea),
    ("forward dynamics, quadruped", "quadruped", bough.forward_dynamics),
    ("forward dynamics, humanoid", "humanoid", bough.forward_dynamics),
)


def measure_threads(page: Page, rounds: int) -> None:
    """A table for each job: ns per state, and how many times faster than one thread."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    counts = sorted({1, 2, 4, 8, 16, cores} & set(range(1, cores + 1)))
    page.text(f"## Threads: {cores} processors, elapsed ns per state (times faster than one thread)")
    for title, robot, function in JOBS:
        model = bough.robots.load(robot)
        rows = []
        for size in SIZES:
            q = np.resize(bough.random(model, 0, size=256), (size, model.nq))
            v, a = np.random.default_rng(0).normal(size=(2, size, model.nv))
            out = np.empty((size, model.nv))

            samplers = {}
            for n in counts:
                call = _on_threads(n, partial(function, model, q, v, a, out=out, check=False))
                samplers[str(n)] = python(call, size, time.perf_counter)
            samples = interleaved(samplers, rounds)
            one = samples["1"]
            cells = [f"{np.median(s) * 1e3:.1f} ({np.median(one[: len(s)] / s):.1f}x)" for s in samples.values()]
            rows.append((f"{size:,}".replace(",", " "), *cells))
        page.text(f"### {title}")
        page.table(("states", *(f"{n} threads" for n in counts)), rows)
    bough.set_num_threads(1)


def _on_threads(count: int, call: Call) -> Call:
    def run() -> object:
        bough.set_num_threads(count)
        return call()

    return run


if __name__ == "__main__":
    measure_threads(Page(None), int(sys.argv[1]) if len(sys.argv) > 1 else 9)
