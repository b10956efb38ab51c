"""Branches of a tree: nodes that follow each other without a fork have the same ancestors in common with all others.

Small branches at the end of another one, as fingers are, join it: less code for some products with zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bough.tree import Tree

__all__ = ["Branch", "branches_of", "products"]

FETCHED = 1
"""Turns of a loop that fetching its code costs as much as."""


class Branch(NamedTuple):
    """Nodes without a fork, or all that the first one supports; what supports any of them; that and what they support.

    They are numbered from zero.
    """

    nodes: list[int]
    path: list[int]
    support: list[int]

    def common(self, other: Branch) -> list[int]:
        """The nodes through which two branches know of each other: all on the path of this one if they are related."""
        if set(self.nodes) & set(other.support):
            return self.path
        return sorted({*self.path} & {*other.path})


def branches_of(tree: Tree) -> list[Branch]:
    """The branches of a tree, parents before children."""
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(tree.parents, start=1):
        children.setdefault(parent, []).append(i)

    def numbered(nodes: list[int], path: Iterable[int], support: Iterable[int]) -> Branch:
        return Branch(*(sorted(int(k) - 1 for k in numbers) for numbers in (nodes, path, support)))

    def work(branches: Sequence[Branch]) -> int:
        return sum(products(tree, branch) * (len(branch.nodes) + FETCHED) for branch in branches)

    def from_node(first: int) -> list[Branch]:
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


def products(tree: Tree, branch: Branch) -> int:
    """Products of the factor with a column of a branch, and of its inverse with what comes of it."""
    held = set(branch.support)
    above = sum(int(tree.depths[i]) for i in branch.support)
    return above + 2 * sum(sum(int(k) - 1 in held for k in tree.path(i)) for i in range(1, tree.n + 1))
