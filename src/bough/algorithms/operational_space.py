"""Operational-space inertia of a set of frames (Khatib): Λ = (J M⁻¹ Jᵀ)⁻¹."""

from __future__ import annotations

from collections.abc import Sequence

from bough.algorithms.blocks import SmallFactor
from bough.algorithms.crba import crba
from bough.algorithms.jacobian import jacobian
from bough.algorithms.kinematics import Reference
from bough.factor import diagonal, ltdl, solve_Lt
from bough.model import Frame, Mechanism
from bough.scalar import Array, Index, Scalar, array, loop

__all__ = ["operational_space_inertia"]


def operational_space_inertia(
    m: Mechanism, q: Array, frames: Sequence[Frame], reference: Reference
) -> tuple[Array, Array, Array]:
    """Λ and its inverse J M⁻¹ Jᵀ, dense (6k x 6k), with the pivots of M and of J M⁻¹ Jᵀ behind each other.

    With M = LᵀDL, J M⁻¹ Jᵀ = Yᵀ D⁻¹ Y, where Y = L⁻ᵀ Jᵀ.
    """
    tree, rows = m.coupling.dof_tree, 6 * len(frames)
    factor = ltdl(tree, crba(m, q))
    D = diagonal(tree, factor)
    Y = [
        solve_Lt(tree, factor, _row(jacobian(m, q, frame, reference), k, tree.n), unit=True)
        for frame in frames
        for k in range(6)
    ]
    lower = [[_dot(Y[i], Y[j], D, tree.n) for j in range(i + 1)] for i in range(rows)]
    small = SmallFactor(lower)
    inverse, result, pivots = array(rows * rows), array(rows * rows), array(tree.n + rows)
    for i in range(rows):
        column = small.solve([1.0 if k == i else 0.0 for k in range(rows)])
        for j in range(i + 1):
            for place in {i * rows + j, j * rows + i}:
                inverse[place] = lower[i][j]
                result[place] = column[j]

    def copy(k: Index, carry: tuple[()]) -> tuple[()]:
        pivots[k] = D[k]
        return carry

    loop(tree.n, copy, ())
    for k, pivot in enumerate(small.pivots):
        pivots[tree.n + k] = pivot
    return result, inverse, pivots


def _row(J: Array, row: int, n: int) -> Array:
    result = array(n)

    def copy(k: Index, carry: tuple[()]) -> tuple[()]:
        result[k] = J[k + row * n]
        return carry

    loop(n, copy, ())
    return result


def _dot(a: Array, b: Array, D: Array, n: int) -> Scalar:
    """Σ aₖ bₖ / Dₖ."""
    return loop(n, lambda k, total: total + a[k] * b[k] / D[k], 0.0)
