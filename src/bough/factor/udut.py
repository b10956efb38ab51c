"""M = U D Uᵀ with a unit upper-triangular U that has the sparsity of M (Shimanovsky, algorithm 1).

The upper triangle is stored by its columns, which are the path rows of the lower one: M[i, j] lies at (j, i).
"""

from __future__ import annotations

from bough.factor.storage import copy_of
from bough.scalar import Array
from bough.tree import Tree
from bough.tree.paths import Node, PathMatrix, Paths

__all__ = ["udut"]


def udut(tree: Tree, packed: Array) -> Array:
    """Factorise a matrix given as packed path columns; D and the rest of U are returned in its place."""
    paths = Paths(tree)
    M = PathMatrix(copy_of(packed, paths.size))

    def step(k: Node) -> None:
        def column(j: Node) -> None:
            t = M[k, j] / M[k, k]

            def element(i: Node) -> None:
                M[j, i] = M[j, i] - M[k, i] * t

            paths.path(j, element)  # i = j, p(j), …
            M[k, j] = t

        paths.ancestors(k, column)  # j = p(k), p(p(k)), …

    paths.inward(step)  # for k = n to 1
    return M.packed
