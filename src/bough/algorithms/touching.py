"""Mechanisms that touch: what contacts, joint limits and loops together do to the motion.

Rows J of contacts, of coordinates with limits, and of loops, in this order, give forces f and the motion
x = w + M⁻¹ Jᵀ f, where w is the motion without them. With M = LᵀDL and Y = L⁻ᵀ Jᵀ, A = J M⁻¹ Jᵀ is Yᵀ D⁻¹ Y. Which f
is right is said by conditions on J x = A f + J w (see `bough.algorithms.levels`), and found by others: it takes a
choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bough.algorithms.contacts import AXES, Place, contact_terms
from bough.algorithms.limits import LimitTerms, limit_rows, limited_joints, limited_loops
from bough.algorithms.loops import constraint_terms, loop_drives, loop_motions
from bough.algorithms.response import tree_response
from bough.algorithms.rnea import ZEROS, rnea
from bough.model import Mechanism, Model
from bough.scalar import Array, Part, Scalar, array, fill, filled

__all__ = ["Touch", "Touching", "applied_force", "driven_force", "row_counts", "slope_count", "touching"]


@dataclass(frozen=True)
class Touching:
    """Which rows there are: contacts between pairs of bodies, with or without friction; limits or none; all loops."""

    pairs: tuple[tuple[int, int], ...] = ()
    friction: Literal["pyramid", "cone"] | None = "pyramid"
    limits: bool = False

    @property
    def axes(self) -> int:
        """Rows of one contact."""
        return AXES if self.friction else 1


@dataclass(frozen=True)
class Touch:
    """The rows of a mechanism in a state, and what forces do there."""

    A: Array  # (rows, rows)
    response: Array  # M⁻¹ Jᵀ by columns, (rows, nv)
    rates: list[Scalar]  # J v
    bias: list[Scalar]  # J̇ v
    errors: list[Scalar]  # of loops
    slopes: list[Scalar]  # of coordinates with limits: ∂ċ/∂v for the velocities of the joint alone
    free: Array  # w, (nv); zero without a force
    drive: Array  # J w
    pivots: Array  # of M


def row_counts(model: Model, rows: Touching) -> tuple[int, int, int]:
    """How many rows there are of contacts, of limits, and of loops."""
    limits = len(limited_joints(model)) + len(limited_loops(model)) if rows.limits else 0
    return len(rows.pairs) * rows.axes, limits, len(model.constraint_names)


def slope_count(model: Model, rows: Touching) -> int:
    """How many slopes the coordinates with limits have."""
    return sum(c.entry.joint.nv for c in (*limited_joints(model), *limited_loops(model))) if rows.limits else 0


def applied_force(m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None, loop_tau: Array | None) -> Array:
    """τ + Bᵀ f - C: what accelerates the mechanism where nothing touches, with forces f on the loop joints."""
    n, C = m.coupling.dof_tree.n, rnea(m, q, v, ZEROS, f_ext)
    force = driven_force(m, q, tau, loop_tau)
    return filled(n, lambda k: force[k] - C[k])


def driven_force(m: Mechanism, q: Array, tau: Array, loop_tau: Array | None) -> Array:
    """τ + Bᵀ f."""
    if loop_tau is None:
        return tau
    count = sum(loop.joint.nv for loop in m.model.loops)
    drives = loop_drives(m, loop_motions(m, q)[1], [loop_tau[k] for k in range(count)])
    return filled(m.model.nv, lambda k: tau[k] + drives[k])


def touching(m: Mechanism, rows: Touching, q: Array, v: Array | None, force: Array | None, place: Place) -> Touch:
    """All that the levels need; without v rates are zero, without a force w is."""
    n, count = m.model.nv, sum(row_counts(m.model, rows))
    J, rates, bias, errors, slopes = _rows(m, rows, q, v, place)
    response = tree_response(m, q, J, count)
    w, drive = array(n), array(count)
    if force is not None:
        half = response.half(force)
        w, drive = response.free(half), response.drive(half)
    return Touch(response.A, response.columns(), rates, bias, errors, slopes, w, drive, response.pivots)


def _rows(
    m: Mechanism, rows: Touching, q: Array, v: Array | None, place: Place
) -> tuple[Array, list[Scalar], list[Scalar], list[Scalar], list[Scalar]]:
    """J, J v, J̇ v, the errors of loops, and the slopes of coordinates with limits."""
    n, (contacts, limits, loops) = m.coupling.dof_tree.n, row_counts(m.model, rows)
    touch = contact_terms(m, rows.pairs, q, v, place, rows.axes)
    closed = constraint_terms(m, q, v)
    J = array((contacts + limits + loops) * n)
    fill(J, contacts * n, lambda k: touch.matrix[k])
    near = limit_rows(m, q, v, Part(J, contacts * n)) if limits else LimitTerms([], [], [])
    fill(Part(J, (contacts + limits) * n), loops * n, lambda k: closed.matrix[k])
    rates, bias = [*touch.rates, *near.rates, *closed.rates], [*touch.bias, *near.bias, *closed.bias]
    return J, rates, bias, closed.errors, near.slopes
