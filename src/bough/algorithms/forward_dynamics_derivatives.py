"""Derivatives of forward dynamics: those of inverse dynamics at its solution, divided by the mass matrix.

From M(q) q̈ + C(q, q̇) = τ follows ∂q̈ = -M⁻¹ ∂τ, where ∂τ are derivatives of inverse dynamics at the accelerations found
(Carpentier & Mansard 2018), and ∂q̈/∂τ = M⁻¹. All go through the branch-sparse factor that found the accelerations.

Once more, M ∂²q̈ = -∂²τ - (∂M) ∂q̈ - (∂M) ∂q̈, where each ∂M is by one of the two positions and ∂q̈ by the other variable
(Singh, Wensing et al. 2023): products of full matrices, in a loop over pairs of variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bough.algorithms.crba import crba
from bough.algorithms.rnea import ZEROS, rnea
from bough.algorithms.rnea_derivatives import of_free_roots, rnea_derivatives
from bough.algorithms.rnea_second_derivatives import rnea_second_derivatives
from bough.algorithms.triples import AQ, QQ, QV, VV
from bough.factor import diagonal, inverse_and_products, ltdl, solve
from bough.model import Mechanism
from bough.scalar import Array, Index, Part, Scalar, blank, each, filled, inner, keeping_loops, repeat

__all__ = ["ForwardDerivatives", "forward_dynamics_derivatives", "forward_dynamics_second_derivatives"]


@dataclass(frozen=True)
class ForwardDerivatives:
    """∂q̈/∂q (in the tangent space), ∂q̈/∂q̇ and ∂q̈/∂τ = M⁻¹, one behind the other (3 x nv x nv); pivots of M, and q̈."""

    stacked: Array
    pivots: Array
    accelerations: Array


def forward_dynamics_derivatives(
    m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None = None
) -> ForwardDerivatives:
    """Derivatives of the accelerations under joint forces tau; external forces stay with their bodies."""
    tree = m.coupling.dof_tree
    n, factor, bias = tree.n, ltdl(tree, crba(m, q)), rnea(m, q, v, ZEROS, f_ext)
    qdd = solve(tree, factor, filled(n, lambda k: tau[k] - bias[k]), unit=True)
    of_forces = rnea_derivatives(m, q, v, qdd, f_ext)
    known = of_free_roots(m, q, v, qdd)
    stacked = inverse_and_products(tree, factor, (of_forces.q, of_forces.v), -1.0, known)
    return ForwardDerivatives(stacked, diagonal(tree, factor), qdd)


def forward_dynamics_second_derivatives(
    m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None = None
) -> ForwardDerivatives:
    """∂²q̈/∂q∂q, ∂²q̈/∂v∂v, ∂²q̈/∂q∂v and ∂²q̈/∂τ∂q = ∂M⁻¹/∂q, one behind the other (4 x nv x nv x nv).

    Entries are as those of `rnea_second_derivatives`.
    """
    n = m.coupling.dof_tree.n
    square, cube = n * n, n**3
    found = forward_dynamics_derivatives(m, q, v, tau, f_ext)
    first, second = found.stacked, rnea_second_derivatives(m, q, v, found.accelerations, f_ext)
    with keeping_loops():
        stacked = blank(4 * cube)

    def of_pair(j: Index, k: Index) -> None:
        def force(which: int, i: Index) -> Scalar:
            entry: Scalar = second[(i * n + j) * n + k + which * cube]
            return entry

        def times_mass_rate(i: Index, by: Index, which: int, column: Index) -> Scalar:
            """Row i of ∂M/∂q times a column of the first derivatives of q̈."""
            row = Stride(second, i * square + by + AQ * cube, n)
            return inner(row, Stride(first, column + which * square, n), n)

        def put(which: int, entry: Callable[[Index], Scalar]) -> None:
            """-M⁻¹ times a column."""
            column = filled(n, entry)

            def row(i: Index) -> None:
                minus = -inner(Part(first, i * n + 2 * square), column, n)
                stacked[(i * n + j) * n + k + which * cube] = minus

            each(n, row)

        put(QQ, lambda i: force(QQ, i) + times_mass_rate(i, j, 0, k) + times_mass_rate(i, k, 0, j))
        put(VV, lambda i: force(VV, i))
        put(QV, lambda i: force(QV, i) + times_mass_rate(i, j, 1, k))
        put(AQ, lambda i: times_mass_rate(i, k, 2, j))

    repeat_each(n, lambda j: repeat_each(n, lambda k: of_pair(j, k)))
    return ForwardDerivatives(stacked, found.pivots, found.accelerations)


def repeat_each(count: int, rule: Callable[[Index], None]) -> None:
    """Run a rule at 0 … count - 1, in a loop that a straight-line program too keeps."""

    def step(k: Index, carry: tuple[()]) -> tuple[()]:
        rule(k)
        return carry

    repeat(count, step, ())


class Stride:
    """Every so many entries of an array, from some entry on."""

    def __init__(self, values: Array, start: Index, step: int) -> None:
        self._values, self._start, self._step = values, start, step

    def __getitem__(self, k: Index) -> Scalar:
        entry: Scalar = self._values[k * self._step + self._start]
        return entry

    def __setitem__(self, k: Index, value: Scalar) -> None:
        self._values[k * self._step + self._start] = value
