"""Clusters of constraints: those that share a column of L, by way of others, and how many freedoms they leave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.configuration import integrate
from bough.algorithms.constraint_rows import Entries
from bough.algorithms.loops import constraint_terms, row_groups, row_supports
from bough.errors import FiniteError
from bough.model import Mechanism
from bough.scalar import Array, Control, Index, Table, activate, gather_index
from bough.scalar.lazy import cached_property
from bough.scalar.tolerances import ASSEMBLED, SINGULAR_VALUE, TOUCHING
from bough.tree import Tree

__all__ = ["Cluster", "Clusters", "cluster_parts", "clusters"]

TRIALS, STEPS = 3, 10
"""Configurations that ranks are taken in, and Newton steps that lead there."""

NEARBY, FIRM = 0.3, 1e-3
"""How far these begin from the neutral one (rad, m), and singular values that steps make use of."""


@dataclass(frozen=True, eq=False)
class Cluster:
    """Constraints that share columns of L."""

    columns: tuple[int, ...]
    rows: tuple[int, ...]
    groups: Table  # of each row a number that those measured alike have too
    rank: int  # in configurations that were tried
    start: int  # of its rows among the entries of L

    @property
    def freedom(self) -> int:
        """How many motions of its columns are free."""
        return len(self.columns) - self.rank

    @cached_property
    def column_table(self) -> Table:
        """The columns."""
        return Table("columns", np.array(self.columns, np.int64))

    @cached_property
    def row_table(self) -> Table:
        """The rows."""
        return Table("rows", np.array(self.rows, np.int64))


class Clusters:
    """All clusters of a mechanism, and L by their rows, each as long as its cluster has columns."""

    def __init__(self, dofs: Tree, found: Sequence[Cluster]) -> None:
        self.dofs, self.all = dofs, tuple(found)
        self.count = sum(len(cluster.rows) for cluster in found)
        held = {column for cluster in found for column in cluster.columns}
        self.unheld = tuple(column for column in range(dofs.n) if column not in held)
        self.freedom = sum(cluster.freedom for cluster in found) + len(self.unheld)
        starts, places = np.zeros(self.count, np.int64), np.zeros(dofs.n, np.int64)
        for cluster in found:
            size = len(cluster.columns)
            places[list(cluster.columns)] = np.arange(size)
            starts[list(cluster.rows)] = cluster.start + size * np.arange(len(cluster.rows))
        self.size = sum(len(cluster.rows) * len(cluster.columns) for cluster in found)
        self._starts, self._places = Table("row_starts", starts), Table("column_places", places)

    def entries(self, values: Array) -> Entries:
        """The entries of L in an array."""
        return Entries(values, self._place)

    def _place(self, row: Index, column: Index) -> Index:
        return gather_index(self._starts, row) + gather_index(self._places, column)


def cluster_parts(m: Mechanism) -> list[tuple[list[int], list[int]]]:
    """The columns and the rows of each cluster of a mechanism, that with the first column first."""
    parts: list[tuple[set[int], list[int]]] = []
    start = 0
    for columns, rows in row_supports(m):
        joined: tuple[set[int], list[int]] = (set(columns), list(range(start, start + rows)))
        for part in [part for part in parts if part[0] & joined[0]] if rows else ():
            parts.remove(part)
            joined = (joined[0] | part[0], [*part[1], *joined[1]])
        parts += [joined] if rows else []
        start += rows
    return sorted((sorted(columns), sorted(rows)) for columns, rows in parts)


def clusters(m: Mechanism) -> Clusters:
    """The clusters of a mechanism, and the ranks they have."""
    return _clusters(m.plain)


@lru_cache(maxsize=64)
def _clusters(m: Mechanism) -> Clusters:
    groups, found, start = np.array(row_groups(m), np.int64), [], 0
    with activate(Control()):  # plain numbers, whatever is being traced
        trials = _trials(Mechanism(m.model))
    for columns, rows in cluster_parts(m):
        numbers = np.unique(groups[rows], return_inverse=True)[1].astype(np.int64)
        rank = _rank(trials[:, rows][:, :, columns])
        found.append(Cluster(tuple(columns), tuple(rows), Table("groups", numbers), rank, start))
        start += len(rows) * len(columns)
    return Clusters(m.coupling.dof_tree, found)


def _trials(m: Mechanism) -> NDArray[np.float64]:
    """L in some configurations (trials, rows, n) in which loops are closed, as far as Newton's steps close them."""
    model, rng, found, near = m.model, np.random.default_rng(0), [], []
    neutral = [x for item in model.joints for x in item.joint.neutral()]
    for _ in range(TRIALS):
        q = integrate(m, neutral, rng.normal(scale=NEARBY, size=model.nv).tolist())
        with suppress(ArithmeticError, ValueError):  # where a constraint is no number, others may do
            L, off = _nearly_closed(m, q)
            found.append(L)
            near.append(off < TOUCHING)
    if not found:
        names = ", ".join(repr(c.name) for c in model.constraints)
        raise FiniteError(
            f"one of the constraints {names} of {model.name!r} is no finite number wherever it was tried, near the "
            "neutral configuration; expected numbers there"
        )
    return np.array([L for L, closed in zip(found, near, strict=True) if closed or not any(near)])


def _nearly_closed(m: Mechanism, q: Array) -> tuple[NDArray[np.float64], float]:
    """L (rows, n) where Newton's steps have closed loops, or nearly so, and by how much they are open."""
    for _ in range(STEPS):
        terms = constraint_terms(m, q, None)
        L = np.array(terms.matrix, float).reshape(terms.count, m.model.nv)
        errors = np.array(terms.errors, float)
        off = float(np.abs(errors).max(initial=0.0))
        if not (np.isfinite(L).all() and math.isfinite(off)):
            raise ArithmeticError
        if off < ASSEMBLED:
            break
        step = np.linalg.lstsq(L, -errors, rcond=FIRM)[0]
        q = integrate(m, q, (step / max(1.0, np.abs(step).max(initial=0.0))).tolist())
    return L, off


def _rank(trials: NDArray[np.float64]) -> int:
    """The largest rank of matrices (trials, rows, n): where it is smaller there are more freedoms than elsewhere."""
    size = np.linalg.norm(trials, axis=2, keepdims=True)
    A = np.divide(trials, size, out=np.zeros_like(trials), where=size > 0.0)
    return int(np.linalg.matrix_rank(A, tol=SINGULAR_VALUE).max())
