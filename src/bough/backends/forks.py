"""Making code, and forks: a fork waits until no thread makes code, so that the child finds LLVM in order, and unlocked.

The child of a fork has but the thread that forked. A lock that another thread held stays locked there for ever, and
what it was changing stays half changed. A lock that is held for a moment can be made anew in the child. LLVM, and
modules that are being imported, cannot: whoever imports, compiles or loads code holds `making` meanwhile, and whoever
is within LLVM holds `using_llvm`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = ["making", "using_llvm"]

making = threading.RLock()
"""Held while code is made. A lock that a thread holds while it waits for this one must be made anew after a fork."""

using_llvm = threading.RLock()
"""Held by the thread that is within LLVM. Who waits for it may hold `making`; who holds it waits for nobody."""


class _Held(threading.local):
    """What the thread that forks holds meanwhile."""

    locks: Generator[None, None, None] | None = None


_held = _Held()


def _llvm_lock() -> AbstractContextManager[Any]:
    """The lock that llvmlite holds in each of its calls, of ours and of others.

    It is the plain lock within: a signal that comes while another is taken leaves that one locked for ever.
    """
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    lock: AbstractContextManager[Any] = getattr(getattr(library, "_lock", None), "_lock", nullcontext())
    return lock


def _locks() -> Generator[None, None, None]:
    """Hold all locks until this is closed; whatever a signal does to it, none stays locked."""
    with making, using_llvm, _llvm_lock():
        yield


def _before() -> None:
    stopped: BaseException | None = None
    while _held.locks is None:
        try:
            _held.locks = _locks()
            next(_held.locks)
        except BaseException as error:  # of a signal's handler: the fork takes place nevertheless, so it waits again
            stopped, _held.locks = error, None
    if stopped is not None:
        raise stopped


def _after() -> None:
    locks, _held.locks = _held.locks, None
    if locks is not None:
        locks.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
