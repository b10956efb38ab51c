"""Storage: copies of arrays, so that in-place algorithms leave their arguments alone, and dense from packed."""

from __future__ import annotations

from bough.scalar import Array, array, filled
from bough.tree import Tree
from bough.tree.paths import Node, PathMatrix, Paths

__all__ = ["copy_of", "dense"]


def copy_of(values: Array, size: int) -> Array:
    """A fresh array with the same scalars."""
    return filled(size, lambda k: values[k])


def dense(tree: Tree, packed: Array) -> Array:
    """A symmetric matrix in full, row by row, from its packed path rows."""
    n, paths, H, result = tree.n, Paths(tree), PathMatrix(packed), array(tree.n * tree.n)

    def row(i: Node) -> None:
        def entry(j: Node) -> None:
            value = H[i, j]
            result[i.index * n + j.index] = value
            result[j.index * n + i.index] = value

        paths.path(i, entry)

    paths.outward(row)
    return result
