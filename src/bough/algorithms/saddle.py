"""The equations of motion with constraints, [M Lᵀ; L 0] [q̈, -λ] = [f, c], by a factor that keeps their sparsity.

Elimination goes over the nodes of a `SaddleTree`. Velocities leave positive pivots and multipliers negative ones, or
none: a row of L that depends on rows before it gets no multiplier, and what is left of its right-hand side says whether
it agrees with them. Its pivot is what velocities give to it less what multipliers take away again, so it is compared
with the former. A state in which a rank, an agreement or an inertia is in doubt is said to be so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bough.algorithms.saddle_tree import SaddleTree
from bough.complementarity.elimination import judge_pivot
from bough.factor import ltdl, mul_H, solve, solve_L
from bough.factor.storage import copy_of
from bough.scalar import (
    Array,
    Bool,
    Index,
    Scalar,
    array,
    both,
    either,
    entries_at,
    filled,
    gather_index,
    loop,
    maximum,
    scatter,
    select,
    switch,
)
from bough.scalar.tolerances import CONFLICT, SINGULAR_VALUE
from bough.tree.paths import Node, PathMatrix, Paths

__all__ = ["Saddle", "group_sizes", "solve_saddle"]


@dataclass(frozen=True)
class Saddle:
    """The solution of [M Lᵀ; L 0] x = b, with dependent rows left out; vectors go by the nodes of the tree."""

    order: SaddleTree
    packed: Array  # the matrix as packed path rows
    factor: Array
    inverse: Array  # one over each pivot, zero for rows that were left out
    pivots: Array  # those of the velocities (n)
    sizes: Array  # what velocities give to the rows of each group
    right: Array  # b
    x: Array
    doubtful: Bool

    @property
    def motion(self) -> Array:
        """The accelerations (n)."""
        return entries_at(self.x, self.order.columns)

    @property
    def residual(self) -> Scalar:
        """By how much the worst row fails."""
        tree, none = self.order, 0.0  # type: SaddleTree, Scalar
        reached = mul_H(tree.tree, self.packed, self.x)

        def worst(row: Index, most: Scalar) -> Scalar:
            node = gather_index(tree.rows, row)
            off = reached[node] - self.right[node]
            return maximum(most, maximum(off, -off))

        return loop(tree.count, worst, none)

    @property
    def multipliers(self) -> Array:
        """The λ (count), of many the smallest in the metric of the mass matrix."""
        exact = self.order.rows_come_last
        return self._least(self.sizes if exact else group_sizes(self.order.late, self.order.late_rows(self.packed)))

    def _least(self, weights: Array) -> Array:
        """Of all λ those with the smallest Σ w λ²; weights go by groups of rows.

        A row d that was left out is a combination of others, so λ may change along a null vector N_d, which is zero but
        at d and at rows eliminated before it: they fit the tree, and so does what finds the best change μ,
        Nᵀ W N μ = -Nᵀ W λ.
        """
        tree, order = self.order.tree, self.order
        paths, L = Paths(tree), PathMatrix(self.factor)
        N, G, right = PathMatrix(array(order.size)), PathMatrix(array(order.size)), array(tree.n)

        def weight(node: Node) -> Scalar:
            w: Scalar = weights[gather_index(order.group, node.index)]
            return w

        def vector(x: Node) -> None:
            shares = both(self.inverse[x.index] >= 0.0, weight(x) > 0.0)
            N[x, x] = select(shares, 1.0, 0.0)
            G[x, x] = G[x, x] + select(shares, 0.0, 1.0)

            def entry(i: Node) -> None:
                def part(j: Node) -> None:
                    N[x, j] = N[x, j] - L[x, i] * N[i, j]

                paths.path(i, part)

            _at_rows(order, paths, x, entry)

            def product(j: Node) -> None:
                weighed = N[x, j] * weight(x)
                right[j.index] = right[j.index] - weighed * self.x[x.index]

                def pair(e: Node) -> None:
                    G[j, e] = G[j, e] + weighed * N[x, e]

                _at_rows(order, paths, j, pair)
                G[j, j] = G[j, j] + weighed * N[x, j]

            product(x)
            _at_rows(order, paths, x, product)

        def velocity(x: Node) -> None:
            G[x, x] = 1.0

        paths.outward(lambda x: _by_kind(order, x, lambda: velocity(x), lambda: vector(x)))
        change, result = solve(tree, ltdl(tree, G.packed), right, unit=True), array(order.count)

        def share(x: Node) -> None:
            place = gather_index(order.places, x.index)
            result[place] = -(self.x[x.index] + N[x, x] * change[x.index])

            def add(j: Node) -> None:
                result[place] = result[place] - N[x, j] * change[j.index]

            _at_rows(order, paths, x, add)

        paths.outward(lambda x: _by_kind(order, x, _nothing, lambda: share(x)))
        return result


def group_sizes(late: SaddleTree, packed: Array) -> Array:
    """For each group of rows the sum of their entries on the diagonal of L M⁻¹ Lᵀ; multipliers are eliminated last."""
    e = _Elimination(late, packed, array(late.tree.n))
    e.paths.inward(lambda k: _by_kind(late, k, lambda: e.velocity(k), _nothing))
    return e.sizes


def solve_saddle(order: SaddleTree, packed: Array, force: Array, aims: Array) -> Saddle:
    """Solve the equations with M and L in packed path rows of their tree, joint forces (n) and aims of the rows."""
    b = scatter(force, order.columns, array(order.tree.n))
    scatter(aims, order.rows, b)
    right = copy_of(b, order.tree.n)
    e = _Elimination(order, packed, b)
    Paths(order.tree).inward(e.node)
    x = solve_L(order.tree, e.H.packed, filled(order.tree.n, lambda k: b[k] * e.inverse[k]), unit=True)
    return Saddle(order, packed, e.H.packed, e.inverse, e.pivots, e.sizes, right, x, e.doubtful(aims))


class _Elimination:
    """The elimination node by node, of the matrix and of the right-hand side at once."""

    def __init__(self, order: SaddleTree, packed: Array, b: Array) -> None:
        self.order, self.paths, self.b = order, Paths(order.tree), b
        self.given, self.H = PathMatrix(packed), PathMatrix(copy_of(packed, order.size))
        self.inverse, self.pivots, self.sizes = array(order.tree.n), array(order.n), array(order.groups)
        self.have, self.rest, self.doubts = array(order.count), array(order.count), array(1)

    def node(self, k: Node) -> None:
        """Eliminate one unknown."""
        _by_kind(self.order, k, lambda: self.velocity(k), lambda: self._multiplier(k))

    def doubtful(self, aims: Array) -> Bool:
        """Whether anything is in doubt, or rows left out disagree."""
        none: Scalar = 0.0
        count, have, rest = self.order.count, self.have, self.rest
        scale = loop(count, lambda r, total: total + (aims[r] * aims[r] + have[r] * have[r]), none) * CONFLICT**2
        odd = loop(count, lambda r, total: total + select(scale < rest[r] * rest[r], 1.0, 0.0), none)
        return either(odd > 0.0, self.doubts[0] > 0.0)

    def velocity(self, k: Node) -> None:
        """Eliminate a velocity."""
        pivot, b = self.H[k, k], self.b
        light = self.given[k, k] * SINGULAR_VALUE < pivot
        self.doubts[0] = self.doubts[0] + select(light, 0.0, 1.0)
        self.pivots[gather_index(self.order.places, k.index)] = pivot
        self.inverse[k.index] = 1.0 / pivot

        def note(i: Node, before: Scalar, share: Scalar) -> None:
            group, row = gather_index(self.order.group, i.index), gather_index(self.order.places, i.index)
            self.sizes[group] = self.sizes[group] + before * share
            self.have[row] = self.have[row] + share * b[k.index]

        self._eliminate(k, lambda i, *given: _by_kind(self.order, i, _nothing, lambda: note(i, *given)))

    def _multiplier(self, k: Node) -> None:
        pivot, most = -self.H[k, k], self.sizes[gather_index(self.order.group, k.index)]
        left_out, unclear, inverse = judge_pivot(pivot, most)
        self.doubts[0] = self.doubts[0] + select(unclear, 1.0, 0.0)
        self.inverse[k.index] = -inverse
        self.rest[gather_index(self.order.places, k.index)] = select(left_out, self.b[k.index], 0.0)
        self._eliminate(k, lambda *_: None)

    def _eliminate(self, k: Node, note: Callable[[Node, Scalar, Scalar], None]) -> None:
        H, b = self.H, self.b

        def column(i: Node) -> None:
            before = H[k, i]
            share = before * self.inverse[k.index]
            note(i, before, share)

            def element(j: Node) -> None:
                H[i, j] = H[i, j] - H[k, j] * share

            self.paths.path(i, element)  # j = i and what is nearer to the root
            b[i.index] = b[i.index] - share * b[k.index]
            H[k, i] = share

        self.paths.ancestors(k, column)


def _by_kind(order: SaddleTree, node: Node, velocity: Callable[[], None], multiplier: Callable[[], None]) -> None:
    def run(rule: Callable[[], None]) -> Callable[[], tuple[()]]:
        def branch() -> tuple[()]:
            rule()
            return ()

        return branch

    switch(gather_index(order.kinds, node.index), [run(velocity), run(multiplier)])


def _at_rows(order: SaddleTree, paths: Paths, node: Node, rule: Callable[[Node], None]) -> None:
    """Run a rule at the multipliers nearer to the root than a node."""
    paths.ancestors(node, lambda j: _by_kind(order, j, _nothing, lambda: rule(j)))


def _nothing() -> None:
    pass
