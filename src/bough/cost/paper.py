"""The papers' tables and figures by name."""

from __future__ import annotations

from collections.abc import Callable

from bough.cost.baraff import baraff
from bough.cost.dynamics import crba, figure7, humanoid
from bough.cost.factorization import figure5, shimanovsky, table1, table2, trees
from bough.cost.report import Report
from bough.reading import known_name

__all__ = ["measured", "names", "report"]

_REPORTS: dict[str, Callable[[], Report]] = {
    "trees": trees,
    "table1": table1,
    "table2": table2,
    "figure5": figure5,
    "crba": crba,
    "humanoid": humanoid,
    "figure7": figure7,
    "shimanovsky": shimanovsky,
}
_MEASURED: dict[str, Callable[[], Report]] = {"baraff": baraff}


def names() -> tuple[str, ...]:
    """The names of the tables and figures that are counted."""
    return tuple(_REPORTS)


def measured() -> tuple[str, ...]:
    """The names of the tables and figures that are measured: they take a while, and differ from run to run."""
    return tuple(_MEASURED)


def report(name: str) -> Report:
    """A table or figure of the papers, each number beside what the running code performs, counted or measured.

    Print it for the text; its `draw` method writes figures as PNG files.
    """
    known = _REPORTS | _MEASURED
    return known[known_name(name, "table or figure", known)]()
