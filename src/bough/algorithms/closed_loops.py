"""Forward dynamics with constraints by method 2 of Featherstone & Orin 2000, section 3.4: the multipliers first.

M q̈ + C = τ + Lᵀ λ and L q̈ = c give L M⁻¹ Lᵀ λ = c - L M⁻¹ (τ - C) (21), formed through the branch-sparse factor
M = Lₘᵀ D Lₘ: with Y = Lₘ⁻ᵀ Lᵀ it is Yᵀ D⁻¹ Y. Rows of L that depend on the rows before them leave no pivot, get no
multiplier, and must agree with them; a state in which a pivot or their agreement is in doubt is said to be so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.algorithms.configuration import integrate
from bough.algorithms.loops import Terms, constraint_terms, loop_drives, loop_motions, row_groups
from bough.algorithms.response import Response, tree_response
from bough.algorithms.rnea import ZEROS, rnea
from bough.model import Mechanism
from bough.scalar import Array, Bool, Index, Scalar, array, both, each, either, fill, filled, loop, select

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


def constrained_dynamics(
    m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None, rate: Scalar, loop_tau: Array | None = None
) -> tuple[Array, Array, Bool]:
    """Accelerations, pivots of M, and whether the answer is in doubt.

    `rate` is that of the stabilisation: errors obey ë + 2 rate ė + rate² e = 0.
    """
    n, terms = m.model.nv, constraint_terms(m, q, v)
    response, C = _response(m, q, terms), rnea(m, q, v, ZEROS, f_ext)
    drives: Array = ZEROS
    if loop_tau is not None:
        B, count = loop_motions(m, q)[1], sum(c.joint.nv for c in m.model.loops)
        drives = loop_drives(m, B, [loop_tau[k] for k in range(count)])
    half = response.half(filled(n, lambda k: tau[k] + drives[k] - C[k]))
    aims = [wanted(terms, r, rate) for r in range(response.count)]
    small = _solved(response.A, aims, response.drive(half), row_groups(m))
    qdd = response.motion(small.multipliers, half)
    return qdd, response.pivots, either(response.light(LIGHT), small.doubtful)


def onto_constraints(m: Mechanism, q: Array, v: Array) -> tuple[Array, Array, Array, Bool]:
    """The state after one Newton step of q towards the constraints, and with v as they allow there.

    Both steps are the shortest in the metric of the mass matrix. Pivots and doubt are as in `constrained_dynamics`.
    """
    n, groups = m.model.nv, row_groups(m)
    terms = constraint_terms(m, q, None)
    here, none = _response(m, q, terms), array(len(groups))
    first = _solved(here.A, [-e for e in terms.errors], none, groups)
    q = integrate(m, q, here.motion(first.multipliers))
    terms = constraint_terms(m, q, v)
    there = _response(m, q, terms)
    second = _solved(there.A, [-r for r in terms.rates], none, groups)
    change = there.motion(second.multipliers)
    doubtful = either(either(here.light(LIGHT), there.light(LIGHT)), either(first.doubtful, second.doubtful))
    return q, filled(n, lambda k: v[k] + change[k]), here.pivots, doubtful


def _response(m: Mechanism, q: Array, terms: Terms) -> Response:
    return tree_response(m, q, terms.matrix, len(terms.errors))


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
