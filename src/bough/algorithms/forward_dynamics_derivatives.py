"""Derivatives of forward dynamics: those of inverse dynamics at its solution, divided by the mass matrix.

From M(q) q̈ + C(q, q̇) = τ follows ∂q̈ = -M⁻¹ ∂τ, where ∂τ are derivatives of inverse dynamics at the accelerations found
(Carpentier & Mansard 2018), and ∂q̈/∂τ = M⁻¹. All go through the branch-sparse factor that found the accelerations.

Once more, M ∂²q̈ = -∂²τ - (∂M) ∂q̈ - (∂M) ∂q̈, where each ∂M is by one of the two positions and ∂q̈ by the other variable
(Singh, Wensing et al. 2023): products of matrices, in loops over the second variable. Most entries of ∂M and ∂²τ are
zero, and where a program knows which, it leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bough.algorithms.crba import crba
from bough.algorithms.rnea import ZEROS, rnea
from bough.algorithms.rnea_derivatives import of_free_roots, rnea_derivatives
from bough.algorithms.rnea_second_derivatives import rnea_second_derivatives
from bough.algorithms.triples import AQ, QQ, QV, VV, Tensors
from bough.factor import diagonal, inverse_and_products, ltdl, solve
from bough.model import Mechanism
from bough.scalar import (
    Array,
    Index,
    Part,
    Scalar,
    Table,
    array,
    blank,
    each,
    fill,
    filled,
    gather_index,
    handed_on,
    inner,
    keeping_loops,
    repeat,
)

__all__ = ["ForwardDerivatives", "forward_dynamics_derivatives", "forward_dynamics_second_derivatives"]


@dataclass(frozen=True)
class ForwardDerivatives:
    """∂q̈/∂q (in the tangent space), ∂q̈/∂q̇ and ∂q̈/∂τ = M⁻¹, one behind the other (3 x nv x nv); pivots of M, and q̈.

    `totals`, where there are any, are finite if and, but for overflow, only if all derivatives are.
    """

    stacked: Array
    pivots: Array
    accelerations: Array
    totals: list[Scalar] | None = None


def forward_dynamics_derivatives(
    m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None = None
) -> ForwardDerivatives:
    """Derivatives of the accelerations under joint forces tau; external forces stay with their bodies."""
    tree = m.coupling.dof_tree
    n, factor, bias = tree.n, ltdl(tree, crba(m, q)), rnea(m, q, v, ZEROS, f_ext)
    qdd = handed_on(n, solve(tree, factor, filled(n, lambda k: tau[k] - bias[k]), unit=True))
    of_forces = rnea_derivatives(m, q, v, qdd, f_ext)
    known = of_free_roots(m, q, v, qdd)
    found = inverse_and_products(tree, factor, (of_forces.q, of_forces.v), -1.0, known)
    return ForwardDerivatives(found.stacked, diagonal(tree, factor), qdd, found.totals)


def forward_dynamics_second_derivatives(
    m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None = None
) -> ForwardDerivatives:
    """∂²q̈/∂q∂q, ∂²q̈/∂v∂v, ∂²q̈/∂q∂v and ∂²q̈/∂τ∂q = ∂M⁻¹/∂q, one behind the other (4 x nv x nv x nv).

    Entries are as those of `rnea_second_derivatives`.
    """
    found = forward_dynamics_derivatives(m, q, v, tau, f_ext)
    tensors = rnea_second_derivatives(m, q, v, found.accelerations, f_ext)
    second = SecondOrder(m.coupling.dof_tree.n, found.stacked, tensors)
    second.for_all(second.of_position)
    second.add_both_orders()
    second.for_all(second.of_forces)
    return ForwardDerivatives(second.stacked, found.pivots, found.accelerations)


class SecondOrder:
    """Second derivatives of forward dynamics, from first ones and from second ones of inverse dynamics."""

    def __init__(self, n: int, first: Array, tensors: Tensors) -> None:
        self._n, self._first, self._second = n, first, tensors.stacked
        self._sparse = tensors.written is not None and len(tensors.written) < 2 * n**3  # half of them
        self._known = Known(n, tensors.written if self._sparse else None)
        with keeping_loops():
            self.stacked, self._turned = array(4 * n**3), blank(n**3)  # turned: -M⁻¹ (∂M/∂q) (∂q̈/∂q)

    def for_all(self, rule: Callable[[Index], None]) -> None:
        """Run a rule at all positions: with code for each where zeros are known, else with one piece for all."""
        if self._sparse:
            each(self._n, rule)
        else:
            repeat_each(range(self._n), rule)

    def of_position(self, j: Index) -> None:
        """What ∂M/∂q of a position does."""
        n, first, second, known = self._n, self._first, self._second, self._known

        def rate(i: Index, k: Index) -> Scalar:
            here = self._place(AQ, i, k, j)
            entry: Scalar = second[here] if known.entry(here) else 0.0
            return entry

        rates = blank(n * n)
        each(n, lambda i: put_row(rates, i, n, lambda k: rate(i, k)))

        def product(which: int, k: Index) -> Array:
            """∂M/∂q times a column of the first derivatives."""
            values = filled(n, lambda i: first[i * n + k + which * n * n])
            return filled(n, lambda i: inner(Part(rates, i * n), values, n))

        def of_variable(k: Index) -> None:
            moved, forces = product(1, k), self._forces(QV, j, k)
            self._divide(product(0, k), self._turned, lambda i: self._place(0, i, j, k))
            self._divide(filled(n, lambda i: moved[i] + forces[i]), self.stacked, lambda i: self._place(QV, i, j, k))
            self._divide(product(2, k), self.stacked, lambda i: self._place(AQ, i, k, j))

        repeat_each(range(n), of_variable)

    def add_both_orders(self) -> None:
        """Of two positions, either may be that of ∂M/∂q."""
        n, numbers, turned = self._n, range(self._n), self._turned

        def entry(i: Index, j: Index, k: Index) -> None:
            both = turned[self._place(0, i, j, k)] + turned[self._place(0, i, k, j)]
            self.stacked[self._place(QQ, i, j, k)] = both

        repeat_each(numbers, lambda j: repeat_each(numbers, lambda k: each(n, lambda i: entry(i, j, k))))

    def of_forces(self, j: Index) -> None:
        """What the second derivatives of forces by two positions, or two velocities, do."""

        def add(which: int, k: Index) -> None:
            self._divide(self._forces(which, j, k), self.stacked, lambda i: self._place(which, i, j, k), which == QQ)

        repeat_each(self._known.columns(QQ, j), lambda k: add(QQ, k))
        repeat_each(self._known.columns(VV, j), lambda k: add(VV, k))

    def _place(self, which: int, i: Index, j: Index, k: Index) -> Index:
        return (i * self._n + j) * self._n + k + which * self._n**3

    def _forces(self, which: int, j: Index, k: Index) -> Array:
        """A column of second derivatives of inverse dynamics."""

        def entry(i: Index) -> Scalar:
            found: Scalar = self._second[self._place(which, i, j, k)] if self._known.row(which, i, j) else 0.0
            return found

        return filled(self._n, entry)

    def _divide(self, x: Array, to: Array, place: Callable[[Index], Index], add: bool = False) -> None:
        """Write -M⁻¹ x, or add it to what is there."""
        n = self._n

        def put(i: Index) -> None:
            here, minus = place(i), -inner(Part(self._first, i * n + 2 * n * n), x, n)
            to[here] = to[here] + minus if add else minus

        each(n, put)


class Known:
    """What is known of second derivatives of inverse dynamics: where they may differ from zero, if that is told."""

    def __init__(self, n: int, written: set[int] | None) -> None:
        self._n, self._written = n, written
        places = [(k // n**3, k // n**2 % n, k // n % n, k % n) for k in written or ()]
        self._rows = {(which, i, j) for which, i, j, _ in places}
        self._columns = {(which, j, k) for which, _, j, k in places}

    def entry(self, place: Index) -> bool:
        """Whether an entry may differ from zero."""
        return self._written is None or place in self._written

    def row(self, which: int, i: Index, j: Index) -> bool:
        """Whether any of the entries (i, j, ·) may."""
        return self._written is None or (which, i, j) in self._rows

    def columns(self, which: int, j: Index) -> list[int]:
        """All k for which any of the entries (·, j, k) may."""
        return [k for k in range(self._n) if self._written is None or (which, j, k) in self._columns]


def put_row(values: Array, row: Index, size: int, entry: Callable[[Index], Scalar]) -> None:
    """Write a row of a matrix of so many columns."""
    fill(Part(values, row * size), size, entry)


def repeat_each(numbers: Sequence[int], rule: Callable[[Index], None]) -> None:
    """Run a rule at each of some numbers, in a loop that a straight-line program too keeps."""
    table = Table("numbers", np.array(numbers, dtype=np.int64))

    def step(k: Index, carry: tuple[()]) -> tuple[()]:
        rule(gather_index(table, k))
        return carry

    repeat(len(numbers), step, ())
