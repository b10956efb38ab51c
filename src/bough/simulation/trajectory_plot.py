"""Trajectories drawn over time, with Matplotlib (the extra `plot`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bough.errors import BoughError, ShapeError, printable
from bough.kernel.arguments import FloatArray
from bough.reading import known_name, names_in_order

if TYPE_CHECKING:
    from bough.simulation.trajectory import Trajectory

__all__ = ["plain_name", "plot_trajectory"]

COLOURS = ("#3b6ea5", "#d98032", "#4d9a6a", "#a5527f", "#8a7a3d", "#5fa3b3", "#7a62a8", "#b5544a")
DASHES = ("-", "--", ":", "-.")
"""A colour and a dash for each line; the next dash when all colours are taken."""

FEW_STATES = 8  # drawn one by one
COLUMN, NAME = 24, 0.18  # names in a column of the legend, and the height of each in inches

TITLES = {
    ("q", "rad"): "angle", ("q", "m"): "position", ("q", ""): "quaternion",
    ("v", "rad/s"): "angular velocity", ("v", "m/s"): "velocity",
    ("tau", "N m"): "joint torque", ("tau", "N"): "joint force", ("control", ""): "control",
}  # fmt: skip


class Panel(NamedTuple):
    """Curves in one unit: what the axis is called, a name for each curve, and values (T, ..., curves)."""

    title: str
    names: Sequence[str]
    values: FloatArray


def plot_trajectory(trajectory: Trajectory, what: Sequence[str], joints: str | Sequence[str] | None) -> Any:
    """A figure with a panel for each sort of curves, one below the other."""
    wanted = [known_name(x, "thing to plot", (*trajectory.names, "energy", "contact_forces")) for x in what]
    chosen = trajectory.model.joint_names if joints is None else names_in_order(joints, "joints")
    for name in chosen:
        known_name(name, "joint", trajectory.model.joint_names)
    panels = [panel for x in wanted or ("q", "v", "energy") for panel in _panels(trajectory, x, chosen)]
    if not panels:
        raise ShapeError("there is nothing to plot: the joints have no coordinates")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise BoughError("plotting needs Matplotlib: pip install 'bough[plot]'") from None
    heights = [max(2.3, 0.3 + NAME * min(len(panel.names), COLUMN)) for panel in panels]
    columns = max(-(-len(panel.names) // COLUMN) for panel in panels)
    figure = Figure(figsize=(10 + 1.6 * (columns - 1), 0.8 + sum(heights)), layout="constrained")
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, panel in zip(rows, panels, strict=True):
        _draw(axes, trajectory, panel)
    rows[-1].set_xlabel("time (s)")
    figure.suptitle(plain_name(trajectory.model.name))
    return figure


def _panels(trajectory: Trajectory, what: str, joints: Sequence[str]) -> Iterator[Panel]:
    """What is asked for, a panel for each unit."""
    if what == "energy":
        energy = vars(trajectory.energy())
        shown = [name for name, x in energy.items() if name != "elastic" or np.nan_to_num(x).any()]
        yield Panel("energy (J)", shown, np.stack([energy[name] for name in shown], axis=-1))
        return
    array = getattr(trajectory, what)
    if array is None:
        raise ShapeError(f"the trajectory has no {what}: it was made without")
    if what == "contact_forces":
        yield Panel("normal force (N)", [f"contact {k}" for k in range(array.shape[-2])], array[..., 0])
        return
    places = list(range(array.shape[-1]))
    if what != "control":
        slice_of = trajectory.model.q_slice if what == "q" else trajectory.model.v_slice
        places = [k for joint in joints for k in places[slice_of(joint)]]
    units = trajectory.units[what]
    for unit in dict.fromkeys(units[k] for k in places):
        those = [k for k in places if units[k] == unit]
        title = TITLES[what, unit] + (f" ({unit})" if unit else "")
        yield Panel(title, [trajectory.names[what][k] for k in those], array[..., those])


def _draw(axes: Any, trajectory: Trajectory, panel: Panel) -> None:
    """Each curve for each state; of many states the median, and the range of them all as a band."""
    t, count = trajectory.time, len(panel.names)
    states = panel.values.reshape(len(t), math.prod(trajectory.batch), count)
    states = np.where(np.isfinite(states), states, np.nan)
    for k, name in enumerate(panel.names):
        look = {"color": COLOURS[k % len(COLOURS)], "ls": DASHES[k // len(COLOURS) % len(DASHES)], "lw": 1.2}
        curves = states[..., k]
        if 0 < curves.shape[1] <= FEW_STATES:
            first, *_ = axes.plot(t, curves, **look)
            first.set_label(plain_name(name))
        elif curves.size:
            known = ~np.isnan(curves).all(axis=1)
            low, middle, high = np.nanquantile(curves[known], (0.0, 0.5, 1.0), axis=1)
            axes.fill_between(t[known], low, high, color=look["color"], alpha=0.15, lw=0)
            axes.plot(t[known], middle, label=plain_name(name), **look)
    axes.set_ylabel(panel.title)
    axes.grid(True, alpha=0.25)
    axes.margins(x=0)
    if states.size:
        columns = -(-count // COLUMN)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", ncols=columns, frameon=False)


def plain_name(name: str) -> str:
    """A name as it is: no character is a sign for mathematics, and a leading underscore hides nothing."""
    text = printable(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
