"""One state of one long chain: ABA beside divide and conquer, from one thread to all, on a GPU, and how errors grow.

    python benchmarks/on_long_chains.py [LARGEST] [ROUNDS] [PAGE.md]

It needs nothing but bough, so that it runs where rivals are not installed; a page has curves, too, with Matplotlib.
Models of 100 000 bodies take a minute to make. Where CuPy finds a GPU, arrays lie there before and after a call.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import Call, interleaved, python
from numpy.typing import NDArray
from report import Page

import bough
from bough.kernel.divide_and_conquer import rounds_of
from bough.kernel.functions import mechanism

__all__ = ["measure_long_chains"]

SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
MOST_EXACT = 10_000
"""Bodies of the longest chain whose accelerations are also computed in long double."""

METHODS = ("aba", "divide_and_conquer")
GPU = "GPU"
SHAPES: dict[str, Callable[[int], bough.Model]] = {
    "chain": bough.trees.topologies.chain,
    "chain with side branches": lambda n: bough.trees.topologies.side_branch_chain(max(1, n // 2)),
    "binary tree": lambda n: bough.trees.topologies.balanced_tree(max(1, round(np.log2(n + 1)))),
}

Long = NDArray[np.longdouble]


def measure_long_chains(page: Page, largest: int, rounds: int) -> None:
    """Times per thread, where divide and conquer wins, and errors."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    counts = sorted({1, 2, 4, 8, 16, cores} & set(range(1, cores + 1)))
    page.text(f"## One long mechanism: {cores} processors, elapsed µs for one state")
    ways = [*(f"{k} threads" for k in counts), *([GPU] if bough.cuda.is_available() else [])]
    times, errors, panels = [], [], {}
    for title, make in SHAPES.items():
        for n in (size for size in SIZES if size <= largest):
            model = make(n)
            state = _state(model)
            for dtype in (np.float64, np.float32):
                arrays = [x.astype(dtype) for x in state]
                shortest = _times(model, arrays, counts, rounds)
                aba = shortest["aba, 1"]
                ours = [shortest[f"divide_and_conquer, {k}"] for k in counts]
                if GPU in shortest:
                    ours.append(shortest[GPU])
                cells = [f"{x:.4g} ({aba / x:.2f}x)" for x in ours]
                times.append((title, model.nbodies, dtype.__name__, len(rounds_of(model)), aba, *cells))
                print(*times[-1], flush=True)
                lines = panels.setdefault(f"{title}, {dtype.__name__}", {})
                lines.setdefault("ABA", []).append((model.nbodies, 1e3 * aba / model.nbodies))
                for way, x in zip(ways, ours, strict=True):
                    lines.setdefault(way, []).append((model.nbodies, 1e3 * x / model.nbodies))
            if title == "chain" and n <= MOST_EXACT:
                errors.append((n, *_errors(model, state)))
    page.text("Times faster than ABA in brackets.")
    page.table(("tree", "bodies", "type", "rounds", "ABA", *ways), times)
    page.curves("long_chains", "One state of a long mechanism", ("bodies", "ns per body"), panels)
    page.text("Largest error beside the largest acceleration, against long double:")
    columns = [f"{method}, {dtype}" for dtype in ("float64", "float32") for method in METHODS]
    page.table(("bodies of a chain", *columns), errors)
    bough.set_num_threads(1)


def _state(model: bough.Model) -> list[NDArray[np.float64]]:
    """Numbers that float32 has too, so that both types are asked the same."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, model.nq)
    return [x.astype(np.float32).astype(np.float64) for x in (q, *rng.normal(size=(2, model.nv)))]


def _times(model: bough.Model, arrays: list[Any], counts: list[int], rounds: int) -> dict[str, float]:
    """The shortest of all rounds: what else runs on the machine only makes it longer."""
    calls = {"aba, 1": _on_threads(1, partial(bough.forward_dynamics, model, *arrays, method="aba", check=False))}
    for k in counts:
        ours = partial(bough.forward_dynamics, model, *arrays, method="divide_and_conquer", check=False)
        calls[f"divide_and_conquer, {k}"] = _on_threads(k, ours)
    if bough.cuda.is_available():
        calls[GPU] = _on_gpu(model, arrays)
    samplers = {name: python(call, clock=time.perf_counter) for name, call in calls.items()}
    return {name: float(values.min()) for name, values in interleaved(samplers, rounds).items()}


def _on_threads(count: int, call: Call) -> Call:
    def run() -> object:
        bough.set_num_threads(count)
        return call()

    return run


def _on_gpu(model: bough.Model, arrays: list[Any]) -> Call:
    """A call looks at a verdict, and so waits for the GPU, before it returns."""
    import cupy

    there = [cupy.asarray(x) for x in arrays]
    call = partial(bough.forward_dynamics, model, *there, method="divide_and_conquer", check=False)
    want, found = bough.forward_dynamics(model, *arrays, method="divide_and_conquer"), call().get()
    assert np.abs(found - want).max() <= (1e-6 if want.dtype == np.float64 else 0.1) * np.abs(want).max()
    return call


# ---- errors ----------------------------------------------------------------------------------------------------------


def _errors(model: bough.Model, state: list[NDArray[np.float64]]) -> list[str]:
    exact = _exact(model, *(x.astype(np.longdouble) for x in state))
    cells = []
    for dtype in (np.float64, np.float32):
        arrays = [x.astype(dtype) for x in state]
        for method in METHODS:
            found = bough.forward_dynamics(model, *arrays, method=method)
            cells.append(f"{float(np.abs(found - exact).max() / np.abs(exact).max()):.1e}")
    return cells


def _exact(model: bough.Model, q: Long, v: Long, tau: Long) -> Long:
    """ABA of a chain of revolute joints in long double, on 6 x 6 matrices, angular part first."""
    inside, n = mechanism(model), model.nbodies
    rows = inside.constants.data[inside.constant_starts.data[:, np.newaxis] + np.arange(22)].astype(np.longdouble)
    Xs, inertias, biases, forces = [], [], [], []
    velocity = np.zeros(6, np.longdouble)
    for row, angle, speed in zip(rows, q, v, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        R = row[:9].reshape(3, 3).T @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]], np.longdouble)
        X = _blocks(R.T, 0 * R, -R.T @ _cross(row[9:12]), R.T)
        J = row[[16, 17, 19, 17, 18, 20, 19, 20, 21]].reshape(3, 3)
        inertia = _blocks(J, _cross(row[13:16]), -_cross(row[13:16]), row[12] * np.eye(3))
        velocity = X @ velocity + speed * np.eye(6)[2]
        times = _blocks(_cross(velocity[:3]), 0 * R, _cross(velocity[3:]), _cross(velocity[:3]))
        Xs.append(X)
        inertias.append(inertia)
        biases.append(times[:, 2] * speed)
        forces.append(-times.T @ inertia @ velocity)
    A, p, solved = np.zeros((6, 6), np.longdouble), np.zeros(6, np.longdouble), []
    for k in reversed(range(n)):
        A = inertias[k] + A
        p = forces[k] + p + A @ biases[k]
        U, u = A[:, 2], tau[k] - p[2]
        solved.append((U, U[2], u))
        A, p = Xs[k].T @ (A - np.outer(U, U) / U[2]) @ Xs[k], Xs[k].T @ (p + U * (u / U[2]))
    a = np.array([0, 0, 0, *(-x for x in model.gravity)], np.longdouble)
    qdd = np.zeros(n, np.longdouble)
    for k in range(n):
        U, D, u = solved[n - 1 - k]
        a = Xs[k] @ a
        qdd[k] = (u - U @ a) / D
        a = a + biases[k] + qdd[k] * np.eye(6)[2]
    return qdd


def _cross(x: Long) -> Long:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]], np.longdouble)


def _blocks(a: Long, b: Long, c: Long, d: Any) -> Long:
    return np.block([[a, b], [c, d]])


if __name__ == "__main__":
    given = [int(x) for x in sys.argv[1:3]]
    page = Page(Path(sys.argv[3]) if len(sys.argv) > 3 else None)
    measure_long_chains(page, *(given + [100_000, 9][len(given) :]))
