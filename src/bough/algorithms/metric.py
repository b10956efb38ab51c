"""Rows of a matrix in the metric of the mass matrix M = Lᵀ D L: with Y = L⁻ᵀ Jᵀ and Z = D⁻¹ Y, J M⁻¹ Jᵀ = Zᵀ Y."""

from __future__ import annotations

from bough.factor import solve_Lt
from bough.scalar import Array, Index, Part, array, each, fill, inner
from bough.tree import Tree

__all__ = ["products", "substituted"]


def substituted(tree: Tree, factor: Array, D: Array, J: Array, count: int) -> tuple[Array, Array]:
    """Y and Z, by columns, from so many rows of J and the factor of M, whose diagonal is D."""
    n = tree.n
    Y, Z = array(count * n), array(count * n)

    def row(i: Index) -> None:
        y = solve_Lt(tree, factor, Part(J, i * n), unit=True)
        fill(Part(Y, i * n), n, lambda k: y[k])
        fill(Part(Z, i * n), n, lambda k: y[k] / D[k])

    each(count, row)
    return Y, Z


def products(Z: Array, Y: Array, count: int, n: int) -> Array:
    """The symmetric matrix Zᵀ Y, row by row."""
    A = array(count * count)

    def row(i: Index) -> None:
        def entry(j: Index) -> None:
            value = inner(Part(Z, i * n), Part(Y, j * n), n)
            A[i * count + j] = value
            A[j * count + i] = value

        each(i + 1, entry)

    each(count, row)
    return A
