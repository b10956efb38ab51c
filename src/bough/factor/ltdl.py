"""H = Lᵀ D L with a unit lower-triangular L that has the sparsity of H (Featherstone 2005, appendix)."""

from __future__ import annotations

from bough.factor.storage import copy_of
from bough.scalar import Array
from bough.tree import Tree
from bough.tree.paths import Node, PathMatrix, Paths

__all__ = ["ltdl"]


def ltdl(tree: Tree, packed: Array) -> Array:
    """Factorise a matrix given as packed path rows; D and the rest of L are returned in its place."""
    paths = Paths(tree)
    H = PathMatrix(copy_of(packed, paths.size))

    def row(k: Node) -> None:
        def column(i: Node) -> None:
            a = H[k, i] / H[k, k]

            def element(j: Node) -> None:
                H[i, j] = H[i, j] - H[k, j] * a

            paths.path(i, element)  # j = i, λ(i), …
            H[k, i] = a

        paths.ancestors(k, column)  # i = λ(k), λ(λ(k)), …

    paths.inward(row)  # for k = n to 1
    return H.packed
