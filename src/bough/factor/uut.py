"""M = U Uᵀ with an upper-triangular U that has the sparsity of M (Shimanovsky, section 1 and table 1).

The upper triangle is stored by its columns, as in `udut`.
"""

from __future__ import annotations

from bough.factor.storage import copy_of
from bough.scalar import Array, sqrt
from bough.tree import Tree
from bough.tree.paths import Node, PathMatrix, Paths

__all__ = ["uut"]


def uut(tree: Tree, packed: Array) -> Array:
    """Factorise a matrix given as packed path columns; U is returned in its place."""
    paths = Paths(tree)
    M = PathMatrix(copy_of(packed, paths.size))

    def step(k: Node) -> None:
        M[k, k] = sqrt(M[k, k])

        def divide(j: Node) -> None:
            M[k, j] = M[k, j] / M[k, k]

        def column(j: Node) -> None:
            def element(i: Node) -> None:
                M[j, i] = M[j, i] - M[k, i] * M[k, j]

            paths.path(j, element)  # i = j, p(j), …

        paths.ancestors(k, divide)  # j = p(k), p(p(k)), …
        paths.ancestors(k, column)

    paths.inward(step)  # for k = n to 1
    return M.packed
