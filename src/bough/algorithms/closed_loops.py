"""Motion with constraints by methods 1, 2 and 3 of Featherstone & Orin 2000, section 3.4.

M q̈ + C = τ + Lᵀ λ and L q̈ = c are solved for q̈ and λ at once (20), for λ first (21), or for q̈ in the null space of L
alone (22). Rows of L that depend on others get no multiplier and must agree with them; a state in which a rank or this
agreement is in doubt is said to be so.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from bough.algorithms.clusters import clusters
from bough.algorithms.configuration import integrate
from bough.algorithms.constraint_rows import Terms
from bough.algorithms.crba import crba
from bough.algorithms.loops import constraint_terms, loop_drives, loop_motions, row_groups
from bough.algorithms.null_space import Free, solve_free
from bough.algorithms.rnea import ZEROS, rnea
from bough.algorithms.saddle import Saddle, group_sizes, solve_saddle
from bough.algorithms.saddle_tree import Order, SaddleTree, saddle_tree
from bough.model import Mechanism
from bough.scalar import Array, Bool, Index, Scalar, Table, array, either, filled, gather_index

__all__ = [
    "TIME_CONSTANT",
    "Constrained",
    "LoopMethod",
    "aim_of_row",
    "consistent_velocity",
    "constrained_dynamics",
    "onto_constraints",
]  # fmt: skip

LoopMethod: TypeAlias = Literal["kkt", "multipliers", "null_space"]
"""Methods 1, 2 and 3."""

TIME_CONSTANT = 0.05
"""Seconds in which errors of constraints decay, at most: ë + 2 ė/T + e/T² = 0, critically damped."""


Constrained: TypeAlias = Saddle | Free
"""The motion under constraints: accelerations, multipliers, residual, pivots, and whether anything is in doubt, as a
rank, the agreement of rows, or the motion of a joint that moves almost nothing is."""


ORDERS: dict[str, Order] = {"kkt": "soon", "multipliers": "last"}


def constrained_dynamics(
    m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None, rate: Scalar, loop_tau: Array | None,
    method: LoopMethod,
) -> Constrained:  # fmt: skip
    """The motion under joint forces tau, forces of loop joints loop_tau, and external ones.

    `rate` is that of the stabilisation: errors obey ë + 2 rate ė + rate² e = 0, or decay faster (`Terms.returning`).
    """
    C, drives = rnea(m, q, v, ZEROS, f_ext), ZEROS  # type: Array, Array
    if loop_tau is not None:
        B, count = loop_motions(m, q)[1], sum(c.joint.nv for c in m.model.loops)
        drives = loop_drives(m, B, [loop_tau[k] for k in range(count)])
    force = filled(m.model.nv, lambda k: tau[k] + drives[k] - C[k])
    if method == "null_space":
        return _in_null_space(m, q, v, force, rate)
    terms, order, packed = _saddle(m, q, v, ORDERS[method])
    return solve_saddle(order, packed, force, filled(terms.count, lambda row: aim_of_row(terms, row, rate)))


def _saddle(m: Mechanism, q: Array, v: Array | None, when: Order) -> tuple[Terms, SaddleTree, Array]:
    """The terms of the constraints, and M and L in packed path rows of a tree."""
    order = saddle_tree(m, when)
    packed = array(order.size)
    terms = constraint_terms(m, q, v, order.entries(packed))
    order.put_mass(packed, crba(m, q))
    return terms, order, packed


def _in_null_space(m: Mechanism, q: Array, v: Array, force: Array, rate: Scalar) -> Constrained:
    parts = clusters(m)
    L = array(parts.size)
    terms = constraint_terms(m, q, v, parts.entries(L))

    def weights() -> Array:
        _, order, packed = _saddle(m, q, None, "last")
        sizes, groups = group_sizes(order, packed), Table("groups", np.array(row_groups(m), np.int64))
        return filled(terms.count, lambda row: sizes[gather_index(groups, row)])

    return solve_free(
        parts, crba(m, q), L, force, filled(terms.count, lambda row: aim_of_row(terms, row, rate)), weights
    )


def onto_constraints(m: Mechanism, q: Array, v: Array) -> tuple[Array, Array, Array, Bool]:
    """The state after one Newton step of q towards the constraints, and with v as they allow there.

    Both steps are the shortest in the metric of the mass matrix. Further results are the pivots of that and whether the
    state is in doubt.
    """
    step = _shortest(m, q, None)
    q = integrate(m, q, step.motion)
    v, pivots, second = consistent_velocity(m, q, v)
    return q, v, pivots, either(step.doubtful, second)


def consistent_velocity(m: Mechanism, q: Array, v: Array) -> tuple[Array, Array, Bool]:
    """The velocity nearest to v that the constraints allow; pivots and doubt as in `onto_constraints`."""
    change = _shortest(m, q, v)
    motion = change.motion
    return filled(m.model.nv, lambda k: v[k] + motion[k]), change.pivots, change.doubtful


def _shortest(m: Mechanism, q: Array, v: Array | None) -> Saddle:
    """The shortest motion, in the metric of the mass matrix, that takes away the rates of the rows, or their errors."""
    terms, order, packed = _saddle(m, q, v, "soon")
    have = terms.errors if v is None else terms.rates
    return solve_saddle(order, packed, array(m.model.nv), filled(terms.count, lambda row: -have[row]))


def aim_of_row(terms: Terms, row: Index, rate: Scalar) -> Scalar:
    """The right-hand side c of L q̈ = c, with the terms that bring errors back to zero."""
    c: Scalar = -(terms.bias[row] + terms.returning(row, rate))
    return c
