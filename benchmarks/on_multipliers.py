"""The multipliers' part of the report: the systems of Baraff 1996 beside dense and general sparse solvers."""

from __future__ import annotations

import numpy as np
from measure import Sampler, fastest, interleaved, on_one_core, python, ratio
from report import Page

from bough.cost.baraff import EXPERIMENTS, solution
from bough.cost.experiments import Experiment
from bough.cost.solvers import SOLVERS, SPARSE

__all__ = ["measure_multipliers"]

BATCH = 64
REPEATS = 5  # batches in a row: rivals are measured on one state over and over, from the caches


def measure_multipliers(page: Page, rounds: int) -> None:
    """Every system of the paper, one thread."""
    page.text("## Multipliers")
    page.text(
        "All accelerations and multipliers of a system in maximal coordinates: one call, and µs per state of a batch "
        f"of {BATCH} with different numbers in each, results in memory that is there, all checks on. Rivals are given "
        "assembled matrices, orders and analyses for nothing; all know which entries are zero. The targets, for 127 "
        "ball joints: 40 times faster than the dense method, 5 times faster than the best general sparse solver, "
        "20 times per state of a batch."
    )
    rows = [row for name, make in EXPERIMENTS.items() for row in _rows(name, make(), rounds)]
    page.table(("system", "solver", "its µs", "bough µs", "times faster", "batch µs", "times faster, batch"), rows)


def _rows(name: str, made: Experiment, rounds: int) -> list[tuple[object, ...]]:
    want, many = np.concatenate(solution(made)), made.many(BATCH)
    pushing = made.beside is not None and made.beside.pushing
    room = np.empty((BATCH, made.system.nv + made.system.nc))
    candidates: dict[str, Sampler] = {
        "bough": python(lambda: solution(made)),
        "batch": python(lambda: [solution(many, room) for _ in range(REPEATS)], REPEATS * BATCH),
    }
    ways: dict[str, list[str]] = {}
    for solver, make in SOLVERS.items():
        found = [] if pushing and solver in SPARSE else make(made)
        ways[solver] = [f"{solver} {k}" for k in range(len(found))]
        for key, way in zip(ways[solver], found, strict=True):
            assert np.allclose(way(), want, rtol=0, atol=1e-8 * np.abs(want).max())
            candidates[key] = python(way)
    with on_one_core():
        samples = interleaved(candidates, rounds)
    cost = {key: float(np.median(values)) for key, values in samples.items()}
    rows: list[tuple[object, ...]] = []
    for solver, keys in ways.items():
        best = fastest(samples, keys)
        if best is not None:
            once, each = (str(ratio(samples[best], samples[key])) for key in ("bough", "batch"))
            rows.append((name, solver, cost[best], cost["bough"], once, cost["batch"], each))
    return rows
