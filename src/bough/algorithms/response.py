"""What forces along the rows of a matrix J do to motion: the same for trees and for systems in maximal coordinates.

On a tree M = LᵀDL. With Y = L⁻ᵀ Jᵀ and Z = D⁻¹ Y the matrix A = J M⁻¹ Jᵀ is Zᵀ Y, and forces f on the rows beside joint
forces τ give the motion L⁻¹ (Z f + D⁻¹ L⁻ᵀ τ). Everything there is to know about rows, of loops, limits, contacts or
frames, is in these few arrays: which f is right is said elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from bough.algorithms.crba import crba
from bough.algorithms.rnea import ZEROS
from bough.factor import diagonal, ltdl, solve_L, solve_Lt
from bough.model import Mechanism
from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    array,
    blank,
    do_when,
    each,
    fill,
    filled,
    inner,
    loop,
    select,
)
from bough.tree import Tree

__all__ = ["Response", "TreeResponse", "response", "tree_response"]


class Response(Protocol):
    """Rows J on something that moves: A = J M⁻¹ Jᵀ, the motion without forces on the rows, and the one with them.

    Where constraints of its own hold it (`bough.lagrange.anticipation`), M⁻¹ is what these leave of it. Other forces τ
    enter as `half` gives them, of which half of a solution is known.
    """

    @property
    def count(self) -> int:
        """Number of rows."""

    @property
    def A(self) -> Array:
        """J M⁻¹ Jᵀ (count, count), row by row, both triangles."""

    def half(self, tau: Array) -> Array:
        """Forces as all others take them."""

    def drive(self, half: Array) -> Array:
        """J M⁻¹ τ (count)."""

    def free(self, half: Array) -> Array:
        """M⁻¹ τ."""

    def motion(self, forces: Array, half: Array = ZEROS) -> Array:
        """M⁻¹ (Jᵀ f + τ)."""


@dataclass(frozen=True)
class TreeResponse:
    """Rows J in the metric of the mass matrix M = LᵀDL of a tree with n velocities, in one configuration.

    Joint forces enter as L⁻ᵀ τ: half of a solution is enough for most of what they do.
    """

    tree: Tree
    count: int  # of rows
    M: Array  # packed path rows
    factor: Array  # L and D in the place of M
    pivots: Array  # D (n)
    Z: Array  # D⁻¹ L⁻ᵀ Jᵀ by columns (count, n)
    A: Array  # J M⁻¹ Jᵀ (count, count), row by row, both triangles

    def half(self, tau: Array) -> Array:
        """L⁻ᵀ τ (n)."""
        return solve_Lt(self.tree, self.factor, tau, unit=True)

    def drive(self, half: Array) -> Array:
        """J M⁻¹ τ (count): what joint forces do along the rows."""
        n = self.tree.n
        return filled(self.count, lambda r: inner(Part(self.Z, r * n), half, n))

    def motion(self, forces: Array, half: Array = ZEROS) -> Array:
        """M⁻¹ (Jᵀ f + τ) (n): the motion that forces on the rows and joint forces make together."""
        n = self.tree.n

        def forced(k: Index) -> Scalar:
            start: Scalar = half[k] / self.pivots[k]
            return loop(self.count, lambda r, total: total + self.Z[r * n + k] * forces[r], start)

        return solve_L(self.tree, self.factor, filled(n, forced), unit=True)

    def free(self, half: Array) -> Array:
        """M⁻¹ τ (n): the motion without forces on the rows."""
        n = self.tree.n
        return solve_L(self.tree, self.factor, filled(n, lambda k: half[k] / self.pivots[k]), unit=True)

    def columns(self) -> Array:
        """M⁻¹ Jᵀ by columns (count, n): the motion that a unit force on each row makes."""
        n, result = self.tree.n, array(self.count * self.tree.n)

        def row(i: Index) -> None:
            x = solve_L(self.tree, self.factor, Part(self.Z, i * n), unit=True)
            fill(Part(result, i * n), n, lambda k: x[k])

        each(self.count, row)
        return result

    def light(self, least: float) -> Bool:
        """Whether some pivot is no more than so small a part of the diagonal entry of M it is left of."""
        whole, none = diagonal(self.tree, self.M), 0.0  # type: Array, Scalar
        n, D = self.tree.n, self.pivots
        return loop(n, lambda k, count: count + select(whole[k] * least < D[k], 0.0, 1.0), none) > 0.0


def tree_response(m: Mechanism, q: Array, J: Array, count: int) -> TreeResponse:
    """The response of a mechanism to so many rows J (count, nv), dense, row by row."""
    return response(m.coupling.dof_tree, crba(m, q), J, count)


def response(tree: Tree, M: Array, J: Array, count: int, on: Array | None = None) -> TreeResponse:
    """The response of a mass matrix M, in packed path rows, to so many rows J (count, n).

    Rows whose number in `on` is zero cost nothing where that is so in every state; of A they have a diagonal entry,
    zero, and no others, and zeros in the other rows.
    """
    n, factor = tree.n, ltdl(tree, M)
    D, Z = diagonal(tree, factor), array(count * n)
    Y = array(count * n) if on is None else blank(count * n)

    def row(i: Index) -> None:
        y = solve_Lt(tree, factor, Part(J, i * n), unit=True)
        fill(Part(Y, i * n), n, lambda k: y[k])
        fill(Part(Z, i * n), n, lambda k: y[k] / D[k])

    each(count, _where(on, row))
    return TreeResponse(tree, count, M, factor, D, Z, _products(Z, Y, count, n, on))


def _products(Z: Array, Y: Array, count: int, n: int, on: Array | None) -> Array:
    """The symmetric matrix Zᵀ Y, row by row."""
    A = array(count * count)

    def row(i: Index) -> None:
        def entry(j: Index) -> None:
            value = inner(Part(Z, i * n), Part(Y, j * n), n)
            A[i * count + j] = value
            A[j * count + i] = value

        each(i + 1, _where(on, entry))

    each(count, _where(on, row))
    return A


def _where(on: Array | None, rule: Callable[[Index], None]) -> Callable[[Index], None]:
    """A rule of rows, for those that are on."""
    return rule if on is None else lambda i: do_when(on[i] > 0.0, lambda: rule(i))
