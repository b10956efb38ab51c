"""Figures of reports as PNG files, with Matplotlib (the extra `plot`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bough.cost.report import Bars, Curves, Report
from bough.errors import BoughError

__all__ = ["draw"]


def draw(report: Report, folder: Path) -> list[Path]:
    """Write each chart of a report to `folder` and return the files."""
    charts = [item for item in report.items if isinstance(item, Bars | Curves)]
    if not charts:
        return []
    figure_class = _figure_class()
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for k, chart in enumerate(charts):
        figure = figure_class(figsize=(9, 5.5), layout="constrained")
        axes = figure.subplots()
        _bars(axes, chart) if isinstance(chart, Bars) else _curves(axes, chart)
        axes.set_title(report.heading)
        name = report.name if len(charts) == 1 else f"{report.name}_{k + 1}"
        files.append(folder / f"{name}.png")
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
