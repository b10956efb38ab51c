"""What touches, at the three levels and in a step of time: motion without forces, and what forces must see to.

The values y = A f + base of all rows follow from forces f. One-sided conditions, the normals of contacts and the sides
of limits, say that sign × y + offset must not be negative. Some are active from the beginning; others are far from
being broken. What slides already, slides in a direction that is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.contacts import Place
from bough.algorithms.limits import limit_gaps, limit_sides
from bough.algorithms.touching import Touch, Touching, row_counts, touching
from bough.model import Mechanism
from bough.scalar import Array, Bool, Scalar, absolute, both, either, filled, minimum, select, sqrt

__all__ = [
    "FAR",
    "TOUCHING",
    "Demand",
    "touching_accelerations",
    "touching_impulses",
    "touching_step",
    "touching_velocities",
]

TOUCHING = 1e-6
"""Gaps up to this (m or rad) count as closed."""

FAR = 1e30
"""The offset of a condition that no force can break, and the largest gap there is."""


@dataclass(frozen=True)
class Demand:
    """A problem of forces: rows in a state, and what a level demands of them."""

    touch: Touch
    base: list[Scalar]  # values of the rows without forces
    offset: list[Scalar]  # of one-sided conditions: contacts, then sides of limits
    active: list[Scalar]  # 1 for those to begin with, else 0
    free: Array  # the motion without forces
    sliding: list[Scalar]  # directions along the two tangents of each contact, zero where one does not slide; or none


def touching_accelerations(
    m: Mechanism, rows: Touching, q: Array, v: Array, force: Array, place: Place, gaps: Array, rate: Scalar,
    still: Scalar,
) -> Demand:  # fmt: skip
    """Errors decay at a rate: ë + 2 rate ė + rate² e ≥ 0, or = 0 for loops."""
    touch, gap = touching(m, rows, q, v, force, place), _gaps(m, rows, q, gaps)
    base = [w + b + 2.0 * rate * r for w, b, r in zip(_list(touch.drive, touch), touch.bias, touch.rates, strict=True)]
    speeds = _one_sided(m, rows, touch.rates)
    active = [both(g <= TOUCHING, u <= still) for g, u in zip(gap, speeds, strict=True)]
    offset = [select(on, rate * rate * g, FAR) for on, g in zip(active, gap, strict=True)]
    base = _with_loops(base, [rate * rate * e for e in touch.errors])
    return Demand(touch, base, offset, _numbers(active), touch.free, _sliding(rows, touch.rates, still))


def touching_velocities(
    m: Mechanism, rows: Touching, q: Array, force: Array, place: Place, gaps: Array, rate: Scalar
) -> Demand:
    """Velocities of first order, M v = force."""
    touch, gap = touching(m, rows, q, None, force, place), _gaps(m, rows, q, gaps)
    active = [g <= TOUCHING for g in gap]
    offset = [select(on, rate * minimum(g, 0.0), FAR) for on, g in zip(active, gap, strict=True)]
    base = _with_loops(_list(touch.drive, touch), [rate * e for e in touch.errors])
    return Demand(touch, base, offset, _numbers(active), touch.free, [])


def touching_impulses(m: Mechanism, rows: Touching, q: Array, v: Array, place: Place, gaps: Array) -> Demand:
    """Velocities after an impact, from those before; without restitution."""
    touch, gap = touching(m, rows, q, v, None, place), _gaps(m, rows, q, gaps)
    active = [g <= TOUCHING for g in gap]
    offset: list[Scalar] = [select(on, 0.0, FAR) for on in active]
    return Demand(touch, touch.rates, offset, _numbers(active), v, [])


def touching_step(
    m: Mechanism, rows: Touching, q: Array, v: Array, force: Array, place: Place, gaps: Array, rate: Scalar, dt: Scalar
) -> Demand:
    """Velocities after a step of time: gap + dt J v⁺ ≥ 0, and what is below zero decays at a rate."""
    touch, gap = touching(m, rows, q, v, force, place), _gaps(m, rows, q, gaps)
    base = [r + dt * w for r, w in zip(touch.rates, _list(touch.drive, touch), strict=True)]
    base = _with_loops(base, [rate * e for e in touch.errors])
    offset = [select(g > 0.0, g / dt, rate * g) for g in gap]
    values = zip(gap, _one_sided(m, rows, base), offset, strict=True)
    active = [either(g <= TOUCHING, y + more <= 0.0) for g, y, more in values]
    free = filled(m.model.nv, lambda k: v[k] + dt * touch.free[k])
    return Demand(touch, base, offset, _numbers(active), free, [])


def _gaps(m: Mechanism, rows: Touching, q: Array, gaps: Array) -> list[Scalar]:
    """Those of contacts, then those of limits."""
    return [*(gaps[k] for k in range(len(rows.pairs))), *(limit_gaps(m, q) if rows.limits else ())]


def _one_sided(m: Mechanism, rows: Touching, values: list[Scalar]) -> list[Scalar]:
    """The values of one-sided conditions, from those of all rows."""
    contacts = row_counts(m.model, rows)[0]
    result = values[: contacts : rows.axes]
    if rows.limits:
        sides = limit_sides(m.model)
        result += [s * values[contacts + r] for r, s in zip(sides.rows.tolist(), sides.signs.tolist(), strict=True)]
    return result


def _with_loops(values: list[Scalar], errors: list[Scalar]) -> list[Scalar]:
    """Values of all rows, with something added to those of loops, which are the last."""
    others = len(values) - len(errors)
    return [*values[:others], *(y + e for y, e in zip(values[others:], errors, strict=True))]


def _sliding(rows: Touching, rates: list[Scalar], still: Scalar) -> list[Scalar]:
    """The directions in which contacts slide: of unit length for cones, signs for pyramids."""
    result: list[Scalar] = []
    for k in range(len(rows.pairs) if rows.friction else 0):
        first, second = rates[rows.axes * k + 1 : rows.axes * k + 3]
        if rows.friction == "pyramid":
            signs = [select(u < 0.0, -1.0, 1.0) for u in (first, second)]
            result += [select(absolute(u) > still, s, 0.0) for u, s in zip((first, second), signs, strict=True)]
        else:
            speed = sqrt(first * first + second * second)
            fast = speed > still
            result += [select(fast, u / select(fast, speed, 1.0), 0.0) for u in (first, second)]
    return result


def _numbers(truths: list[Bool]) -> list[Scalar]:
    return [select(truth, 1.0, 0.0) for truth in truths]


def _list(values: Array, touch: Touch) -> list[Scalar]:
    return [values[i] for i in range(len(touch.rates))]
