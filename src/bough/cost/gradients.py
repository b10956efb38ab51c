"""Conjugate gradients on A λ = -(J M⁻¹ F + c), as Gleicher's system does that Baraff 1996 compares with (section 9)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from statistics import median

import numpy as np

from bough.cost.experiments import Experiment, kkt
from bough.cost.report import Table
from bough.cost.solvers import Way
from bough.cost.timing import interleaved_times
from bough.kernel.arguments import FloatArray

__all__ = ["Gradients", "gradients"]

ACCURACIES = (1e-2, 1e-6, 1e-10)
"""Of the residual, beside the right-hand side."""

BRAMBLE = {"2-D, 54 pins": "about 3", "2-D, 48 pins and 6 that close loops": "about 1"}
"""How many times slower than Baraff's method the paper found conjugate gradients."""


class Gradients:
    """The multipliers by conjugate gradients: A = J M⁻¹ Jᵀ is never formed, a step costs O(n)."""

    def __init__(self, made: Experiment) -> None:
        self._J = kkt(made)[1].tocsr()
        self._across, self._inverse, self._force = self._J.T.tocsr(), 1.0 / made.mass, made.force
        c = made.c if made.beside is None else np.concatenate([made.c, made.beside.c])
        self._b = -(self._J @ (self._inverse * made.force) + c)

    def solve(self, accuracy: float) -> tuple[FloatArray, int]:
        """[v̇, λ] when the residual is this small relative to the right-hand side, and the number of steps."""
        lam, r = np.zeros_like(self._b), self._b.copy()
        p, rr, steps = r.copy(), float(r @ r), 0
        goal = accuracy * accuracy * rr
        while rr > goal and steps < 20 * len(r):
            Ap = self._J @ (self._inverse * (self._across @ p))
            alpha = rr / float(p @ Ap)
            lam += alpha * p
            r -= alpha * Ap
            before, rr = rr, float(r @ r)
            p = r + (rr / before) * p
            steps += 1
        return np.concatenate([(self._force + self._across @ lam) * self._inverse, lam]), steps


def gradients(made: Mapping[str, Experiment], ours: Mapping[str, Way], seconds: float) -> Table:
    """Steps and time of conjugate gradients on systems whose rows are all equalities."""
    rows = []
    for name, one in made.items():
        if one.beside is not None and one.beside.pushing:
            continue
        solver = Gradients(one)
        ways: dict[str, Way] = {"bough": ours[name]}
        ways |= {str(accuracy): partial(solver.solve, accuracy) for accuracy in ACCURACIES}
        spent = {key: median(values) for key, values in interleaved_times(ways, seconds).items()}
        cells = [f"{solver.solve(x)[1]}, {spent[str(x)] / spent['bough']:.1f}x" for x in ACCURACIES]
        rows.append((name, len(solver.solve(1.0)[0]) - one.system.nv, spent["bough"], *cells, BRAMBLE.get(name, "–")))
    columns = ("system", "multipliers", "bough, µs", *(f"to {x:.0e}" for x in ACCURACIES), "paper")
    notes = (
        "Steps, and how many times slower than one call of bough. A step multiplies by J, M⁻¹ and Jᵀ, sparse (SciPy).",
        "The paper's figure is for a system of its time, to an accuracy that it does not tell.",
    )
    return Table("Conjugate gradients on the multipliers", columns, tuple(rows), notes)
