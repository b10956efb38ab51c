"""Forces of contacts, loops and limits where a program does not find them: one state after the other.

They are found by `contact_forces` as in programs, on plain numbers; only its equations are solved by pivoting, on
NumPy. Every side of a limit is a row of its own here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough import complementarity
from bough.complementarity import ContactRows, Demands, ForceProblem, contact_forces
from bough.complementarity.contact_forces import Found, Solve
from bough.scalar import Array
from bough.scalar.tolerances import RESIDUAL

__all__ = ["Forces", "forces_of_state", "impact_of_state", "unmet_by_sweeps"]

Floats: TypeAlias = NDArray[np.floating[Any]]
Bools: TypeAlias = NDArray[np.bool_]


class _Sides:
    """The rows of a problem where every side of a limit has one of its own."""

    def __init__(self, r: ContactRows) -> None:
        sides, k = tuple((k, sign) for k, (_, sign) in enumerate(r.sides)), r.contacts + len(r.sides)
        self.rows = ContactRows(r.contacts, r.friction, r.loops, len(sides), sides, r.slides, r.boxes)
        # the row of the problem that each belongs to, and -1 for upper limits, else 1
        places = [*range(r.fixed), *(r.fixed + coordinate for coordinate, _ in r.sides), *range(r.bounded, r.count)]
        self.places = np.array(places, np.intp)
        self.signs = np.array([*[1.0] * r.fixed, *(sign for _, sign in sides), *[1.0] * r.boxes])
        # the condition of each: contacts, sides, rows of loops and dry friction have numbers
        loops, boxes = np.split(np.arange(k, k + r.loops + r.boxes), [r.loops])
        self.names = np.concatenate([np.arange(r.contacts).repeat(r.axes), loops, np.arange(r.contacts, k), boxes])


_sides = lru_cache(maxsize=64)(_Sides)


def _solve(given: ForceProblem, solve: Solve, active: Bools, start: Floats | None = None) -> Floats:
    """Forces of all rows, from arrays."""
    sides = _sides(given.rows)
    places = sides.places
    arrays = {field.name: getattr(given, field.name) for field in fields(given)[1:]}
    arrays |= {"A": given.A[places[:, None], places].ravel(), "base": given.base[places], "active": active}
    problem = ForceProblem(sides.rows, **{name: a.tolist() for name, a in arrays.items()})
    found = contact_forces(problem, solve, None if start is None else start.tolist(), times=2 + len(active))
    return np.asarray(np.bincount(places, np.array(found.forces, np.float64), given.rows.count), np.float64)


@dataclass(frozen=True, eq=False)
class Forces:
    """Forces of all rows, by how much the worst condition fails, and which conditions are not met.

    `unmet` has an entry for each contact, each side of a limit, each row of loops, and each of dry friction; if the
    search for forces ended without an answer, it is `undecided` whether they could be met.
    """

    forces: Floats
    residual: float
    unmet: Bools
    undecided: bool


def forces_of_state(problem: ForceProblem) -> Forces:
    """Exact forces; if there are none, the nearest, and what conflicts."""
    worst, unmet, undecided = 0.0, np.zeros(0, np.bool_), False

    def solve(demands: Demands, start: object) -> Found:
        nonlocal worst, unmet, undecided
        part = _Part(demands)
        answer = complementarity.pivoting(*part.problem)
        worst = float(part.failing(answer.f).max(initial=0.0))
        unmet = part.spread(answer.conflicts & (worst > RESIDUAL))  # where b is small, nothing contradicts
        undecided = answer.undecided and bool(unmet.any())
        return Found(part.spread(answer.f).tolist(), worst, False)

    forces = _solve(problem, solve, problem.active)
    return Forces(forces, worst, _conditions_of_rows(problem, unmet), undecided)


def impact_of_state(problem: ForceProblem, restitution: Floats) -> Forces:
    """An impact with restitution, and then another one without; none at all where there is no solution with it."""

    def impact(e: Floats) -> Forces:
        base, rows = problem.base.copy(), problem.rows
        base[: rows.touch : rows.axes] *= 1.0 + e
        return forces_of_state(replace(problem, base=base))

    first = impact(restitution)
    if first.unmet.any():
        first = impact(np.zeros_like(restitution))
    if not restitution.any():
        return first
    more = forces_of_state(replace(problem, base=problem.base + problem.A @ first.forces))
    worst, undecided = max(first.residual, more.residual), first.undecided or more.undecided
    return Forces(first.forces + more.forces, worst, first.unmet | more.unmet, undecided)


def unmet_by_sweeps(problem: ForceProblem, forces: Floats, limit: float) -> Bools:
    """Which conditions given forces leave unmet by more than a limit."""
    rows, own, unmet = problem.rows, _sides(problem.rows), np.zeros(0, np.bool_)
    given = forces[own.places]
    pushing = given * own.signs > 0.0
    sides = slice(rows.fixed, rows.fixed + len(rows.sides))
    given[sides] *= pushing[sides]
    acting = np.concatenate([pushing[: rows.touch : rows.axes], pushing[sides]])

    def look(demands: Demands, start: Array) -> Found:
        nonlocal unmet
        part = _Part(demands)
        unmet = part.spread(part.failing(np.array(start)[part.rows]) > limit)
        return Found(start, 0.0, True)

    _solve(problem, look, problem.active | acting, given)
    return _conditions_of_rows(problem, unmet)


class _Part:
    """The rows that are on, of a problem as solvers of contact forces take it; what slides follows its normal."""

    def __init__(self, demands: Demands) -> None:
        self.n, conditions = demands.n, demands.conditions
        A, b, mu, on = (np.array(values, np.float64) for values in (demands.A, demands.b, demands.mu, demands.on))
        A = A.reshape(self.n, self.n)
        sliding = (conditions.normal >= 0) & ~A.any(axis=0) & (b == 0.0)
        first = conditions.cones
        sliding[first] = sliding[first + 1] = sliding[first] & sliding[first + 1]
        self.rows = rows = np.flatnonzero((on > 0.0) & ~sliding)
        friction = conditions.at_friction(mu)[rows]
        ends = None if demands.bounds is None else np.array(demands.bounds, np.float64).reshape(self.n, 2)[rows]
        self.problem: tuple[Any, ...] = (A[rows[:, None], rows], b[rows], conditions.some(rows), friction, None, ends)

    def failing(self, f: Floats) -> Floats:
        """By how much rows fail."""
        A, b, *further = self.problem
        return complementarity.residual(A, b, f, *further)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of all rows, zero for those that are not on."""
        result = np.zeros(self.n, values.dtype)
        result[self.rows] = values
        return result


def _conditions_of_rows(problem: ForceProblem, rows: Bools) -> Bools:
    """The conditions that some rows belong to."""
    r = problem.rows
    return np.bincount(_sides(r).names[rows], minlength=r.contacts + len(r.sides) + r.loops + r.boxes) > 0
