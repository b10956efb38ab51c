"""Mechanisms that touch: what contacts, loops and joint limits together do to the motion.

Rows J of contacts, of loops, and of coordinates with limits, in this order, give forces f and the motion
x = w + M⁻¹ Jᵀ f, where w is the motion without them. Which f is right is said by conditions on J x = A f + J w with
A = J M⁻¹ Jᵀ (see `bough.algorithms.levels`), and found by `bough.complementarity.contact_forces`.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from bough.algorithms.constraint_rows import Terms
from bough.algorithms.contacts import Place, contact_terms
from bough.algorithms.crba import crba
from bough.algorithms.joint_bounds import Bounds, bounded_force, bounded_rows
from bough.algorithms.limits import LimitSides, LimitTerms, limit_rows, limit_sides, limited_joints, limited_loops
from bough.algorithms.loops import constraint_terms, drop_held, loop_drives, loop_motions
from bough.algorithms.response import TreeResponse, response
from bough.algorithms.rnea import ZEROS, rnea
from bough.complementarity import ContactRows
from bough.model import Mechanism, Model
from bough.scalar import Array, Part, Scalar, array, fill, filled, indexable, keeping_loops

__all__ = ["ContactPlan", "Rows", "applied_force", "contact_rows", "driven_force", "rows_in_state", "sides_of"]


WRITTEN_OUT_UP_TO = 24
"""Rows beyond which their response is computed in loops: the square of their number would be written out otherwise."""


@dataclass(frozen=True)
class ContactPlan:
    """Which rows there are: contacts between pairs of bodies, with or without friction; limits or none; all loops.

    `limits` are those of positions.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    friction: Literal["pyramid", "cone"] | None = "pyramid"
    limits: bool = False
    sweeps: bool = False
    """Whether forces are found by Gauss-Seidel."""
    speeds: Bounds = ()
    """Limits of velocities."""
    efforts: tuple[float, ...] = ()
    """Limits of the forces of drives, on all joints and then on all that close loops; or none."""
    dry: Bounds = ()
    """The most that dry friction holds."""


@dataclass(frozen=True)
class Rows:
    """The rows of a mechanism in a state, and what forces do there."""

    response: TreeResponse
    rates: list[Scalar]  # J v
    bias: list[Scalar]  # J̇ v
    loops: Terms
    slopes: list[Scalar]  # of coordinates with limits: ∂ċ/∂v for the velocities of the joint alone
    free: Array  # w, (nv); zero without a force
    drive: Array  # J w

    def motion(self, forces: Array) -> Array:
        """M⁻¹ Jᵀ f, the motion that forces of the rows make."""
        count = self.response.count
        if count <= WRITTEN_OUT_UP_TO:
            return self.response.motion(forces)
        with keeping_loops():
            return self.response.motion(indexable(count, forces))

    def columns(self) -> Array:
        """M⁻¹ Jᵀ by columns (rows, nv)."""
        with keeping_loops() if self.response.count > WRITTEN_OUT_UP_TO else nullcontext():
            return self.response.columns()


@lru_cache(maxsize=256)
def contact_rows(model: Model, plan: ContactPlan, level: str = "") -> ContactRows:
    """The rows of the problem of forces; contacts may slide already at the level of "contact_dynamics"."""
    limits = len(limited_joints(model)) + len(limited_loops(model)) if plan.limits else 0
    sides, loops = sides_of(model, plan), len(model.constraint_names)
    signed = tuple(zip(sides.rows.tolist(), sides.signs.tolist(), strict=True))
    slides = level == "contact_dynamics" and plan.friction is not None
    return ContactRows(len(plan.pairs), plan.friction, loops, limits + len(plan.speeds), signed, slides, len(plan.dry))


def sides_of(model: Model, plan: ContactPlan) -> LimitSides:
    """The sides of all limits there are."""
    return limit_sides(model, plan.limits, plan.speeds)


def applied_force(
    m: Mechanism, plan: ContactPlan, q: Array, v: Array, tau: Array, f_ext: Array | None, loop_tau: Array | None
) -> Array:
    """τ + Bᵀ f - C: what accelerates the mechanism where nothing touches, with forces f on the loop joints."""
    n, C = m.coupling.dof_tree.n, rnea(m, q, v, ZEROS, f_ext)
    force = driven_force(m, plan, q, tau, loop_tau)
    return filled(n, lambda k: force[k] - C[k])


def driven_force(m: Mechanism, plan: ContactPlan, q: Array, tau: Array, loop_tau: Array | None) -> Array:
    """τ + Bᵀ f, each no larger than the effort of its joint if these are limits."""
    n = m.model.nv
    tau = bounded_force(tau, plan.efforts[:n])
    if loop_tau is None:
        return tau
    count, given = sum(loop.joint.nv for loop in m.model.loops), bounded_force(loop_tau, plan.efforts[n:])
    drives = loop_drives(m, loop_motions(m, q)[1], [given[k] for k in range(count)])
    return filled(n, lambda k: tau[k] + drives[k])


def rows_in_state(
    m: Mechanism, plan: ContactPlan, q: Array, v: Array | None, force: Array | None, place: Place
) -> Rows:
    """All that the levels need; without v rates are zero, without a force w is."""
    n, rows = m.model.nv, contact_rows(m.model, plan)
    count = rows.count
    touch, closed = contact_terms(m, plan.pairs, q, v, place, rows.axes), constraint_terms(m, q, v)
    drop_held(m, closed)
    J = array(count * n)
    fill(J, rows.touch * n, lambda k: touch.matrix[k])
    fill(Part(J, rows.touch * n), rows.loops * n, lambda k: closed.matrix[k])
    near = limit_rows(m, q, v, Part(J, rows.fixed * n)) if plan.limits else LimitTerms([], [], [])
    single = (*plan.speeds, *plan.dry)
    further = bounded_rows(m, single, q, v, Part(J, (count - len(single)) * n))
    near.rates.extend(further[0])
    near.bias.extend(further[1])
    near.slopes.extend([1.0] * len(plan.speeds))
    rates: list[Scalar] = [*(x.rates[r] for x in (touch, closed) for r in range(x.count)), *near.rates]
    bias: list[Scalar] = [*(x.bias[r] for x in (touch, closed) for r in range(x.count)), *near.bias]
    tree, M = m.coupling.dof_tree, crba(m, q)
    with keeping_loops() if count > WRITTEN_OUT_UP_TO else nullcontext():
        if count > WRITTEN_OUT_UP_TO:
            J, M = indexable(count * n, J), indexable(tree.packed_size, M)
            force = force if force is None else indexable(n, force)
        answer, w, drive = response(tree, M, J, count), array(n), array(count)
        if force is not None:
            half = answer.half(force)
            w, drive = answer.free(half), answer.drive(half)
    return Rows(answer, rates, bias, closed, near.slopes, w, drive)
