"""The papers' tables and figures by name."""

from __future__ import annotations

from collections.abc import Callable

from bough.cost.dynamics import crba, figure7, humanoid
from bough.cost.factorization import figure5, shimanovsky, table1, table2, trees
from bough.cost.report import Report
from bough.errors import UnknownNameError

__all__ = ["names", "report"]

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


def names() -> tuple[str, ...]:
    """The names of the tables and figures."""
    return tuple(_REPORTS)


def report(name: str) -> Report:
    """A table or figure of the papers, each number beside what the running code performs, counted.

    Print it for the text; its `draw` method writes figures as PNG files.
    """
    if name not in _REPORTS:
        raise UnknownNameError("table or figure", name, (*_REPORTS, "all"))
    return _REPORTS[name]()
