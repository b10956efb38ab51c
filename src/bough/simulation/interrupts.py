"""Ctrl-C: the first one ends a run, and those after it do not take away what the run returns."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["interrupted_once"]


@contextmanager
def interrupted_once() -> Iterator[None]:
    """Let the first interrupt raise `KeyboardInterrupt`, and later ones do nothing until the end.

    Handlers that a program has set itself stay, and threads other than the main one have none.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    told = False

    def handle(number: int, frame: Any) -> None:
        nonlocal told
        if not told:
            told = True
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
