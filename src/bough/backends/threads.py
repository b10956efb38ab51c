"""How many threads share a batch."""

from __future__ import annotations

import os
from collections.abc import Callable

from bough.errors import ShapeError

__all__ = ["get_num_threads", "set_num_threads", "watch_num_threads"]

MOST_THREADS = 1024
"""More would only wait for each other."""

_chosen: int | None = None
_watchers: list[Callable[[int], None]] = []


def get_num_threads() -> int:
    """Return the number of threads for large batches.

    It is the choice of `set_num_threads`, or else of the environment variable BOUGH_NUM_THREADS, or else the number of
    processors.

    Examples
    --------
    >>> import bough
    >>> bough.get_num_threads() >= 1
    True
    """
    if _chosen is not None:
        return _chosen
    told = os.environ.get("BOUGH_NUM_THREADS", "")
    if told:
        if not told.isdigit() or not 1 <= int(told) <= MOST_THREADS:
            raise ShapeError(f"BOUGH_NUM_THREADS is {told!r}, expected a whole number from 1 to {MOST_THREADS}")
        return int(told)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_num_threads(count: int | None) -> None:
    """Choose the number of threads for large batches; None: the default. Results do not depend on it.

    Examples
    --------
    >>> import bough
    >>> bough.set_num_threads(2)
    >>> bough.get_num_threads()
    2
    >>> bough.set_num_threads(None)
    """
    global _chosen
    if count is not None and (not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_THREADS):
        raise ShapeError(f"the number of threads is {count!r}, expected an integer from 1 to {MOST_THREADS}, or None")
    _chosen = count
    for watcher in _watchers:
        watcher(get_num_threads())


def watch_num_threads(watcher: Callable[[int], None]) -> None:
    """Have a function told whenever the number is chosen."""
    _watchers.append(watcher)
