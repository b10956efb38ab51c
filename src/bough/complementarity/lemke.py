"""Lemke's algorithm for linear complementarity problems: w = M z + q, w ≥ 0, z ≥ 0, w z = 0, by pivoting.

The artificial variable z₀ makes w = M z + q + d z₀ true for z = 0, and is then driven to zero along a path on which all
of w ≥ 0, z ≥ 0, wᵢ zᵢ = 0 hold. For copositive M (zᵀ M z ≥ 0 for all z ≥ 0) that have a solution, as those of contact
with a friction pyramid do at the level of velocities, the path ends in one (Cottle, Pang and Stone, section 4.4).
Otherwise it may end in a ray, whose direction says which variables grow without bound and do not help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Path", "lemke"]

Numbers = NDArray[np.floating[Any]]

PIVOT = 1e-11
"""An entry below this part of the largest of its column counts as zero: it bounds nothing and is no pivot."""

TIE = 1e-13
"""Rounding of the values of a problem of magnitude 1."""

LONGEST = 10
"""A path is given up after this many pivots per row; most take one to three."""


@dataclass(frozen=True)
class Path:
    """Where a path ended: at a solution, in a ray, or nowhere, after too many pivots."""

    end: Literal["solution", "ray", "lost"]
    basic: NDArray[np.bool_]  # which z are basic: all others are zero
    ray: Numbers  # the direction of a ray in z; zero for other ends
    pivots: int


def lemke(M: Numbers, q: Numbers, d: Numbers, fresh: int) -> Path:
    """Follow the path from z₀ large to its end.

    Parameters
    ----------
    M, q
        The problem, of magnitude 1; shapes (n, n) and (n,). Where a tie would be broken by chance the path may cycle:
        q should be slightly perturbed.
    d
        The covering vector, positive, shape (n,).
    fresh
        After so many pivots all numbers are computed anew from M and q; 0 for never.
    """
    n = len(q)
    if q.min(initial=0) >= 0:
        return Path("solution", np.zeros(n, np.bool_), np.zeros(n), 0)
    # Basic variables = T[:, -1] + T[:, :-1] × the others. Variable i is wᵢ, n + i is zᵢ, 2n is z₀.
    T = np.column_stack([M, d, q])
    basic, other = list(range(n)), list(range(n, 2 * n + 1))
    place = [*range(n), *range(n + 1)]  # the row or column of each variable
    product, ratios = np.empty_like(T), np.empty(n)
    row, column = int(np.argmin(q / d)), n
    for pivots in range(1, LONGEST * n + 1):
        _pivot(T, row, column, product)
        leaving, entering = basic[row], other[column]
        basic[row], other[column] = entering, leaving
        place[entering], place[leaving] = row, column
        if leaving == 2 * n:
            return Path("solution", _basic_z(basic, n), np.zeros(n), pivots)
        column = place[(leaving + n) % (2 * n)]  # the complement of what left comes in
        if fresh and pivots % fresh == 0:
            try:
                T = _rebuilt(M, q, d, basic, other)
            except np.linalg.LinAlgError:  # rounding has led to a basis that is none
                return Path("lost", _basic_z(basic, n), np.zeros(n), pivots)
        direction, values = T[:, column], T[:, -1]
        ratios.fill(np.inf)
        np.divide(values, -direction, out=ratios, where=direction < -PIVOT * np.abs(direction).max())
        least = ratios.min()
        if least == np.inf:
            return Path("ray", _basic_z(basic, n), _direction(basic, other, direction, column), pivots)
        # of the rows that become zero first, but for rounding, z₀ or the one with the largest pivot leaves
        if ratios[place[2 * n]] <= least:
            row = place[2 * n]
        else:
            near = np.flatnonzero(ratios < np.inf)
            near = near[ratios[near] <= np.min((values[near] + TIE) / -direction[near])]
            row = int(near[direction[near].argmin()])
    return Path("lost", _basic_z(basic, n), np.zeros(n), LONGEST * n)


def _pivot(T: Numbers, row: int, column: int, product: Numbers) -> None:
    """Exchange a basic variable with another one; `product` is memory of the shape of T."""
    pivot = T[row, column]
    line = T[row] / -pivot
    line[column] = 1 / pivot
    factors = T[:, column].copy()
    factors[row] = 0
    T[:, column] = 0
    T[row] = line
    T += np.multiply.outer(factors, line, out=product)
    np.maximum(T[:, -1], 0, out=T[:, -1])  # what rounding put below zero


def _rebuilt(M: Numbers, q: Numbers, d: Numbers, basic: list[int], other: list[int]) -> Numbers:
    """T from the problem itself, free of the rounding of all pivots so far."""
    W = np.column_stack([np.eye(len(q)), -M, -d])
    T = np.linalg.solve(W[:, basic], np.column_stack([-W[:, other], q]))
    np.maximum(T[:, -1], 0, out=T[:, -1])
    return np.asarray(T)


def _basic_z(basic: list[int], n: int) -> NDArray[np.bool_]:
    z = np.zeros(2 * n + 1, np.bool_)
    z[basic] = True
    return z[n : 2 * n]


def _direction(basic: list[int], other: list[int], direction: Numbers, column: int) -> Numbers:
    """How z changes along a ray, in which one variable grows at the rate 1."""
    n = len(basic)
    rates = np.zeros(2 * n + 1)
    rates[basic] = direction
    rates[other[column]] = 1
    return rates[n : 2 * n]
