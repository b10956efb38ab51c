"""Mechanisms that touch: what contacts, joint limits and loops together do to the motion, for all three levels.

Rows J of contacts, of coordinates with limits, and of loops, in this order, give forces f and the motion
x = w + M⁻¹ Jᵀ f, where w is the motion without them: accelerations w = M⁻¹ (τ - C), velocities w = M⁻¹ τ of first
order, or velocities w = v before an impact. With M = LᵀDL and Y = L⁻ᵀ Jᵀ, A = J M⁻¹ Jᵀ is Yᵀ D⁻¹ Y. Which f is right
is said by conditions on J x = A f + J w, and found by others: it takes a choice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from bough.algorithms.contacts import AXES, Place, contact_terms
from bough.algorithms.crba import crba
from bough.algorithms.loops import constraint_terms, loop_motions, loop_rates
from bough.algorithms.metric import products, substituted
from bough.algorithms.rnea import ZEROS, rnea
from bough.factor import diagonal, ltdl, solve_L, solve_Lt
from bough.model import JointEntry, Loop, Mechanism, Model
from bough.scalar import Array, Index, Part, Scalar, array, derivative, dot, each, fill, filled, inner

__all__ = [
    "Limited", "Touching", "applied_force", "limit_rows", "limited_joints", "limited_loops", "row_counts",
    "slope_count", "touching",
]  # fmt: skip


@dataclass(frozen=True)
class Touching:
    """Which rows there are: contacts between pairs of bodies, with or without friction; limits or none; all loops."""

    pairs: tuple[tuple[int, int], ...] = ()
    friction: bool = True
    limits: bool = False


@dataclass(frozen=True)
class Limited:
    """A coordinate with a limit: whose it is, which of the joint's, and where the joint's q and v begin.

    Those of joints that close loops begin among the coordinates and velocities of all such joints.
    """

    entry: JointEntry | Loop
    number: int
    q_start: int
    v_start: int


@lru_cache(maxsize=128)
def limited_joints(model: Model) -> tuple[Limited, ...]:
    """The coordinates of joints of the tree that have a limit."""
    return _limited(model.joints)


@lru_cache(maxsize=128)
def limited_loops(model: Model) -> tuple[Limited, ...]:
    """Those of joints that close loops."""
    return _limited(model.loops)


def _limited(entries: Iterable[JointEntry | Loop]) -> tuple[Limited, ...]:
    """Each number of q may have limits, but for those of quaternions, of which no one means anything by itself."""
    found, q, v = [], 0, 0
    for entry in entries:
        joint = entry.joint
        turned = {k + j for k in joint.quaternions for j in range(4)}
        for k in range(joint.nq):
            if k not in turned and (math.isfinite(entry.lower[k]) or math.isfinite(entry.upper[k])):
                found.append(Limited(entry, k, q, v))
        q, v = q + joint.nq, v + joint.nv
    return tuple(found)


def row_counts(model: Model, rows: Touching) -> tuple[int, int, int]:
    """How many rows there are of contacts, of limits, and of loops."""
    contacts = len(rows.pairs) * (AXES if rows.friction else 1)
    limits = len(limited_joints(model)) + len(limited_loops(model)) if rows.limits else 0
    return contacts, limits, len(model.constraint_names)


def slope_count(model: Model, rows: Touching) -> int:
    """How many slopes the coordinates with limits have."""
    return sum(c.entry.joint.nv for c in (*limited_joints(model), *limited_loops(model))) if rows.limits else 0


def applied_force(m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None) -> Array:
    """τ - C: what accelerates the mechanism where nothing touches."""
    n, C = m.coupling.dof_tree.n, rnea(m, q, v, ZEROS, f_ext)
    return filled(n, lambda k: tau[k] - C[k])


def touching(
    m: Mechanism, rows: Touching, q: Array, v: Array | None, force: Array | None, place: Place
) -> dict[str, Array]:
    """A; M⁻¹ Jᵀ by columns; J v, J̇ v; errors of loops; pivots of M. With a force also w = M⁻¹ force and J w.

    `slopes` are those of coordinates with limits: ∂ċ/∂v for the velocities of the joint alone, one behind the other.
    """
    tree = m.coupling.dof_tree
    n, count = tree.n, sum(row_counts(m.model, rows))
    J, rates, bias, errors, slopes = _rows(m, rows, q, v, place)
    factor = ltdl(tree, crba(m, q))
    D = diagonal(tree, factor)
    (Y, Z), response = substituted(tree, factor, D, J, count), array(count * n)

    def substitute(i: Index) -> None:
        x = solve_L(tree, factor, Part(Z, i * n), unit=True)
        fill(Part(response, i * n), n, lambda k: x[k])

    each(count, substitute)
    result = {"A": products(Z, Y, count, n), "response": response, "rates": rates, "bias": bias, "errors": errors}
    result["slopes"] = slopes
    if force is not None:
        y = solve_Lt(tree, factor, force, unit=True)
        w = solve_L(tree, factor, filled(n, lambda k: y[k] / D[k]), unit=True)
        result["free"] = w
        result["drive"] = filled(count, lambda i: inner(Part(J, i * n), w, n))
    return {**result, "pivots": D}


def _rows(
    m: Mechanism, rows: Touching, q: Array, v: Array | None, place: Place
) -> tuple[Array, list[Scalar], list[Scalar], list[Scalar], list[Scalar]]:
    """J, J v, J̇ v, the errors of loops, and the slopes of coordinates with limits."""
    n, (contacts, limits, loops) = m.coupling.dof_tree.n, row_counts(m.model, rows)
    touch = contact_terms(m, rows.pairs, q, v, place, AXES if rows.friction else 1)
    closed = constraint_terms(m, q, v)
    J = array((contacts + limits + loops) * n)
    fill(J, contacts * n, lambda k: touch.matrix[k])
    near = limit_rows(m, q, v, Part(J, contacts * n)) if limits else LimitTerms([], [], [])
    fill(Part(J, (contacts + limits) * n), loops * n, lambda k: closed.matrix[k])
    rates, bias = [*touch.rates, *near.rates, *closed.rates], [*touch.bias, *near.bias, *closed.bias]
    return J, rates, bias, closed.errors, near.slopes


@dataclass(frozen=True)
class LimitTerms:
    """Of all coordinates c with limits: ċ, what velocities add to c̈, and the slopes of each (see `touching`)."""

    rates: list[Scalar]
    bias: list[Scalar]
    slopes: list[Scalar]


def limit_rows(m: Mechanism, q: Array, v: Array | None, J: Array) -> LimitTerms:
    """Write the rows of all coordinates with limits, joints of the tree first."""
    model, n = m.model, m.model.nv
    terms = LimitTerms([], [], [])
    chosen = limited_joints(model)
    for i, c in enumerate(chosen):
        x, speeds = [q[c.q_start + k] for k in range(c.entry.joint.nq)], None
        if v is not None:
            speeds = [v[c.v_start + k] for k in range(c.entry.joint.nv)]
        for k, slope in enumerate(_add(terms, c, x, speeds, None)):
            J[i * n + (c.v_start + k)] = slope
    closing = limited_loops(model)
    if closing:
        configurations, B = loop_motions(m, q)
        rates, bends = (None, None) if v is None else loop_rates(m, q, v)
        for i, c in enumerate(closing, start=len(chosen)):
            here = slice(c.v_start, c.v_start + c.entry.joint.nv)
            x = configurations[c.q_start : c.q_start + c.entry.joint.nq]
            parts = (None, None) if rates is None or bends is None else (rates[here], bends[here])
            slopes, columns = _add(terms, c, x, *parts), [Part(B, k * n) for k in range(here.start, here.stop)]
            fill(Part(J, i * n), n, partial(_combined, slopes, columns))
    return terms


def _combined(factors: list[Scalar], rows: list[Part], k: Index) -> Scalar:
    return dot(factors, [row[k] for row in rows])


def _add(
    terms: LimitTerms, c: Limited, x: list[Scalar], v: list[Scalar] | None, rest: list[Scalar] | None
) -> list[Scalar]:
    """The terms of one coordinate, from the configuration of its joint, its velocity, and its v̇ beside J v̇.

    With ẋ = T(x) v, one coordinate has the row of T, and Ṫ v besides: T is what `rate` says, Ṫ how that changes.
    """
    joint, parameters, k = c.entry.joint.canonical, c.entry.joint.parameters, c.number

    def rates(x: tuple[Scalar, ...], v: Sequence[Scalar]) -> tuple[Scalar, ...]:
        return tuple(joint.rate(parameters, x, v))

    units = [[1.0 if i == j else 0.0 for i in range(joint.nv)] for j in range(joint.nv)]
    slopes = [rates(tuple(x), unit)[k] for unit in units]
    terms.slopes.extend(slopes)
    if v is None:
        terms.rates.append(0.0)
        terms.bias.append(0.0)
        return slopes
    moving, bent = derivative(lambda y: rates(y, v), tuple(x), rates(tuple(x), v))
    terms.rates.append(moving[k])
    terms.bias.append(bent[k] if rest is None else bent[k] + dot(slopes, rest))
    return slopes
