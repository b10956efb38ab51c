"""The trees' part of the report: the papers' topologies from ten bodies to a hundred thousand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from measure import Sampler, fastest, interleaved, on_one_core, python, ratio
from numpy.typing import NDArray
from report import Page
from tree_rivals import Rival, rivals_on

import bough
from bough.kernel.choice import ROLLED

__all__ = ["measure_trees"]

SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
AGAINST = (300, 1_000, 10_000)
"""Sizes at which the rivals run too."""

BATCH = 256
LONGEST_CHAIN = 3_000
"""The longest chain whose mass matrix is factorised: it is dense there."""


@dataclass(frozen=True)
class Shape:
    """A family of trees: one with about so many bodies."""

    name: str
    make: Callable[[int], bough.Model]
    branches: bool


SHAPES = (
    Shape("chain", bough.trees.topologies.chain, False),
    Shape("binary tree", lambda n: bough.trees.topologies.balanced_tree(max(1, round(math.log2(n + 1)))), True),
    Shape("grid", lambda n: bough.trees.topologies.grid(max(1, round(math.sqrt(n)))), True),
)


class Case:
    """One tree with its states. All joints are revolute."""

    def __init__(self, shape: Shape, n: int) -> None:
        self.shape, self.asked = shape, n
        self.model = shape.make(n)
        self.n = self.model.nbodies
        rng = np.random.default_rng(0)
        self.q = rng.uniform(-1.0, 1.0, size=(1, self.n))
        self.v, self.tau = rng.normal(size=(2, 1, self.n))

    def batch(self) -> tuple[NDArray[np.float64], ...]:
        """The states again, many times, slightly different."""
        shifts = np.linspace(0.0, 0.1, BATCH)[:, np.newaxis]
        return self.q + shifts, self.v + shifts, self.tau + shifts

    @property
    def with_factor(self) -> bool:
        """Whether the mass matrix is factorised too."""
        return self.shape.branches or self.n <= LONGEST_CHAIN

    def ours(self) -> dict[str, Sampler]:
        """One state by each algorithm of bough."""
        m, q, v, tau = self.model, self.q[0], self.v[0], self.tau[0]
        calls = {"RNEA": lambda: bough.rnea(m, q, v, tau), "ABA": lambda: bough.aba(m, q, v, tau)}
        if self.with_factor:
            calls["CRBA + LTDL"] = lambda: bough.forward_dynamics(m, q, v, tau, method="crba")
        return {name: python(call) for name, call in calls.items()}

    def ours_in_batch(self) -> dict[str, Sampler]:
        """A batch of states by each method of forward dynamics."""
        m, (q, v, tau), out = self.model, self.batch(), np.empty((BATCH, self.n))
        calls = {"ABA": lambda: bough.aba(m, q, v, tau, out=out, check=False)}
        if self.shape.branches:
            calls["CRBA + LTDL"] = lambda: bough.forward_dynamics(m, q, v, tau, method="crba", out=out, check=False)
        return {f"{name}, batch": python(call, BATCH) for name, call in calls.items()}


def measure_trees(page: Page, largest: int, rounds: int) -> None:
    """Cost per body, cost per operation, and the rivals."""
    page.text("## Large trees")
    per_body, per_operation, against = [], [], []
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {shape.name: {} for shape in SHAPES}
    for shape in SHAPES:
        for n in (size for size in SIZES if size <= largest):
            case = Case(shape, n)
            rivals, notes = rivals_on(case.model) if n in AGAINST else ({}, [])
            with on_one_core():
                samplers = case.ours() | (case.ours_in_batch() if n in AGAINST else {})
                samples = interleaved(samplers | {name: rival.sampler for name, rival in rivals.items()}, rounds)
            medians = {name: float(np.median(values)) for name, values in samples.items()}
            for name, spent in _lines(medians, rivals).items():
                panels[shape.name].setdefault(name, []).append((case.n, 1e3 * spent / case.n))
            cells = [1e3 * medians[k] / case.n if k in medians else "–" for k in ("RNEA", "ABA", "CRBA + LTDL")]
            per_body.append((shape.name, case.n, *cells))
            per_operation += _per_operation(case, medians)
            against += _against(case, samples, rivals, notes)
            for rival in rivals.values():
                rival.close()
            print(f"{shape.name} {case.n}: " + ", ".join(f"{k} {v:.4g} µs" for k, v in medians.items()), flush=True)
    page.text("Nanoseconds per body, one state, one call from Python: flat if the cost is linear.")
    page.table(("tree", "bodies", "RNEA", "ABA", "CRBA + LTDL"), per_body)
    page.curves("trees", "Cost per body", ("bodies", "ns per body and state"), panels)
    page.text("Nanoseconds per operation, estimated from nv, D₁ and D₂: flat if time is linear in operations.")
    page.table(("tree", "bodies", "D₁", "D₂", "method", "operations", "ms", "ns per operation"), per_operation)
    page.text(
        f"Forward dynamics beside every rival that can run: one state, and per state of a batch of {BATCH} (target: "
        "faster, and 6 times faster). Rivals have no batches; their cost is that of one state."
    )
    page.table(("tree", "bodies", "method", "bough µs", "fastest rival", "rival µs", "times faster"), against)


def _lines(medians: dict[str, float], rivals: dict[str, Rival]) -> dict[str, float]:
    """What the plot shows: all of ours, and of each rival the fastest way."""
    lines = {name: spent for name, spent in medians.items() if name not in rivals}
    for name in rivals:
        engine = name.split()[0]
        lines[engine] = min(medians[name], lines.get(engine, math.inf))
    return lines


def _per_operation(case: Case, medians: dict[str, float]) -> list[tuple[object, ...]]:
    tree, rows = case.model.dof_tree, []
    for name, method in (("ABA", "aba"), ("CRBA + LTDL", "crba")):
        if name in medians:
            operations = ROLLED[method]["operations"].of(tree.n, tree.D1, tree.D2)
            spent = medians[name]
            cells = (float(operations), spent / 1e3, 1e3 * spent / operations)
            rows.append((case.shape.name, case.n, tree.D1, tree.D2, name, *cells))
    return rows


def _against(
    case: Case, samples: dict[str, NDArray[np.float64]], rivals: dict[str, Rival], notes: list[str]
) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    best = fastest(samples, list(rivals))
    for name in ("ABA", "CRBA + LTDL", "ABA, batch", "CRBA + LTDL, batch"):
        if name in samples and best is not None:
            ours, theirs = (float(np.median(samples[key])) for key in (name, best))
            rows.append((case.shape.name, case.n, name, ours, best, theirs, ratio(samples[best], samples[name])))
    others = [f"{name} {float(np.median(samples[name])):.4g} µs" for name in rivals if name != best] + notes
    if others:
        rows.append((case.shape.name, case.n, "", "", "; ".join(others), "", ""))
    return rows
