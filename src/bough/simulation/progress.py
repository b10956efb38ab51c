"""A bar that tells how far a run is, on a terminal and nowhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress"]

UNTIL_SHOWN, OFTEN, LENGTH = 1.0, 0.1, 30
"""Seconds before a bar is shown, seconds between two looks at it, and its length in characters."""


@contextmanager
def progress(total: int, shown: bool | None) -> Iterator[Callable[[int], None]]:
    """What is to be told how much of the total is done; None: shown on a terminal, after a second."""
    wanted = sys.stderr.isatty() if shown is None else shown
    begun = time.monotonic()
    last = begun if shown is None else begun - UNTIL_SHOWN
    drawn = False

    def tell(done: int) -> None:
        nonlocal last, drawn
        now = time.monotonic()
        if (
            not wanted
            or (now - begun < UNTIL_SHOWN and shown is None)
            or (drawn and now - last < OFTEN and done < total)
        ):
            return
        last, drawn = now, True
        full = LENGTH * done // max(total, 1)
        left = (now - begun) * (total - done) / max(done, 1)
        sys.stderr.write(
            f"\r{'█' * full}{'·' * (LENGTH - full)} {100 * done // max(total, 1):3d} %  {left:.0f} s left  "
        )
        sys.stderr.flush()

    try:
        yield tell
    finally:
        if drawn:
            sys.stderr.write("\r" + " " * (LENGTH + 24) + "\r")
            sys.stderr.flush()
