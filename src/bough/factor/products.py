"""Products and substitutions with a sparse factor (Featherstone 2005, appendix; Shimanovsky, algorithms 2 and 3).

`unit` says that the diagonal of L is 1 and that the diagonal of the storage holds D, as LTDL and UDUᵀ leave it. For
UDUᵀ read U as Lᵀ.
"""

from __future__ import annotations

from bough.factor.storage import copy_of
from bough.scalar import Array, array
from bough.tree import Tree
from bough.tree.paths import Node, PathMatrix, Paths

__all__ = [
    "backward", "diagonal", "forward", "margins", "mul", "mul_H", "mul_L", "mul_Lt", "solve", "solve_L", "solve_Lt",
]  # fmt: skip


def mul_L(tree: Tree, packed: Array, x: Array, unit: bool) -> Array:
    """y = L x."""
    paths, L, y = Paths(tree), PathMatrix(packed), array(tree.n)

    def row(i: Node) -> None:
        y[i.index] = x[i.index] if unit else L[i, i] * x[i.index]

        def add(j: Node) -> None:
            y[i.index] = y[i.index] + L[i, j] * x[j.index]

        paths.ancestors(i, add)

    paths.inward(row)
    return y


def mul_Lt(tree: Tree, packed: Array, x: Array, unit: bool) -> Array:
    """y = Lᵀ x."""
    paths, L, y = Paths(tree), PathMatrix(packed), array(tree.n)

    def row(i: Node) -> None:
        y[i.index] = x[i.index] if unit else L[i, i] * x[i.index]

        def add(j: Node) -> None:
            y[j.index] = y[j.index] + L[i, j] * x[i.index]

        paths.ancestors(i, add)

    paths.outward(row)
    return y


def solve_L(tree: Tree, packed: Array, x: Array, unit: bool) -> Array:
    """L⁻¹ x."""
    paths, L, x = Paths(tree), PathMatrix(packed), copy_of(x, tree.n)

    def row(i: Node) -> None:
        def subtract(j: Node) -> None:
            x[i.index] = x[i.index] - L[i, j] * x[j.index]

        paths.ancestors(i, subtract)
        if not unit:
            x[i.index] = x[i.index] / L[i, i]

    paths.outward(row)
    return x


def solve_Lt(tree: Tree, packed: Array, x: Array, unit: bool) -> Array:
    """L⁻ᵀ x."""
    paths, L, x = Paths(tree), PathMatrix(packed), copy_of(x, tree.n)

    def row(i: Node) -> None:
        if not unit:
            x[i.index] = x[i.index] / L[i, i]

        def subtract(j: Node) -> None:
            x[j.index] = x[j.index] - L[i, j] * x[i.index]

        paths.ancestors(i, subtract)

    paths.inward(row)
    return x


def solve(tree: Tree, packed: Array, x: Array, unit: bool) -> Array:
    """H⁻¹ x = L⁻¹ D⁻¹ L⁻ᵀ x, with D = 1 unless the factor is a unit one."""
    return backward(tree, packed, forward(tree, packed, x, unit), unit)


def forward(tree: Tree, packed: Array, x: Array, unit: bool) -> Array:
    """D⁻¹ L⁻ᵀ x, the solution w of U D w = x with U = Lᵀ (Shimanovsky, algorithm 2)."""
    x = solve_Lt(tree, packed, x, unit)
    return _over_D(tree, packed, x) if unit else x


def backward(tree: Tree, packed: Array, w: Array, unit: bool) -> Array:
    """L⁻¹ w, the solution of Uᵀ x = w (Shimanovsky, algorithm 3)."""
    return solve_L(tree, packed, w, unit)


def mul(tree: Tree, packed: Array, x: Array, unit: bool) -> Array:
    """H x = Lᵀ D L x, with D = 1 unless the factor is a unit one."""
    x = mul_L(tree, packed, x, unit)
    return mul_Lt(tree, packed, _times_D(tree, packed, x) if unit else x, unit)


def mul_H(tree: Tree, packed: Array, x: Array) -> Array:
    """H x from the packed rows of a symmetric H that has not been factorised."""
    paths, H, y = Paths(tree), PathMatrix(packed), array(tree.n)

    def row(i: Node) -> None:
        y[i.index] = H[i, i] * x[i.index]

        def add(j: Node) -> None:
            y[j.index] = y[j.index] + H[i, j] * x[i.index]
            y[i.index] = y[i.index] + H[i, j] * x[j.index]

        paths.ancestors(i, add)

    paths.outward(row)
    return y


def diagonal(tree: Tree, packed: Array) -> Array:
    """The diagonal of packed path rows: D of a unit factor."""
    paths, F, D = Paths(tree), PathMatrix(packed), array(tree.n)

    def row(i: Node) -> None:
        D[i.index] = F[i, i]

    paths.outward(row)
    return D


def _over_D(tree: Tree, packed: Array, x: Array) -> Array:
    paths, D, y = Paths(tree), PathMatrix(packed), array(tree.n)

    def row(i: Node) -> None:
        y[i.index] = x[i.index] / D[i, i]

    paths.outward(row)
    return y


def _times_D(tree: Tree, packed: Array, x: Array) -> Array:
    paths, D, y = Paths(tree), PathMatrix(packed), array(tree.n)

    def row(i: Node) -> None:
        y[i.index] = D[i, i] * x[i.index]

    paths.outward(row)
    return y


def margins(tree: Tree, H: Array, packed: Array, unit: bool, part: float) -> Array:
    """By how much each pivot exceeds `part` of the original diagonal entry of H."""
    paths, before, L, result = Paths(tree), PathMatrix(H), PathMatrix(packed), array(tree.n)

    def row(i: Node) -> None:
        pivot = L[i, i] if unit else L[i, i] * L[i, i]
        result[i.index] = pivot - before[i, i] * part

    paths.outward(row)
    return result
