"""The one solution of all problems of contact on models: forces of contacts, limits and loops, for a batch of states.

A problem has rows of contacts, of coordinates with limits, and of loops (see `bough.algorithms.touching`), and the
value y = A g + base of each for forces g. What must not be negative are one-sided conditions: the normals of contacts
and the sides of limits, sign × y + offset. Those that are far from being broken are left out, and taken in if broken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.contacts import AXES
from bough.complementarity import Conditions
from bough.kernel.contact.complementarity import complementarity_residual, gauss_seidel, pivoting
from bough.kernel.contact.limits import LimitSides

__all__ = ["OneSided", "Problem", "Settled", "Solver", "settled"]

Floats: TypeAlias = NDArray[np.floating[Any]]
Bools: TypeAlias = NDArray[np.bool_]

BROKEN = 1e-9
"""A condition that was left out and fails by more (in m/s or rad/s) is taken in."""

UNMET = 100
"""Rows that Gauss-Seidel leaves off by more than this many times its tolerance are reported."""


@dataclass(frozen=True)
class Solver:
    """How forces are found."""

    name: Literal["pivoting", "gauss_seidel"]
    tolerance: float
    iterations: int


@dataclass(frozen=True, eq=False)
class OneSided:
    """The conditions of a problem: k contacts, then all sides of limits. (states, k + sides)."""

    offset: Floats  # infinite where nothing touches, whatever the forces
    active: Bools  # those to begin with


@dataclass(frozen=True, eq=False)
class Problem:
    """A batch of states of one model and its contacts."""

    friction: Literal["pyramid", "cone"] | None
    sides: LimitSides | None  # None: there are no rows of limits
    names: tuple[str, ...]  # of contacts, sides of limits, and rows of loops
    mu: Floats  # (states, k)
    A: Floats  # (states, rows, rows)
    loops: int

    @property
    def axes(self) -> int:
        """Rows of one contact."""
        return AXES if self.friction else 1

    @property
    def contacts(self) -> int:
        """Rows of all contacts."""
        return self.axes * int(self.mu.shape[1])

    def response(self, forces: Floats) -> Floats:
        """What forces of all rows add to their values: A g, summed in the same order whatever the batch."""
        return np.asarray(np.sum(self.A * forces[:, None, :], axis=2))

    @property
    def one_sided(self) -> tuple[NDArray[np.intp], Floats]:
        """Row and sign of each one-sided condition."""
        k = self.mu.shape[1]
        rows, signs = self.axes * np.arange(k), np.ones(k)
        if self.sides is None:
            return rows, signs
        return np.append(rows, self.contacts + self.sides.rows), np.append(signs, self.sides.signs)


@dataclass(frozen=True, eq=False)
class Settled:
    """Forces of all rows (states, rows), by how much the worst condition fails (states,), and what is not met."""

    forces: Floats
    residual: Floats
    met: Bools  # whether all conditions are, (states,)
    unmet: tuple[str, ...]  # names of those that are not in some state


def settled(
    problem: Problem, base: Floats, conditions: OneSided, sliding: Floats | None, start: Floats | None, solver: Solver
) -> Settled:
    """Find forces that meet all conditions.

    Parameters
    ----------
    base
        Values without forces, (states, rows).
    sliding
        Directions in which contacts slide already, (states, k, 2), zero where one does not.
    start
        Forces of all rows to start from, (states, rows).
    """
    rows, signs = problem.one_sided
    active = conditions.active
    while True:
        found = _in_groups(problem, base, conditions.offset, active, sliding, start, solver)
        if (active | np.isinf(conditions.offset)).all():
            return found
        y = base + problem.response(found.forces)
        broken = ~active & (signs * y[:, rows] + conditions.offset < -BROKEN)
        if not broken.any():
            return found
        active = active | broken


def _in_groups(
    problem: Problem, base: Floats, offset: Floats, active: Bools, sliding: Floats | None, start: Floats | None,
    solver: Solver,
) -> Settled:  # fmt: skip
    """Forces that meet the active conditions, of states that need room for as many limits at a time.

    There is room for 0, 1, 2, 4, 8 … limits, so that few programs are made; and a state's result is its own.
    """
    counts = active[:, problem.mu.shape[1] :].sum(axis=1)
    room = np.where(counts > 0, 1 << np.frexp(np.maximum(counts - 1.0, 0.0))[1], 0)
    rooms = np.unique(room)
    if rooms.size <= 1:
        return _forces(problem, base, offset, active, sliding, start, int(room.max(initial=0)), solver)
    whole = Settled(np.zeros_like(base), np.zeros(len(base)), np.zeros(len(base), np.bool_), ())
    unmet: dict[str, None] = {}
    for slots in rooms:
        s = np.flatnonzero(room == slots)
        slide, first = (None if a is None else a[s] for a in (sliding, start))
        some = replace(problem, mu=problem.mu[s], A=problem.A[s])
        found = _forces(some, base[s], offset[s], active[s], slide, first, int(slots), solver)
        whole.forces[s], whole.residual[s], whole.met[s] = found.forces, found.residual, found.met
        unmet |= dict.fromkeys(found.unmet)
    return replace(whole, unmet=tuple(unmet))


def _forces(
    problem: Problem, base: Floats, offset: Floats, active: Bools, sliding: Floats | None, start: Floats | None,
    slots: int, solver: Solver,
) -> Settled:  # fmt: skip
    """Forces that meet the active conditions, at most `slots` limits among them."""
    layout = _layout(problem, active, slots)
    A, b = layout.taken(problem.A), layout.signs * np.take_along_axis(base, layout.rows, axis=1)
    touch = layout.one_sided
    b[:, touch] += np.where(layout.on[:, touch], np.take_along_axis(offset, layout.sides, axis=1), 0.0)
    on, follow, k = layout.on.copy(), np.zeros((len(base), problem.mu.shape[1], AXES - 1)), problem.mu.shape[1]
    if sliding is not None and problem.friction:  # what slides has a known force beside that of its normal
        follow, moving = -problem.mu[:, :, None] * sliding, sliding != 0
        if problem.friction == "cone":
            moving |= moving.any(axis=2, keepdims=True)
        for t in range(1, AXES):
            A[:, :, : AXES * k : AXES] += A[:, :, t : AXES * k : AXES] * follow[:, None, :, t - 1]
            on[:, t : AXES * k : AXES] &= ~moving[:, :, t - 1]
    A *= on[:, :, None] & on[:, None, :]
    b *= on
    first = None if start is None else layout.signs * np.take_along_axis(start, layout.rows, axis=1)
    if first is not None:  # of a coordinate with two limits the force is that of one of them
        first[:, touch] = np.maximum(first[:, touch], 0.0)
    f, residual, failing = _solved(A, b, layout.conditions, layout.mu(problem), first, solver)
    if problem.friction:
        for t in range(1, AXES):
            f[:, t : AXES * k : AXES] += follow[:, :, t - 1] * f[:, : AXES * k : AXES]
    unmet = dict.fromkeys(problem.names[layout.name(s, row)] for s, row in np.argwhere(failing))
    worst = residual.max(axis=1, initial=0.0)
    return Settled(layout.spread(f, base.shape[1]), worst, np.asarray(~failing.any(axis=1)), tuple(unmet))


def _solved(
    A: Floats, b: Floats, conditions: Conditions, mu: Floats, start: Floats | None, solver: Solver
) -> tuple[Floats, Floats, Bools]:
    """Forces (states, n), residuals, and which rows are not met."""
    if not b.size:
        return b, b, np.zeros(b.shape, np.bool_)
    if solver.name == "gauss_seidel":
        return _swept(A, b, conditions, mu, start, solver)
    found = pivoting(A, b, conditions, mu)
    return found.f.copy(), found.residual, found.conflicts


def _swept(
    A: Floats, b: Floats, conditions: Conditions, mu: Floats, start: Floats | None, solver: Solver
) -> tuple[Floats, Floats, Bools]:
    """By Gauss-Seidel, which may not end."""
    found = gauss_seidel(A, b, conditions, mu, start=start, tolerance=solver.tolerance, iterations=solver.iterations)
    f, residual = found.f, found.residual
    lost = np.flatnonzero(residual.max(axis=1) > UNMET * solver.tolerance)
    if lost.size:  # forces that are worse than none lead nowhere
        none = complementarity_residual(A[lost], b[lost], np.zeros_like(b[lost]), conditions, mu[lost])
        worse = none.max(axis=1) < residual[lost].max(axis=1)
        f[lost[worse]], residual[lost[worse]] = 0.0, none[worse]
    return f, residual, residual > UNMET * solver.tolerance


@dataclass(frozen=True, eq=False)
class _Layout:
    """Which row of a problem each row that is solved for stands for, state by state: (states, n)."""

    conditions: Conditions
    rows: NDArray[np.intp]
    signs: Floats
    on: Bools  # rows of what does not touch have no force
    one_sided: NDArray[np.intp]  # the rows of one-sided conditions
    sides: NDArray[np.intp]  # which condition each of these is, (states, ·)
    contacts: int
    axes: int

    def taken(self, A: Floats) -> Floats:
        """The matrix of these rows."""
        if len(A) and self.one_sided.size == self.contacts // self.axes:  # without limits all states have the same
            rows = self.rows[0]
            return np.asarray(A[:, rows[:, None], rows])
        states = np.arange(len(A))[:, None, None]
        signs = self.signs[:, :, None] * self.signs[:, None, :]
        return np.asarray(A[states, self.rows[:, :, None], self.rows[:, None, :]] * signs)

    def spread(self, f: Floats, count: int) -> Floats:
        """Forces of all rows of the problem."""
        forces = np.zeros((len(f), count))
        np.add.at(forces, (np.arange(len(f))[:, None], self.rows), self.signs * f)
        return forces

    def mu(self, problem: Problem) -> Floats:
        """Coefficients of friction at the normals."""
        mu = np.zeros(self.rows.shape)
        mu[:, : self.contacts : self.axes] = problem.mu
        return mu

    def name(self, state: int, row: int) -> int:
        """The number of the name of a row."""
        if row < self.contacts:
            return row // self.axes
        k, slots = self.contacts // self.axes, self.one_sided.size
        sides = row - self.contacts
        if sides < slots - k:
            return int(self.sides[state, k + sides])
        return row - int(self.rows.shape[1])  # loops have the last names


def _layout(problem: Problem, active: Bools, slots: int) -> _Layout:
    """All contacts, some limits, and all loops."""
    states, k = problem.mu.shape
    contacts, axes, total = problem.contacts, problem.axes, problem.A.shape[1]
    rows_of, signs_of = problem.one_sided
    slots = min(slots, active.shape[1] - k)
    chosen = k + np.argsort(~active[:, k:], axis=1, kind="stable")[:, :slots]
    sides = np.concatenate([np.broadcast_to(np.arange(k), (states, k)), chosen], axis=1)
    closed = np.arange(total - problem.loops, total)
    rows = np.concatenate(
        [np.broadcast_to(np.arange(contacts), (states, contacts)), rows_of[chosen],
         np.broadcast_to(closed, (states, closed.size))], axis=1)  # fmt: skip
    signs = np.ones(rows.shape)
    signs[:, contacts : contacts + slots] = signs_of[chosen]
    on = np.ones(rows.shape, np.bool_)
    on[:, :contacts] = np.repeat(active[:, :k], axes, axis=1)
    on[:, contacts : contacts + slots] = np.take_along_axis(active, chosen, axis=1)
    one_sided = np.concatenate([axes * np.arange(k), contacts + np.arange(slots)])
    conditions = _conditions(k, problem.friction, slots, problem.loops)
    return _Layout(conditions, rows, signs, on, one_sided, sides, contacts, axes)


@lru_cache(maxsize=256)
def _conditions(contacts: int, friction: Literal["pyramid", "cone"] | None, limits: int, loops: int) -> Conditions:
    touch = Conditions.contacts(contacts, friction) if friction else Conditions.inequalities(contacts)
    return touch + Conditions.inequalities(limits) + Conditions.equalities(loops)
