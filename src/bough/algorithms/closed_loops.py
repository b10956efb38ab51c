"""Forward dynamics with constraints by method 2 of Featherstone & Orin 2000, section 3.4: the multipliers first.

M q̈ + C = τ + Lᵀ λ and L q̈ = c give L M⁻¹ Lᵀ λ = c - L M⁻¹ (τ - C) (21). Rows of L that depend on the rows before them
get no multiplier and must agree with them; a state in which a rank or this agreement is in doubt is said to be so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.algorithms.configuration import integrate
from bough.algorithms.elimination import Elimination, eliminate, group_sums
from bough.algorithms.loops import Terms, constraint_terms, loop_drives, loop_motions, row_groups
from bough.algorithms.response import Response, tree_response
from bough.algorithms.rnea import ZEROS, rnea
from bough.model import Mechanism
from bough.scalar import Array, Bool, Part, Scalar, array, either, filled, inner, maximum
from bough.scalar.tolerances import INDEPENDENT

__all__ = [
    "TIME_CONSTANT", "Constrained", "consistent_velocity", "constrained_dynamics", "constrained_motion",
    "onto_constraints", "wanted",
]  # fmt: skip

TIME_CONSTANT = 0.05
"""Seconds in which errors of constraints decay: e and ė follow ë + 2 ė/T + e/T² = 0, critically damped."""


@dataclass(frozen=True)
class Constrained:
    """Accelerations under constraints, and what they were found from."""

    terms: Terms
    aims: list[Scalar]
    response: Response
    sizes: Array  # of the rows in the metric of the mass matrix, those of a group together
    found: Elimination
    qdd: Array

    @property
    def doubtful(self) -> Bool:
        """Whether a rank, the agreement of rows, or the motion of a joint that moves almost nothing is in doubt."""
        return either(self.response.light(INDEPENDENT), self.found.doubtful)


def constrained_dynamics(
    m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None, rate: Scalar, loop_tau: Array | None = None
) -> Constrained:
    """The accelerations under joint forces tau, forces of loop joints loop_tau, and external ones.

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
    sizes = group_sums(response.A, row_groups(m))
    found = _solve(response, aims, response.drive(half), sizes)
    return Constrained(terms, aims, response, sizes, found, response.motion(found.forces, half))


def constrained_motion(c: Constrained) -> tuple[Array, Scalar]:
    """The multipliers λ, of many the smallest in the metric of the mass matrix; and by how much the worst row fails."""
    n, residual = c.response.tree.n, 0.0  # type: int, Scalar
    for row, aim in enumerate(c.aims):
        off = inner(Part(c.terms.matrix, row * n), c.qdd, n) - aim
        residual = maximum(residual, maximum(off, -off))
    return c.found.least_forces(c.sizes), residual


def onto_constraints(m: Mechanism, q: Array, v: Array) -> tuple[Array, Array, Array, Bool]:
    """The state after one Newton step of q towards the constraints, and with v as they allow there.

    Both steps are the shortest in the metric of the mass matrix. Further results are the pivots of that and whether the
    state is in doubt.
    """
    terms = constraint_terms(m, q, None)
    step, _, first = _shortest(m, q, terms, [-e for e in terms.errors])
    q = integrate(m, q, step)
    v, pivots, second = consistent_velocity(m, q, v)
    return q, v, pivots, either(first, second)


def consistent_velocity(m: Mechanism, q: Array, v: Array) -> tuple[Array, Array, Bool]:
    """The velocity nearest to v that the constraints allow; pivots and doubt as in `onto_constraints`."""
    terms = constraint_terms(m, q, v)
    change, pivots, doubtful = _shortest(m, q, terms, [-r for r in terms.rates])
    return filled(m.model.nv, lambda k: v[k] + change[k]), pivots, doubtful


def _shortest(m: Mechanism, q: Array, terms: Terms, aims: Sequence[Scalar]) -> tuple[Array, Array, Bool]:
    """The shortest motion x with L x = aims, in the metric of the mass matrix."""
    response = _response(m, q, terms)
    found = _solve(response, aims, array(response.count), group_sums(response.A, row_groups(m)))
    return response.motion(found.forces), response.pivots, either(response.light(INDEPENDENT), found.doubtful)


def _response(m: Mechanism, q: Array, terms: Terms) -> Response:
    return tree_response(m, q, terms.matrix, len(terms.errors))


def wanted(terms: Terms, row: int, rate: Scalar) -> Scalar:
    """The right-hand side c of L q̈ = c, with the terms that bring errors back to zero."""
    return -(terms.bias[row] + terms.rates[row] * (2.0 * rate) + terms.errors[row] * (rate * rate))


def _solve(response: Response, aims: Sequence[Scalar], have: Array, sizes: Array) -> Elimination:
    """The forces with which rows go from what they `have` to their aims."""
    scale, missing = 0.0, array(response.count)  # type: Scalar, Array
    for k, aim in enumerate(aims):
        missing[k] = aim - have[k]
        scale = scale + (aim * aim + have[k] * have[k])
    return eliminate(response.count, response.A, missing, sizes, scale)
