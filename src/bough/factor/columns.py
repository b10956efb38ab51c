"""The inverse of a matrix from its sparse factor, dense, and its products with many columns.

With G = L⁻¹, H⁻¹ A = G W and W = D⁻¹ Gᵀ A. What one node does to another goes through common ancestors alone, which
nodes of a branch have in common with all others: a loop of straight-line code makes W for all columns of a branch, and
others make the rows of a branch, each for the columns of all branches that share the same ancestors with it. Rows are
made in little memory and copied to the result at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bough.factor.branches import Branch, branches_of, products
from bough.factor.inverse import inverse_factor, inverse_product
from bough.scalar import (
    Array,
    Index,
    Part,
    Scalar,
    Symbolic,
    Table,
    array,
    blank,
    each,
    fill,
    gather_index,
    handed_on,
    keeping_loops,
    repeat,
)
from bough.tree import Tree
from bough.tree.paths import Node, PathMatrix, Paths

__all__ = ["inverse_and_products"]

LONGEST = 8_000
"""Products in straight-line code, all branches together; beyond that everything is a loop."""

BRIDGED = 3
"""Columns that are made twice rather than begin another loop behind them."""


def inverse_and_products(
    tree: Tree,
    factor: Array,
    matrices: Sequence[Array],
    sign: float,
    known: Mapping[tuple[int, int], Mapping[int, Scalar]],
    longest: int = LONGEST,
) -> Columns:
    """H⁻¹ A times a sign for each matrix A, and H⁻¹ at last, all (n x n), one behind the other; and their sums.

    Parameters
    ----------
    tree, factor
        H = Lᵀ D L as `ltdl` leaves it.
    matrices
        Each (n x n), row by row. Entries between nodes that do not support each other are not read: they are zero.
    sign
        1 or -1.
    known
        By matrix and column: those of H⁻¹ A that are known beforehand, by row where they differ from zero.
    longest
        Products of straight-line code, beyond which everything is a loop.
    """
    n, G = tree.n, handed_on(tree.packed_size, inverse_factor(tree, factor, unit=True))
    with keeping_loops():
        result = blank((len(matrices) + 1) * n * n)
    last = Part(result, len(matrices) * n * n)
    branches = branches_of(tree)
    if sum(products(tree, branch) for branch in branches) > longest:
        for k, A in enumerate(matrices):
            _products_by_loops(tree, G, A, sign, Part(result, k * n * n))
        fill(last, n * n, inverse_product(tree, G).__getitem__)
        return Columns(result, None)
    scalars = _Scalars(tree, G)
    made = _Products(scalars, branches)
    for k, A in enumerate(matrices):
        entries = {c: {row: x * sign for row, x in rows.items()} for (j, c), rows in known.items() if j == k}
        made.add(A, sign, entries, Part(result, k * n * n))
    totals = made.totals + [x for rows in known.values() for x in rows.values() if isinstance(x, Symbolic)]
    return Columns(result, totals + _inverse(scalars, branches, last))


class Columns(NamedTuple):
    """Matrices, one behind the other, and numbers that are finite if and, but for overflow, only if their entries are.

    There may be no such numbers.
    """

    stacked: Array
    totals: list[Scalar] | None


class _Scalars:
    """G as scalars, for straight-line code: entries, and the ancestors of each node, all numbered from zero."""

    def __init__(self, tree: Tree, factor: Array) -> None:
        self.n, starts = tree.n, tree.packed_starts.tolist()
        self.above = [[int(k) - 1 for k in tree.path(i)][:-1] for i in range(1, tree.n + 1)]
        self.entry: dict[tuple[int, int], Scalar] = {
            (i, k): factor[starts[i] + d] for i, path in enumerate(self.above) for d, k in enumerate([*path, i])
        }

    def related(self, i: int, k: int) -> bool:
        """Whether one of two nodes supports the other."""
        return k in (i, *self.above[i]) or i in self.above[k]

    def times(self, nodes: Sequence[int], w: Mapping[int, Scalar]) -> dict[int, Scalar]:
        """Rows of L⁻¹ times a column of which some entries differ from zero: side by side, entry by entry."""
        x: dict[int, Scalar] = {}
        for k, value in w.items():
            for i in nodes:
                if i == k:
                    x[i] = x.get(i, 0.0) + value
                elif k in self.above[i]:
                    x[i] = x.get(i, 0.0) + self.entry[i, k] * value
        return x


class _Products:
    """G W for one matrix after the other, each with W = D⁻¹ Gᵀ A."""

    def __init__(self, G: _Scalars, branches: Sequence[Branch]) -> None:
        self._G, self._branches, self._n = G, branches, G.n
        self.totals: list[Scalar] = []
        with keeping_loops():
            self._W, self._rows = blank(G.n * G.n), blank(G.n * max((len(b.nodes) for b in branches), default=0))

    def add(self, A: Array, sign: float, known: Mapping[int, Mapping[int, Scalar]], result: Part) -> None:
        """The product for a matrix, some columns of which are known, by row where they differ from zero."""
        there: set[int] = set()
        for branch in self._branches:
            columns = [c for c in branch.nodes if c not in known and self._differs(A, c, branch)]
            if columns:
                there |= {*columns}
                self._gather(A, sign, branch, columns)
        W = handed_on(self._n * self._n, self._W)
        for branch in self._branches:
            self._rows_of(branch, W, there, known)
            _copy_rows(self._n, branch.nodes, self._rows, result)

    def _differs(self, A: Array, c: int, branch: Branch) -> bool:
        """Whether a column is not known to be zero."""
        return any(isinstance(x := A[i * self._n + c], Symbolic) or x != 0.0 for i in branch.support)

    def _gather(self, A: Array, sign: float, branch: Branch, columns: Sequence[int]) -> None:
        n, G, count = self._n, self._G, len(columns)
        with keeping_loops():
            packed = blank(len(branch.support) * count)  # columns side by side
        for row, c in enumerate(columns):
            for place, i in enumerate(branch.support):
                packed[place * count + row] = A[i * n + c] if G.related(i, c) else 0.0
        numbers = Table("columns", np.array(columns, dtype=np.int64))

        def column(row: Index, carry: tuple[()]) -> tuple[()]:
            c, w = gather_index(numbers, row), {}  # type: Index, dict[int, Scalar]
            for place, i in enumerate(branch.support):
                x = packed[row + place * count]
                w[i] = x
                for k in G.above[i]:
                    w[k] = w[k] + G.entry[i, k] * x
            for i, x in w.items():
                self._W[c + i * n] = x * G.entry[i, i] * sign
            return carry

        repeat(count, column, ())

    def _rows_of(self, branch: Branch, W: Array, there: set[int], known: Mapping[int, Mapping[int, Scalar]]) -> None:
        """The rows of a branch, in all columns."""
        n, wanted = self._n, {}  # type: int, dict[tuple[int, ...], list[int]]
        for other in self._branches:
            wanted.setdefault(tuple(branch.common(other)), []).extend(c for c in other.nodes if c in there)
        zeros = [c for c in range(n) if c not in there] + wanted.pop((), [])
        for place, i in enumerate(branch.nodes):
            for c in zeros:
                self._rows[place * n + c] = known.get(c, {}).get(i, 0.0)
        for common, columns in sorted(wanted.items(), key=lambda group: len(group[0])):
            more = {c for nodes, others in wanted.items() if len(nodes) > len(common) for c in others}
            for run in _bridged(_runs(sorted(columns)), more):
                self._spread(branch.nodes, common, W, run)

    def _spread(self, nodes: Sequence[int], common: Sequence[int], W: Array, columns: Sequence[int]) -> None:
        """The rows of nodes of a branch in neighbouring columns that know of it through some common nodes."""
        n, G = self._n, self._G
        with keeping_loops():
            totals = blank(len(columns))

        def column(turn: Index, carry: tuple[()]) -> tuple[()]:
            c = turn + columns[0]
            x, total = G.times(nodes, {k: W[c + k * n] for k in common}), 0.0  # type: dict[int, Scalar], Scalar
            for place, i in enumerate(nodes):
                self._rows[c + place * n] = x[i]
                total = total + x[i]
            totals[turn] = total
            return carry

        repeat(len(columns), column, ())
        self.totals += [totals[turn] for turn in range(len(columns))]


def _copy_rows(n: int, numbers: Sequence[int], rows: Array, result: Part) -> None:
    """Copy rows that lie behind each other to where they belong, as many as possible at once."""
    first = 0
    for run in _runs(numbers):
        with keeping_loops():
            fill(Part(result, run[0] * n), len(run) * n, Part(rows, first * n).__getitem__)
        first += len(run)


def _bridged(runs: Sequence[Sequence[int]], more: set[int]) -> list[Sequence[int]]:
    """Runs of columns, joined where few columns are between them that are made again with more common nodes."""
    joined = [*runs[:1]]
    for run in runs[1:]:
        gap = range(joined[-1][-1] + 1, run[0])
        if len(gap) <= BRIDGED and {*gap} <= more:
            joined[-1] = [*joined[-1], *gap, *run]
        else:
            joined.append(run)
    return joined


def _runs(numbers: Sequence[int]) -> list[Sequence[int]]:
    """Numbers in a row, cut where one is left out."""
    ends = [k + 1 for k, (i, j) in enumerate(pairwise(numbers)) if j != i + 1]
    return [numbers[first:end] for first, end in pairwise([0, *ends, len(numbers)]) if end > first]


def _inverse(G: _Scalars, branches: Sequence[Branch], result: Part) -> list[Scalar]:
    """G D⁻¹ Gᵀ, and the sums of its columns: it is symmetric, and most entries are in memory once."""
    n, places, size = G.n, np.zeros((G.n, G.n), dtype=np.int64), 0
    starts: list[int] = []
    for branch in branches:
        first, starts = branch.nodes[0], [*starts, size]
        for c in reversed(branch.nodes):
            row = branch.nodes.index(c)
            places[c, first:] = places[first:, c] = size + row + np.arange(n - first) * len(branch.nodes)
        size += len(branch.nodes) * (n - first)
    with keeping_loops():
        once = blank(size)
    parts = zip(branches, starts, strict=True)
    totals = [x for branch, start in parts for x in _inverse_of_branch(G, branch, Part(once, start))]
    table = Table("places", places.ravel())
    with keeping_loops():
        fill(result, n * n, lambda k: once[gather_index(table, k)])
    return totals


def _inverse_of_branch(G: _Scalars, branch: Branch, result: Part) -> list[Scalar]:
    """G D⁻¹ Gᵀ between the nodes of a branch and all from its first one on, node by node; the sum of each."""
    n, count, nodes = G.n, len(branch.nodes), branch.nodes
    with keeping_loops():
        packed, totals = blank(len(branch.path) * count), blank(count)
    for row, c in enumerate(nodes):  # rows of G D⁻¹
        scaled = {k: G.entry[c, k] * G.entry[k, k] for k in G.above[c]} | {c: G.entry[c, c]}
        for place, k in enumerate(branch.path):
            packed[place * count + row] = scaled.get(k, 0.0)

    def column(row: Index, carry: tuple[()]) -> tuple[()]:
        w = {k: packed[row + place * count] for place, k in enumerate(branch.path)}
        total: Scalar = 0.0
        for i in range(nodes[0], n):
            x = G.times([i], w).get(i, 0.0)
            result[row + (i - nodes[0]) * count] = x
            total = total + x
        totals[row] = total
        return carry

    repeat(count, column, ())
    return [totals[row] for row in range(count)]


def _products_by_loops(tree: Tree, factor: Array, A: Array, sign: float, result: Part) -> None:
    n, paths, G = tree.n, Paths(tree), PathMatrix(factor)

    def column(c: Index) -> None:
        w = array(n)

        def gather(i: Node) -> None:
            x = A[i.index * n + c] * sign
            w[i.index] = w[i.index] + x

            def ancestor(k: Node) -> None:
                w[k.index] = w[k.index] + G[i, k] * x

            paths.ancestors(i, ancestor)

        def spread(i: Node) -> None:
            w[i.index] = w[i.index] * G[i, i]
            here = i.index * n + c
            result[here] = w[i.index]

            def ancestor(k: Node) -> None:
                result[here] = result[here] + G[i, k] * w[k.index]

            paths.ancestors(i, ancestor)

        paths.outward(gather)
        paths.outward(spread)

    each(n, column)
