"""Times of several ways to one result, measured in turns, so that what else runs on the machine slows all of them.

The clock is that of one thread, so others must not work for it: `one_thread` holds bough and BLAS to one.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bough.backends.threads import get_num_threads, set_num_threads

__all__ = ["interleaved_times", "one_thread"]

NAMES_IN_BLAS = ("openblas_{}_num_threads", "openblas_{}_num_threads64_")
"""How OpenBLAS calls what says how many threads it has; the copies in NumPy and SciPy put "scipy_" before it."""

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


@contextmanager
def one_thread() -> Iterator[None]:
    """Have bough, and each OpenBLAS that is loaded, work on one thread for a while.

    Where loaded libraries cannot be listed, elsewhere than on Linux, set OPENBLAS_NUM_THREADS=1 in the environment.
    """
    before = get_num_threads()
    libraries = [(put, get()) for put, get in _blas()]
    set_num_threads(1)
    for put, _ in libraries:
        put(1)
    try:
        yield
    finally:
        set_num_threads(before)
        for put, count in libraries:
            put(count)


def _blas() -> Iterator[tuple[Any, Any]]:
    """What sets and what tells the number of threads, of each OpenBLAS in this process."""
    try:
        loaded = Path("/proc/self/maps").read_text("utf-8", "replace")
    except OSError:
        return
    for path in sorted(set(re.findall(r"(/\S*openblas\S*\.so\S*)", loaded))):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for name in (prefix + name for prefix in ("", "scipy_") for name in NAMES_IN_BLAS):
            put, get = (getattr(library, name.format(verb), None) for verb in ("set", "get"))
            if put is not None and get is not None:
                yield put, get
                break
