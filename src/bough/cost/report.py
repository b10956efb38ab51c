"""Reports: tables and charts as values, and how they look in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from pathlib import Path
from typing import TypeAlias

from bough.cost.pattern import Pattern

__all__ = ["Bars", "Curves", "Lines", "Panels", "Points", "Report", "Table"]


@dataclass(frozen=True)
class Table:
    """A table; numbers may be given as they are."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lines:
    """Text as it is."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Bars:
    """A bar chart: groups of labelled bars, each made of stacked parts."""

    title: str
    unit: str
    parts: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[str, tuple[int, ...]], ...]], ...]


@dataclass(frozen=True)
class Curves:
    """Curves on logarithmic axes: for each label, the points of a formula and of what was counted."""

    title: str
    x: str
    y: str
    lines: tuple[tuple[str, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]], ...]


Points: TypeAlias = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Panels:
    """Measured curves on logarithmic axes: for each panel, the points of each label."""

    title: str
    x: str
    y: str
    panels: tuple[tuple[str, tuple[tuple[str, Points], ...]], ...]


Item: TypeAlias = Table | Lines | Bars | Curves | Panels | Pattern


@dataclass(frozen=True)
class Report:
    """Tables, figures and text under a heading: a table of the papers, or a description of a model."""

    name: str
    heading: str
    items: tuple[Item, ...]

    def __str__(self) -> str:
        lines = [self.heading, "=" * len(self.heading)]
        for item in self.items:
            lines.append("")
            lines += _text(item)
        return "\n".join(lines) + "\n"

    @property
    def pattern(self) -> Pattern:
        """The sparsity pattern among the items."""
        return next(item for item in self.items if isinstance(item, Pattern))

    def draw(self, folder: Path) -> list[Path]:
        """Write the figures as PNG files to a folder, made if needed, and return their paths (needs Matplotlib)."""
        from bough.cost.draw import draw

        return draw(self, folder)


def _text(item: Item) -> list[str]:
    match item:
        case Table():
            return _table(item)
        case Lines():
            return [item.title, *(f"  {line}" for line in item.lines)]
        case Bars():
            return _bars(item)
        case Curves():
            return _curves(item)
        case Panels():
            return _panels(item)
        case Pattern():
            return item.lines()


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return str(value)


def _table(table: Table) -> list[str]:
    cells = [table.columns, *(tuple(map(_cell, row)) for row in table.rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(table.columns))]
    numeric = [all(_is_number(row[k]) for row in table.rows) for k in range(len(table.columns))]

    def line(row: Sequence[str]) -> str:
        parts = (c.rjust(w) if right else c.ljust(w) for c, w, right in zip(row, widths, numeric, strict=True))
        return ("  " + "  ".join(parts)).rstrip()

    rule = "  " + "  ".join("─" * w for w in widths)
    return [table.title, line(cells[0]), rule, *map(line, cells[1:]), *(f"  {note}" for note in table.notes)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


FILLS = "█▒░"
BAR_WIDTH = 56  # characters


def _bars(bars: Bars) -> list[str]:
    longest = max(sum(values) for _, group in bars.groups for _, values in group)
    indent = max(len(label) for _, group in bars.groups for label, _ in group)
    legend = "   ".join(f"{fill} {part}" for fill, part in zip(FILLS, bars.parts, strict=False))
    lines = [f"{bars.title} ({bars.unit})", f"  {legend}"]
    for name, group in bars.groups:
        lines.append(f"  {name}")
        for label, values in group:
            ends = [round(BAR_WIDTH * sum(values[: k + 1]) / longest) for k in range(len(values))]
            pieces = [FILLS[k] * (end - start) for k, (start, end) in enumerate(zip([0, *ends], ends, strict=False))]
            lines.append(f"    {label.ljust(indent)} {''.join(pieces)} {sum(values)}")
    return lines


def _curves(curves: Curves) -> list[str]:
    """Points on a grid of characters, both axes logarithmic: one letter per curve."""
    points = [(n, c) for _, formula, _ in curves.lines for n, c in formula if c > 0]
    x_low, x_high = (log10(f(n for n, _ in points)) for f in (min, max))
    y_low, y_high = (log10(f(c for _, c in points)) for f in (min, max))
    width, height = 64, 20
    grid = [[" "] * (width + 1) for _ in range(height + 1)]
    for k, (_, formula, _) in enumerate(curves.lines):
        for n, c in formula:
            if c > 0:
                column = round(width * (log10(n) - x_low) / max(x_high - x_low, 1e-9))
                row = round(height * (log10(c) - y_low) / max(y_high - y_low, 1e-9))
                grid[height - row][column] = "abcdefgh"[k]
    top, bottom = f"{10**y_high:.3g}", f"{10**y_low:.3g}"
    indent = max(len(top), len(bottom))
    labels = [top, *[""] * (height - 1), bottom]
    lines = [f"{curves.title}: {curves.y} against {curves.x}, both logarithmic"]
    lines += [f"  {label.rjust(indent)} │{''.join(row)}" for label, row in zip(labels, grid, strict=True)]
    lines.append("  " + " " * indent + " └" + "─" * (width + 1))
    ends = f"{10**x_low:.0f}".ljust(width) + f"{10**x_high:.0f}"
    lines.append("  " + " " * indent + "  " + ends)
    return lines + [f"  {'abcdefgh'[k]}  {name}" for k, (name, _, _) in enumerate(curves.lines)]


def _panels(panels: Panels) -> list[str]:
    """A table for each panel."""
    lines = [f"{panels.title} ({panels.y})"]
    for name, curves in panels.panels:
        places = sorted({x for _, points in curves for x, _ in points})
        known = [dict(points) for _, points in curves]
        rows = tuple((int(x), *(values.get(x, "–") for values in known)) for x in places)
        lines += ["", *_table(Table(f"  {name}", (panels.x, *(label for label, _ in curves)), rows))]
    return lines
