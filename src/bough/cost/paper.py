"""The papers' tables and figures by name."""

from __future__ import annotations

from collections.abc import Callable

from bough.cost.baraff import baraff
from bough.cost.dynamics import crba, figure7, humanoid
from bough.cost.factorization import figure5, shimanovsky, table1, table2, trees
from bough.cost.recursions import recursions, rounds
from bough.cost.report import Report
from bough.cost.slides import slides
from bough.reading import known_name

__all__ = ["measured", "names", "pages", "report"]

_PAGES: dict[str, dict[str, Callable[[], Report]]] = {
    "Featherstone 2005: Efficient factorization of the joint-space inertia matrix for branched kinematic trees": {
        "trees": trees,
        "table1": table1,
        "table2": table2,
        "figure5": figure5,
        "crba": crba,
        "humanoid": humanoid,
        "figure7": figure7,
    },
    "Shimanovsky: factorisation of the mass matrix of systems with the structure of a tree": {
        "shimanovsky": shimanovsky
    },
    "Featherstone: Branch-induced sparsity in rigid-body dynamics (slides)": {"slides": slides},
    "Baraff 1996: Linear-time dynamics using Lagrange multipliers": {"baraff": baraff},
    "Featherstone & Orin 2000: Robot dynamics, equations and algorithms": {"recursions": recursions, "rounds": rounds},
}
"""By paper, what it has: each under its name."""

_REPORTS = {name: make for page in _PAGES.values() for name, make in page.items()}
_MEASURED = ("baraff",)


def names() -> tuple[str, ...]:
    """Return the names of tables and figures with operation counts.

    Examples
    --------
    >>> import bough
    >>> "table1" in bough.papers.names()
    True
    """
    return tuple(name for name in _REPORTS if name not in _MEASURED)


def measured() -> tuple[str, ...]:
    """Return the names of tables and figures with measured times; they take a while, and differ between runs.

    Examples
    --------
    >>> import bough
    >>> bough.papers.measured()
    ('baraff',)
    """
    return _MEASURED


def pages() -> dict[str, tuple[str, ...]]:
    """Return the papers with the names of their tables and figures, counted and measured.

    Examples
    --------
    >>> import bough
    >>> [paper.split(":")[0] for paper, names in bough.papers.pages().items() if "baraff" in names]
    ['Baraff 1996']
    """
    return {paper: tuple(reports) for paper, reports in _PAGES.items()}


def report(name: str) -> Report:
    """Return a table or figure of the papers, with each number next to that of bough, counted or measured.

    Print it for the text; its `draw` method writes figures as PNG files.

    Examples
    --------
    >>> import bough
    >>> print(str(bough.papers.report("table1")).splitlines()[0])
    Table 1: cost of factorisation, substitution and products (Featherstone 2005)
    """
    return _REPORTS[known_name(name, "table or figure", _REPORTS)]()
