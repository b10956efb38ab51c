"""The pool of threads as Python sees it: made when first needed, made anew after a fork, stopped at exit."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import threading
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.backends.native import pool
from bough.backends.native.primitives import address_of
from bough.backends.threads import get_num_threads, watch_num_threads

__all__ = ["Pool", "the_pool"]

ROOM = 256  # bytes for a mutex or a condition of any system
WORTH = 60_000_000  # picoseconds of work that pay for waking a thread


class Pool:
    """Native threads, and the memory through which they are told what to do."""

    def __init__(self) -> None:
        room: NDArray[np.int64] = np.zeros(pool.WORDS + 8 + 2 * ROOM // 8, np.int64)
        self._words = room[-room.ctypes.data // 8 % 8 :]  # from the beginning of a cache line on
        self.address = self._words.ctypes.data
        self._system = _Windows() if sys.platform == "win32" else _Posix()
        self._threads: list[Any] = []
        self._lock = threading.Lock()
        self._worker = self._stop = 0
        self._clear()
        watch_num_threads(self.set_threads)
        atexit.register(self._finish)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def use(self, worker: int, stop: int) -> None:
        """Tell it where the code of workers is."""
        self._worker, self._stop = worker, stop

    def set_threads(self, count: int) -> None:
        """Say how many threads may share a batch."""
        self._words[pool.THREADS] = count

    def set_worth(self, picoseconds: int = WORTH) -> None:
        """Say how much work pays for waking a thread."""
        self._words[pool.WORTH] = picoseconds

    def wants_workers(self, work: int) -> bool:
        """Whether there is work (in picoseconds) for more workers than there are."""
        worth, threads, created = self._words[[pool.WORTH, pool.THREADS, pool.CREATED]].tolist()
        return bool(min(work // worth, threads) - 1 > created)

    def grow(self) -> None:
        """Start the workers that are missing; where the system refuses, fewer threads share a batch from then on."""
        with self._lock:
            while self._words[pool.CREATED] < self._words[pool.THREADS] - 1:
                if not self._start():
                    self._words[pool.THREADS] = self._words[pool.CREATED] + 1
                    return
                self._words[pool.CREATED] += 1

    def _start(self) -> bool:
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()) if os.name == "posix" else None
        try:
            thread = self._system.start(self._worker, self.address)
        finally:
            if blocked is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if thread is not None:
            self._threads.append(thread)
        return thread is not None

    def _clear(self) -> None:
        """The state without workers."""
        self._words[:] = 0
        mutex, condition = self.address + 8 * pool.WORDS, self.address + 8 * pool.WORDS + ROOM
        self._system.make(mutex, condition)
        functions = (*self._system.functions, *(address_of(getattr(ctypes.pythonapi, f)) for f in pool.MEMORY[::2]))
        self._words[: len(functions) + 1] = (*functions, self._system.give_way)
        self._words[[pool.MUTEX, pool.CONDITION, pool.THREADS]] = mutex, condition, get_num_threads()
        self.set_worth()

    def _forget(self) -> None:
        """A child has none of its parent's threads."""
        self._lock = threading.Lock()
        self._threads = []
        self._clear()

    def _finish(self) -> None:
        if self._threads:
            ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(self._stop)(self.address)
            for thread in self._threads:
                self._system.join(thread)
            self._threads = []


class _Posix:
    """Threads, mutexes and conditions of POSIX."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        names = ("pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_wait", "pthread_cond_signal")
        self.functions = tuple(address_of(getattr(self._library, f)) for f in (*names, "pthread_cond_broadcast"))
        self.give_way = address_of(self._library.sched_yield)

    def make(self, mutex: int, condition: int) -> None:
        self._library.pthread_mutex_init(ctypes.c_void_p(mutex), None)
        self._library.pthread_cond_init(ctypes.c_void_p(condition), None)

    def start(self, function: int, argument: int) -> Any:
        thread = ctypes.c_void_p()
        started = self._library.pthread_create(
            ctypes.byref(thread), None, ctypes.c_void_p(function), ctypes.c_void_p(argument)
        )
        return thread if started == 0 else None

    def join(self, thread: Any) -> None:
        self._library.pthread_join(thread, None)


class _Windows:
    """The same of Windows."""

    def __init__(self) -> None:
        self._library: Any = ctypes.CDLL("kernel32")
        names = ("AcquireSRWLockExclusive", "ReleaseSRWLockExclusive", "SleepConditionVariableSRW")
        names = (*names, "WakeConditionVariable", "WakeAllConditionVariable")  # type: ignore[assignment]
        self.functions = tuple(address_of(getattr(self._library, f)) for f in names)
        self.give_way = address_of(self._library.SwitchToThread)

    def make(self, mutex: int, condition: int) -> None:
        """Zeros are what it takes."""

    def start(self, function: int, argument: int) -> Any:
        create = self._library.CreateThread
        create.restype = ctypes.c_void_p
        return create(None, ctypes.c_size_t(0), ctypes.c_void_p(function), ctypes.c_void_p(argument), 0, None)

    def join(self, thread: Any) -> None:
        self._library.WaitForSingleObject(ctypes.c_void_p(thread), 0xFFFFFFFF)
        self._library.CloseHandle(ctypes.c_void_p(thread))


@lru_cache(maxsize=1)
def the_pool() -> Pool:
    """The pool of this process."""
    return Pool()
