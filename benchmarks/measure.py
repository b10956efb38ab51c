"""Interleaved measurements: what the machine does to one candidate, it does to all, and only ratios are believed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Call", "Ratio", "Sampler", "fastest", "interleaved", "on_one_core", "python", "ratio"]

Call = Callable[[], object]

SHORTEST = 3e-3
"""Seconds that one measurement lasts at least."""

PATIENCE = 12.0
"""Seconds that one candidate may take in all: slow ones are measured fewer times, but never less than twice."""

Samples = NDArray[np.float64]


@dataclass(frozen=True)
class Sampler:
    """Something that can be timed: ``time(repeats)`` gives microseconds per unit, of which a run makes `units`."""

    time: Callable[[int], float]
    units: int = 1


def python(call: Call, units: int = 1, clock: Callable[[], float] = time.thread_time) -> Sampler:
    """A Python call that does `units` units of work; by default the clock is the thread's processor time."""

    def spent(repeats: int) -> float:
        start = clock()
        for _ in range(repeats):
            call()
        return (clock() - start) / repeats / units * 1e6

    return Sampler(spent, units)


def interleaved(samplers: Mapping[str, Sampler], rounds: int) -> dict[str, Samples]:
    """Microseconds per unit of each candidate, once per round, all candidates in each round."""
    repeats, each = {}, {}
    for name, sampler in samplers.items():
        first = sampler.time(1) * sampler.units / 1e6  # compiles, fills caches
        again = sampler.time(1) * sampler.units / 1e6 if first < PATIENCE / 4 else first
        repeats[name] = max(1, int(SHORTEST / max(again, 1e-9)))
        each[name] = max(2, min(rounds, int(PATIENCE / max(again, SHORTEST))))
    samples: dict[str, list[float]] = {name: [] for name in samplers}
    for turn in range(rounds):
        for name, sampler in samplers.items():
            if turn < each[name]:
                samples[name].append(sampler.time(repeats[name]))
    return {name: np.array(values) for name, values in samples.items()}


@dataclass(frozen=True)
class Ratio:
    """A ratio of two costs: median and quartiles over the rounds."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.1f} [{self.low:.1f}, {self.high:.1f}]"


def ratio(slow: Samples, fast: Samples) -> Ratio:
    """How many times faster the second is, round by round."""
    common = min(len(slow), len(fast))
    low, median, high = np.percentile(slow[:common] / fast[:common], (25, 50, 75))
    return Ratio(float(median), float(low), float(high))


def fastest(samples: Mapping[str, Samples], names: list[str]) -> str | None:
    """The candidate with the smallest median."""
    return min(names, key=lambda name: float(np.median(samples[name])), default=None)


@contextmanager
def on_one_core() -> Iterator[None]:
    """Everything on one and the same core for a while, native programs included."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
