"""The report: tables and plots, on the terminal as they come and as one Markdown page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Page"]


class Page:
    """What was measured, in Markdown; plots lie beside the file as PNG."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._parts: list[str] = []

    def text(self, words: str) -> None:
        """A heading or a paragraph."""
        self._add(words)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """A table; numbers are written with three digits."""
        cells = [[str(c) for c in columns], *([_cell(x) for x in row] for row in rows)]
        widths = [max(len(row[k]) for row in cells) for k in range(len(columns))]
        lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in cells]
        rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
        self._add("\n".join([lines[0], rule, *lines[1:]]))

    def bars(self, name: str, title: str, unit: str, values: Mapping[str, Mapping[str, float]], target: float) -> None:
        """Groups of bars {series: {group: value}}, with a line for the target."""
        if self._file is None:
            return
        figure, axes = _figure()
        groups = list(next(iter(values.values())))
        width = 0.8 / len(values)
        for k, (series, heights) in enumerate(values.items()):
            places = np.arange(len(groups)) + (k - (len(values) - 1) / 2) * width
            axes.bar(places, [heights.get(group, 0.0) for group in groups], width, label=series)
        axes.axhline(target, color="black", linewidth=0.8, linestyle="--", label=f"target {target:g}")
        axes.set_xticks(range(len(groups)), groups)
        axes.set_ylabel(unit)
        axes.set_title(title)
        axes.legend(fontsize="small")
        self._save(figure, name, title)

    def curves(
        self,
        name: str,
        title: str,
        axes_titles: tuple[str, str],
        panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
    ) -> None:
        """Panels {title: {label: points}} on shared logarithmic axes; a label has one colour, batches are dashed."""
        if self._file is None:
            return
        figure, axes = _figure(len(panels))
        colours: dict[str, str] = {}
        for place, (panel, lines) in zip(axes, panels.items(), strict=True):
            for label, points in lines.items():
                colour = colours.setdefault(label.removesuffix(", batch"), f"C{len(colours)}")
                style = "s--" if label.endswith(", batch") else "o-"
                place.loglog(*zip(*points, strict=True), style, color=colour, label=label, ms=4)
            place.set_title(panel)
            place.set_xlabel(axes_titles[0])
            place.grid(True, which="both", alpha=0.2)
        axes[0].set_ylabel(axes_titles[1])
        handles = {
            label: line for place in axes for line, label in zip(*place.get_legend_handles_labels(), strict=True)
        }
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize="small")
        figure.suptitle(title)
        self._save(figure, name, title)

    def _save(self, figure: Any, name: str, title: str) -> None:
        assert self._file is not None
        picture = self._file.with_name(f"{self._file.stem}_{name}.png")
        figure.savefig(picture, dpi=120)
        self._add(f"![{title}]({picture.name})")

    def _add(self, part: str) -> None:
        print(part, flush=True)
        print()
        self._parts.append(part)
        if self._file is not None:  # after each part, so that a run that is stopped leaves what it has
            self._file.write_text("\n\n".join(self._parts) + "\n", encoding="utf-8")


def _figure(panels: int = 1) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5) if panels == 1 else (12, 5), layout="constrained")
    return figure, figure.subplots(1, panels, sharey=True)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)
