"""Forces on rows some of which depend on others: A f = b, where A is symmetric, positive and perhaps singular.

A = L D Lᵀ from the first row on. A row that depends on the rows before it leaves no pivot: it gets no force, and what
is left of its right-hand side says whether it agrees with them. Where such rows exist many f give the same motion, and
those in which they share the load are found by going along the null vectors of A, which are rows of L.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.scalar import Array, Bool, Index, Scalar, array, both, each, either, fill, filled, loop, select
from bough.scalar.tolerances import CONFLICT, DEPENDENT, INDEPENDENT

__all__ = ["Elimination", "eliminate", "group_sums"]


@dataclass(frozen=True)
class Elimination:
    """The solution of A f = b, with dependent rows left out."""

    count: int
    lower: Array  # L below the diagonal (count, count); columns of rows that were left out are zero
    inverse: Array  # 1 / D, zero for these
    forces: Array  # f, zero for these
    doubtful: Bool  # whether some pivot is neither clearly there nor clearly not, or some row left out disagrees

    def least_forces(self, weights: Array) -> Array:
        """The solution with the smallest Σ wᵣ fᵣ²; rows of weight zero are left as they are.

        Row d that was left out is Σᵢ Cᵈᵢ row i of those kept, so f may change by any μ as f_d + μ_d, fᵢ - Σ_d Cᵈᵢ μ_d,
        and the best is (w + C w Cᵀ) μ = C w f.
        """
        n, L = self.count, self.lower
        C, weighted, K, right = array(n * n), array(n * n), array(n * n), array(n)

        def row(d: Index) -> None:
            shares = both(self.inverse[d] <= 0.0, weights[d] > 0.0)

            def coefficient(i: Index) -> None:  # C L = L_d, backwards
                start: Scalar = select(shares, L[d * n + i], 0.0)
                rows = d + (i * -1 + -1)
                value = loop(rows, lambda k, c: c - C[d * n + (i + k + 1)] * L[(i + k + 1) * n + i], start)
                C[d * n + i] = value
                weighted[d * n + i] = value * weights[i]

            each(d, coefficient, reverse=True)

            def product(e: Index) -> None:
                start: Scalar = 0.0
                K[d * n + e] = loop(e, lambda i, total: total + weighted[d * n + i] * C[e * n + i], start)

            each(d, product)
            own: Scalar = select(shares, weights[d], 1.0)
            K[d * (n + 1)] = loop(d, lambda i, total: total + weighted[d * n + i] * C[d * n + i], own)
            none: Scalar = 0.0
            right[d] = loop(d, lambda i, total: total + weighted[d * n + i] * self.forces[i], none)

        each(n, row)
        sizes = filled(n, lambda k: K[k * (n + 1)])
        change = eliminate(n, K, right, sizes, 0.0).forces

        def shared(i: Index) -> Scalar:
            start: Scalar = self.forces[i] + change[i]
            return loop(n, lambda d, total: total - C[d * n + i] * change[d], start)

        return filled(n, shared)


def eliminate(n: int, A: Array, b: Array, sizes: Array, scale: Scalar) -> Elimination:
    """Solve A f = b of n rows in place; A by its lower triangle (n, n).

    `sizes` (n) is what the pivot of each row is compared with, `scale` the square of what b is.
    """
    inverse = array(n)

    def pivot_row(k: Index, doubts: Scalar) -> Scalar:
        pivot, most, rest = A[k * (n + 1)], sizes[k], b[k]
        left_out = pivot <= most * DEPENDENT
        unclear = both(most * DEPENDENT < pivot, pivot < most * INDEPENDENT)
        at_odds = both(left_out, scale * CONFLICT**2 < rest * rest)
        factor = select(left_out, 0.0, 1.0 / select(left_out, 1.0, pivot))
        inverse[k] = factor

        def beyond(i: Index) -> None:
            row = i + (k + 1)
            before = A[row * n + k]
            share = before * factor
            A[row * n + k] = share
            b[row] = b[row] - share * rest

            def entry(j: Index) -> None:
                column = j + (k + 1)
                A[row * n + column] = A[row * n + column] - before * A[column * n + k]

            each(i + 1, entry)

        each(k * -1 + (n - 1), beyond)
        return doubts + select(either(unclear, at_odds), 1.0, 0.0)

    none: Scalar = 0.0
    doubts = loop(n, pivot_row, none)
    forces = filled(n, lambda k: b[k] * inverse[k])

    def substitute(k: Index) -> None:
        fill(forces, k, lambda j: forces[j] - A[k * n + j] * forces[k])

    each(n, substitute, reverse=True)
    return Elimination(n, A, inverse, forces, doubts > 0.0)


def group_sums(A: Array, groups: Sequence[int]) -> Array:
    """For each row the sum of the diagonal entries of its group, which its pivot is compared with."""
    n, sums = len(groups), {}  # type: int, dict[int, Scalar]
    for k, group in enumerate(groups):
        sums[group] = sums.get(group, 0.0) + A[k * (n + 1)]
    result = array(n)
    for k, group in enumerate(groups):
        result[k] = sums[group]
    return result
