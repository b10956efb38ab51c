"""The terms of bodies and constraints of many kinds, at the three levels of Baraff 1996, and for positions.

All levels have one form: M y = Jᵀ λ + f and J y + c = 0. What y is, and with it f and c, differs.

- accelerations: f are the forces; ë + 2 ė/T + e/T² = 0 for errors e of positions, and ṙ + r/T = 0 for rates r
- velocities of a first-order world, in which force is mass times velocity: f are the forces; ė + e/T = 0 and r = 0
- velocities after impulses: f = M v + impulses; ė = 0 and r = 0
- steps of positions towards the constraints: f = 0; ė + e = 0 and r = 0 in a unit of time
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from bough.lagrange.bodies.contract import WORLD, Scalars
from bough.lagrange.closing import closed
from bough.lagrange.constraints.contract import Constraint, Side, Sides, dot
from bough.lagrange.joints import Constants
from bough.lagrange.layout import BodyGroup, Layout, TieGroup
from bough.lagrange.multipliers import multipliers
from bough.scalar import Array, Index, Scalar, array, each
from bough.spatial import Vector

__all__ = ["Level", "errors", "integrated", "solved", "terms"]

Level: TypeAlias = Literal["acceleration", "first order", "impulse", "position"]

Terms: TypeAlias = dict[str, Array]


def terms(
    layout: Layout,
    level: Level,
    rate: Scalar,
    x: Array,
    v: Array | None = None,
    force: Array | None = None,
    time: Array | None = None,
) -> Terms:
    """Blocks of M and J, f and c; `rate` is 1/T in 1/s. What is left out is zero."""
    now: Scalar = 0.0 if time is None else time[0]
    mass, jacobian = array(layout.system.mass_size), array(layout.blocks_size)
    f, c = array(layout.system.nv), array(layout.nc)
    for bodies in layout.body_groups:
        _body_terms(bodies, Vector(*layout.gravity), level, x, v, force, mass, f)
    for ties in layout.tie_groups:
        _tie_terms(ties, level, rate, x, v, now, jacobian, c)
    return {"mass": mass, "jacobian": jacobian, "f": f, "c": c}


def solved(layout: Layout, level: Level, rate: Scalar, part: float, **given: Array) -> Terms:
    """The solution [y, λ] for a layout without one-sided ties, and verdicts on its pivots, negative if in doubt."""
    t = terms(layout, level, rate, **given)
    soft = None if layout.compliance is None else Constants("compliance", layout.compliance)
    arrays = t["mass"], t["jacobian"], t["f"], t["c"], soft, part
    y, verdicts = closed(layout, *arrays) if layout.auxiliary else multipliers(layout.system, *arrays)
    return {"y": y, "verdicts": verdicts}


def errors(layout: Layout, x: Array, v: Array | None = None, time: Array | None = None) -> Terms:
    """Errors of positions, zero for constraints on velocities alone, and rates, of all rows."""
    now: Scalar = 0.0 if time is None else time[0]
    e, r = array(layout.nc), array(layout.nc)
    for ties in layout.tie_groups:

        def visit(k: Index, ties: TieGroup = ties) -> None:
            sides, parameters, row = ties.sides(k, x, v, now), ties.parameters(k), ties.row(k)
            _write(e, row, ties.constraint.errors(parameters, sides))
            held = ties.constraint.rows - ties.constraint.inertial
            _write(r, row, ties.constraint.rates(parameters, sides)[:held])

        each(ties.count, visit)
    return {"errors": e, "rates": r}


def integrated(layout: Layout, x: Array, v: Array) -> Terms:
    """Positions reached with the constant velocity v in a unit of time."""
    moved = array(layout.nx)
    for bodies in layout.body_groups:

        def visit(k: Index, bodies: BodyGroup = bodies) -> None:
            side = bodies.side(k, x, v)
            _write(moved, bodies.place("x", k), side.body.integrate(side.parameters, side.x, side.v))

        each(bodies.count, visit)
    return {"moved": moved}


# ---- one body, one constraint ----------------------------------------------------------------------------------------


def _body_terms(
    bodies: BodyGroup,
    gravity: Vector,
    level: Level,
    x: Array,
    v: Array | None,
    force: Array | None,
    mass: Array,
    f: Array,
) -> None:
    def visit(k: Index) -> None:
        side, place = bodies.side(k, x, v), bodies.place("v", k)
        body, own = side.body, side.parameters
        M = body.mass(own, side.x)
        _write(mass, bodies.place("mass", k), [entry for row in M for entry in row])
        given: list[Scalar] = [0.0 if force is None else force[place + j] for j in range(body.nv)]
        if level == "acceleration":
            given = [a + b for a, b in zip(given, body.force(own, side.x, side.v, gravity), strict=True)]
        elif level == "impulse":
            given = [a + dot(row, side.v) for a, row in zip(given, M, strict=True)]
        _write(f, place, given)

    each(bodies.count, visit)


def _tie_terms(
    ties: TieGroup, level: Level, rate: Scalar, x: Array, v: Array | None, time: Scalar, jacobian: Array, c: Array
) -> None:
    constraint = ties.constraint

    def visit(k: Index) -> None:
        sides, parameters = ties.sides(k, x, v, time), ties.parameters(k)
        for place, kind in enumerate(ties.kinds):
            if kind is not WORLD:
                columns = _columns(constraint, parameters, sides, place)
                entries = [column[row] for row in range(constraint.rows) for column in columns]
                _write(jacobian, ties.block(place, k), entries)
        _write(c, ties.row(k), _aims(constraint, parameters, sides, level, rate))

    each(ties.count, visit)


def _columns(constraint: Constraint, parameters: tuple[Scalar, ...], sides: Sides, place: int) -> list[list[Scalar]]:
    """Columns of the block of J for one body: the rates when it alone moves, with unit velocities."""
    still = [_resting(side) for side in sides]
    columns = []
    for j in range(len(sides[place].v)):
        unit = replace(still[place], v=tuple(1.0 if i == j else 0.0 for i in range(len(sides[place].v))))
        columns.append(list(constraint.rates(parameters, (*still[:place], unit, *still[place + 1 :]))))
    return columns


def _aims(
    constraint: Constraint, parameters: tuple[Scalar, ...], sides: Sides, level: Level, rate: Scalar
) -> list[Scalar]:
    """C, row by row."""
    e = list(constraint.errors(parameters, sides))
    if level == "acceleration":
        bias, rates = constraint.bias(parameters, sides), constraint.rates(parameters, sides)
        damping = [(2.0 if row < len(e) else 1.0) * rate for row in range(constraint.rows)]
        result = [a + b * d for a, b, d in zip(bias, rates, damping, strict=True)]
        stiffness = rate * rate
    else:  # what is left of the rates where no body moves: constraints that move by themselves
        resting = tuple(side if side.body is WORLD else _resting(side) for side in sides)
        result = list(constraint.rates(parameters, resting))
        stiffness = {"first order": rate, "impulse": 0.0, "position": 1.0}[level]
        if level == "position":
            result = [0.0] * constraint.rows
    for row, error in enumerate(e):
        result[row] = result[row] + error * stiffness
    return [*result[: constraint.rows - constraint.inertial], *_inertial_aims(constraint, parameters, sides, level)]


def _inertial_aims(constraint: Constraint, parameters: tuple[Scalar, ...], sides: Sides, level: Level) -> list[Scalar]:
    """C of the rows that stand for unit masses: with J y + c they change their rates, or move."""
    if not constraint.inertial:
        return []
    if level == "acceleration":
        return list(constraint.bias(parameters, sides)[-constraint.inertial :])
    if level == "impulse":
        return [-rate for rate in constraint.rates(parameters, sides)[-constraint.inertial :]]
    return [0.0] * constraint.inertial


def _resting(side: Side) -> Side:
    return replace(side, v=(0.0,) * len(side.v))


def _write(values: Array, start: Index, numbers: Scalars) -> None:
    for k, x in enumerate(numbers):
        values[start + k] = x
