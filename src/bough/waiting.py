"""Who waits at a terminal is told for what."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bough.errors import printable

__all__ = ["telling"]


@contextmanager
def telling(doing: str, after: float = 1.0) -> Iterator[None]:
    """Say what is being done, as in "compiling rnea", if it takes longer than so many seconds; on a terminal alone."""
    if not sys.stderr.isatty():
        yield
        return
    told = f"bough: {printable(doing)} …"
    timer = threading.Timer(after, lambda: print(told, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
