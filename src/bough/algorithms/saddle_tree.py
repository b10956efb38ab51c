"""Velocities and multipliers as nodes of one tree: the sparsity of the equations of motion with constraints.

The matrix [M Lᵀ; L 0] of equation (20) of Featherstone & Orin 2000 has few entries: M those along the paths of the
mechanism, L those along the paths of the loops. Its LᵀDL factor has no others if unknowns are eliminated in a good
order, and which it has is said by the elimination tree, as in Featherstone 2005 for M alone. A multiplier has no pivot
of its own: it is eliminated after all velocities that its row acts on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.constraint_rows import Entries
from bough.algorithms.loops import row_groups, row_supports
from bough.model import Mechanism
from bough.scalar import Array, Index, Table, array, entries_at, gather_index, scatter
from bough.scalar.lazy import cached_property
from bough.tree import Tree, elimination_tree

__all__ = ["Order", "SaddleTree", "saddle_tree"]

Order: TypeAlias = Literal["soon", "last"]
"""When multipliers are eliminated: as soon as they can be, which is method 1, or after all velocities, method 2."""

Ints: TypeAlias = NDArray[np.int64]


class SaddleTree:
    """The tree of [M Lᵀ; L 0]: packed path rows of it hold the matrix and its factor.

    Parameters
    ----------
    dofs
        The tree of M.
    supports
        For each constraint the columns of L that its rows may have entries in, and the number of its rows.
    groups
        The number of the group of each row: rows of one group are measured alike.
    order
        When multipliers are eliminated.
    """

    def __init__(
        self, dofs: Tree, supports: Sequence[tuple[Sequence[int], int]], groups: Sequence[int], order: Order
    ) -> None:
        self.n, self.count, self.groups = dofs.n, len(groups), max(groups, default=-1) + 1
        self.dofs, self._given = dofs, (dofs, supports, groups)
        self._of_column, self._of_row = _number_nodes(dofs.n, supports, order)
        starts = np.cumsum([0, *(rows for _, rows in supports)])
        self._pairs = [
            (row, column)
            for (columns, rows), start in zip(supports, starts.tolist(), strict=False)
            for row in range(start, start + rows)
            for column in columns
        ]
        mass = [(self._of_column[i], self._of_column[p - 1]) for i, p in enumerate(dofs.parents) if p]
        held = [(self._of_column[column], self._of_row[row]) for row, column in self._pairs]
        self.tree = elimination_tree(self.n + self.count, [(int(a) + 1, int(b) + 1) for a, b in (*mass, *held)])
        rows = np.zeros(self.n + self.count, np.int64)
        rows[self._of_row] = 1
        group = np.zeros(self.n + self.count, np.int64)
        group[self._of_row] = groups
        places = np.zeros(self.n + self.count, np.int64)
        places[self._of_column], places[self._of_row] = np.arange(self.n), np.arange(self.count)
        self.kinds = Table("unknowns", rows)  # 0 for a velocity, 1 for a multiplier
        self.group = Table("row_groups", group)
        self.places = Table("unknown_places", places)  # which velocity, or which row, a node is
        self.columns = Table("velocity_nodes", self._of_column)
        self.rows = Table("multiplier_nodes", self._of_row)
        self._starts = Table("velocity_starts", self.tree.packed_starts[self._of_column])
        self._depths = Table("multiplier_depths", self.tree.depths[self._of_row])

    @property
    def size(self) -> int:
        """Number of entries of packed path rows."""
        return self.tree.packed_size

    def place(self, row: Index, column: Index) -> Index:
        """Where an entry of L lies in packed path rows: multipliers are nearer to the root."""
        return gather_index(self._starts, column) + gather_index(self._depths, row) + -1

    def entries(self, packed: Array) -> Entries:
        """The entries of L in packed path rows."""
        return Entries(packed, self.place)

    def put_mass(self, packed: Array, M: Array) -> None:
        """Write M, given as packed path rows of its own tree."""
        scatter(M, Table("mass_places", self.mass_places), packed)

    @property
    def operations(self) -> int:
        """About how many a solution takes: two for each pair of ancestors of a node, and the right-hand side."""
        above = self.tree.depths - 1
        return int((above * (above + 1) + 6 * above).sum())

    @cached_property
    def mass_places(self) -> Ints:
        """Where each entry of the packed path rows of M lies."""
        rows, columns = np.repeat(np.arange(self.n), self.dofs.depths), self.dofs.packed_paths - 1
        found: Ints = self.tree.packed_starts[self._of_column[rows]] + self.tree.depths[self._of_column[columns]] - 1
        return found

    @cached_property
    def row_places(self) -> Ints:
        """Where each entry that L may have lies, constraint by constraint, row by row."""
        rows, columns = (np.array([pair[k] for pair in self._pairs], np.int64) for k in range(2))
        found: Ints = self.tree.packed_starts[self._of_column[columns]] + self.tree.depths[self._of_row[rows]] - 1
        return found

    @cached_property
    def late(self) -> SaddleTree:
        """The tree of the same equations with multipliers eliminated after all velocities."""
        return SaddleTree(*self._given, "last")

    def late_rows(self, packed: Array) -> Array:
        """The packed path rows of `late` with the same entries."""
        result, late = array(self.late.size), self.late
        for here, there in ((self.mass_places, late.mass_places), (self.row_places, late.row_places)):
            scatter(entries_at(packed, Table("places", here)), Table("late_places", there), result)
        return result

    @cached_property
    def rows_come_last(self) -> bool:
        """Whether no velocity is eliminated after a multiplier that it is coupled with."""
        parents = np.array([0, *self.tree.parents], np.int64)
        above = parents[self._of_row + 1]
        return bool((self.kinds.data[above[above > 0] - 1] == 1).all())


def _number_nodes(n: int, supports: Sequence[tuple[Sequence[int], int]], order: Order) -> tuple[Ints, Ints]:
    """The nodes of velocities and of rows; elimination goes from the last node to the first.

    Rows are eliminated after the first of the columns they act on, which has the last turn, so those that act on fewer
    columns come before others that wait for the same one, and of one constraint the first row does.
    """
    starts = np.cumsum([0, *(rows for _, rows in supports)]).tolist()
    waiting: dict[int, list[int]] = {}
    for k in sorted(range(len(supports)), key=lambda k: (-len(supports[k][0]), k)):
        columns, rows = supports[k]
        waiting.setdefault(min(columns, default=0), []).extend(reversed(range(starts[k], starts[k] + rows)))
    of_column, of_row, node = np.zeros(n, np.int64), np.zeros(starts[-1], np.int64), 0
    for column in range(n) if order == "last" else ():
        for row in waiting.pop(column, ()):
            of_row[row] = node
            node += 1
    for column in range(n):
        for row in waiting.get(column, ()):
            of_row[row] = node
            node += 1
        of_column[column] = node
        node += 1
    return of_column, of_row


def saddle_tree(m: Mechanism, order: Order) -> SaddleTree:
    """The tree of the equations of a mechanism."""
    return _saddle_tree(m.plain, order)


@lru_cache(maxsize=64)
def _saddle_tree(m: Mechanism, order: Order) -> SaddleTree:
    return SaddleTree(m.coupling.dof_tree, row_supports(m), row_groups(m), order)
