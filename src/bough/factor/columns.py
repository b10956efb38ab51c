"""The inverse of a matrix from its sparse factor, dense, and its products with many columns.

What one node does to another goes through their common ancestors alone. Nodes that follow each other without a fork,
a branch, have them in common with all others, so one loop of straight-line code does all columns of a branch. Small
branches at the end of another one, as fingers are, join it: less code for some products with zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

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
    keeping_loops,
    repeat,
)
from bough.tree import Tree
from bough.tree.paths import Node, PathMatrix, Paths

__all__ = ["inverse_and_products"]

LONGEST = 8_000
"""Products in straight-line code, all branches together; beyond that everything is a loop."""

FETCHED = 1
"""Turns of a loop that fetching its code costs as much as."""


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
    n, G = tree.n, inverse_factor(tree, factor, unit=True)
    with keeping_loops():
        result = blank((len(matrices) + 1) * n * n)
    last = Part(result, len(matrices) * n * n)
    branches = _branches(tree)
    if sum(_products(tree, branch) for branch in branches) > longest:
        for k, A in enumerate(matrices):
            _products_by_loops(tree, G, A, sign, Part(result, k * n * n))
        fill(last, n * n, inverse_product(tree, G).__getitem__)
        return Columns(result, None)
    totals: list[Scalar] = []
    scalars, done = _Scalars(tree, G), set[tuple[int, int]]()
    for branch in branches:
        wanted = ((A, k, c) for k, A in enumerate(matrices) for c in branch.nodes if (k, c) not in known)
        columns = [(A, k, c) for A, k, c in wanted if _there(n, A, c, branch)]
        if columns:
            totals += _products_of_branch(n, scalars, branch, columns, sign, result)
            done |= {(k, c) for _, k, c in columns}
        totals += _inverse_of_branch(n, scalars, branch, last)
    for k, c in ((k, c) for k in range(len(matrices)) for c in range(n) if (k, c) not in done):
        entries = known.get((k, c), {})
        for row in range(n):
            result[k * n * n + row * n + c] = entries[row] * sign if row in entries else 0.0
        totals += [x for x in entries.values() if isinstance(x, Symbolic)]
    return Columns(result, totals)


class Columns(NamedTuple):
    """Matrices, one behind the other, and numbers that are finite if and, but for overflow, only if their entries are.

    There may be no such numbers.
    """

    stacked: Array
    totals: list[Scalar] | None


class _Branch(NamedTuple):
    """Nodes without a fork, or all that the first one supports; what supports any of them; that and what they support.

    They are numbered from zero.
    """

    nodes: list[int]
    path: list[int]
    support: list[int]


def _branches(tree: Tree) -> list[_Branch]:
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(tree.parents, start=1):
        children.setdefault(parent, []).append(i)

    def numbered(nodes: list[int], path: Iterable[int], support: Iterable[int]) -> _Branch:
        return _Branch(*(sorted(int(k) - 1 for k in numbers) for numbers in (nodes, path, support)))

    def work(branches: Sequence[_Branch]) -> int:
        return sum(_products(tree, branch) * (len(branch.nodes) + FETCHED) for branch in branches)

    def from_node(first: int) -> list[_Branch]:
        nodes, carried = [first], tree.subtree(first)
        while len(children.get(nodes[-1], ())) == 1:
            nodes += children[nodes[-1]]
        path = tree.path(nodes[-1])
        support = {*path, *carried}
        alone = [numbered(nodes, path, support)]
        for child in children.get(nodes[-1], ()):
            alone += from_node(child)
        joined = [numbered(list(carried), support, support)]
        return min(alone, joined, key=work)

    return [branch for root in children.get(0, ()) for branch in from_node(root)]


def _products(tree: Tree, branch: _Branch) -> int:
    """Products in the code of a branch."""
    held = set(branch.support)
    above = sum(int(tree.depths[i]) for i in branch.support)
    return above + 2 * sum(sum(int(k) - 1 in held for k in tree.path(i)) for i in range(1, tree.n + 1))


class _Scalars:
    """G as scalars, for straight-line code: entries, and the ancestors of each node, all numbered from zero."""

    def __init__(self, tree: Tree, factor: Array) -> None:
        starts = tree.packed_starts.tolist()
        self.above = [[int(k) - 1 for k in tree.path(i)][:-1] for i in range(1, tree.n + 1)]
        self.entry: dict[tuple[int, int], Scalar] = {
            (i, k): factor[starts[i] + d] for i, path in enumerate(self.above) for d, k in enumerate([*path, i])
        }

    def times(self, i: int, w: Mapping[int, Scalar]) -> Scalar:
        """Row i of L⁻¹ times a column of which some entries differ from zero."""
        total = w.get(i, 0.0)
        for k in self.above[i]:
            if k in w:
                total = total + self.entry[i, k] * w[k]
        return total


def _there(n: int, A: Array, c: int, branch: _Branch) -> bool:
    """Whether a column is not known to be zero."""
    return any(isinstance(x := A[i * n + c], Symbolic) or x != 0.0 for i in branch.support)


def _products_of_branch(
    n: int, G: _Scalars, branch: _Branch, columns: Sequence[tuple[Array, int, int]], sign: float, result: Array
) -> list[Scalar]:
    """G D⁻¹ Gᵀ times columns, each of a matrix: with its place among matrices, and its number; the sum of each."""
    count = len(columns)
    with keeping_loops():
        packed, totals = blank(len(branch.support) * count), blank(count)  # columns side by side
    for row, (A, _, c) in enumerate(columns):
        for place, i in enumerate(branch.support):
            there = c in (i, *G.above[i]) or i in G.above[c]
            packed[place * count + row] = A[i * n + c] if there else 0.0
    starts = Table("columns", np.array([k * n * n + c for _, k, c in columns], dtype=np.int64))

    def column(row: Index, carry: tuple[()]) -> tuple[()]:
        at, w = gather_index(starts, row), {}  # type: Index, dict[int, Scalar]
        for place, i in enumerate(branch.support):
            x = packed[row + place * count]
            w[i] = x
            for k in G.above[i]:
                w[k] = w[k] + G.entry[i, k] * x
        w = {i: x * G.entry[i, i] * sign for i, x in w.items()}
        total: Scalar = 0.0
        for i in range(n):
            x = G.times(i, w)
            result[at + i * n] = x
            total = total + x
        totals[row] = total
        return carry

    repeat(count, column, ())
    return [totals[row] for row in range(count)]


def _inverse_of_branch(n: int, G: _Scalars, branch: _Branch, result: Part) -> list[Scalar]:
    """G D⁻¹ Gᵀ between the nodes of a branch and those that come after its first, each pair once; the sum of each."""
    count, nodes = len(branch.nodes), branch.nodes
    with keeping_loops():
        packed, totals = blank(len(branch.path) * count), blank(count)
    for row, c in enumerate(nodes):  # rows of G D⁻¹
        scaled = {k: G.entry[c, k] * G.entry[k, k] for k in G.above[c]} | {c: G.entry[c, c]}
        for place, k in enumerate(branch.path):
            packed[place * count + row] = scaled.get(k, 0.0)
    numbers = Table("branch", np.array(nodes, dtype=np.int64))

    def column(row: Index, carry: tuple[()]) -> tuple[()]:
        w = {k: packed[row + place * count] for place, k in enumerate(branch.path)}
        c = gather_index(numbers, row)
        total: Scalar = 0.0
        for i in range(nodes[0], n):
            x = G.times(i, w)
            result[c * n + i] = x
            result[c + i * n] = x
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
