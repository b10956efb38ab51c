"""Motion with constraints by method 3 of Featherstone & Orin 2000: in the null space of L, without multipliers.

The solutions of L q̈ = c are q̈ = K y + q̈₀ with L K = 0, and Kᵀ M K y = Kᵀ (f - M q̈₀) gives y (22). L is reduced to
orthogonal rows, with a rank test, cluster by cluster: constraints that share a column of L, by way of others, are one.
What is left of a coordinate outside these rows is a free motion, and K are those of the coordinates of which most is
left, one after the other. There are as many as a cluster has freedoms in configurations that were tried beforehand; a
state with more is in doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bough.algorithms.clusters import Cluster, Clusters
from bough.complementarity.elimination import judge_pivot, least_forces
from bough.factor import diagonal, ltdl, margins, mul_H, solve
from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    Table,
    array,
    both,
    each,
    either,
    entries_at,
    fill,
    filled,
    gather,
    gather_index,
    inner,
    loop,
    maximum,
    scatter,
    select,
)
from bough.scalar.tolerances import CONFLICT, RESIDUAL, SINGULAR_VALUE
from bough.tree import Tree

__all__ = ["Free", "solve_free"]


class Reduced(NamedTuple):
    """The rows of a cluster as lower U, with rows of U that are orthogonal where coordinates are measured by √Mⱼⱼ."""

    U: Array  # (rows, columns)
    V: Array  # the same with columns over Mⱼⱼ
    lower: Array  # (rows, rows), unit lower triangular, without its diagonal; columns of dependent rows are zero
    inverse: Array  # one over the square of each row of U; zero for rows that depend on others
    rest: Array  # what is left of the aims
    doubts: Scalar


@dataclass(frozen=True)
class Free:
    """The motion in the null space of L, and what it was found from."""

    clusters: Clusters
    M: Array  # packed path rows
    L: Array  # the entries of the rows, cluster by cluster
    force: Array  # f (n)
    aims: Array
    motion: Array  # the accelerations (n)
    pivots: Array  # those of Kᵀ M K
    reduced: list[Reduced]
    doubtful: Bool
    weights: Callable[[], Array]  # of the rows in the metric of the mass matrix

    @property
    def residual(self) -> Scalar:
        """By how much the worst row fails."""
        worst: Scalar = 0.0
        for cluster in self.clusters.all:
            n, columns, rows = len(cluster.columns), cluster.column_table, cluster.row_table

            def off(i: Index, most: Scalar) -> Scalar:
                row = Part(self.L, i * n + cluster.start)  # noqa: B023 (done before the next turn)
                start: Scalar = -self.aims[gather_index(rows, i)]  # noqa: B023
                total = loop(n, lambda j, sum: sum + row[j] * self.motion[gather_index(columns, j)], start)  # noqa: B023
                return maximum(most, maximum(total, -total))

            worst = loop(len(cluster.rows), off, worst)
        return worst

    @property
    def multipliers(self) -> Array:
        """The λ (count) with Lᵀ λ = M q̈ - f, of many the smallest in the metric of the mass matrix."""
        result, weights = array(self.clusters.count), self.weights()
        driven = mul_H(self.clusters.dofs, self.M, self.motion)
        for cluster, reduced in zip(self.clusters.all, self.reduced, strict=True):
            count, rows = len(cluster.rows), cluster.row_table
            forces = _forces(cluster, reduced, driven, self.force)
            least = least_forces(count, reduced.lower, reduced.inverse, forces, entries_at(weights, rows))
            scatter(least, rows, result)
        return result


def solve_free(clusters: Clusters, M: Array, L: Array, force: Array, aims: Array, weights: Callable[[], Array]) -> Free:
    """The motion with M in packed path rows, the entries of L by clusters, joint forces (n) and aims of the rows."""
    n, tree = clusters.dofs.n, clusters.dofs
    whole, K, start, count = diagonal(tree, M), array(clusters.freedom * n), array(n), 0
    fixed = array(clusters.freedom)  # 1 for columns of K that are zero
    reduced, doubts = [], 0.0  # type: list[Reduced], Scalar
    for cluster in clusters.all:
        found = _orthogonal_rows(cluster, L, whole, aims)
        doubts = doubts + found.doubts
        _particular(cluster, found, start)
        _null_vectors(cluster, found, whole, Part(K, count * n), Part(fixed, count), n)
        count += cluster.freedom
        reduced.append(found)
    for k, column in enumerate(clusters.unheld, start=count):
        K[k * n + column] = 1.0
    left = mul_H(tree, M, start)
    y, pivots, light = _reduced_motion(clusters, M, K, fixed, filled(n, lambda k: force[k] - left[k]))
    motion = filled(n, lambda k: loop(clusters.freedom, lambda a, total: total + K[a * n + k] * y[a], start[k]))
    return Free(clusters, M, L, force, aims, motion, pivots, reduced, either(light, doubts > 0.0), weights)


def _orthogonal_rows(cluster: Cluster, L: Array, whole: Array, aims: Array) -> Reduced:
    """Take what lies along each row from the rows after it."""
    n, count, none = len(cluster.columns), len(cluster.rows), 0.0  # type: int, int, Scalar
    U, V, lower, inverse = (
        filled(count * n, lambda e: L[e + cluster.start]),
        array(count * n),
        array(count**2),
        array(count),
    )
    rest = entries_at(aims, cluster.row_table)
    mobility = filled(n, lambda j: 1.0 / _some(whole[gather_index(cluster.column_table, j)]))
    sizes = array(int(cluster.groups.data.max()) + 1)

    def square(i: Index) -> Scalar:
        fill(Part(V, i * n), n, lambda j: U[i * n + j] * mobility[j])
        return inner(Part(U, i * n), Part(V, i * n), n)

    def measure(i: Index) -> None:
        group = gather_index(cluster.groups, i)
        sizes[group] = sizes[group] + square(i)

    each(count, measure)
    asked = loop(count, lambda i, total: total + rest[i] * rest[i] * CONFLICT**2, none) + RESIDUAL**2

    def take(i: Index, state: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        left, most = square(i), sizes[gather_index(cluster.groups, i)]
        depends, unclear, inverse[i] = judge_pivot(left, most)
        at_odds = both(depends, asked < rest[i] * rest[i])

        def beyond(k: Index) -> None:
            row = k + (i + 1)
            share = inner(Part(U, row * n), Part(V, i * n), n) * inverse[i]
            lower[row * count + i] = share
            rest[row] = rest[row] - share * rest[i]
            fill(Part(U, row * n), n, lambda j: U[row * n + j] - share * U[i * n + j])

        each(i * -1 + (count - 1), beyond)
        doubts, kept = state
        return doubts + select(either(unclear, at_odds), 1.0, 0.0), kept + select(depends, 0.0, 1.0)

    doubts, kept = loop(count, take, (none, none))
    return Reduced(U, V, lower, inverse, rest, doubts + select(kept < cluster.rank - 0.5, 1.0, 0.0))


def _some(inertia: Scalar) -> Scalar:
    """A diagonal entry of M to measure with: 1 for joints that move nothing."""
    return select(inertia > 0.0, inertia, 1.0)


def _particular(cluster: Cluster, found: Reduced, start: Array) -> None:
    """Write the shortest solution of L q̈ = c."""
    n = len(cluster.columns)
    shares = filled(len(cluster.rows), lambda i: found.rest[i] * found.inverse[i])
    none: Scalar = 0.0
    x = filled(n, lambda j: loop(len(cluster.rows), lambda i, sum: sum + found.V[i * n + j] * shares[i], none))
    scatter(x, cluster.column_table, start)


def _null_vectors(cluster: Cluster, found: Reduced, whole: Array, K: Array, fixed: Array, n: int) -> None:
    """Write as many columns of K as the cluster has freedoms; each is one more row that those after it keep off."""
    size, count, total = len(cluster.columns), len(cluster.rows), len(cluster.rows) + cluster.freedom
    none, one = 0.0, 1.0  # type: Scalar, Scalar
    U, V, inverse = array(total * size), array(total * size), array(total)
    for values, given in ((U, found.U), (V, found.V)):
        fill(values, count * size, given.__getitem__)
    fill(inverse, count, found.inverse.__getitem__)
    numbers, inertias = Table("numbers", np.arange(size, dtype=float)), entries_at(whole, cluster.column_table)

    def share(j: Index) -> Scalar:  # of each coordinate that is left: they add up to the number of freedoms
        return loop(count, lambda i, left: left - U[i * size + j] * (V[i * size + j] * inverse[i]), one)

    left, axis = filled(size, share), array(size)

    def vector(p: Index) -> None:
        most, best = loop(size, lambda j, so_far: _longer(left[j], gather(numbers, j), so_far), (none, none))
        there, row = most > 0.5 / size, p + count
        fill(axis, size, lambda j: _is_it(gather(numbers, j), best))
        inertia = inner(axis, inertias, size)
        column = Part(V, row * size)
        fill(column, size, lambda j: axis[j])

        def outside(i: Index) -> None:
            part = inner(Part(U, i * size), axis, size) * inverse[i]
            fill(column, size, lambda j: column[j] - part * V[i * size + j])

        each(row, outside)
        fill(column, size, lambda j: select(there, column[j], 0.0))
        fill(Part(U, row * size), size, lambda j: column[j] * _some(inertias[j]))
        inverse[row] = 1.0 / select(there, most * _some(inertia), 1.0)
        fill(left, size, lambda j: left[j] - U[row * size + j] * (column[j] * inverse[row]))
        fixed[p] = select(there, 0.0, 1.0)
        scatter(column, cluster.column_table, Part(K, p * n))

    each(cluster.freedom, vector)


def _longer(left: Scalar, number: Scalar, so_far: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    better = so_far[0] < left
    return select(better, left, so_far[0]), select(better, number, so_far[1])


def _is_it(number: Scalar, best: Scalar) -> Scalar:
    return select(both(best - 0.5 < number, number < best + 0.5), 1.0, 0.0)


def _reduced_motion(clusters: Clusters, M: Array, K: Array, fixed: Array, right: Array) -> tuple[Array, Array, Bool]:
    """The y of Kᵀ M K y = Kᵀ right, the pivots of that matrix, and whether one of them is next to nothing."""
    n, count, chain = clusters.dofs.n, clusters.freedom, Tree(range(clusters.freedom))
    packed, starts = array(chain.packed_size), Table("starts", chain.packed_starts)

    def row(a: Index) -> None:
        pushed = mul_H(clusters.dofs, M, Part(K, a * n))
        own = Part(packed, gather_index(starts, a))
        fill(own, a + 1, lambda b: inner(Part(K, b * n), pushed, n))
        own[a] = own[a] + fixed[a]

    each(count, row)
    factor = ltdl(chain, packed)
    y = solve(chain, factor, filled(count, lambda a: inner(Part(K, a * n), right, n)), unit=True)
    spare, none = margins(chain, packed, factor, unit=True, part=SINGULAR_VALUE), 0.0  # type: Array, Scalar
    light = loop(count, lambda a, total: total + select(spare[a] > 0.0, 0.0, 1.0), none) > 0.0
    return y, diagonal(chain, factor), light


def _forces(cluster: Cluster, found: Reduced, driven: Array, force: Array) -> Array:
    """Some λ with Lᵀ λ = M q̈ - f: lowerᵀ λ are the shares of that along the rows of U."""
    size, count, columns = len(cluster.columns), len(cluster.rows), cluster.column_table
    excess = filled(size, lambda j: driven[gather_index(columns, j)] - force[gather_index(columns, j)])
    forces = filled(count, lambda i: inner(Part(found.V, i * size), excess, size) * found.inverse[i])

    def substitute(i: Index) -> None:
        fill(forces, i, lambda k: forces[k] - found.lower[i * count + k] * forces[i])

    each(count, substitute, reverse=True)
    return forces
