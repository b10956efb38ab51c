"""Sweeps drawn over time, with Matplotlib (the extra `plot`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import BoughError
from bough.kernel.arguments import FloatArray
from bough.reading import known_name
from bough.simulation.trajectory_plot import plain_name

if TYPE_CHECKING:
    from bough.simulation.trajectory import Trajectory

__all__ = ["plot_sweep"]

MOST_PANELS, MOST_LINES, FEW_LABELS = 8, 400, 10
"""Panels without names given, lines of one panel, and labels that get a line of the legend each."""


def plot_sweep(trajectory: Trajectory, labels: Mapping[str, NDArray[Any]], what: Sequence[str], by: str | None) -> Any:
    """A figure with a panel for each thing to draw, one below the other."""
    label = next(iter(labels)) if by is None else known_name(by, "label of the sweep", labels)
    known = _known(trajectory)
    usual = [name for name, (unit, _) in known.items() if name.startswith("q of ") and unit][:MOST_PANELS]
    wanted = [known_name(name, "thing to plot", known) for name in what] or usual
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError:
        raise BoughError("plotting needs Matplotlib: pip install 'bough[plot]'") from None
    figure = Figure(figsize=(9, 0.8 + 2.3 * len(wanted)), layout="constrained")
    rows = figure.subplots(len(wanted), 1, sharex=True, squeeze=False)[:, 0]
    values = labels[label].ravel()
    kinds, place = np.unique(values, return_inverse=True)
    shown = _spread(len(values), MOST_LINES)
    height = place / max(len(kinds) - 1, 1) if kinds.dtype.kind == "U" else _height(values)
    colours = colormaps["viridis"](0.9 * height)
    for axes, name in zip(rows, wanted, strict=True):
        unit, x = known[name]
        curves = np.reshape(x, (len(trajectory), math.prod(trajectory.batch)))
        for k in shown:
            axes.plot(trajectory.time, curves[:, k], color=colours[k], lw=1.0, alpha=0.8)
        axes.set_ylabel(f"{plain_name(name)} ({unit})" if unit else plain_name(name))
        axes.grid(True, alpha=0.25)
        axes.margins(x=0)
    rows[-1].set_xlabel("time (s)")
    few = kinds[_spread(len(kinds), FEW_LABELS)]
    for kind in few:
        told = f"{kind:.4g}" if kinds.dtype.kind == "f" else str(kind)
        rows[0].plot([], [], color=colours[np.flatnonzero(values == kind)[0]], label=plain_name(told))
    rows[0].legend(
        title=plain_name(label), loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", frameon=False
    )
    some = f", {len(shown)} of {len(values)} runs" if len(shown) < len(values) else ""
    figure.suptitle(plain_name(trajectory.model.name) + some)
    return figure


def _spread(count: int, most: int) -> NDArray[np.int64]:
    """Places among so many, from the first to the last, at most so many of them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _height(values: NDArray[Any]) -> FloatArray:
    """Numbers as parts of their range; of one that spans more than a factor of 50, of its logarithm."""
    x: NDArray[np.float64] = values.astype(np.float64)
    if x.min() > 0 and x.max() > 50 * x.min():
        x = np.log(x)
    return np.asarray((x - x.min()) / (np.ptp(x) or 1.0))


def _known(trajectory: Trajectory) -> dict[str, tuple[str, FloatArray]]:
    """What can be drawn: its unit and values (T, ...), by name."""
    found: dict[str, tuple[str, FloatArray]] = {}
    for letter in ("q", "v", "tau"):
        array = getattr(trajectory, letter)
        if array is not None:
            names, units = trajectory.names[letter], trajectory.units[letter]
            found |= {f"{letter} of {name}": (units[k], array[..., k]) for k, name in enumerate(names)}
    found["energy"] = ("J", trajectory.energy().total)
    return found
