"""Work with LLVM has a thread of its own, where no signal disturbs it.

Python runs handlers of signals in the main thread, between any two steps of whatever that is doing. What llvmlite does
there cannot stand it: an exception that comes after something was freed and before that is noted has it freed again,
and one that comes while a lock is taken leaves it locked. Who waits for the thread can be interrupted at any time.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from bough.backends.forks import using_llvm

__all__ = ["in_own_thread"]

T = TypeVar("T")

LOOK_AGAIN = 0.05
"""Seconds after which one who waits looks whether a signal came: not every system wakes it."""

STACK = 16 << 20
"""Bytes of stack that LLVM has, whatever other threads have."""


class _Here(threading.local):
    """What is known of each thread."""

    within = False  # whether it works with LLVM, or is the last one that may


_here = _Here()


def in_own_thread(work: Callable[[], T]) -> T:
    """What `work` returns or raises, done in a thread of its own, one piece of work at a time.

    Whoever is interrupted while it waits leaves at once. Work that has begun is finished then, and what it returns is
    dropped; work that has not begun is left undone. What it returns must be harmless wherever it is dropped.
    """
    if _here.within:
        return work()
    return _Piece(work).result()


class _Piece(Generic[T]):
    """A piece of work, and what became of it."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._returned: list[T] = []
        self._raised: list[BaseException] = []
        self._wanted = True
        self._done = _thread.allocate_lock()
        self._done.acquire()

    def result(self) -> T:
        """Have it done, and wait for it."""
        process = 0
        try:
            while not (process and self._done.acquire(timeout=LOOK_AGAIN)):
                if process != os.getpid():  # not yet; or a handler forked meanwhile, and a child has no other threads
                    process = os.getpid()
                    self._start()
        finally:
            self._wanted = False
        if self._raised:
            raise self._raised.pop()
        return self._returned[0]

    def _start(self) -> None:
        usual = _thread.stack_size()
        try:
            _thread.stack_size(STACK)
            _thread.start_new_thread(self._run, ())
        except RuntimeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # of a signal's handler
                raise
            self._run()  # there are no more threads to be had
        finally:
            _thread.stack_size(usual)

    def _run(self) -> None:
        with using_llvm:
            if self._wanted:
                _here.within, collects = True, gc.isenabled()
                gc.disable()  # what is done when garbage goes may wait for locks of the one who waits for us
                try:
                    self._returned.append(self._work())
                except BaseException as error:
                    self._raised.append(_without_frames(error))
                finally:
                    _here.within = False
                    if collects:
                        gc.enable()
            self._done.release()


def _without_frames(error: BaseException) -> BaseException:
    """An error that keeps nothing of LLVM alive."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    return error


@atexit.register
def _wait() -> None:
    """Wait, whatever comes, until nobody is within LLVM, which the C library soon clears away."""
    while not _here.within:
        try:
            using_llvm.acquire()
            _here.within = True
        except BaseException:  # somebody at the keyboard cannot wait
            continue
