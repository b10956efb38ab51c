"""Measures what operations cost and prints the tables of `bough.kernel.choice`.

    python benchmarks/weights.py [--rounds N]

Straight-line programs: times of several algorithms on robots and small trees, fitted by the counts of their operations.
Rolled programs: times of both methods of forward dynamics on large trees, fitted by nv, D₁ and D₂. One core, one state
and batches of 1024. The numbers go into the source by hand: the choice must not depend on the machine it is made on.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import robots
from measure import interleaved, on_one_core, python
from numpy.typing import NDArray
from scipy.optimize import nnls

import bough
from bough.kernel.choice import ALGORITHMS, weighted
from bough.kernel.compile import LONGEST

BATCH = 1024

Floats = NDArray[np.float64]


def main() -> None:
    """Measure, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="interleaved repetitions (15 by default)")
    rounds = parser.parse_args().rounds
    bough.set_num_threads(1)
    with on_one_core():
        straight_line(rounds)
        rolled(rounds)
    operations()


def straight_line(rounds: int) -> None:
    """Nanoseconds per weighted operation of unrolled programs; a constant for the call is fitted and left out."""
    t = bough.trees.topologies
    small = [t.humanoid(), t.chain(8), t.chain(16), t.balanced_tree(4), t.balanced_tree(5), t.grid(5)]
    models = [*(robots.robot(name)[1] for name in robots.ROBOTS), *small]
    rows: list[tuple[float, float, float]] = []
    times: dict[str, list[float]] = {"one": [], "batch": []}
    for model in models:
        aba, crba = (bough.count(model, algorithm) for algorithm in ALGORITHMS.values())
        if max(aba.total, crba.total) > LONGEST:
            continue
        samples = _forward(model, rounds)
        shown = ", ".join(f"{key} {value:.0f}" for key, value in samples.items())
        print(f"# {model.name:30} {weighted(aba):.0f}, {weighted(crba):.0f} operations; ns: {shown}")
        rows += [(weighted(aba), 0.0, 1.0), (0.0, weighted(crba), 1.0)]
        for key, values in times.items():
            values += [samples[f"aba {key}"], samples[f"crba {key}"]]
    print("UNROLLED: nanoseconds per weighted operation")
    for key, values in times.items():
        fitted = _fit(rows, values)
        off = _error(rows, values, fitted)
        print(f"    {key}: aba {fitted[0]:.3g}, crba {fitted[1]:.3g}  # a call {fitted[2]:.0f}, off by {off:.0%}")


def rolled(rounds: int) -> None:
    """Nanoseconds per node, per pair with an ancestor and per pair of these."""
    t = bough.trees.topologies
    models = [t.chain(80), t.chain(150), t.chain(300), t.balanced_tree(7), t.balanced_tree(9), t.balanced_tree(10)]
    models += [t.grid(10), t.grid(20), t.grid(30), t.side_branch_chain(50)]
    times: dict[str, list[float]] = {}
    sizes = []
    for model in models:
        tree = model.dof_tree
        sizes.append((float(tree.n), float(tree.D1), float(tree.D2)))
        for key, value in _forward(model, rounds).items():
            times.setdefault(key, []).append(value)
    print("ROLLED: nanoseconds")
    for method in ALGORITHMS:
        for key in ("one", "batch"):
            rows = [(n, 0.0, 0.0) if method == "aba" else (n, d1, d2) for n, d1, d2 in sizes]
            fitted = _fit(rows, times[f"{method} {key}"])
            shown = ", ".join(f"{x:.3g}" for x in fitted)
            print(
                f'    {method} "{key}": PerNode({shown})  # off by {_error(rows, times[f"{method} {key}"], fitted):.0%}'
            )


def operations() -> None:
    """Operations of rolled programs, counted."""
    t = bough.trees.topologies
    models = [t.chain(70), t.chain(100), t.grid(9), t.grid(13), t.balanced_tree(7), t.balanced_tree(8)]
    trees = [model.dof_tree for model in models]
    print("ROLLED: operations")
    for method, algorithm in ALGORITHMS.items():
        rows = [(tree.n, 0, 0) if method == "aba" else (tree.n, tree.D1, tree.D2) for tree in trees]
        counted = [float(bough.count(model, algorithm, optimized=True).total) for model in models]
        fitted = _fit(rows, counted)
        shown = ", ".join(f"{x:.3g}" for x in fitted)
        print(f"    {method}: PerNode({shown})  # off by {_error(rows, counted, fitted):.1%}")


def _forward(model: bough.Model, rounds: int) -> dict[str, float]:
    """Nanoseconds per state of both methods, for one state and in a batch."""
    rng = np.random.default_rng(0)
    q = np.resize(bough.random(model, rng, size=64), (BATCH, model.nq))
    v, tau, out = rng.normal(size=(3, BATCH, model.nv))

    def one(method: Any) -> Any:
        return lambda: bough.forward_dynamics(model, q[0], v[0], tau[0], method=method)

    def many(method: Any) -> Any:
        return lambda: bough.forward_dynamics(model, q, v, tau, method=method, out=out, check=False)

    samplers = {f"{method} one": python(one(method)) for method in ALGORITHMS}
    samplers |= {f"{method} batch": python(many(method), BATCH) for method in ALGORITHMS}
    return {key: 1e3 * float(np.min(values)) for key, values in interleaved(samplers, rounds).items()}


def _fit(rows: list[Any], times: list[float]) -> tuple[float, ...]:
    """Weights that are not negative and make the sum of relative errors small: outliers count little."""
    relative = np.array(rows, dtype=float) / np.array(times)[:, np.newaxis]
    trust = np.ones(len(times))
    for _ in range(20):
        weights, _ = nnls(relative * trust[:, np.newaxis], trust)
        trust = 1.0 / np.sqrt(np.maximum(np.abs(relative @ weights - 1.0), 0.02))
    return tuple(float(w) for w in weights)


def _error(rows: list[Any], times: list[float], weights: tuple[float, ...]) -> float:
    """Median relative error of a fit."""
    told = np.array(rows, dtype=float) @ np.array(weights)
    return float(np.median(np.abs(told / np.array(times) - 1.0)))


if __name__ == "__main__":
    main()
