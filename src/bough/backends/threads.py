"""Threads for large batches: a pool made once, blocks of states handed out whole, the same results for any number."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from bough.errors import ShapeError

__all__ = ["get_num_threads", "run_in_threads", "set_num_threads", "workers"]

T = TypeVar("T")

LEAST = 64  # states per thread below which a second thread does not pay

_lock = threading.Lock()
_pool: tuple[int, int, ThreadPoolExecutor] | None = None  # process, size, pool
_chosen: int | None = None


def get_num_threads() -> int:
    """The number of threads large batches use.

    What `set_num_threads` was told, else the environment variable BOUGH_NUM_THREADS, else the number of processors.
    """
    if _chosen is not None:
        return _chosen
    told = os.environ.get("BOUGH_NUM_THREADS", "")
    if told:
        if not told.isdigit() or int(told) < 1:
            raise ShapeError(f"BOUGH_NUM_THREADS is {told!r}, expected a positive number")
        return int(told)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_num_threads(count: int | None) -> None:
    """Choose the number of threads large batches use; None for the default. Results do not depend on it."""
    global _chosen
    if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
        raise ShapeError(f"the number of threads is {count!r}, expected a positive integer or None")
    _chosen = count


def workers(states: int, block: int) -> int:
    """How many threads share so many states, handed out in multiples of `block`."""
    most = states // max(LEAST, block)
    return 1 if most < 2 else min(get_num_threads(), most)


def run_in_threads(job: Callable[[int, int], T], states: int, block: int) -> list[T]:
    """Run ``job(first, count)`` over all states, cut at multiples of `block`; returns what the jobs returned."""
    count = workers(states, block)
    if count == 1:
        return [job(0, states)]
    share = -(-states // (count * block)) * block
    pieces = [(first, min(share, states - first)) for first in range(0, states, share)]
    pool = _get_pool(len(pieces) - 1)
    futures = [pool.submit(job, first, size) for first, size in pieces[1:]]
    own = job(*pieces[0])
    return [own, *(future.result() for future in futures)]


def _get_pool(size: int) -> ThreadPoolExecutor:
    """The pool, made anew after a fork or when it is too small."""
    global _pool
    with _lock:
        if _pool is None or _pool[0] != os.getpid() or _pool[1] < size:
            _pool = (os.getpid(), size, ThreadPoolExecutor(size, thread_name_prefix="bough"))
        return _pool[2]
