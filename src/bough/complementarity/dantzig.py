"""Exact forces row after row, as Baraff (1994) extends Dantzig's algorithm: friction, boxes and one-sided conditions.

Each row is driven to its condition while those before it keep theirs. Rows are free (a = 0) or at a bound; as the force
of one row grows, free rows respond, and a row that reaches a bound, or leaves one, is pivoted. Friction at its bound
follows the force of its normal. Without friction it always ends in a solution if there is one.
"""

from __future__ import annotations

import numpy as np

from bough.complementarity.pivoting import Answer
from bough.complementarity.reduction import Numbers, Problem, Reduction
from bough.complementarity.smoothing import failures
from bough.scalar.tolerances import RESIDUAL, ROUNDING

__all__ = ["dantzig"]

AT_LOWER, BETWEEN, AT_UPPER = -1, 0, 1
"""Where the force of a row is."""

CIRCLING = 40
"""So many pivots for each row may a row take before the way is given up: friction may lead in circles."""

STUCK = "row {} could not be driven to its condition in {} pivots, and there may be a solution"


def dantzig(reduction: Reduction) -> Answer:
    """Forces that meet all conditions, or what conflicts, for `pivoting`."""
    driven = _Driven(reduction.problem)
    stuck = next((row for row in reduction.problem.conditions.in_order if not driven.drive(row)), None)
    rows = failures(reduction.problem, driven.f) > RESIDUAL
    told = STUCK.format(int(reduction.rows[stuck]), driven.pivots) if stuck is not None and rows.any() else ""
    return Answer(driven.f, rows, told, driven.pivots)


class _Driven:
    """A problem without equalities, of magnitude 1, whose rows are driven to their conditions one after the other."""

    def __init__(self, problem: Problem) -> None:
        self.problem, n = problem, len(problem.b)
        self.f, self.at, self.known, self.pivots = np.zeros(n), np.full(n, AT_LOWER), np.zeros(n, np.bool_), 0
        self.kinds, self.normals = problem.conditions.kinds, problem.conditions.normals

    def drive(self, row: int) -> bool:
        """Drive a row, after its normal; returns whether that was possible."""
        problem = self.problem
        for _ in range(CIRCLING * (1 + len(self.f))):
            a = problem.A @ self.f + problem.b
            toward = 1.0 if a[row] < 0.0 else -1.0
            below, above = self._room(row, self.f, problem.limits)
            if abs(a[row]) <= ROUNDING or (above if toward > 0.0 else below) <= ROUNDING:
                at_bound = abs(a[row]) > ROUNDING or (below <= ROUNDING and self.kinds[row] != "pyramid")
                self.at[row] = (AT_UPPER if toward > 0.0 else AT_LOWER) if at_bound else BETWEEN
                self.known[row] = True
                return True
            change = self._response(row, toward)
            length, ending, to = self._longest(row, toward, a, change)
            if not length < np.inf:
                return False
            self.f = self.f + length * change
            self.pivots += 1
            if ending != row:
                self.at[ending] = to
        return False

    def _room(self, k: int, f: Numbers, limits: Numbers) -> tuple[float, float]:
        """How far the force of a row is from its lower and its upper bound; for changes, how these change."""
        if self.kinds[k] == "pyramid":
            most = float(self.problem.mu[k] * f[self.normals[k]])
            return float(f[k]) + most, most - float(f[k])
        return float(f[k]), float(limits[k] - f[k]) if self.kinds[k] == "box" else np.inf

    def _response(self, row: int, toward: float) -> Numbers:
        """How all forces change with that of one row, so that free rows stay at a = 0."""
        n, A = len(self.f), self.problem.A
        free = np.flatnonzero(self.known & (self.at == BETWEEN))
        S = np.eye(n)  # friction at its bound follows its normal
        for k in np.flatnonzero(self.known & (self.at != BETWEEN)):
            S[k, k] = 0.0
            if self.kinds[k] == "pyramid":
                S[k, self.normals[k]] = self.at[k] * self.problem.mu[k]
        B = A @ S
        change = np.zeros(n)
        change[row] = toward
        if free.size:
            inner, right = B[free[:, None], free], -B[free, row] * toward
            change[free] = np.linalg.lstsq(inner, right, rcond=ROUNDING)[0]
        return np.asarray(S @ change)

    def _longest(self, row: int, toward: float, a: Numbers, change: Numbers) -> tuple[float, int, int]:
        """How far the force of a row may go until it is where it should be, or another row changes; which, where to."""
        rate, nothing = self.problem.A @ change, np.zeros_like(a)
        ends = [(abs(a[row]), toward * rate[row], row, BETWEEN)]  # how far off, with what speed
        for k in (*np.flatnonzero(self.known).tolist(), row):
            if k == row or self.at[k] == BETWEEN:
                room, opening = self._room(k, self.f, self.problem.limits), self._room(k, change, nothing)
                ends += [(room[to], -opening[to], k, (AT_LOWER, AT_UPPER)[to]) for to in range(2)]
            else:
                ends.append((-self.at[k] * a[k], self.at[k] * rate[k], k, BETWEEN))
        steps = [(max(far, 0.0) / speed, k, to) for far, speed, k, to in ends if ROUNDING < speed < np.inf]
        return min(steps, key=lambda step: step[0], default=(np.inf, row, BETWEEN))
