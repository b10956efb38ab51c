"""Measures bough and its rivals side by side, interleaved in one run, and prints ratios with their spread.

    python benchmarks/run.py [robot ...] [--float32] [--png FILE] [--rounds N]

Per state and one thread. A rival's cost is that of its Python call; with a compiler, `benchmarks/native` gives
Pinocchio's native cost too (built on demand, minutes). Only ratios within one run mean anything on a shared machine.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from cases import JOBS, Bench, Call, Job
from native import native_times
from robots import ROBOTS

import bough

BATCH = 4096
SHORTEST = 2e-3  # seconds that one measurement lasts at least


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot", nargs="*", choices=[*ROBOTS, []], help=f"which of {', '.join(ROBOTS)}; all by default")
    parser.add_argument("--float32", action="store_true", help="measure batches in float32")
    parser.add_argument("--rounds", type=int, default=25, help="interleaved repetitions")
    parser.add_argument("--png", type=Path, help="draw the ratios of batches to this file")
    options = parser.parse_args()
    bough.set_num_threads(1)
    dtype = np.float32 if options.float32 else np.float64
    ratios: dict[str, dict[str, float]] = {}
    print(f"{'':9}{'job':22}{'rival':22}{'rival':>9}{'batch':>9}{'one':>9}   batch / one: times faster [spread]")
    for name in options.robot or ROBOTS:
        bench = Bench(name, BATCH, dtype)
        native = native_times(name, bench)
        for job in JOBS:
            ratios.setdefault(job.name, {})[name] = report(bench, job, options.rounds, native)
    if options.png:
        draw(ratios, options.png, options.float32)


def per_call(call: Call, repeats: int) -> float:
    """Seconds per call, over some repeats."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def report(bench: Bench, job: Job, rounds: int, native: dict[str, float]) -> float:
    """Measure one job on one robot and print it; returns how many times faster a batch is than the fastest rival."""
    calls = {"batch": job.batch(bench), "one": job.one(bench)} | {k: f(bench) for k, f in job.rivals.items()}
    repeats = {}
    for key, call in calls.items():
        call()
        call()
        repeats[key] = max(1, int(SHORTEST / per_call(call, 1)))
    samples = {key: [] for key in calls}
    for _ in range(rounds):  # interleaved: what the machine does to one, it does to all
        for key, call in calls.items():
            samples[key].append(per_call(call, repeats[key]))
    states = 256 if "packed" in job.name else bench.batch
    batch = np.array(samples["batch"]) / states * 1e6
    one = np.array(samples["one"]) * 1e6
    costs = {key: np.array(samples[key]) * 1e6 for key in job.rivals}
    if job.native in native:
        costs["Pinocchio native"] = np.full(rounds, native[job.native])
    for rival, cost in costs.items():
        low, high = np.percentile(cost / batch, (25, 75))
        print(
            f"{bench.name:9}{job.name:22}{rival:22}{np.median(cost):8.2f} {np.median(batch):8.3f} {np.median(one):8.2f}"
            f"   {np.median(cost / batch):5.1f} [{low:.1f}, {high:.1f}] / {np.median(cost / one):.1f}"
        )
    return float(min(np.median(cost / batch) for cost in costs.values()))


def draw(ratios: dict[str, dict[str, float]], file: Path, single: bool) -> None:
    """Bars: how many times faster than the fastest rival a batch is."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    names = list(next(iter(ratios.values())))
    width = 0.8 / len(ratios)
    for k, (job, values) in enumerate(ratios.items()):
        places = np.arange(len(names)) + (k - (len(ratios) - 1) / 2) * width
        axes.bar(places, [values[name] for name in names], width, label=job)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel("times faster per state than the fastest rival")
    axes.set_title(f"Batches of {BATCH} states, one thread, {'float32' if single else 'float64'}")
    axes.legend()
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    main()
