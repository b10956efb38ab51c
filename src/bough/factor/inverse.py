"""The inverse of a matrix from its sparse factor.

L⁻¹ has the sparsity of L. With it, what two nodes have to do with each other goes over their common ancestors alone:
fewer operations than substitutions, from which each node asks all of its ancestors.
"""

from __future__ import annotations

from bough.scalar import Array, array, each
from bough.tree import Tree
from bough.tree.paths import Node, PathMatrix, Paths

__all__ = ["inverse", "inverse_factor", "inverse_product"]


def inverse_factor(tree: Tree, packed: Array, unit: bool) -> Array:
    """G = L⁻¹ for H = Lᵀ D L, with 1/D in place of its unit diagonal, as packed path rows.

    Gᵢₖ = -Lᵢₖ - Σⱼ Lᵢⱼ Gⱼₖ over the ancestors j of i beyond k. From H = Lᵀ L, unless `unit`, the same is made.
    """
    paths, L = Paths(tree), PathMatrix(packed)
    G = PathMatrix(array(paths.size))

    def row(i: Node) -> None:
        scale = 1.0 if unit else 1.0 / L[i, i]

        def ancestor(j: Node) -> None:
            weight = L[i, j] * scale
            G[i, j] = G[i, j] - weight

            def entry(k: Node) -> None:
                G[i, k] = G[i, k] - weight * G[j, k]

            paths.ancestors(j, entry)

        paths.ancestors(i, ancestor)
        G[i, i] = 1.0 / L[i, i] if unit else scale * scale

    paths.outward(row)
    return G.packed


def inverse(tree: Tree, packed: Array, unit: bool) -> Array:
    """P = H⁻¹, dense (n x n), from H = Lᵀ D L, or from H = Lᵀ L unless `unit`."""
    return inverse_product(tree, inverse_factor(tree, packed, unit))


def inverse_product(tree: Tree, factor: Array) -> Array:
    """P = G D⁻¹ Gᵀ, dense (n x n), from what `inverse_factor` gave: Pᵢⱼ = Σₖ Gᵢₖ Gⱼₖ / Dₖ over common k, each once."""
    n, paths, G, P = tree.n, Paths(tree), PathMatrix(factor), array(tree.n * tree.n)

    def row(i: Node) -> None:
        scaled = array(n)  # row i of G D⁻¹

        def scale(k: Node) -> None:
            scaled[k.index] = G[i, k] * G[k, k]

        def entry(j: Node) -> None:
            here = i.index * n + j.index
            P[here] = scaled[j.index]

            def common(k: Node) -> None:
                P[here] = P[here] + G[j, k] * scaled[k.index]

            paths.ancestors(j, common)
            P[j.index * n + i.index] = P[here]

        paths.ancestors(i, scale)
        scaled[i.index] = G[i, i]
        each(i.index + 1, lambda j: entry(paths.node(j)))

    paths.outward(row)
    return P
