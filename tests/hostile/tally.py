"""What was tried and what did not hold."""

from __future__ import annotations

import faulthandler
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Tally"]


class Tally:
    """Counts of what was tried, and what was wrong.

    Parameters
    ----------
    late
        Seconds after which one trial counts as late.
    watch
        File that always holds the name of the trial under way, for whoever finds the process dead; None for no such.
    """

    def __init__(self, late: float = 5.0, watch: Any = None) -> None:
        self.tried, self.late, self.faults = 0, late, Counter[str]()
        self._watch = watch

    @contextmanager
    def trying(self, what: str) -> Iterator[None]:
        """Around one trial: it is counted, and told if it takes too long."""
        self.tried += 1
        if self._watch is not None:
            self._watch.seek(0)
            self._watch.write(what[:200].ljust(200))
            self._watch.flush()
            faulthandler.dump_traceback_later(20 * self.late, exit=True)
        start = time.thread_time()
        yield
        spent = time.thread_time() - start
        if spent > self.late:
            self.wrong(what, f"late: {spent:.1f} s")

    def wrong(self, what: str, why: str) -> None:
        """Note that something did not hold."""
        self.faults[f"{what}: {why}"[:2000]] += 1

    def show(self, title: str) -> None:
        """A line for people, and one for each fault."""
        print(f"{title}: {self.tried} tried, {sum(self.faults.values())} wrong", flush=True)
        for fault, count in self.faults.items():
            print(f"  {count} x {fault}", file=sys.stdout, flush=True)
