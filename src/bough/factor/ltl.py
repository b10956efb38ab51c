"""H = Lᵀ L with a lower-triangular L that has the sparsity of H (Featherstone 2005, section 2)."""

from __future__ import annotations

from bough.factor.storage import copy_of
from bough.scalar import Array, sqrt
from bough.tree import Tree
from bough.tree.paths import Node, PathMatrix, Paths

__all__ = ["ltl"]


def ltl(tree: Tree, packed: Array) -> Array:
    """Factorise a matrix given as packed path rows; L is returned in its place."""
    paths = Paths(tree)
    H = PathMatrix(copy_of(packed, paths.size))

    def row(k: Node) -> None:
        H[k, k] = sqrt(H[k, k])

        def divide(j: Node) -> None:
            H[k, j] = H[k, j] / H[k, k]

        def column(i: Node) -> None:
            def element(j: Node) -> None:
                H[i, j] = H[i, j] - H[k, i] * H[k, j]

            paths.path(i, element)  # j = i, λ(i), …

        paths.ancestors(k, divide)  # j = λ(k), λ(λ(k)), …
        paths.ancestors(k, column)  # i = λ(k), λ(λ(k)), …

    paths.inward(row)  # for k = n to 1
    return H.packed
