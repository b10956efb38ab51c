"""Forces of contacts, loops and limits where a program does not find them: one state after the other, on NumPy.

The problem is that of `bough.complementarity.contact_forces`; here every side of a limit is a row of its own, and rows
without a force are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough import complementarity
from bough.complementarity import NO_NORMAL, Conditions, ContactRows
from bough.complementarity.conditions import Kind
from bough.scalar.tolerances import RESIDUAL

__all__ = ["ForceProblem", "Forces", "forces_of_state", "impact_of_state", "unmet_by_sweeps"]

Floats: TypeAlias = NDArray[np.floating[Any]]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ForceProblem:
    """The problem of one state: see `bough.complementarity.contact_forces`."""

    rows: ContactRows
    A: Floats
    base: Floats
    offset: Floats
    active: Bools
    sliding: Floats
    mu: Floats
    most: Floats  # what forces of dry friction may be
    sticks: Bools

    def with_base(self, base: Floats) -> ForceProblem:
        """The same with other values of the rows without forces."""
        return replace(self, base=base)

    def after(self, forces: Floats) -> ForceProblem:
        """What is left once forces act."""
        return self.with_base(self.base + self.A @ forces)


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
    active = problem.active.copy()
    while True:
        part = _Part.of(problem, active)
        answer = complementarity.pivoting(part.A, part.b, part.conditions, part.mu, bounds=part.bounds)
        f = answer.f
        failing = complementarity.residual(part.A, part.b, f, part.conditions, part.mu, bounds=part.bounds)
        forces = part.spread(f)
        broken = ~active & (_one_sided(problem, problem.base + problem.A @ forces) + problem.offset < -RESIDUAL)
        if not broken.any():
            worst = float(failing.max(initial=0.0))
            conflicts = answer.conflicts & (worst > RESIDUAL)  # where b is small, nothing contradicts
            return Forces(forces, worst, part.named(conflicts), answer.undecided and bool(conflicts.any()))
        active |= broken


def impact_of_state(problem: ForceProblem, restitution: Floats) -> Forces:
    """An impact with restitution, and then another one without; none at all where there is no solution with it."""

    def bounced(e: Floats) -> Forces:
        base, rows = problem.base.copy(), problem.rows
        base[: rows.touch : rows.axes] *= 1.0 + e
        return forces_of_state(problem.with_base(base))

    first = bounced(restitution)
    if first.unmet.any():
        first = bounced(np.zeros_like(restitution))
    if not restitution.any():
        return first
    more = forces_of_state(problem.after(first.forces))
    worst, undecided = max(first.residual, more.residual), first.undecided or more.undecided
    return Forces(first.forces + more.forces, worst, first.unmet | more.unmet, undecided)


def unmet_by_sweeps(problem: ForceProblem, forces: Floats, limit: float) -> Bools:
    """Which conditions given forces leave unmet by more than a limit."""
    acting = _one_sided(problem, forces) > 0.0
    part = _Part.of(problem, problem.active | acting)
    given = part.gathered(forces)
    failing = complementarity.residual(part.A, part.b, given, part.conditions, part.mu, bounds=part.bounds)
    return part.named(failing > limit)


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows of a problem that get forces, where what slides follows its normal."""

    problem: ForceProblem
    names: NDArray[np.intp]  # the condition, contact, side or row of a loop, that each row belongs to
    into: Floats  # forces of all rows are this matrix times those of the part
    rows: NDArray[np.intp]
    signs: Floats
    b: Floats
    conditions: Conditions
    mu: Floats
    bounds: Floats | None

    @staticmethod
    def of(problem: ForceProblem, active: Bools) -> _Part:
        rows = problem.rows
        k, n = rows.contacts, rows.count
        chosen: list[tuple[int, float, float, int, Kind, int]] = []  # row, sign, offset, name, kind, normal
        follow = {}
        for c in np.flatnonzero(active[:k]).tolist():
            normal, first = len(chosen), c * rows.axes
            chosen.append((first, 1.0, float(problem.offset[c]), c, "inequality", NO_NORMAL))
            sliding = problem.sliding[2 * c : 2 * c + 2]
            slips = [bool(x) for x in sliding] if sliding.size else [False] * (rows.axes - 1)
            if rows.friction == "cone":
                slips = [any(slips)] * len(slips)
            for t, is_slipping in enumerate(slips):
                if is_slipping:
                    follow[first + 1 + t, normal] = -problem.mu[c] * sliding[t]
                else:
                    chosen.append((first + 1 + t, 1.0, 0.0, c, rows.friction or "pyramid", normal))
        for i in range(rows.loops):
            chosen.append((rows.touch + i, 1.0, 0.0, k + len(rows.sides) + i, "equality", NO_NORMAL))
        for s in np.flatnonzero(active[k:]).tolist():
            coordinate, sign = rows.sides[s]
            chosen.append((rows.fixed + coordinate, sign, float(problem.offset[k + s]), k + s, "inequality", NO_NORMAL))
        named = k + len(rows.sides) + rows.loops
        for i in np.flatnonzero(problem.sticks).tolist():
            chosen.append((rows.bounded + i, 1.0, 0.0, named + i, "box", NO_NORMAL))
        which, signs, offset, names, kinds, normals = zip(*chosen, strict=True) if chosen else ((),) * 6
        places, sign_of = np.array(which, np.intp), np.array(signs, np.float64)
        into = np.zeros((n, len(places)))
        into[places, np.arange(len(places))] = sign_of
        for (row, normal), force in follow.items():
            into[row, normal] = force
        friction = np.array(
            [problem.mu[name] if normal != NO_NORMAL else 0.0 for name, normal in zip(names, normals, strict=True)]
        )
        b = sign_of * problem.base[places] + np.array(offset, np.float64)
        conditions = Conditions(kinds, normals)
        most = np.array([problem.most[name - named] if name >= named else 0.0 for name in names])
        bounds = np.stack([-most, most], axis=-1) if rows.boxes else None
        return _Part(problem, np.array(names, np.intp), into, places, sign_of, b, conditions, friction, bounds)

    @property
    def A(self) -> Floats:
        return np.asarray(self.signs[:, None] * (self.problem.A[self.rows] @ self.into))

    def spread(self, f: Floats) -> Floats:
        """Forces of all rows."""
        return np.asarray(self.into @ f)

    def gathered(self, forces: Floats) -> Floats:
        """Forces of the rows of the part."""
        return np.asarray(self.signs * forces[self.rows])

    def named(self, some: Bools) -> Bools:
        """The conditions that some rows belong to."""
        rows = self.problem.rows
        result = np.zeros(rows.contacts + len(rows.sides) + rows.loops + rows.boxes, np.bool_)
        result[self.names[some]] = True
        return result


def _one_sided(problem: ForceProblem, values: Floats) -> Floats:
    """The values of one-sided conditions, from those of all rows."""
    rows = problem.rows
    sides = np.array(rows.sides, np.float64).reshape(-1, 2)
    limits = sides[:, 1] * values[rows.fixed + sides[:, 0].astype(np.intp)]
    return np.concatenate([values[: rows.touch : rows.axes], limits])
