"""Times of several ways to one result, measured in turns, so that what else runs on the machine slows all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

__all__ = ["interleaved_times"]

SHORTEST_FIGURE = 1e-3  # seconds that one figure is measured for at least
MOST_ROUNDS = 51  # turns
SLOW = 0.5  # seconds; what takes longer is run once


def interleaved_times(ways: Mapping[str, Callable[[], object]], seconds: float) -> dict[str, list[float]]:
    """Microseconds that each way takes, one figure per turn; ways that take longer than `SLOW` run once.

    Turns are repeated for `seconds` times the number of ways, or `MOST_ROUNDS` times. The clock is the processor time
    of this thread, so that what others run in between does not count. Each way runs once before the clock starts: what
    the others have left in the caches is not its fault.
    """
    samples: dict[str, list[float]] = {}
    repeats = {}
    for name, way in ways.items():
        first, again = _spent(way, 1), 0.0
        if first < SLOW:
            again = _spent(way, 1)
            repeats[name] = max(1, int(min(SHORTEST_FIGURE, seconds) / max(again, 1e-9)))
        samples[name] = [1e6 * (again or first)]  # the first run is slower than others
    end = time.perf_counter() + seconds * len(ways)
    for _ in range(MOST_ROUNDS):
        if time.perf_counter() >= end:
            break
        for name, count in repeats.items():
            ways[name]()
            samples[name].append(1e6 * _spent(ways[name], count))
    return samples


def _spent(way: Callable[[], object], repeats: int) -> float:
    start = time.thread_time()
    for _ in range(repeats):
        way()
    return (time.thread_time() - start) / repeats
