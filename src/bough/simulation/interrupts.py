"""Ctrl-C: the first ends a run, those after it do not take away what it returns, and a loop of runs ends with it."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bough.simulation.state import State

__all__ = ["Interrupted", "interrupted_once"]

SOON = 1.0
"""Seconds: what begins so soon after an interrupted run was not begun by a person who looked at what it returned."""

_last = -math.inf  # when something last returned that had been interrupted


class Interrupted(KeyboardInterrupt):
    """Ctrl-C within a call of many steps, with the state after those that were made."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state


@contextmanager
def interrupted_once(resumes: bool = False) -> Iterator[None]:
    """Let the first interrupt raise `KeyboardInterrupt`, and later ones do nothing until the end.

    Whoever catches that one and returns what there is would keep a loop of runs from ending. So what begins soon after
    is interrupted at once, unless it `resumes` what was. Handlers that a program has set itself stay, and threads other
    than the main one have none.
    """
    global _last
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    before, _last = _last, -math.inf
    if time.monotonic() - before < SOON and not resumes:
        raise KeyboardInterrupt("the run before this one was interrupted")
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
    if told:  # and somebody caught it
        _last = time.monotonic()
