"""Forward dynamics with constraints by method 2 of Featherstone & Orin 2000, section 3.4: the multipliers first.

M q̈ + C = τ + Lᵀ λ and L q̈ = c give L M⁻¹ Lᵀ λ = c - L M⁻¹ (τ - C) (21), formed through the branch-sparse factor
M = Lₘᵀ D Lₘ: with Y = Lₘ⁻ᵀ Lᵀ it is Yᵀ D⁻¹ Y. Rows of L that depend on the rows before them leave no pivot, get no
multiplier, and must agree with them; a state in which a pivot or their agreement is in doubt is said to be so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.algorithms.configuration import integrate
from bough.algorithms.crba import crba
from bough.algorithms.loops import Terms, constraint_terms, loop_drives, loop_motions, row_groups
from bough.algorithms.metric import products, substituted
from bough.algorithms.rnea import ZEROS, rnea
from bough.factor import diagonal, ltdl, solve_L, solve_Lt
from bough.model import Mechanism
from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    array,
    both,
    each,
    either,
    fill,
    filled,
    inner,
    loop,
    select,
)  # fmt: skip

__all__ = ["DEPENDENT", "INDEPENDENT", "LIGHT", "constrained_dynamics", "onto_constraints", "wanted"]

DEPENDENT, INDEPENDENT = 1e-12, 1e-6
"""What elimination leaves of a row if it depends on the rows before, and if it surely does not: its pivot, beside the
sum of the diagonal entries of its group."""

LIGHT = 1e-6
"""A pivot of M beside the diagonal entry it is left of: with less, digits are lost where loops hold that joint."""

CONFLICT = 1e-6
"""What elimination may leave of the right-hand side of a dependent row, beside the whole right-hand side."""


@dataclass(frozen=True)
class Small:
    """The solution of the small system: multipliers, and whether rank or agreement are in doubt."""

    multipliers: Array
    doubtful: Bool


@dataclass(frozen=True)
class Metric:
    """L in the metric of M = Lₘᵀ D Lₘ: Z = D⁻¹ Y, row by row of L, and A = Yᵀ Z, whose lower triangle is filled.

    `light` says whether some joint moves almost nothing that has inertia.
    """

    factor: Array
    D: Array
    light: Bool
    Z: Array
    A: Array


def constrained_dynamics(
    m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None, rate: Scalar, loop_tau: Array | None = None
) -> tuple[Array, Array, Bool]:
    """Accelerations, pivots of M, and whether the answer is in doubt.

    `rate` is that of the stabilisation: errors obey ë + 2 rate ė + rate² e = 0.
    """
    tree = m.coupling.dof_tree
    n, terms = tree.n, constraint_terms(m, q, v)
    metric, C = _metric(m, q, terms), rnea(m, q, v, ZEROS, f_ext)
    drives: Array = ZEROS
    if loop_tau is not None:
        B, count = loop_motions(m, q)[1], sum(c.joint.nv for c in m.model.loops)
        drives = loop_drives(m, B, [loop_tau[k] for k in range(count)])
    w = solve_Lt(tree, metric.factor, filled(n, lambda k: tau[k] + drives[k] - C[k]), unit=True)
    rows = len(terms.errors)
    aims = [wanted(terms, r, rate) for r in range(rows)]
    have = filled(rows, lambda r: inner(Part(metric.Z, r * n), w, n))
    small = _solved(metric.A, aims, have, row_groups(m))
    qdd = _moved(m, metric, small.multipliers, w)
    return qdd, metric.D, either(metric.light, small.doubtful)


def onto_constraints(m: Mechanism, q: Array, v: Array) -> tuple[Array, Array, Array, Bool]:
    """The state after one Newton step of q towards the constraints, and with v as they allow there.

    Both steps are the shortest in the metric of the mass matrix. Pivots and doubt are as in `constrained_dynamics`.
    """
    n, groups = m.model.nv, row_groups(m)
    terms = constraint_terms(m, q, None)
    metric, none = _metric(m, q, terms), array(len(groups))
    first = _solved(metric.A, [-e for e in terms.errors], none, groups)
    q = integrate(m, q, _moved(m, metric, first.multipliers))
    terms = constraint_terms(m, q, v)
    there = _metric(m, q, terms)
    second = _solved(there.A, [-r for r in terms.rates], none, groups)
    change = _moved(m, there, second.multipliers)
    doubtful = either(either(metric.light, there.light), either(first.doubtful, second.doubtful))
    return q, filled(n, lambda k: v[k] + change[k]), metric.D, doubtful


def _metric(m: Mechanism, q: Array, terms: Terms) -> Metric:
    tree, rows = m.coupling.dof_tree, len(terms.errors)
    n, M = tree.n, crba(m, q)
    factor = ltdl(tree, M)
    D, whole = diagonal(tree, factor), diagonal(tree, M)
    none: Scalar = 0.0
    light = loop(n, lambda k, count: count + select(whole[k] * LIGHT < D[k], 0.0, 1.0), none)
    Y, Z = substituted(tree, factor, D, terms.matrix, rows)
    return Metric(factor, D, light > 0.0, Z, products(Z, Y, rows, n))


def _moved(m: Mechanism, metric: Metric, multipliers: Array, w: Array = ZEROS) -> Array:
    """M⁻¹ Lᵀ λ, and the motion of other forces, given as w = Lₘ⁻ᵀ f."""
    tree, D = m.coupling.dof_tree, metric.D
    n, rows = tree.n, len(row_groups(m))

    def forced(k: Index) -> Scalar:
        start: Scalar = w[k] / D[k]
        return loop(rows, lambda r, total: total + metric.Z[r * n + k] * multipliers[r], start)

    return solve_L(tree, metric.factor, filled(tree.n, forced), unit=True)


def wanted(terms: Terms, row: int, rate: Scalar) -> Scalar:
    """The right-hand side c of L q̈ = c, with the terms that bring errors back to zero."""
    return -(terms.bias[row] + terms.rates[row] * (2.0 * rate) + terms.errors[row] * (rate * rate))


def _solved(A: Array, c: Sequence[Scalar], have: Array, groups: Sequence[int]) -> Small:
    """A λ = c - have by LDLᵀ from the first row on, in place; A by its lower triangle. Dependent rows are left out."""
    n, sums = len(groups), {}  # type: int, dict[int, Scalar]
    for k, group in enumerate(groups):
        sums[group] = sums.get(group, 0.0) + A[k * (n + 1)]
    whole, b, inverse, size = array(n), array(n), array(n), 0.0  # type: Array, Array, Array, Scalar
    for k, group in enumerate(groups):
        whole[k], b[k] = sums[group], c[k] - have[k]
        size = size + (c[k] * c[k] + have[k] * have[k])

    def eliminate(k: Index, doubts: Scalar) -> Scalar:
        pivot, most, rest = A[k * (n + 1)], whole[k], b[k]
        left_out = pivot <= most * DEPENDENT
        unclear = both(most * DEPENDENT < pivot, pivot < most * INDEPENDENT)
        at_odds = both(left_out, size * CONFLICT**2 < rest * rest)
        factor = select(left_out, 0.0, 1.0 / select(left_out, 1.0, pivot))
        inverse[k] = factor

        def beyond(i: Index) -> None:
            row = i + (k + 1)
            before = A[row * n + k]
            share = before * factor
            A[row * n + k] = share
            b[row] = b[row] - share * rest

            def entry(j: Index) -> None:
                column = j + (k + 1)
                A[row * n + column] = A[row * n + column] - before * A[column * n + k]

            each(i + 1, entry)

        each(k * -1 + (n - 1), beyond)
        return doubts + select(either(unclear, at_odds), 1.0, 0.0)

    none: Scalar = 0.0
    doubts = loop(n, eliminate, none)
    found = filled(n, lambda k: b[k] * inverse[k])

    def substitute(k: Index) -> None:
        fill(found, k, lambda j: found[j] - A[k * n + j] * found[k])

    each(n, substitute, reverse=True)
    return Small(found, doubts > 0.0)
