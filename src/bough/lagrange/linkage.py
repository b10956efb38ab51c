"""The terms of bodies and constraints of many kinds, at the three levels of Baraff 1996, and for positions.

All levels have one form: M y = Jᵀ λ + f and J y + c = 0. `LEVELS` says what y is, and with it f and c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from bough.algorithms.blocks import SmallFactor, transposed
from bough.complementarity.elimination import eliminate
from bough.lagrange.anticipation import SystemResponse
from bough.lagrange.bodies import RIGID
from bough.lagrange.factor import factor
from bough.lagrange.joints import Constants
from bough.lagrange.layout import BodyGroup, Layout, TieGroup
from bough.lagrange.multipliers import multipliers
from bough.model.ties.body import WORLD, Scalars
from bough.model.ties.constraint import Constraint, Side, Sides, at_rest, dot, unit_rates
from bough.scalar import (
    Array,
    Index,
    Part,
    Scalar,
    Table,
    array,
    blank,
    do_when,
    each,
    entries_at,
    fill,
    filled,
    inner,
    loop,
    scatter,
    select,
)
from bough.scalar.tolerances import TOUCHING
from bough.spatial import UNITS, Matrix, Quaternion, Vector

__all__ = ["Level", "errors", "integrate", "placements", "positions", "solve_apart", "terms"]

Level: TypeAlias = Literal["acceleration", "first order", "impulse", "position"]

Terms: TypeAlias = dict[str, Array]


Rule: TypeAlias = Callable[[Constraint, Scalars, Sides], Scalars]


class Aims(NamedTuple):
    """What a level adds to forces, and c = drift + damping · rates + stiffness · errors, where rate is 1/T in 1/s."""

    force: Callable[[Side, Vector], Scalars]
    drift: Rule
    damping: Callable[[Scalar], Scalar] | None  # of rates; twice that for rows that have errors as well
    stiffness: Callable[[Scalar], Scalar]
    inertial: Rule  # c of rows that stand for unit masses; all rows


def _weight(side: Side, gravity: Vector) -> Scalars:
    return side.body.force(side.parameters, side.x, side.v, gravity)


def _momentum(side: Side, gravity: Vector) -> Scalars:
    return [dot(row, side.v) for row in side.body.mass(side.parameters, side.x)]


def _bias(constraint: Constraint, own: Scalars, sides: Sides) -> Scalars:
    return constraint.bias(own, sides)


def _explicit(constraint: Constraint, own: Scalars, sides: Sides) -> Scalars:
    """What is left of the rates where no body moves: that of constraints that move by themselves."""
    return constraint.rates(own, tuple(side if side.body is WORLD else at_rest(side) for side in sides))


def _against(constraint: Constraint, own: Scalars, sides: Sides) -> Scalars:
    return [-rate for rate in constraint.rates(own, sides)]


def _nothing(*_: object) -> Scalars:
    return []


LEVELS: dict[Level, Aims] = {
    # y: accelerations; ë + 2 ė/T + e/T² = 0 for errors e of positions, and ṙ + r/T = 0 for rates r
    "acceleration": Aims(_weight, _bias, lambda rate: rate, lambda rate: rate * rate, _bias),
    # y: velocities of a first-order world, in which force is mass times velocity; ė + e/T = 0 and r = 0
    "first order": Aims(_nothing, _explicit, None, lambda rate: rate, _nothing),
    # y: velocities after impulses, f = M v + impulses; ė = 0 and r = 0
    "impulse": Aims(_momentum, _explicit, None, lambda rate: 0.0, _against),
    # y: steps of positions towards the constraints; ė + e = 0 and r = 0 in a unit of time
    "position": Aims(_nothing, _nothing, None, lambda rate: 1.0, _nothing),
}


def terms(
    layout: Layout,
    level: Level,
    rate: Scalar,
    x: Array,
    v: Array | None = None,
    force: Array | None = None,
    time: Array | None = None,
) -> Terms:
    """Blocks of M and J, f, c, and how auxiliary rows answer alone; `rate` is 1/T in 1/s. What is left out is zero."""
    now: Scalar = 0.0 if time is None else time[0]
    mass, jacobian = array(layout.system.mass_size), array(layout.blocks_size)
    f, c, answers = array(layout.system.nv), array(layout.nc), array(layout.nc - layout.system.nc)
    for bodies in layout.body_groups:

        def body_terms(k: Index, bodies: BodyGroup = bodies) -> None:
            side, place = bodies.side(k, x, v), bodies.place("v", k)
            M, added = side.body.mass(side.parameters, side.x), LEVELS[level].force(side, Vector(*layout.gravity))
            _write(mass, bodies.place("mass", k), [entry for row in M for entry in row])
            given: list[Scalar] = [0.0 if force is None else force[place + j] for j in range(side.body.nv)]
            _write(f, place, [a + b for a, b in zip_longest(given, added, fillvalue=0.0)])

        each(bodies.count, body_terms)

    def add_answers(first: Index, J: Sequence[Scalars], side: Side) -> None:
        """J M⁻¹ Jᵀ of each row by itself: how it answers to a unit force on a body without constraints."""
        rows = side.body.mass(side.parameters, side.x)
        M = SmallFactor([row[: r + 1] for r, row in enumerate(rows)])
        for r, row in enumerate(J):
            answers[first + r] = answers[first + r] + dot(row, M.solve(row))

    for ties in layout.tie_groups:

        def tie_terms(k: Index, ties: TieGroup = ties) -> None:
            sides, parameters = ties.sides(k, x, v, now), ties.parameters(k)
            for place, (kind, side) in enumerate(zip(ties.kinds, sides, strict=False)):
                if kind is not WORLD:
                    J = transposed(unit_rates(ties.constraint, parameters, sides, place), ties.constraint.rows)
                    _write(jacobian, ties.place(f"block {place}", k), [entry for row in J for entry in row])
                    if not ties.primary:
                        add_answers(ties.place("row", k) + -layout.system.nc, J, side)
            _write(c, ties.place("row", k), _aims(ties.constraint, parameters, sides, level, rate))

        each(ties.count, tie_terms)
    return {"mass": mass, "jacobian": jacobian, "f": f, "c": c, "answers": answers}


def solve_linkage(layout: Layout, level: Level, rate: Scalar, part: float, **given: Array) -> Terms:
    """Motion, forces in the order of the ties, and verdicts on pivots, negative if in doubt; without one-sided ties."""
    t = terms(layout, level, rate, **given)
    soft = None if layout.compliance is None else Constants("compliance", layout.compliance)
    if layout.auxiliary:
        y, verdicts = _solve_with_auxiliary(layout, t, soft, part)
    else:
        y, verdicts = multipliers(layout.system, t["mass"], t["jacobian"], t["f"], t["c"], soft, part)
    forces = entries_at(y, Table("rows_inside", layout.system.nv + layout.rows))
    return {"motion": filled(layout.system.nv, lambda k: y[k]), "forces": forces, "verdicts": verdicts}


def solve_apart(layout: Layout, level: Level, rate: Scalar, part: float, **given: Array) -> Terms:
    """The same where no one-sided tie touches: as if there were none. If one does, a verdict is negative."""
    found = solve_linkage(layout.two_sided, level, rate, part, **given)
    if layout.two_sided is layout:
        return found
    kept, distances = (np.flatnonzero(rows) for rows in (~layout.one_sided[layout.rows], layout.distances))
    e = errors(layout, given["x"], time=given.get("time"))["errors"]
    far, clear = entries_at(e, Table("distances", distances)), found["verdicts"]
    verdicts = _joined(layout.two_sided.verdicts, clear.__getitem__, distances.size, lambda k: far[k] - TOUCHING)
    forces = scatter(found["forces"], Table("two_sided_rows", kept), array(layout.nc))
    return {"motion": found["motion"], "forces": forces, "verdicts": verdicts}


def _joined(n: int, first: Callable[[Index], Scalar], m: int, then: Callable[[Index], Scalar]) -> Array:
    """Numbers one behind the other: n of one sort and m of another."""
    result = fill(blank(n + m), n, first)
    fill(Part(result, n), m, then)
    return result


def _solve_with_auxiliary(layout: Layout, t: Terms, soft: Constants | None, part: float) -> tuple[Array, Array]:
    """The solution [y, λ] of a layout whose auxiliary ties are equalities; and verdicts, negative where in doubt."""
    system, c, answers = layout.system, t["c"], t["answers"]
    k, n = layout.nc - system.nc, system.nv + system.nc
    F, sound = factor(system, t["mass"], t["jacobian"], soft, part)
    b = _joined(system.nv, t["f"].__getitem__, system.nc, c.__getitem__)
    response = SystemResponse(layout.beside, F, Part(t["jacobian"], system.jacobian_size))
    A, drive = response.A, response.drive(b)
    if soft is not None:

        def give_way(i: Index) -> None:
            A[i * (k + 1)] = A[i * (k + 1)] + soft[i + system.nc]

        each(k, give_way)
    right = filled(k, lambda i: -(drive[i] + c[i + system.nc]))
    own, none = Part(c, system.nc), 0.0  # type: Part, Scalar
    found = eliminate(k, A, right, answers, inner(drive, drive, k) + inner(own, own, k))
    forces = found.forces
    dependent = loop(k, lambda i, total: total + select(found.inverse[i] > 0.0, 0.0, 1.0), none)

    def share_load() -> None:
        fill(forces, k, found.least_forces(answers).__getitem__)

    do_when(dependent > 0.0, share_load)
    motion = response.motion(forces, b)
    verdicts = _joined(system.tree.n, sound.__getitem__, k, lambda i: select(found.doubtful, -1.0, 1.0))
    return _joined(n, motion.__getitem__, k, forces.__getitem__), verdicts


def errors(layout: Layout, x: Array, v: Array | None = None, time: Array | None = None) -> Terms:
    """Errors of positions, zero for constraints on velocities alone, and rates, in the order of the ties."""
    now: Scalar = 0.0 if time is None else time[0]
    e, r, rows = array(layout.nc), array(layout.nc), Table("rows_inside", layout.rows)
    for ties in layout.tie_groups:

        def visit(k: Index, ties: TieGroup = ties) -> None:
            sides, parameters, row = ties.sides(k, x, v, now), ties.parameters(k), ties.place("row", k)
            _write(e, row, ties.constraint.errors(parameters, sides))
            held = ties.constraint.rows - ties.constraint.inertial
            _write(r, row, ties.constraint.rates(parameters, sides)[:held])

        each(ties.count, visit)
    return {"errors": entries_at(e, rows), "rates": entries_at(r, rows)}


def placements(layout: Layout, x: Array) -> Terms:
    """Placements [[R, p], [0, 1]] of rigid bodies in space, 16 numbers for each."""
    P = array(16 * len(layout.bodies))

    def visit(k: Index) -> None:
        X = RIGID.placement([x[k * 7 + j] for j in range(7)])
        columns = [X.rotation.times(unit).parts for unit in UNITS]
        for r in range(3):
            _write(P, k * 16 + 4 * r, [*(column[r] for column in columns), X.translation.parts[r]])
        P[k * 16 + 15] = 1.0

    each(len(layout.bodies), visit)
    return {"placements": P}


def positions(layout: Layout, placements: Array) -> Terms:
    """Positions of rigid bodies in space at such placements."""
    x = array(layout.nx)

    def visit(k: Index) -> None:
        P = [[placements[k * 16 + 4 * r + c] for c in range(4)] for r in range(3)]
        turn = Quaternion.of_rotation(Matrix.of_rows([row[:3] for row in P]))
        _write(x, k * 7, [*(row[3] for row in P), *turn.parts])

    each(len(layout.bodies), visit)
    return {"positions": x}


def integrate(layout: Layout, x: Array, v: Array) -> Terms:
    """Positions reached with the constant velocity v in a unit of time."""
    moved = array(layout.nx)
    for bodies in layout.body_groups:

        def visit(k: Index, bodies: BodyGroup = bodies) -> None:
            side = bodies.side(k, x, v)
            _write(moved, bodies.place("x", k), side.body.integrate(side.parameters, side.x, side.v))

        each(bodies.count, visit)
    return {"integrate": moved}


def _aims(constraint: Constraint, own: tuple[Scalar, ...], sides: Sides, level: Level, rate: Scalar) -> list[Scalar]:
    """What a constraint adds to J y, row by row: the c of a level."""
    aims, e, held = LEVELS[level], constraint.errors(own, sides), constraint.rows - constraint.inertial

    def of_all_rows(rule: Rule) -> list[Scalar]:
        return [*rule(constraint, own, sides), *([0.0] * constraint.rows)][: constraint.rows]

    result = of_all_rows(aims.drift)
    if aims.damping is not None:
        damping = aims.damping(rate)
        for row, speed in enumerate(constraint.rates(own, sides)):
            result[row] = result[row] + speed * (damping * 2.0 if row < len(e) else damping)
    for row, error in enumerate(e):
        result[row] = result[row] + error * aims.stiffness(rate)
    return [*result[:held], *(of_all_rows(aims.inertial)[held:] if constraint.inertial else [])]


def _write(values: Array, start: Index, numbers: Scalars) -> None:
    for k, x in enumerate(numbers):
        values[start + k] = x
