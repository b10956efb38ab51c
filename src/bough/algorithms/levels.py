"""What forces must see to, at the three levels and in a step of time, and the motion without forces.

The values y = A f + base of all rows follow from forces f. One-sided conditions, the normals of contacts and the sides
of limits, say that sign × y + offset must not be negative. Some are active from the beginning; others are far from
being broken. What slides already, slides in a direction that is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bough.algorithms.contact_problem import ContactPlan, Rows, contact_rows, rows_in_state, sides_of
from bough.algorithms.contacts import AXES, Place
from bough.algorithms.joint_bounds import bounded_speeds, slipping_forces, with_slipping
from bough.algorithms.limits import limit_gaps
from bough.complementarity import FAR
from bough.model import Mechanism
from bough.scalar import Array, Bool, Scalar, absolute, both, either, filled, minimum, select, sqrt
from bough.scalar.tolerances import TOUCHING

__all__ = ["FAR", "Level", "acceleration_level", "impulse_level", "step_level", "velocity_level"]


@dataclass(frozen=True)
class Level:
    """A problem of forces: rows in a state, and what a level demands of them."""

    rows: Rows
    base: list[Scalar]  # values of the rows without forces
    offset: list[Scalar]  # of one-sided conditions: contacts, then sides of limits
    active: list[Bool]  # which of them may have a force to begin with
    free: Array  # the motion without forces
    sliding: list[Scalar]  # directions along the two tangents of each contact, zero where one does not slide; or none
    dry: list[Dry] = field(default_factory=list)


@dataclass(frozen=True)
class Dry:
    """Dry friction of a joint: up to `most` where it `sticks`; elsewhere a `known` force, which acts already."""

    most: Scalar
    sticks: Bool
    known: Scalar


def acceleration_level(
    m: Mechanism, plan: ContactPlan, q: Array, v: Array, force: Array, place: Place, gaps: Array, rate: Scalar,
    still: Scalar,
) -> Level:  # fmt: skip
    """Errors decay at a rate: ë + 2 rate ė + rate² e ≥ 0; those of loops as `Terms.returning` says."""
    u = bounded_speeds(m, (*plan.speeds, *plan.dry), q, v)
    known = slipping_forces(plan.dry, u, still)
    force = with_slipping(m, q, force, plan.dry, known) if known else force
    rows, gap = rows_in_state(m, plan, q, v, force, place), _gaps(m, plan, q, gaps)
    kinds, speeds = contact_rows(m.model, plan), _speeds(m, plan)
    back = [2.0 * rate * r for r in rows.rates]
    back[kinds.touch : kinds.fixed] = [rows.loops.returning(k, rate) for k in range(kinds.loops)]
    on_velocities = kinds.bounded - len(plan.speeds)  # rows of velocity limits and dry friction
    back[on_velocities:] = [rate * r for r in rows.rates[on_velocities:]]
    base = [w + b + r for w, b, r in zip(_list(rows.drive, rows), rows.bias, back, strict=True)]
    approach = _one_sided(m, plan, rows.rates)
    active = [both(g <= TOUCHING, y <= still) for g, y in zip(gap, approach, strict=False)]
    offset = [select(on, rate * rate * g, FAR) for on, g in zip(active, gap, strict=True)]
    fast = [sign * u[k] + most <= still for sign, k, most in speeds]
    offset += [select(on, rate * most, FAR) for on, (_, _, most) in zip(fast, speeds, strict=True)]
    frictions = [Dry(most, absolute(u[k]) <= still, f) for (k, most), f in zip(plan.dry, known, strict=True)]
    return Level(
        rows, base, offset, [*active, *fast], rows.free, _sliding_directions(plan, rows.rates, still), frictions
    )


def velocity_level(
    m: Mechanism, plan: ContactPlan, q: Array, force: Array, place: Place, gaps: Array, rate: Scalar
) -> Level:
    """Velocities of first order, M v = force."""
    rows, gap = rows_in_state(m, plan, q, None, force, place), _gaps(m, plan, q, gaps)
    active = [g <= TOUCHING for g in gap]
    offset = [select(on, rate * minimum(g, 0.0), FAR) for on, g in zip(active, gap, strict=True)]
    loops = rows.loops
    back = [loops.rates[k] + rate * loops.errors[k] for k in range(loops.count)]  # rates of constraints with speeds
    base = _with_loops(m, plan, _list(rows.drive, rows), back)
    return Level(rows, base, *_with_speeds(m, plan, offset, active), rows.free, [], _sticking_frictions(plan, 1.0))


def impulse_level(m: Mechanism, plan: ContactPlan, q: Array, v: Array, place: Place, gaps: Array) -> Level:
    """Velocities after an impact, from those before; without restitution."""
    rows, gap = rows_in_state(m, plan, q, v, None, place), _gaps(m, plan, q, gaps)
    active = [g <= TOUCHING for g in gap]
    offset: list[Scalar] = [select(on, 0.0, FAR) for on in active]
    return Level(rows, rows.rates, *_with_speeds(m, plan, offset, active), v, [])


def step_level(
    m: Mechanism, plan: ContactPlan, q: Array, v: Array, force: Array, place: Place, gaps: Array, rate: Scalar,
    dt: Scalar,
) -> Level:  # fmt: skip
    """Velocities after a step of time: gap + dt J v⁺ ≥ 0, and what is below zero decays at a rate."""
    rows, gap = rows_in_state(m, plan, q, v, force, place), _gaps(m, plan, q, gaps)
    base = [r + dt * w for r, w in zip(rows.rates, _list(rows.drive, rows), strict=True)]
    base = _with_loops(m, plan, base, [rate * rows.loops.errors[k] for k in range(rows.loops.count)])
    offset = [select(g > 0.0, g / dt, rate * g) for g in gap]
    values = zip(gap, _one_sided(m, plan, base), offset, strict=False)
    active = [either(g <= TOUCHING, y + more <= 0.0) for g, y, more in values]
    free = filled(m.model.nv, lambda k: v[k] + dt * rows.free[k])
    return Level(rows, base, *_with_speeds(m, plan, offset, active), free, [], _sticking_frictions(plan, dt))


def _speeds(m: Mechanism, plan: ContactPlan) -> list[tuple[float, int, float]]:
    return sides_of(m.model, plan).speeds() if plan.speeds else []


def _with_speeds(
    m: Mechanism, plan: ContactPlan, offset: list[Scalar], active: list[Bool]
) -> tuple[list[Scalar], list[Bool]]:
    """Offsets, and what is active, with those of velocity limits where rows are velocities; what breaks one is seen."""
    speeds = _speeds(m, plan)
    return [*offset, *(most for _, _, most in speeds)], [*active, *[False] * len(speeds)]


def _sticking_frictions(plan: ContactPlan, time: Scalar) -> list[Dry]:
    """Dry friction where rows are velocities: it sticks unless that takes more than it has, in a time (s)."""
    return [Dry(most * time, True, 0.0) for _, most in plan.dry]


def _gaps(m: Mechanism, plan: ContactPlan, q: Array, gaps: Array) -> list[Scalar]:
    """The gaps of contacts, none of them infinite, then those of sides of limits."""
    near = [minimum(gaps[k], FAR) for k in range(len(plan.pairs))]
    return [*near, *(limit_gaps(m, q) if plan.limits else ())]


def _one_sided(m: Mechanism, plan: ContactPlan, values: Sequence[Scalar]) -> list[Scalar]:
    """The values of one-sided conditions, from those of all rows."""
    rows = contact_rows(m.model, plan)
    return [*values[: rows.touch : rows.axes], *(sign * values[rows.fixed + row] for row, sign in rows.sides)]


def _with_loops(m: Mechanism, plan: ContactPlan, values: list[Scalar], errors: list[Scalar]) -> list[Scalar]:
    """Values of all rows, with something added to those of loops."""
    rows = contact_rows(m.model, plan)
    closed = [y + e for y, e in zip(values[rows.touch : rows.fixed], errors, strict=True)]
    return [*values[: rows.touch], *closed, *values[rows.fixed :]]


def _sliding_directions(plan: ContactPlan, rates: list[Scalar], still: Scalar) -> list[Scalar]:
    """The directions in which contacts slide: of unit length for cones, signs for pyramids."""
    result: list[Scalar] = []
    for k in range(len(plan.pairs) if plan.friction else 0):
        first, second = rates[AXES * k + 1 : AXES * k + 3]
        if plan.friction == "pyramid":
            signs = [select(u < 0.0, -1.0, 1.0) for u in (first, second)]
            result += [select(absolute(u) > still, s, 0.0) for u, s in zip((first, second), signs, strict=True)]
        else:
            speed = sqrt(first * first + second * second)
            fast = speed > still
            result += [select(fast, u / select(fast, speed, 1.0), 0.0) for u in (first, second)]
    return result


def _list(values: Array, rows: Rows) -> list[Scalar]:
    return [values[i] for i in range(len(rows.rates))]
