"""Mechanisms that touch: what contacts, joint limits and loops together do to the motion, for all three levels.

Rows J of contacts, of coordinates with limits, and of loops, in this order, give forces f and the motion
x = w + M⁻¹ Jᵀ f, where w is the motion without them: accelerations w = M⁻¹ (τ - C), velocities w = M⁻¹ τ of first
order, or velocities w = v before an impact. With M = LᵀDL and Y = L⁻ᵀ Jᵀ, A = J M⁻¹ Jᵀ is Yᵀ D⁻¹ Y. Which f is right
is said by conditions on J x = A f + J w, and found by others: it takes a choice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bough.algorithms.contacts import AXES, Place, contact_terms
from bough.algorithms.crba import crba
from bough.algorithms.loops import constraint_terms, loop_motions, loop_rates
from bough.algorithms.metric import products, substituted
from bough.algorithms.rnea import ZEROS, rnea
from bough.factor import diagonal, ltdl, solve_L, solve_Lt
from bough.model import JointEntry, Loop, Mechanism, Model
from bough.scalar import Array, Index, Part, Scalar, array, each, fill, filled, inner

__all__ = ["Touching", "applied_force", "limited_joints", "limited_loops", "row_counts", "touching"]


@dataclass(frozen=True)
class Touching:
    """Which rows there are: contacts between pairs of bodies, with or without friction; limits or none; all loops."""

    pairs: tuple[tuple[int, int], ...] = ()
    friction: bool = True
    limits: bool = False


def limited_joints(model: Model) -> list[int]:
    """The joints with one degree of freedom and a limit, as indices of `model.joints`."""
    return _limited(model.joints)


def limited_loops(model: Model) -> list[int]:
    """Those among the joints that close loops, as indices of `model.loops`."""
    return _limited(model.loops)


def _limited(entries: Iterable[JointEntry | Loop]) -> list[int]:
    none = (-float("inf"), float("inf"))
    return [k for k, e in enumerate(entries) if (e.joint.nq, e.joint.nv) == (1, 1) and (*e.lower, *e.upper) != none]


def row_counts(model: Model, rows: Touching) -> tuple[int, int, int]:
    """How many rows there are of contacts, of limits, and of loops."""
    contacts = len(rows.pairs) * (AXES if rows.friction else 1)
    limits = len(limited_joints(model)) + len(limited_loops(model)) if rows.limits else 0
    return contacts, limits, len(model.constraint_names)


def applied_force(m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None) -> Array:
    """τ - C: what accelerates the mechanism where nothing touches."""
    n, C = m.coupling.dof_tree.n, rnea(m, q, v, ZEROS, f_ext)
    return filled(n, lambda k: tau[k] - C[k])


def touching(
    m: Mechanism, rows: Touching, q: Array, v: Array | None, force: Array | None, place: Place
) -> dict[str, Array]:
    """A; M⁻¹ Jᵀ by columns; J v, J̇ v; errors of loops; pivots of M. With a force also w = M⁻¹ force and J w."""
    tree = m.coupling.dof_tree
    n, count = tree.n, sum(row_counts(m.model, rows))
    J, rates, bias, errors = _rows(m, rows, q, v, place)
    factor = ltdl(tree, crba(m, q))
    D = diagonal(tree, factor)
    (Y, Z), response = substituted(tree, factor, D, J, count), array(count * n)

    def substitute(i: Index) -> None:
        x = solve_L(tree, factor, Part(Z, i * n), unit=True)
        fill(Part(response, i * n), n, lambda k: x[k])

    each(count, substitute)
    result = {"A": products(Z, Y, count, n), "response": response, "rates": rates, "bias": bias, "errors": errors}
    if force is not None:
        y = solve_Lt(tree, factor, force, unit=True)
        w = solve_L(tree, factor, filled(n, lambda k: y[k] / D[k]), unit=True)
        result["free"] = w
        result["drive"] = filled(count, lambda i: inner(Part(J, i * n), w, n))
    return {**result, "pivots": D}


def _rows(
    m: Mechanism, rows: Touching, q: Array, v: Array | None, place: Place
) -> tuple[Array, list[Scalar], list[Scalar], list[Scalar]]:
    """J, J v, J̇ v, and the errors of loops."""
    n, (contacts, limits, loops) = m.coupling.dof_tree.n, row_counts(m.model, rows)
    touch = contact_terms(m, rows.pairs, q, v, place, AXES if rows.friction else 1)
    closed = constraint_terms(m, q, v)
    J = array((contacts + limits + loops) * n)
    fill(J, contacts * n, lambda k: touch.matrix[k])
    speeds, bends = _limit_rows(m, q, v, Part(J, contacts * n)) if limits else ([], [])
    fill(Part(J, (contacts + limits) * n), loops * n, lambda k: closed.matrix[k])
    return J, [*touch.rates, *speeds, *closed.rates], [*touch.bias, *bends, *closed.bias], closed.errors


def _limit_rows(m: Mechanism, q: Array, v: Array | None, J: Array) -> tuple[list[Scalar], list[Scalar]]:
    """Write the rows of all coordinates with limits, joints of the tree first; returns J v and J̇ v."""
    model, n = m.model, m.model.nv
    columns = [model.v_slice(model.joint_names[k]).start for k in limited_joints(model)]
    for i, column in enumerate(columns):
        J[i * n + column] = 1.0
    rates: list[Scalar] = [0.0 if v is None else v[column] for column in columns]
    bias: list[Scalar] = [0.0] * len(columns)
    chosen = limited_loops(model)
    if chosen:
        B = loop_motions(m, q)[1]
        zero: list[Scalar] = [0.0] * sum(loop.joint.nv for loop in model.loops)
        speeds, bends = (zero, zero) if v is None else loop_rates(m, q, v)
        for i, k in enumerate(chosen, start=len(columns)):
            place = sum(loop.joint.nv for loop in model.loops[:k])
            fill(Part(J, i * n), n, Part(B, place * n).__getitem__)
            rates.append(speeds[place])
            bias.append(bends[place])
    return rates, bias
