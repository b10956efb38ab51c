"""Dense linear equations by elimination over scalars, in order; of unknowns that are zero the equations are not asked.

Of a symmetric A = L D Lᵀ, positive and perhaps singular, a row that depends on the rows before it leaves no pivot: it
gets no force, and what is left of its right-hand side says whether it agrees with them. Where such rows exist many f
give the same motion, and those in which they share the load are found by going along the null vectors of A, which are
rows of L.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    Table,
    array,
    both,
    do_when,
    each,
    either,
    fill,
    filled,
    gather_index,
    inner,
    loop,
    select,
)
from bough.scalar.tolerances import CONFLICT, SINGULAR_VALUE

__all__ = ["Elimination", "Run", "eliminate", "judge_pivot", "least_forces", "shorten_forces", "solved"]

AT_A_TIME = 4
"""So many unknowns are eliminated in one pass over the equations below them: passes cost more than their sums do."""


@dataclass(frozen=True)
class Run:
    """Blocks of unknowns of one size, one after the other: where they begin, how many, how large."""

    start: int
    count: int
    size: int

    @staticmethod
    def cover(n: int) -> list[Run]:
        """All of n unknowns."""
        runs = [Run(0, n // AT_A_TIME, AT_A_TIME), Run(n // AT_A_TIME * AT_A_TIME, 1, n % AT_A_TIME)]
        return [run for run in runs if run.count and run.size]


def solved(
    K: Array,
    n: int,
    inverse: Callable[[Index, Scalar], Scalar],
    runs: Sequence[Run],
    on: Array | None = None,
    symmetric: bool = False,
) -> Array:
    """The solution x of n equations in `K`, n + 1 numbers each: coefficients and the right side; K is overwritten.

    ``inverse(k, pivot)`` is 1 / pivot, or zero for an unknown that is zero. What its column and its equation hold does
    not matter then. Blocks of unknowns whose first has a zero in `on` are zero, and cost nothing where that is so in
    every state. Of a `symmetric` matrix the upper triangle is looked at alone, but within blocks.
    """
    inverses, x, wide = array(n), array(n), n + 1

    def where_on(first: Index, rule: Callable[[], None]) -> None:
        if on is None:
            rule()
        else:
            do_when(on[first] > 0.0, rule)

    def block(number: int, b: Index) -> None:
        run = runs[number]
        first = b * run.size + run.start
        for k, before in enumerate(runs[: number + 1]):

            def source(p: Index, before: Run = before) -> None:
                start = p * before.size + before.start
                given = (K, wide, first, run.size, start, before.size, inverses, symmetric)
                where_on(start, lambda: _eliminate(*given))

            each(before.count if k < number else b, source)
        _among_themselves(K, wide, first, run.size, inverses, inverse)

    for number, run in enumerate(runs):

        def forward(b: Index, number: int = number, run: Run = run) -> None:
            where_on(b * run.size + run.start, lambda: block(number, b))

        each(run.count, forward)

    def substitute(k: Index) -> None:
        start = k * wide + k + 1
        rest: Scalar = loop(k * -1 + (n - 1), lambda j, part: part - K[start + j] * x[k + 1 + j], K[k * wide + n])
        x[k] = inverses[k] * rest

    for run in reversed(runs):

        def backward(b: Index, run: Run = run) -> None:
            first = b * run.size + run.start

            def block(first: Index = first) -> None:
                for m in reversed(range(run.size)):
                    substitute(first + m)

            where_on(first, block)

        each(run.count, backward, reverse=True)
    return x


def _among_themselves(
    K: Array, wide: int, k: Index, count: int, inverses: Array, inverse: Callable[[Index, Scalar], Scalar]
) -> None:
    """Eliminate the unknowns k … k + count - 1 from each other's equations."""
    for m in range(count):
        for p in range(m):
            start, source = (k + m) * wide + k + p, (k + p) * wide + k + p
            factor = K[start] * inverses[k + p]
            _subtract(K, [start + 1], [[factor]], [source + 1], k * -1 + (wide - 1 - p))
        inverses[k + m] = inverse(k + m, K[(k + m) * wide + k + m])


def _eliminate(
    K: Array, wide: int, i: Index, rows: int, k: Index, count: int, inverses: Array, symmetric: bool
) -> None:
    """Eliminate the unknowns k … k + count - 1 from some equations below theirs, those from i on."""
    scale = [inverses[k + m] for m in range(count)]
    multiples: list[list[Scalar]] = [[] for _ in range(rows)]
    corner = [] if symmetric else [[K[(k + p) * wide + k + m] for m in range(count)] for p in range(count)]
    for r, factors in enumerate(multiples):
        for m in range(count):
            entry: Scalar = K[(k + m) * wide + i + r] if symmetric else K[(i + r) * wide + k + m]
            for p, row in enumerate(corner[:m]):
                entry = entry - factors[p] * row[m]
            factors.append(entry * scale[m])
    first = i if symmetric else k + count
    starts, sources = [(i + r) * wide + first for r in range(rows)], [(k + p) * wide + first for p in range(count)]
    _subtract(K, starts, multiples, sources, first * -1 + wide)


def _subtract(K: Array, starts: list[Index], multiples: list[list[Scalar]], sources: list[Index], count: Index) -> None:
    """Take multiples of some rows from others."""

    def entry(j: Index) -> None:
        given = [K[source + j] for source in sources]
        for start, factors in zip(starts, multiples, strict=True):
            value: Scalar = K[start + j]
            for factor, x in zip(factors, given, strict=True):
                value = value - factor * x
            K[start + j] = value

    each(count, entry)


# ---- rows that depend on others --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Elimination:
    """The solution of A f = b with a symmetric A, dependent rows left out."""

    count: int
    upper: Array  # [D Lᵀ, L⁻¹ b], count + 1 numbers in each row
    inverse: Array  # 1 / D, zero for rows that were left out
    forces: Array  # f, zero for these
    doubtful: Bool  # whether some pivot is neither clearly there nor clearly not, or some row left out disagrees

    def least_forces(self, weights: Array) -> Array:
        """The solution with the smallest Σ wᵣ fᵣ²; rows of weight zero are left as they are."""
        n, lower = self.count, array(self.count**2)

        def row(d: Index) -> None:
            fill(Part(lower, d * n), d, lambda i: self.upper[i * (n + 1) + d] * self.inverse[i])

        each(n, row)
        return least_forces(n, lower, self.inverse, self.forces, weights)


def judge_pivot(pivot: Scalar, most: Scalar) -> tuple[Bool, Bool, Scalar]:
    """Whether a row depends on those before it, if that is unclear, and 1 / pivot or 0; the pivot is left of `most`."""
    left_out = pivot <= most * SINGULAR_VALUE**2
    unclear = both(most * SINGULAR_VALUE**2 < pivot, pivot < most * SINGULAR_VALUE)
    return left_out, unclear, select(left_out, 0.0, 1.0 / select(left_out, 1.0, pivot))


def eliminate(n: int, A: Array, b: Array, sizes: Array, scale: Scalar) -> Elimination:
    """Solve A f = b of n rows; A is symmetric and positive, (n, n), row by row.

    `sizes` (n) is what the pivot of each row is compared with, `scale` the square of what b is.
    """
    K, inverses, doubts = array(n * (n + 1)), array(n), array(1)

    def put(i: Index) -> None:
        fill(Part(K, i * (n + 1)), n, lambda j: A[i * n + j])
        K[i * (n + 1) + n] = b[i]

    def inverse(k: Index, pivot: Scalar) -> Scalar:
        most, rest = sizes[k], K[k * (n + 1) + n]
        left_out, unclear, factor = judge_pivot(pivot, most)
        at_odds = both(left_out, scale * CONFLICT**2 < rest * rest)
        doubts[0] = doubts[0] + select(either(unclear, at_odds), 1.0, 0.0)
        inverses[k] = factor
        return factor

    each(n, put)
    forces = solved(K, n, inverse, Run.cover(n), symmetric=True)
    return Elimination(n, K, inverses, forces, doubts[0] > 0.0)


def least_forces(n: int, L: Array, inverse: Array, forces: Array, weights: Array) -> Array:
    """Of all forces that do what some do, those with the smallest Σ wᵣ fᵣ²; rows of weight zero are left as they are.

    L (n, n) and one over each pivot, zero for rows left out, are those of the elimination. Row d that was left out is
    Σᵢ Cᵈᵢ row i of those kept, so f may change by any μ as f_d + μ_d, fᵢ - Σ_d Cᵈᵢ μ_d, and the best is (w + C w Cᵀ) μ
    = C w f.
    """
    C, weighted, K, right = array(n * n), array(n * n), array(n * n), array(n)

    def row(d: Index) -> None:
        shares = both(inverse[d] <= 0.0, weights[d] > 0.0)

        def coefficient(i: Index) -> None:  # C L = L_d, backwards
            start: Scalar = select(shares, L[d * n + i], 0.0)
            rows = d + (i * -1 + -1)
            value = loop(rows, lambda k, c: c - C[d * n + (i + k + 1)] * L[(i + k + 1) * n + i], start)
            C[d * n + i] = value
            weighted[d * n + i] = value * weights[i]

        each(d, coefficient, reverse=True)

        def product(e: Index) -> None:
            K[d * n + e] = K[e * n + d] = inner(Part(weighted, d * n), Part(C, e * n), e)

        each(d, product)
        own: Scalar = select(shares, weights[d], 1.0)
        K[d * (n + 1)] = loop(d, lambda i, total: total + weighted[d * n + i] * C[d * n + i], own)
        right[d] = inner(Part(weighted, d * n), forces, d)

    each(n, row)
    sizes = filled(n, lambda k: K[k * (n + 1)])
    change = eliminate(n, K, right, sizes, 0.0).forces

    def shared(i: Index) -> Scalar:
        start: Scalar = forces[i] + change[i]
        return loop(n, lambda d, total: total - C[d * n + i] * change[d], start)

    return filled(n, shared)


def shorten_forces(n: int, A: Array, rows: NDArray[np.intp], f: Array) -> Bool:
    """Give some rows the forces that do the same and are smallest, by what each does to its row; returns any doubt."""
    table, count, own = Table("shortened", rows), rows.size, array(rows.size**2)

    def copy(i: Index) -> None:
        start = gather_index(table, i) * n
        fill(Part(own, i * count), count, lambda j: A[start + gather_index(table, j)])

    each(count, copy)
    held = filled(count, lambda i: f[gather_index(table, i)])
    right = filled(count, lambda i: inner(Part(own, i * count), held, count))
    sizes = filled(count, lambda i: own[i * (count + 1)])
    shared = eliminate(count, own, right, sizes, inner(right, right, count))
    least = shared.least_forces(sizes)

    def put(i: Index) -> None:
        f[gather_index(table, i)] = least[i]

    each(count, put)
    return shared.doubtful
