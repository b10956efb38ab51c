"""Time of factor and solve against the size of a system, for four families of trees, and of other solvers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np

from bough.cost.experiments import Experiment, experiment
from bough.cost.report import Panels, Points, Table
from bough.cost.solvers import SPARSE, Way, dense
from bough.cost.timing import interleaved_times
from bough.kernel.maximal.multipliers import ldlt
from bough.tree import Tree, named

__all__ = ["SHAPES", "scaling"]

MOST_BODIES = 100_000
MOST_DENSE = 1_000  # bodies whose multipliers are found by the dense method too: 3 000 of them
LONGEST_RIVAL = 1.0  # seconds; a rival that would take longer at the next size is left out there
FITTED_FROM = (
    1_000  # bodies from which on a power is fitted: smaller systems are within the caches and the cost of a call
)

SHAPES: dict[str, Callable[[int], Tree]] = {
    "chain": named.chain,
    "star": named.star,
    "binary tree": lambda n: named.balanced_tree(round(math.log2(n + 1))),
    "grid": lambda n: named.grid(round(math.sqrt(n))),
}


def scaling(seconds: float) -> tuple[Table, Panels, Panels]:
    """A table of the largest, and curves against the number of bodies and, up to 3 000, of multipliers."""
    sizes = [10 * 10**k for k in range(round(math.log10(MOST_BODIES)))]
    rows: list[tuple[object, ...]] = []
    panels: list[tuple[str, tuple[tuple[str, Points], ...]]] = []
    for name, make in SHAPES.items():
        lines: dict[str, list[tuple[float, float]]] = {"bough": []}
        last: dict[str, float] = {}
        fresh: list[tuple[float, float]] = []
        for n in sizes:
            made = experiment(n, 6, make(n))
            bodies = len(made.system.bodies)
            last = _factor_and_solve(made, seconds)
            lines["bough"].append((bodies, last["factor"] + last["solve"]))
            fresh.append((bodies, last["fresh"]))
            for rival, spent in _rivals(made, lines, seconds).items():
                lines.setdefault(rival, []).append((bodies, spent))
        rows.append(_row(name, lines["bough"], fresh, last))
        panels.append((name, tuple((label, tuple(points)) for label, points in lines.items())))
    table = Table(
        "Rigid bodies with ball joints, held by the world: one factorisation and one solution",
        (
            *("tree", "bodies", "factor, ns per body", "solve, ns per body", "factor : solve"),
            *("fresh memory, ns per body", "time grows as n to the", "less fresh memory"),
        ),
        tuple(rows),
        (
            f"Powers are fitted to the times from {FITTED_FROM} bodies on. Operations are exactly linear. Time is not:",
            "large results come in fresh pages, which cost time when first touched, and data outgrows the caches.",
        ),
    )
    beside = "Time of factor and solve, with general sparse solvers in the order of bough"
    return table, Panels(beside, "bodies", "µs", tuple(panels)), _dense_curves(seconds)


def _factor_and_solve(made: Experiment, seconds: float) -> dict[str, float]:
    """Microseconds of factor and solve, and what of it the memory for their results takes."""
    b = np.concatenate([made.force, made.c])
    factor = ldlt(made.system, made.mass, made.jacobian)
    factor.solve(b)  # as ldlt before it, compiles what is not compiled yet
    ways: dict[str, Way] = {
        "factor": partial(ldlt, made.system, made.mass, made.jacobian),
        "solve": partial(factor.solve, b),
        "fresh": partial(_touch, (factor.packed.size, b.size)),
    }
    return {name: median(spent) for name, spent in interleaved_times(ways, seconds).items()}


def _touch(sizes: tuple[int, ...]) -> None:
    """Allocate arrays of these sizes, and write to every page of their memory."""
    for size in sizes:
        np.empty(size)[::512] = 0.0


def _rivals(made: Experiment, lines: dict[str, list[tuple[float, float]]], seconds: float) -> dict[str, float]:
    """Microseconds of each sparse solver that is expected not to take too long."""
    bodies = len(made.system.bodies)
    found = {}
    for rival, make in SPARSE.items():
        known = lines.get(rival, [])
        if bodies > 10 and (not known or known[-1][1] * 1e-6 * bodies / known[-1][0] > LONGEST_RIVAL):
            continue
        ways = make(made)[:1]  # the one in the order of bough
        if ways:
            found[rival] = median(interleaved_times({rival: ways[0]}, seconds)[rival])
    return found


def _row(
    name: str, points: list[tuple[float, float]], fresh: list[tuple[float, float]], last: dict[str, float]
) -> tuple[object, ...]:
    bodies = points[-1][0]
    less = [(n, y - z) for (n, y), (_, z) in zip(points, fresh, strict=True)]
    each = {key: 1e3 * value / bodies for key, value in last.items()}
    powers = _power(points), _power(less)
    return name, bodies, each["factor"], each["solve"], last["factor"] / last["solve"], each["fresh"], *powers


def _power(points: list[tuple[float, float]]) -> float:
    """The power of n that times grow with, by least squares of logarithms; NaN of fewer than two times.

    A difference of two times may come out negative on a busy machine: such a point says nothing.
    """
    measured = [p for p in points if p[1] > 0.0]
    fitted = [p for p in measured if p[0] >= 0.9 * FITTED_FROM] or measured
    if len(fitted) < 2:
        return math.nan
    x, y = np.log(fitted).T
    return float(np.polyfit(x, y, 1)[0])


def _dense_curves(seconds: float) -> Panels:
    """The dense method against the number of multipliers."""
    panels = []
    for name in ("chain", "binary tree"):
        ours, theirs = [], []
        for n in (n for n in (10, 30, 100, 300, 1000) if n <= min(MOST_DENSE, MOST_BODIES)):
            made = experiment(n, 6, SHAPES[name](n))
            spent = interleaved_times({"dense": dense(made)[0]}, seconds)["dense"]
            own = _factor_and_solve(made, seconds)
            theirs.append((made.system.nc, median(spent)))
            ours.append((made.system.nc, own["factor"] + own["solve"]))
        panels.append((name, (("bough", tuple(ours)), ("dense", tuple(theirs)))))
    return Panels("Time of factor and solve, and of the dense method", "multipliers", "µs", tuple(panels))
