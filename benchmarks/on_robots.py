"""The robots' part of the report: each job beside its rivals, in batches and by single calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cases import BATCH, JOBS, Bench, Job
from measure import Sampler, fastest, interleaved, on_one_core, python, ratio
from report import Page

__all__ = ["measure_robots"]

TARGETS = {"float64": 10.0, "float32": 18.0, "one call": 2.0}
SCIPY = 20.0


def measure_robots(page: Page, names: Sequence[str], rounds: int) -> None:
    """All jobs on all robots."""
    page.text("## Robots")
    page.text(
        f"One thread, one core. µs per state of a batch ({BATCH} states; for matrices as many as fit the second-level "
        "cache), with `out=` where the function has it and `check=False`, against the rival whose *native* cost is "
        "smallest. Ratios are medians over the rounds with their quartiles."
    )
    batch_rows, one_rows = [], []
    bars: dict[str, dict[str, dict[str, float]]] = {key: {} for key in TARGETS}
    for name in names:
        bench = Bench(name)
        bench.check()
        with on_one_core():
            for job in JOBS:
                rows, one, ratios = _measured(bench, job, rounds)
                batch_rows += rows
                one_rows.append(one)
                for key, value in ratios.items():
                    bars[key].setdefault(job.name, {})[name] = value
                    print(f"{name}: {job.name}, {key}: {value:.1f}", flush=True)
        bench.close()
    columns = ("robot", "job", "type", "states", "bough µs", "rival", "rival µs", "times faster", "target")
    page.table(columns, batch_rows)
    for key in ("float64", "float32"):
        page.bars(key, f"Batches, {key}, one thread", "times faster per state", bars[key], TARGETS[key])
    page.text("One call from Python for one state, arrays in and fresh arrays out, against the fastest rival's call.")
    page.table(("robot", "job", "bough µs", "rival", "rival µs", "times faster", "target"), one_rows)
    page.bars("one", "One call from Python", "times faster than the fastest", bars["one call"], TARGETS["one call"])


def _measured(
    bench: Bench, job: Job, rounds: int
) -> tuple[list[tuple[object, ...]], tuple[object, ...], dict[str, float]]:
    """Rows for batches, the row for one call, and the ratios for the bars."""
    samplers: dict[str, Sampler] = {"one": python(job.one(bench))}
    sizes = {}
    for dtype in (np.float64, np.float32):
        key = np.dtype(dtype).name
        sizes[key] = job.states(bench, dtype)
        samplers[key] = python(job.batch(bench, sizes[key], dtype), sizes[key])
    callers = {f"Python: {label}": python(make(bench)) for label, make in job.rivals.items()}
    natives = {
        f"native: {label}": bench.natives[engine].sampler(native)
        for label, (engine, native) in job.native.items()
        if engine in bench.natives
    }
    samples = interleaved(samplers | callers | natives, rounds)

    best = fastest(samples, list(natives or callers))
    best_call = fastest(samples, list(callers))
    assert best is not None
    assert best_call is not None
    rows, ratios = [], {}
    for key, states in sizes.items():
        against = [(best, TARGETS[key]), *((f"Python: {label}", SCIPY) for label in job.beside)]
        for rival, target in against:
            gain = ratio(samples[rival], samples[key])
            ours, theirs = float(np.median(samples[key])), float(np.median(samples[rival]))
            rows.append((bench.name, job.name, key, states, ours, rival, theirs, gain, target))
            ratios.setdefault(key, gain.median)
    gain = ratio(samples[best_call], samples["one"])
    ratios["one call"] = gain.median
    ours, theirs = float(np.median(samples["one"])), float(np.median(samples[best_call]))
    return rows, (bench.name, job.name, ours, best_call, theirs, gain, TARGETS["one call"]), ratios
