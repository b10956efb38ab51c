"""Figures of reports as PNG files, with Matplotlib (the extra `plot`)."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.cost.outline import plain
from bough.cost.pattern import Pattern, coarse_pattern, segments
from bough.cost.report import Bars, Curves, Panels, Report
from bough.errors import BoughError

__all__ = ["draw", "draw_pattern"]

BRANCHES = ("#3b6ea5", "#d98032", "#4d9a6a", "#a5527f", "#8a7a3d", "#5fa3b3", "#7a62a8", "#b5544a")
"""One colour for each unbranched stretch of a tree, over and over."""

MOST_NAMES = 64  # rows of a matrix that are labelled by name
MOST_MARKS = 600  # rows of a picture


def draw(report: Report, folder: Path) -> list[Path]:
    """Write each chart of a report to `folder` and return the files."""
    charts = [item for item in report.items if isinstance(item, Bars | Curves | Panels | Pattern)]
    if not charts:
        return []
    figure_class = _figure_class()
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for k, chart in enumerate(charts):
        name = report.name if len(charts) == 1 else f"{report.name}_{k + 1}"
        files.append(folder / f"{name}.png")
        if isinstance(chart, Pattern):
            draw_pattern(chart, files[-1])
            continue
        if isinstance(chart, Panels):
            _panels(figure_class, chart, f"{report.heading}\n{chart.title}").savefig(files[-1], dpi=120)
            continue
        figure = figure_class(figsize=(9, 5.5), layout="constrained")
        axes = figure.subplots()
        _bars(axes, chart) if isinstance(chart, Bars) else _curves(axes, chart)
        axes.set_title(report.heading)
        figure.savefig(files[-1], dpi=120)
    return files


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise BoughError("drawing needs Matplotlib: pip install 'bough[plot]'") from None
    return Figure


def _bars(axes: Any, chart: Bars) -> None:
    values = [v for _, bars in chart.groups for _, v in bars]
    places, place = [], 0.0
    for _, bars in chart.groups:
        for _ in bars:
            places.append(place)
            place += 1.0
        place += 0.8
    left = [0] * len(values)
    for k, part in enumerate(chart.parts):
        widths = [v[k] for v in values]
        axes.barh(places, widths, left=left, label=part, color=("#3b6ea5", "#a9c4de")[k % 2])
        left = [a + b for a, b in zip(left, widths, strict=True)]
    names = [label for _, bars in chart.groups for label, _ in bars]
    axes.set_yticks(places, names)
    start = 0
    for group, bars in chart.groups:
        axes.text(max(left) * 0.99, places[start], group, ha="right", va="center", fontweight="bold")
        start += len(bars)
    axes.invert_yaxis()
    axes.set_xlabel(chart.unit)
    axes.legend(loc="upper right", bbox_to_anchor=(1.0, 0.9))


def _curves(axes: Any, chart: Curves) -> None:
    for name, formula, counted in chart.lines:
        (line,) = axes.loglog(*zip(*formula, strict=True), label=f"{name}: formula")
        if counted:
            axes.loglog(*zip(*counted, strict=True), "o", color=line.get_color(), mfc="none", label=f"{name}: counted")
    axes.set_xlabel(chart.x)
    axes.set_ylabel(chart.y)
    axes.legend(fontsize="small")
    axes.grid(True, which="both", alpha=0.2)


def _panels(figure_class: Any, chart: Panels, title: str) -> Any:
    """All panels in a row; a label has one colour in all of them, and a line of slope 1 is drawn below the first."""
    count = len(chart.panels)
    figure = figure_class(figsize=(3.4 * count + 1.6, 4.8), layout="constrained")
    colours: dict[str, str] = {}
    row = figure.subplots(1, count, sharey=True, squeeze=False)[0]
    for axes, (name, curves) in zip(row, chart.panels, strict=True):
        for label, points in curves:
            colour = colours.setdefault(label, BRANCHES[len(colours) % len(BRANCHES)])
            axes.loglog(*zip(*points, strict=True), "o-", color=colour, ms=4, label=label)
        (x0, _), (x1, y1) = curves[0][1][0], curves[0][1][-1]
        axes.loglog((x0, x1), (y1 * x0 / x1 / 2, y1 / 2), "--", color="0.6", lw=1, label="proportional to n")
        axes.set_title(name, fontsize=10)
        axes.set_xlabel(chart.x)
        axes.grid(True, which="both", alpha=0.2)
    row[0].set_ylabel(chart.y)
    handles = {label: line for axes in row for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=6, fontsize="small")
    figure.suptitle(title)
    return figure


def draw_pattern(pattern: Pattern, file: str | PathLike[str]) -> None:
    """Write the patterns of H and L side by side to a PNG file, one colour for each stretch between branches."""
    tree, names = pattern.tree, pattern.names
    if tree.n == 0:
        raise BoughError("there is nothing to draw: the mass matrix has no entries")
    marks, step = coarse_pattern(tree, MOST_MARKS)
    colours = _mark_colours(marks, segments(tree)[::step])
    labelled = step == 1 and tree.n <= MOST_NAMES
    side = min(max(4.0, 0.16 * len(marks)), 9.0) if labelled else 5.5
    figure = _figure_class()(figsize=(2 * side + 1.5, side + 1.2), layout="constrained")
    figure.suptitle(pattern.title)
    titles = (f"H: {1 - tree.density:.0%} of its entries are zero", "L: zeros stay zeros")
    panels = zip(figure.subplots(1, 2, sharey=True), (marks, np.tril(marks)), titles, strict=True)
    for axes, shown, title in panels:
        axes.imshow(np.where(shown[..., np.newaxis], colours, 1.0), interpolation="nearest")
        axes.set_title(title, fontsize=10)
        _label(axes, names if labelled else (), step, len(marks))
    figure.savefig(file, dpi=120, format="png", bbox_inches="tight", pad_inches=0.15)


def _mark_colours(marks: NDArray[np.bool_], stretch: NDArray[np.int64]) -> NDArray[np.float64]:
    """Colours of all marks (rows, columns, 3): that of the stretch further from the base, darker on the diagonal."""
    size = len(marks)
    palette = np.array([[int(code[k : k + 2], 16) / 255 for k in (1, 3, 5)] for code in BRANCHES])
    deeper = np.maximum(*np.ogrid[:size, :size])  # on one path the larger number is the deeper one
    colours = palette[stretch[deeper] % len(BRANCHES)]
    light = np.where(np.eye(size, dtype=np.bool_), 0.0, 0.35)[..., np.newaxis]
    return np.asarray(colours + (1.0 - colours) * light)


def _label(axes: Any, names: Sequence[str], step: int, size: int) -> None:
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_color("0.7")
    if not names:
        axes.set_xlabel("degree of freedom" if step == 1 else f"degree of freedom, in steps of {step}", fontsize=9)
        return
    axes.set_xticks(range(size), [])
    axes.set_yticks(range(size), [plain(name) for name in names], fontsize=7)
    axes.set_xticks(np.arange(size + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(size + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", lw=0.6)
    axes.tick_params(which="minor", length=0)
