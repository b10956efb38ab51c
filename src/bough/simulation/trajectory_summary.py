"""What happened in a trajectory, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import printable
from bough.kernel.arguments import FloatArray
from bough.reading import counted
from bough.scalar.tolerances import TOUCHING

if TYPE_CHECKING:
    from bough.simulation.trajectory import Trajectory

__all__ = ["summary_of"]

MOST_STATES = 4  # that stopped early, named for each reason
MOST_ROWS = 12  # of coordinates
NOISE = 1e-12  # less than this (rad, m), or this part of an energy, is rounding


def summary_of(trajectory: Trajectory) -> str:
    """How the states ended, how energy changed, and between which values the coordinates moved."""
    batch = f", batch {trajectory.batch}" if trajectory.batch else ""
    times = f"from {trajectory.time[0]:.6g} to {trajectory.time[-1]:.6g} s"
    lines = [f"{trajectory.model.name!r}: {counted(len(trajectory), 'sample')} {times}{batch}"]
    lines += _headed("states", _ends(trajectory))
    if trajectory.status.size:
        # what was recorded of a state after it had stopped is not part of its motion
        moving = ~(trajectory.time.reshape(-1, *(1,) * len(trajectory.batch)) > trajectory.stopped)
        lines += _headed("energy", _energy(trajectory, moving))
        lines += _headed("joints", _ranges(trajectory, moving))
    return "\n".join(lines)


def _headed(head: str, rows: Iterator[str]) -> list[str]:
    return [f"{head if k == 0 else '':6}  {printable(row)}" for k, row in enumerate(rows)]


def _ends(trajectory: Trajectory) -> Iterator[str]:
    """How many states ended how; of those that stopped early, which and when."""
    for number, name in enumerate(trajectory.status_names):
        those = np.argwhere(trajectory.status == number)
        if not len(those):
            continue
        stops = [_stop(trajectory, tuple(int(k) for k in place)) for place in those[:MOST_STATES]] if number else []
        more = f", and {len(those) - MOST_STATES} more" if len(those) > MOST_STATES else ""
        count = f"{len(those)} " if trajectory.batch else ""
        yield f"{count}{name}" + (f": {', '.join(stops)}{more}" if stops else "")


def _stop(trajectory: Trajectory, place: tuple[int, ...]) -> str:
    when = trajectory.stopped[place]
    at = "" if np.isnan(when) else f" at {when:.6g} s"
    return f"{f'state {list(place)} ' if place else ''}after {trajectory.taken[place]} steps{at}"


def _energy(trajectory: Trajectory, moving: NDArray[np.bool_]) -> Iterator[str]:
    """Energy at the start and the end of the state in which it changed most, and by how much it did on the way."""
    energy = trajectory.energy()
    known = moving & np.isfinite(energy.total)
    if not known.any():
        yield "not finite"
        return
    total, first = np.where(known, energy.total, np.nan), np.argmax(known, axis=0)
    change = np.abs(total - np.take_along_axis(total, first[np.newaxis], axis=0))
    k, *state = _place(np.where(known, change, -1.0).argmax(), change.shape)
    of_state: Any = (slice(None), *state)
    row = total[of_state][known[of_state]]
    where = f" (state {state})" if state else ""
    kinetic, most = np.max(energy.kinetic[known]), change[(k, *state)]
    parts = (energy.kinetic, energy.potential, energy.elastic)
    scale = max(float(np.max(np.abs(x[known]))) for x in parts)  # what is small beside its parts is rounding
    start, end, most = (float(x) if abs(x) >= NOISE * scale else 0.0 for x in (row[0], row[-1], most))
    part = f", {most / kinetic:.2g} times the largest kinetic energy" if kinetic > 0 else ""
    yield f"from {start:.6g} J to {end:.6g} J, largest change {most:.3g} J{part}{where}"


def _ranges(trajectory: Trajectory, moving: NDArray[np.bool_]) -> Iterator[str]:
    """Lowest and highest value of each coordinate but quaternions, beside its limits; those beyond them first."""
    limits = [trajectory.model.limits(what) for what in ("lower", "upper")]
    names, units = trajectory.names["q"], trajectory.units["q"]
    rows = []
    for k, unit in enumerate(units):
        values = np.where(moving & np.isfinite(trajectory.q[..., k]), trajectory.q[..., k], np.nan)
        if unit and not np.isnan(values).all():
            rows.append(_range(trajectory, names[k], unit, values, (limits[0][k], limits[1][k])))
    rows.sort(key=lambda row: -row[0])
    width = max((len(row[1]) for row in rows[:MOST_ROWS]), default=0)
    yield from (f"{name:{width}}  {text}" for _, name, text in rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        yield f"and {len(rows) - MOST_ROWS} more coordinates"


def _range(
    trajectory: Trajectory, name: str, unit: str, values: FloatArray, limits: tuple[float, float]
) -> tuple[float, str, str]:
    """By how much a coordinate was beyond its limits at worst, its name, and the row about it."""
    low, high = (x if abs(x) >= NOISE else 0.0 for x in (float(np.nanmin(values)), float(np.nanmax(values))))
    text = f"{low:.4g} … {high:.4g} {unit}"
    if np.isinf(limits).all():
        return 0.0, name, text
    below, above = limits[0] - low, high - limits[1]
    beyond, side = (below, "lower") if below > above else (above, "upper")
    text += f", limits {limits[0]:.4g} … {limits[1]:.4g}"
    if not beyond > TOUCHING:
        return 0.0, name, text
    k, *state = _place(np.nanargmin(values) if side == "lower" else np.nanargmax(values), values.shape)
    where = f" (state {state})" if state else ""
    return beyond, name, f"{text}: {beyond:.3g} {unit} beyond the {side} limit at {trajectory.time[k]:.6g} s{where}"


def _place(number: Any, shape: tuple[int, ...]) -> list[int]:
    return [int(k) for k in np.unravel_index(number, shape)]
