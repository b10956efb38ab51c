"""The inverse of a matrix from its sparse factor, row by row from the root, each entry once."""

from __future__ import annotations

from bough.scalar import Array, Index, array, each
from bough.tree import Tree
from bough.tree.paths import Node, PathMatrix, Paths

__all__ = ["inverse"]


def inverse(tree: Tree, packed: Array, unit: bool) -> Array:
    """P = H⁻¹, dense (n x n), from H = Lᵀ D L, or from H = Lᵀ L unless `unit`.

    L P = D⁻¹ L⁻ᵀ, whose right-hand side is zero below the diagonal: Pᵢₖ = -Σⱼ Lᵢⱼ Pⱼₖ over the ancestors j of i for
    k < i, and 1/Dᵢ more for k = i. P is symmetric, so rows before i are known in full.
    """
    n, paths, L, P = tree.n, Paths(tree), PathMatrix(packed), array(tree.n * tree.n)

    def row(i: Node) -> None:
        scale = 1.0 if unit else 1.0 / L[i, i]

        def ancestor(j: Node) -> None:
            weight = L[i, j] * scale

            def entry(k: Index) -> None:
                P[i.index * n + k] = P[i.index * n + k] - weight * P[j.index * n + k]

            each(i.index, entry)

        def mirror(k: Index) -> None:
            P[k * n + i.index] = P[i.index * n + k]

        def add(j: Node) -> None:
            here = i.index * n + i.index
            P[here] = P[here] - L[i, j] * scale * P[j.index * n + i.index]

        paths.ancestors(i, ancestor)
        each(i.index, mirror)
        P[i.index * n + i.index] = 1.0 / L[i, i] if unit else scale * scale
        paths.ancestors(i, add)

    paths.outward(row)
    return P
