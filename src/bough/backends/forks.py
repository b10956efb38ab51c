"""Making code, and forks: a fork waits until no thread makes code, so that the child finds LLVM in order, and unlocked.

The child of a fork has but the thread that forked. A lock that another thread held stays locked there for ever, and
what it was changing stays half changed. A lock that is held for a moment can be made anew in the child. LLVM, and
modules that are being imported, cannot: whoever imports, compiles or loads code holds `making` meanwhile.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import AbstractContextManager
from typing import Any

__all__ = ["making"]

making = threading.RLock()
"""Held while code is made. A lock that a thread holds while it waits for this one must be made anew after a fork."""


class _Held(threading.local):
    """What the thread that forks holds meanwhile."""

    def __init__(self) -> None:
        self.locks: list[AbstractContextManager[Any]] = []


_held = _Held()


def _llvm_lock() -> AbstractContextManager[Any] | None:
    """The lock that llvmlite holds in each of its calls, also in those that give memory back at any time."""
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    lock: AbstractContextManager[Any] | None = getattr(library, "_lock", None)
    return lock


def _before() -> None:
    for lock in (making, _llvm_lock()):
        if lock is not None:
            lock.__enter__()
            _held.locks.append(lock)


def _after() -> None:
    while _held.locks:
        _held.locks.pop().__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
