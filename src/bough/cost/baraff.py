"""The experiments of Baraff 1996: multipliers of trees in linear time, and dense and general sparse solutions.

Unlike the other reports, this one measures: times are from one run on the machine at hand, and vary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

import numpy as np

from bough import lagrange
from bough.complementarity import Conditions
from bough.cost.experiments import Experiment, experiment, with_contacts, with_loops
from bough.cost.gradients import gradients
from bough.cost.report import Report, Table
from bough.cost.scaling import scaling
from bough.cost.solvers import SOLVERS, SPARSE, Way, load_solvers
from bough.cost.timing import interleaved_times, one_thread
from bough.errors import BoughError
from bough.kernel.arguments import FloatArray
from bough.kernel.contact.complementarity import pivoting
from bough.kernel.maximal.anticipation import anticipate
from bough.kernel.maximal.multipliers import ldlt, multipliers
from bough.lagrange import System
from bough.scalar import Count, Counted, Tally

__all__ = ["baraff", "solution"]

MANY_STATES = 64  # in a batch
SECONDS_EACH = 0.2  # about as much for each figure


def baraff() -> Report:
    """The systems of section 9, and time against the number of bodies."""
    made = {name: make() for name, make in EXPERIMENTS.items()}
    primary = {name: one.system for name, one in made.items() if one.beside is None}
    counted = Table(
        "Operations, counted",
        ("system", "multipliers", "factor", "solve", "factor : solve"),
        tuple((name, system.nc, *_operations(system)) for name, system in primary.items()),
        (
            "The paper says about 4 : 1. Here the blocks are factorised, not inverted, symmetric ones are halved, and",
            "zeros and ones of M and J that are known beforehand take no part.",
        ),
    )
    ours: dict[str, Way] = {name: partial(solution, one) for name, one in made.items()}
    load_solvers()
    with one_thread():
        times = (*_time_tables(made), gradients(made, ours, SECONDS_EACH), *scaling(SECONDS_EACH / 2))
    return Report("baraff", "Baraff 1996, section 9: multipliers in linear time", (counted, *times))


EXPERIMENTS: dict[str, Callable[[], Experiment]] = {
    "2-D, 54 pins": lambda: experiment(55, 3),
    "2-D, 48 pins and 6 that close loops": lambda: with_loops(experiment(49, 3), 6),
    "3-D, 32 ball joints": lambda: experiment(33, 6),
    "3-D, 32 ball joints and 3 contacts": lambda: with_contacts(experiment(33, 6), 3),
    "3-D, 127 ball joints": lambda: experiment(128, 6),
}
PAPER = {
    "2-D, 54 pins": ("7.75", "–"),
    "2-D, 48 pins and 6 that close loops": ("24.75", "–"),
    "3-D, 32 ball joints and 3 contacts": ("18", "2"),
    "3-D, 127 ball joints": ("44.6", "close to 40"),
}
"""Milliseconds in 1996, those for J included, and how many times slower the dense method was."""


def _operations(system: System) -> tuple[Count, Count, float]:
    factoring, solving = Tally(), Tally()
    mass, jacobian = ([Counted(factoring) for _ in range(n)] for n in (system.mass_size, system.jacobian_size))
    lagrange.factor(system, mass, jacobian)
    F, b = ([Counted(solving) for _ in range(n)] for n in (system.factor_size, system.nv + system.nc))
    lagrange.solve(system, F, b)
    work = [x.mul + x.add + x.div for x in (factoring.count, solving.count)]
    return factoring.count, solving.count, work[0] / work[1]


# ---- times -----------------------------------------------------------------------------------------------------------


def solution(made: Experiment, out: FloatArray | None = None) -> tuple[FloatArray, ...]:
    """v̇, λ and forces of auxiliary rows by the functions of bough, for one state or many; [v̇, λ] may go to `out`."""
    beside = made.beside
    if beside is None:
        return multipliers(*made.arguments, out=out)
    factor = ldlt(made.system, made.mass, made.jacobian)
    b = np.concatenate([made.force, made.c], axis=-1)
    problem = anticipate(factor, factor.solve(b), beside.rows, beside.jacobian, beside.c)
    if beside.pushing:
        f: FloatArray = pivoting(problem.A, problem.b, Conditions.inequalities(beside.rows.nc)).f
    else:
        f = -np.linalg.solve(problem.A, problem.b[..., np.newaxis])[..., 0]
    return (*problem.motion(f), f)


def _time_tables(made: dict[str, Experiment]) -> tuple[Table, Table]:
    """Microseconds of all ways, and how many times slower than bough they are."""
    times, ratios = [], []
    for name, one in made.items():
        spent, groups = _samples(name, one)
        best = {rival: min(keys, key=lambda key: median(spent[key])) for rival, keys in groups.items() if keys}
        cells = {key: median(values) for key, values in spent.items()}
        shown = [cells[best[rival]] if rival in best else "–" for rival in SOLVERS]
        times.append((name, cells["bough"], cells["batch"], *shown))
        slower = [
            _ratio(spent[best[rival]], spent[ours]) if rival in best else "–"
            for ours, rivals in (("bough", SOLVERS), ("batch", SPARSE))
            for rival in rivals
        ]
        ratios.append((name, *slower, *PAPER.get(name, ("–", "–"))))
    notes = (
        "All on one thread.",
        "dense: A = J M⁻¹ Jᵀ by BLAS, Cholesky by LAPACK; with contacts, bough.lcp.pivoting solves A.",
        "SuperLU: H, in the best of three orders: its own two and that of bough. QDLDL: H in the order of bough, to",
        "which it adds its own. CHOLMOD: the better of LDLᵀ of H in the order of bough (its own may have zero pivots)",
        "and LLᵀ of A in its own order. No time includes assembling or analysing H or A; all solvers know in advance",
        "which entries of M and J are zero.",
        "A batch has different numbers in each state. A failure has no figure; solvers that are not installed have no",
        "column (pip install qdldl cvxopt).",
    )
    columns = ("system", "bough", f"per state of {MANY_STATES}", *SOLVERS)
    paper = ("The paper's times, on a processor of 250 MHz, include 2.75, 2.75, 4.4 and 4 ms for J, in this order.",)
    heads = (*SOLVERS, *(f"{x}, batch" for x in SPARSE), "paper, ms", "paper, dense")
    title = f"How many times slower the others are than one call of bough, and than a state of a batch of {MANY_STATES}"
    return (
        _without_empty_columns("Time for all multipliers and accelerations of one state, in µs", columns, times, notes),
        _without_empty_columns(title, ("system", *heads), ratios, paper),
    )


def _without_empty_columns(
    title: str, columns: tuple[str, ...], rows: Sequence[tuple[object, ...]], notes: tuple[str, ...]
) -> Table:
    """A table without the columns in which no number is known."""
    kept = [k for k in range(len(columns)) if any(row[k] != "–" for row in rows)]
    cells = tuple(tuple(row[k] for k in kept) for row in rows)
    return Table(title, tuple(columns[k] for k in kept), cells, notes)


def _samples(name: str, made: Experiment) -> tuple[dict[str, list[float]], dict[str, list[str]]]:
    """Microseconds per state of each way, in turns, and the names of the ways of each solver."""
    want, many = np.concatenate(solution(made)), made.many(MANY_STATES)
    pushing = made.beside is not None and made.beside.pushing
    room = np.empty((MANY_STATES, made.system.nv + made.system.nc))
    solution(many, room)  # compiles what is not compiled yet
    ways: dict[str, tuple[Way, int]] = {
        "bough": (lambda: solution(made), 1),
        "batch": (lambda: solution(many, room), MANY_STATES),
    }
    groups: dict[str, list[str]] = {}
    for rival, make in SOLVERS.items():
        groups[rival] = []
        for k, way in enumerate([] if pushing and rival in SPARSE else make(made)):
            if not np.abs(way() - want).max() <= 1e-8 * np.abs(want).max():
                raise BoughError(f"{name}: {rival} does not find the solution of bough")
            groups[rival].append(f"{rival} {k}")
            ways[f"{rival} {k}"] = (way, 1)
    spent = interleaved_times({key: way for key, (way, _) in ways.items()}, SECONDS_EACH)
    return {key: [x / ways[key][1] for x in values] for key, values in spent.items()}, groups


def _ratio(slow: list[float], fast: list[float]) -> float:
    """How many times slower one way is than another: the median over turns."""
    return median([a / b for a, b in zip(slow, fast, strict=False)]) if fast else math.nan
