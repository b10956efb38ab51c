"""Other ways to the mass matrix and its inverse: columns of inverse dynamics, and the sparse factor."""

from __future__ import annotations

from collections.abc import Callable

from bough.algorithms.crba import crba
from bough.algorithms.rnea import ZEROS, rnea
from bough.factor import diagonal, inverse, ltdl
from bough.model import Mechanism
from bough.scalar import Array, Index, array, loop
from bough.spatial import ZERO

__all__ = ["mass_matrix_by_rnea", "mass_matrix_inverse"]


def mass_matrix_by_rnea(m: Mechanism, q: Array) -> Array:
    """M column by column, M δᵢ = D(q, 0, δᵢ) without gravity (Featherstone & Orin, section 3.2): dense (nv x nv)."""
    return _by_columns(m.model.nv, lambda unit: rnea(m, q, ZEROS, unit, gravity=ZERO))


def mass_matrix_inverse(m: Mechanism, q: Array) -> tuple[Array, Array]:
    """M⁻¹, dense (nv x nv), from M = LᵀDL; and the pivots D."""
    tree = m.coupling.dof_tree
    factor = ltdl(tree, crba(m, q))
    return inverse(tree, factor, unit=True), diagonal(tree, factor)


def _by_columns(n: int, column: Callable[[Array], Array]) -> Array:
    """A dense matrix from its products with the unit vectors."""
    result, unit = array(n * n), array(n)

    def put(k: Index, carry: tuple[()]) -> tuple[()]:
        unit[k] = 1.0
        values = column(unit)
        unit[k] = 0.0

        def copy(i: Index, carry: tuple[()]) -> tuple[()]:
            result[i * n + k] = values[i]
            return carry

        return loop(n, copy, carry)

    loop(n, put, ())
    return result
