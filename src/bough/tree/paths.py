"""Walks over the nodes of a tree, and matrices stored as packed path rows.

Row i of such a matrix holds one entry for each node on the path from the root to i, in that order. The row of an
ancestor j is indexed by the *first* depth(j) entries of the same path, so the entry (i, j) lies at
start(i) + depth(j) - 1, whatever the branches are, and nothing outside the pattern is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bough.scalar import Array, Index, Scalar, Table, gather_index, loop
from bough.tree.tree import Tree

__all__ = ["Node", "PathMatrix", "Paths"]


class Node:
    """A node (a degree of freedom) of a tree, found by its number or by its place on a path.

    What it tells is looked up anew each time: an index found inside a loop means nothing outside it.
    """

    def __init__(self, paths: Paths, depth: Index | None, index: Index | None, place: Index | None = None) -> None:
        self._paths = paths
        self._depth = depth
        self._index = index
        self._place = place

    @property
    def index(self) -> Index:
        """Node number minus one: its row in a vector."""
        if self._index is not None:
            return self._index
        assert self._place is not None
        return gather_index(self._paths.nodes, self._place) + -1

    @property
    def depth(self) -> Index:
        """Number of nodes on the path from the root to this one."""
        return self._depth if self._depth is not None else gather_index(self._paths.depths, self.index)

    @property
    def start(self) -> Index:
        """Where the row of this node begins in packed storage."""
        return gather_index(self._paths.starts, self.index)


class Paths:
    """The paths of a tree as tables, and loops along them."""

    def __init__(self, tree: Tree) -> None:
        self.n = tree.n
        self.size = tree.packed_size
        self.depths = Table("depths", tree.depths)
        self.starts = Table("starts", tree.packed_starts)
        self.nodes = Table("paths", tree.packed_paths)

    def node(self, index: Index) -> Node:
        """The node with a number, less one."""
        return Node(self, None, index)

    def outward(self, rule: Callable[[Node], None]) -> None:
        """Nodes i = 1 to n."""
        self._each(self.n, lambda k: rule(Node(self, None, k)), reverse=False)

    def inward(self, rule: Callable[[Node], None]) -> None:
        """Nodes i = n to 1."""
        self._each(self.n, lambda k: rule(Node(self, None, k)), reverse=True)

    def path(self, node: Node, rule: Callable[[Node], None]) -> None:
        """Nodes j = i, λ(i), λ(λ(i)), … while j ≠ 0."""
        self._along(node, node.depth, rule)

    def ancestors(self, node: Node, rule: Callable[[Node], None]) -> None:
        """Nodes j = λ(i), λ(λ(i)), … while j ≠ 0."""
        self._along(node, node.depth + -1, rule)

    def _along(self, node: Node, count: Index, rule: Callable[[Node], None]) -> None:
        start = node.start
        self._each(count, lambda k: rule(Node(self, k + 1, None, start + k)), reverse=True)

    def _each(self, count: Index, rule: Callable[[Any], None], reverse: bool) -> None:
        def step(k: Index, carry: tuple[()]) -> tuple[()]:
            rule(k)
            return carry

        loop(count, step, (), reverse=reverse)


class PathMatrix:
    """Packed path rows seen as a matrix: the entry (i, j), with j on the path of i."""

    def __init__(self, packed: Array) -> None:
        self.packed = packed

    def __getitem__(self, place: tuple[Node, Node]) -> Scalar:
        i, j = place
        value: Scalar = self.packed[i.start + j.depth + -1]
        return value

    def __setitem__(self, place: tuple[Node, Node], value: Scalar) -> None:
        i, j = place
        self.packed[i.start + j.depth + -1] = value
