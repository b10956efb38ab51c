"""Entries of matrices on trees that lie side by side, as a hint for the back-end: neighbours share vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from bough.backends import Column, Limbs
from bough.kernel.treematrix import places
from bough.kernel.verdict import SUMS
from bough.tree import Tree

__all__ = ["tree_columns", "zeros"]

NEIGHBOURS = 4
"""Zeros side by side that are looked at together."""


def tree_columns(tree: Tree, inputs: Iterable[str]) -> Limbs:
    """The row and column of every entry of packed rows and dense matrices; columns of nodes without a fork are a group.

    Entries above the diagonal are in the columns of those they should be equal to.
    """
    n, rows, columns = tree.n, *(p.tolist() for p in places(tree))
    first, number = [0] * n, [0] * n  # of the group of a node, and its place there
    children = Counter(tree.parents)
    for j, parent in enumerate(tree.parents):
        alone = parent > 0 and children[parent] == 1
        first[j], number[j] = (first[parent - 1], number[parent - 1] + 1) if alone else (j, 0)
    packed = [Column(first[j], number[j], i) for i, j in zip(rows, columns, strict=True)]
    dense: list[Column | None] = [None] * n**2
    for i, j in zip(rows, columns, strict=True):
        dense[j * n + i] = Column(first[j], number[j], ("above", i))
        dense[i * n + j] = Column(first[j], number[j], i)
    for k, run in enumerate(zeros(tree)):
        for lane, place in enumerate(run):
            dense[place] = Column(-1 - k % SUMS, lane, run[0])
    known: dict[str, Sequence[Column | None]] = {"packed": packed, "H": dense}
    return {name: known[name] for name in inputs if name in known}


def zeros(tree: Tree) -> list[range]:
    """Where a dense matrix on a tree is zero: runs of a few places, those with fewest last."""
    n, rows, columns = tree.n, *(p.tolist() for p in places(tree))
    inside = {i * n + j for pair in zip(rows, columns, strict=True) for i, j in (pair, pair[::-1])}
    runs: list[range] = []
    for place in range(n * n):
        if place not in inside:
            if runs and runs[-1].stop == place and place % n and len(runs[-1]) < NEIGHBOURS:
                runs[-1] = range(runs[-1].start, place + 1)
            else:
                runs.append(range(place, place + 1))
    return sorted(runs, key=len, reverse=True)
