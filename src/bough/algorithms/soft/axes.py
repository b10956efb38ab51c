"""Rows along the axes of a contact, put together to vectors and matrices in the world."""

from __future__ import annotations

from collections.abc import Sequence

from bough.scalar import Scalar, dot
from bough.spatial import Matrix, Symmetric, Vector

__all__ = ["combined", "congruent", "products", "symmetric_times", "twice_symmetric"]


def combined(axes: Sequence[Vector], f: Sequence[Scalar]) -> Vector:
    """E f, with the axes as columns of E; as many as there are of both."""
    total = Vector(0.0, 0.0, 0.0)
    for axis, value in zip(axes, f, strict=False):
        total = total + axis * value
    return total


def congruent(axes: Sequence[Vector], W: Sequence[Sequence[Scalar]]) -> Symmetric:
    """E W Eᵀ for a lower triangle W, with the axes as columns of E."""
    n = len(W)
    rows: list[list[Scalar]] = [[0.0] * (i + 1) for i in range(3)]
    for k, axis in zip(range(n), axes, strict=False):
        column = combined(axes, [W[max(i, k)][min(i, k)] for i in range(n)])  # of E W
        for i, x in enumerate(column.parts):
            for j in range(i + 1):
                rows[i][j] = rows[i][j] + x * axis.parts[j]
    return Symmetric(rows[0][0], rows[1][0], rows[1][1], rows[2][0], rows[2][1], rows[2][2])


def symmetric_times(W: Sequence[Sequence[Scalar]], x: Sequence[Scalar]) -> list[Scalar]:
    """W x for a lower triangle W."""
    rows = range(len(W))
    return [dot([W[max(i, k)][min(i, k)] for k in rows], x) for i in rows]


def products(axes: Sequence[Vector], W: Sequence[Sequence[Scalar]]) -> Matrix:
    """E W Eᵀ for rows W of turning about the first axes, with three columns."""
    columns = [Vector(0.0, 0.0, 0.0)] * 3
    for axis, row in zip(axes, W, strict=False):
        along = combined(axes, row)
        columns = [column + axis * x for column, x in zip(columns, along.parts, strict=True)]
    return Matrix(*columns)


def twice_symmetric(A: Matrix) -> Symmetric:
    """A + Aᵀ."""
    x, y, z = A.columns
    return Symmetric(x.x + x.x, x.y + y.x, y.y + y.y, x.z + z.x, y.z + z.y, z.z + z.z)
