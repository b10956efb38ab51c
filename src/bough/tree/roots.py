"""D₁ and D₂ of a tree hung from each of its bodies in turn, all at once."""

from __future__ import annotations

from typing import NamedTuple

from bough.tree.tree import Integers, Tree

__all__ = ["costs_by_root"]


class _Depths(NamedTuple):
    """Degrees of freedom that hang on a body: how many, the sum of their depths, and that of the squares."""

    number: int = 0
    total: int = 0
    squares: int = 0

    def plus(self, other: _Depths, sign: int = 1) -> _Depths:
        return _Depths(*(a + sign * b for a, b in zip(self, other, strict=True)))

    def by_joint(self, dofs: int) -> _Depths:
        """What a joint adds to the body on its near side: its own degrees of freedom, and these on its far side."""
        own = _Depths(dofs, dofs * (dofs + 1) // 2, dofs * (dofs + 1) * (2 * dofs + 1) // 6)
        squares = self.squares + 2 * dofs * self.total + dofs * dofs * self.number
        return own.plus(_Depths(self.number, self.total + dofs * self.number, squares))


def costs_by_root(tree: Tree, dofs: Integers) -> list[tuple[int, int]]:
    """For each body the numbers (D₁, D₂) of the expanded tree in which that body is on the base.

    The joint on the base stays with the base and moves the body; the joints on the way from the former root are crossed
    the other way. Other trees on the base stay as they are. All this takes time proportional to the number of bodies.

    Parameters
    ----------
    tree
        The tree, or forest.
    dofs
        Degrees of freedom of joints 1..N.
    """
    n, parents, sizes = tree.n, (0, *tree.parents), (0, *(int(k) for k in dofs))
    below = [_Depths()] * (n + 1)  # what hangs on each body as it is
    for i in range(n, 0, -1):
        if parents[i]:
            below[parents[i]] = below[parents[i]].plus(below[i].by_joint(sizes[i]))
    around = list(below)  # what hangs on it if it is the root
    root = list(range(n + 1))
    for i in range(1, n + 1):
        parent = parents[i]
        if parent:
            root[i] = root[parent]
            beyond = around[parent].plus(below[i].by_joint(sizes[i]), -1)
            around[i] = below[i].plus(beyond.by_joint(sizes[i]))
    whole = _Depths()
    for r in tree.roots:
        whole = whole.plus(below[r].by_joint(sizes[r]))
    result = []
    for i in range(1, n + 1):
        base = sizes[root[i]]
        d = whole.plus(below[root[i]].by_joint(base), -1).plus(around[i].by_joint(base))
        result.append((d.total - d.number, (d.squares - d.total) // 2))
    return result
