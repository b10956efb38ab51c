"""Lemke's algorithm for linear complementarity problems: w = M z + q, w ≥ 0, z ≥ 0, w z = 0, by pivoting.

The artificial variable z₀ makes w = M z + q + d z₀ true for z = 0, and is then driven to zero along a path on which all
of w ≥ 0, z ≥ 0, wᵢ zᵢ = 0 hold. For copositive M (zᵀ M z ≥ 0 for all z ≥ 0) that have a solution, as those of contact
with a friction pyramid do at the level of velocities, the path ends in one (Cottle, Pang and Stone, section 4.4).
Otherwise it may end in a ray, whose direction says which variables grow without bound and do not help.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import Conditions
from bough.complementarity.reduction import STEADY, Numbers, Problem, Rows
from bough.scalar.tolerances import VANISHING

__all__ = ["Path", "basic_forces", "forces", "lemke", "linear"]

TIE = 500 * np.finfo(np.float64).eps
"""Ratios of a pivoting step that differ by less are equal: some hundred roundings of numbers of magnitude 1."""

LATE = 32
"""So many exchanges are made in all numbers at once."""


@dataclass(frozen=True)
class Path:
    """Where a path ended: at a solution, in a ray, or nowhere, after too many pivots."""

    end: Literal["solution", "ray", "lost"]
    basic: NDArray[np.bool_]  # which z are basic: all others are zero
    ray: Numbers  # the direction of a ray in z; zero for other ends
    pivots: int


def lemke(M: Numbers, q: Numbers, d: Numbers, fresh: int, most: int | None = None) -> Path:
    """Follow the path from z₀ large to its end, for a problem of magnitude 1 and a covering vector d > 0.

    Where a tie would be broken by chance the path may cycle: q should be slightly perturbed. After `fresh` pivots each,
    unless that is 0, all values are computed again from M and q. There are at most so many pivots, or ten per row; most
    problems need one to three per row.
    """
    n = len(q)
    if q.min(initial=0) >= 0:
        return Path("solution", np.zeros(n, np.bool_), np.zeros(n), 0)
    table = _Table(M, q, d)
    basic, other = list(range(n)), list(range(n, 2 * n + 1))
    place = [*range(n), *range(n + 1)]  # the row or column of each variable
    row, column = int(np.argmin(q / d)), n
    direction = table.column(column)
    longest = 10 * n if most is None else most

    def ended(end: Literal["solution", "ray", "lost"], pivots: int, rates: Numbers | None = None) -> Path:
        is_basic, ray = np.zeros(2 * n + 1, np.bool_), np.zeros(2 * n + 1)
        is_basic[basic] = True
        if rates is not None:  # one variable grows at the rate 1
            ray[basic], ray[other[column]] = rates, 1
        return Path(end, is_basic[n : 2 * n], ray[n : 2 * n], pivots)

    for pivots in range(1, longest + 1):
        table.exchange(row, column, direction)
        leaving, entering = basic[row], other[column]
        basic[row], other[column] = entering, leaving
        place[entering], place[leaving] = row, column
        if leaving == 2 * n:
            return ended("solution", pivots)
        column = place[(leaving + n) % (2 * n)]  # the complement of what left comes in
        if fresh and pivots % fresh == 0:
            try:
                table.rebuild(M, q, d, basic, other)
            except np.linalg.LinAlgError:  # rounding has led to a basis that is none
                return ended("lost", pivots)
        direction = table.column(column)
        bounding = (direction < -VANISHING * np.abs(direction).max()).nonzero()[0]
        if bounding.size == 0:
            return ended("ray", pivots, direction)
        # of the rows that become zero first, but for rounding, z₀ or the one with the largest pivot leaves
        values, rates = table.values[bounding], -direction[bounding]
        ratios, artificial = values / rates, place[2 * n]
        if direction[artificial] < 0 and ratios.min() >= table.values[artificial] / -direction[artificial]:
            row = artificial
        else:
            near = (ratios <= ((values + TIE) / rates).min()).nonzero()[0]
            row = int(bounding[near[rates[near].argmax()]])
    return ended("lost", longest)


class _Table:
    """Basic variables = values + T × the others. Variable i is wᵢ, n + i is zᵢ, 2n is z₀.

    An exchange changes all of T, by columns of `left` times rows of `right`; to save time that is done for many
    exchanges at once, and what is read before is put together when it is read.
    """

    def __init__(self, M: Numbers, q: Numbers, d: Numbers) -> None:
        n = len(q)
        self.values = q.copy()
        self._T = np.column_stack([M, d])
        self._left, self._right, self._late = np.zeros((LATE, n)), np.zeros((LATE, n + 1)), 0
        self._product = np.empty_like(self._T)

    def column(self, column: int) -> Numbers:
        late = self._late
        return np.asarray(self._T[:, column] + self._right[:late, column] @ self._left[:late])

    def exchange(self, row: int, column: int, direction: Numbers) -> None:
        """Exchange a basic variable with another one, whose column is `direction`."""
        late, left, right = self._late, self._left, self._right
        inverse = 1 / direction[row]
        line = (self._T[row] + left[:late, row] @ right[:late]) * -inverse
        value = self.values[row] * -inverse
        left[late], right[late] = direction, line
        self._T[row], self._T[:, column] = line, direction * inverse
        self._T[row, column] = inverse
        self.values += direction * value
        self.values[row] = value
        np.maximum(self.values, 0, out=self.values)  # what rounding put below zero
        self._late = late = late + 1
        left[:late, row] = right[:late, column] = 0
        if late == LATE:
            self._T += np.matmul(left.T, right, out=self._product)
            self._late = 0

    def rebuild(self, M: Numbers, q: Numbers, d: Numbers, basic: list[int], other: list[int]) -> None:
        """All numbers from the problem itself, free of the rounding of exchanges so far."""
        n = len(q)
        W, variables = np.column_stack([np.eye(n), -M, -d]), np.array(basic)
        right = np.column_stack([-W[:, other], q])
        found = np.empty_like(right)
        # equations whose w is basic say what that is, all others what the basic z are
        z, w = (variables >= n).nonzero()[0], (variables < n).nonzero()[0]
        rest = np.setdiff1d(np.arange(n), variables[w])
        found[z] = np.linalg.solve(W[rest[:, None], variables[z]], right[rest])
        found[w] = right[variables[w]] - W[variables[w][:, None], variables[z]] @ found[z]
        self._T, self._late = np.ascontiguousarray(found[:, :-1]), 0
        self.values = np.maximum(found[:, -1], 0)


# ---- problems of forces as such ones: forces are sums of pushes that are not negative --------------------------------


def linear(problem: Problem) -> tuple[Numbers, Numbers]:
    """The problem as w = M z + q, w ≥ 0, z ≥ 0, w z = 0; it has no cones.

    Pushes are those of normals, f = f⁺ - f⁻ on the rows of pyramids, and those of boxes. With λ for the speed at which
    a row slides or a box gives way, z is all pushes, then all λ. Then w is the a along each push, but for normals with
    λ added to it, and what friction and boxes could do yet: μ fₙ less both pushes, limit - f.
    """
    parts, conditions = _parts(problem.conditions), problem.conditions
    M, k = parts.links.copy(), len(parts.rows)
    M[:k, :k] = problem.A[parts.rows[:, None], parts.rows] * parts.signs * parts.signs[:, None]
    M[parts.bounds] = problem.mu[conditions.pyramid]
    q = np.zeros(len(M))
    q[:k] = problem.b[parts.rows] * parts.signs
    q[len(q) - len(conditions.box) :] = problem.limits[conditions.box]
    return M, q


def forces(problem: Problem, z: Numbers) -> Numbers:
    """The f that z stands for."""
    parts, f = _parts(problem.conditions), np.zeros(problem.conditions.n)
    np.add.at(f, parts.rows, parts.signs * z[: len(parts.rows)])
    return f


def basic_forces(problem: Problem, M: Numbers, q: Numbers, path: Path) -> Numbers:
    """The forces where a path ended, from M and q alone: free of what rounding and perturbation did along it."""
    z = np.zeros_like(q)
    basic = np.flatnonzero(path.basic)
    B = M[basic[:, None], basic]
    try:
        z[basic] = np.linalg.solve(B, -q[basic])
    except np.linalg.LinAlgError:
        z[basic] = np.linalg.solve(B + STEADY * np.eye(len(basic)), -q[basic])
    return forces(problem, z if np.isfinite(z).all() else np.zeros_like(q))


@dataclass(frozen=True)
class _Parts:
    """What each push acts on, and what links pushes to the rest."""

    rows: Rows  # the row of each
    signs: Numbers  # and its direction
    links: Numbers  # the constant part of M
    bounds: tuple[Rows, Rows]  # where coefficients of friction stand in M


@lru_cache(maxsize=64)
def _parts(conditions: Conditions) -> _Parts:
    normal, tangent, box = conditions.inequality, conditions.pyramid, conditions.box
    n, t, m = len(normal), len(tangent), len(box)
    rows = np.concatenate([normal, tangent, tangent, box])
    signs = np.concatenate([np.ones(n + t), -np.ones(t), np.ones(m)])
    # the speed that each push but those of normals is under: one for each row of a pyramid and each box
    speeds = np.concatenate([np.arange(t), np.arange(t), t + np.arange(m)])
    pushing, k = np.arange(n, len(rows)), len(rows)
    links = np.zeros((k + t + m,) * 2)
    links[pushing, k + speeds], links[k + speeds, pushing] = 1, -1
    return _Parts(rows, signs, links, (k + np.arange(t), np.searchsorted(normal, conditions.normal[tangent])))
