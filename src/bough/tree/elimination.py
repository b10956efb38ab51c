"""The tree of a symmetric matrix that comes without one."""

from __future__ import annotations

from collections.abc import Iterable

from bough.errors import TreeError
from bough.tree.numbering import is_whole
from bough.tree.tree import Tree

__all__ = ["elimination_tree"]


def elimination_tree(n: int, entries: Iterable[tuple[int, int]]) -> Tree:
    """Smallest tree whose pattern holds a symmetric matrix and the fill-in of its LTDL factorisation.

    Rows are eliminated in the order n, ..., 1; the parent of row k is the last column before k that is non-zero in
    row k when its turn comes. A pattern that comes from a tree gives that tree back.

    Parameters
    ----------
    n
        Number of rows and columns.
    entries
        Pairs (row, column), 1-based with column < row, of the non-zeros below the diagonal; repeats are harmless.

    Returns
    -------
    Tree
        With n bodies, in the order of the rows.
    """
    if not is_whole(n) or n < 0:
        raise TreeError(f"n is {n!r}, expected an integer of at least 0")
    below: list[list[int]] = [[] for _ in range(n + 1)]  # rows with an entry in each column
    for row, column in _pairs(n, entries):
        below[column].append(row)

    # Liu's algorithm: column j becomes the parent of every finished subtree that it touches. `above` is a shortcut
    # towards the root of such a subtree, shortened further by each walk along it.
    parents = [0] * (n + 1)
    above = [0] * (n + 1)
    for column in range(n, 0, -1):
        for row in below[column]:
            node = row
            while above[node] not in (0, column):
                above[node], node = column, above[node]
            if above[node] == 0:
                above[node] = column
                parents[node] = column
    return Tree(parents[1:])


def _pairs(n: int, entries: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    for number, entry in enumerate(entries, 1):
        try:
            row, column = entry
        except (TypeError, ValueError):
            raise TreeError(f"entry {number} is {entry!r}, expected a pair (row, column)") from None
        if not is_whole(row) or not is_whole(column) or not 1 <= column < row <= n:
            raise TreeError(f"entry {number} is ({row!r}, {column!r}), expected integers 1 <= column < row <= {n}")
        yield int(row), int(column)
