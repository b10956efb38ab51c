"""Forces of contacts, loops and joint limits on a mechanism: which of them act, and how strong they are.

A problem has rows of contacts, of loops, and of coordinates with limits, and the value y = A f + base of each row for
forces f. One-sided conditions, the normals of contacts and the sides of limits, say that sign × y + offset must not be
negative. Those that are not active have no force: their rows are masked, and where the forces of others break them
they become active, and forces are found anew. What slides has a known force beside that of its normal, which is folded
into the column of the normal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from bough.complementarity.conditions import FAR, Conditions
from bough.complementarity.demands import ZERO, Demands, gauss_seidel
from bough.complementarity.principal import ROUGHLY, SOLVED, principal
from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    absolute,
    array,
    blank,
    both,
    do_when,
    each,
    either,
    fill,
    indexable,
    keeping_loops,
    loop,
    maximum,
    negation,
    select,
)  # fmt: skip
from bough.scalar.tolerances import RESIDUAL

__all__ = [
    "UNMET", "ContactRows", "ForceProblem", "Found", "Solve", "by_guesses", "by_pivoting", "by_sweeps",
    "contact_forces",
]  # fmt: skip

TANGENTS = 2
"""Directions of friction of a contact."""

TIMES_ANEW = 12
"""How often forces are found anew because conditions without one are broken; few states need a second time."""

UNMET = 100.0
"""Rows that Gauss-Seidel leaves off by more than this many times its tolerance are not met."""

ENOUGH = 100
"""Sweeps that make about right forces of those of the step before."""


class ContactRows:
    """Which rows a problem has: of contacts, of loops, of coordinates with limits, and of dry friction, in this order.

    `sides` are the coordinate and the sign of each side of a limit: 1 for a lower, -1 for an upper one. Where contacts
    may slide already, in directions that are known, one `slides`. Rows of dry friction are `boxes`: their forces have
    bounds.
    """

    def __init__(
        self,
        contacts: int,
        friction: Literal["pyramid", "cone"] | None,
        loops: int,
        limits: int,
        sides: tuple[tuple[int, float], ...],
        slides: bool,
        boxes: int = 0,
    ) -> None:
        self.contacts, self.friction, self.loops, self.limits = contacts, friction, loops, limits
        self.sides, self.slides, self.boxes = sides, slides, boxes
        # rows of one contact, of all contacts, of loops with these, all but those with bounds, and all
        self.axes = 1 + TANGENTS if friction else 1
        self.touch = self.axes * contacts
        self.fixed = self.touch + loops
        self.bounded = self.fixed + limits
        self.count = self.bounded + boxes
        touch = Conditions.contacts(contacts, friction) if friction else Conditions.inequalities(contacts)
        held = touch + Conditions.equalities(loops) + Conditions.inequalities(limits)
        self.conditions = held + Conditions.boxes(boxes)  # of all rows, where each limit has one side


@dataclass(frozen=True, eq=False)
class ForceProblem:
    """What the forces of all rows follow from, in one state: scalars, or arrays of NumPy for the careful route."""

    rows: ContactRows
    A: Any
    base: Any
    offset: Any  # of contacts, and then of sides of limits
    active: Any  # of the same
    sliding: Any  # directions along the tangents of each contact, if contacts may slide already
    mu: Any  # of each contact
    most: Any = ()  # what each force with bounds may be
    sticks: Any = ()  # and whether there is one


class Found(NamedTuple):
    """Forces of all rows, by how much the worst condition fails, and whether that is no solution."""

    forces: Array
    worst: Scalar
    doubtful: Bool


Solve: TypeAlias = Callable[[Demands, Any], Found]
"""From what is demanded and where to start."""


def by_pivoting(demands: Demands, start: Array | None, brief: bool = False) -> Found:
    """Exact forces, those of equalities as small as they can be. Good forces to start from save most of the guesses."""
    found = principal(demands, start, ROUGHLY, brief)
    return Found(found["whole"], _worst(found["whole"], demands.n), found["status"][0] < SOLVED)


def by_guesses(demands: Demands, start: Array) -> Found:
    """Exact forces if a few guesses find them, else better ones than those given: the next step starts from there."""
    f, worst, unsolved = by_pivoting(demands, start, brief=True)

    def sweep() -> None:
        fill(f, demands.n, lambda i: start[i])
        loop(ENOUGH, lambda _, change: demands.sweep(f), ZERO)

    do_when(unsolved, sweep)
    return Found(f, worst, False)


def by_sweeps(stop: Array, demands: Demands, start: Array) -> Found:
    """Forces after sweeps (see `gauss_seidel`), or none where those are worse than none, which lead nowhere."""
    demands.on = None  # rows that are off have no entries: they may be swept, which is quicker than to skip them
    n, none = demands.n, array(2)
    found = gauss_seidel(demands, start, stop)["whole"]
    none[0] = stop[0]
    worst, least = _worst(found, n), _worst(gauss_seidel(demands, array(n), none)["whole"], n)
    unmet = worst > UNMET * stop[0]
    worse = both(unmet, least < worst)
    fill(found, n, lambda i: select(worse, 0.0, found[i]))
    return Found(found, select(worse, least, worst), unmet)


def _worst(whole: Array, n: int) -> Scalar:
    """By how much the worst row fails, of what `principal` and `gauss_seidel` return."""
    return loop(n, lambda i, most: maximum(most, whole[i + 2 * n]), ZERO)


def contact_forces(
    given: ForceProblem, solve: Solve = by_pivoting, start: Array | None = None, times: int = TIMES_ANEW
) -> Found:
    """Find forces that meet all conditions, from initial forces, with a bounded number of attempts."""
    rows = given.rows
    with keeping_loops():
        problem = _Problem(given)
        if start is not None:
            fill(problem.forces, rows.count, indexable(rows.count, start).__getitem__)
        from_nothing = solve is by_pivoting and start is None

        def again(_: Index, carry: tuple[Scalar, Scalar, Scalar]) -> tuple[Scalar, Scalar, Scalar]:
            worst, unsolved = problem.solve(solve, from_nothing)
            return problem.take_in_broken(), worst, select(unsolved, 1.0, 0.0)

        begin: tuple[Scalar, Scalar, Scalar] = (1.0, 0.0, 0.0)
        broken, worst, unsolved = loop(times, again, begin, until=lambda carry: either(carry[0] <= 0.0, carry[2] > 0.0))
    return Found(problem.forces, worst, either(unsolved > 0.0, broken > 0.0))


class _Problem:
    """A problem in memory: its numbers, which conditions are active, and the forces of all rows."""

    def __init__(self, given: ForceProblem) -> None:
        self.rows = rows = given.rows
        n, k = rows.count, rows.contacts
        self.A, self.base = indexable(n * n, given.A), indexable(n, given.base)
        self.offset = indexable(k, given.offset)
        self.touching = indexable(k, [select(on, 1.0, 0.0) for on in given.active[:k]])
        self.friction, self.forces = array(n), array(n)
        for c in range(k):
            self.friction[c * rows.axes] = given.mu[c]
        self.follow = array(TANGENTS * k)  # the force along each tangent of what slides, by that of the normal
        self.slips = array(TANGENTS * k)  # 1 where a contact slides along a tangent
        if rows.slides:
            self._read_sliding(given.sliding, given.mu)
        # of limits: the offsets of the lower and the upper side, and the side that is active, or 0
        self.low, self.up, self.side = array(rows.limits), array(rows.limits), array(rows.limits)
        self._read_limits(given.base, given.offset[k:], given.active[k:])
        self.bounds = array(2 * n) if rows.boxes else None
        self.sticks = indexable(rows.boxes, [select(on, 1.0, 0.0) for on in given.sticks])
        for place, most in enumerate(given.most, start=rows.bounded):
            if self.bounds is not None:
                self.bounds[2 * place], self.bounds[2 * place + 1] = -most, most

    def _read_sliding(self, sliding: Sequence[Scalar], mu: Sequence[Scalar]) -> None:
        for c in range(self.rows.contacts):
            along = [sliding[c * TANGENTS + t] for t in range(TANGENTS)]
            slips = [either(x < 0.0, x > 0.0) for x in along]
            if self.rows.friction == "cone":  # along both or not at all
                slips = [either(*slips)] * TANGENTS
            for t in range(TANGENTS):
                self.follow[c * TANGENTS + t] = -mu[c] * along[t]
                self.slips[c * TANGENTS + t] = select(slips[t], 1.0, 0.0)

    def _read_limits(self, base: Sequence[Scalar], offset: Sequence[Scalar], active: Sequence[Bool]) -> None:
        sides, none = dict(zip(self.rows.sides, zip(offset, active, strict=True), strict=True)), (FAR, False)
        for c in range(self.rows.limits):
            (low, below), (up, above) = (sides.get((c, sign), none) for sign in (1.0, -1.0))
            y = base[self.rows.fixed + c]
            nearer = y + low <= up - y  # where both are active
            self.low[c], self.up[c] = low, up
            lower = both(below, either(nearer, negation(above)))
            self.side[c] = select(lower, 1.0, select(above, -1.0, 0.0))

    def solve(self, solve: Solve, from_nothing: bool) -> tuple[Scalar, Bool]:
        """Find the forces of all rows that are active; returns the worst failure, and whether they are no solution."""
        rows, n = self.rows, self.rows.count
        scale, on = self._scale()
        start = fill(blank(n), n, lambda i: scale[i] * self.forces[i])
        fill(Part(start, rows.fixed), rows.limits, lambda i: maximum(start[i + rows.fixed], 0.0))
        matrix, b = self._matrix(scale), self._right(scale)
        demands = Demands(rows.conditions, matrix, b, self.friction, bounds=self.bounds, on=on)
        f, worst, unsolved = solve(demands, None if from_nothing else start)
        fill(self.forces, n, lambda i: scale[i] * f[i])

        def slide(c: Index) -> None:
            for t in range(TANGENTS):
                tangent = c * rows.axes + (1 + t)
                self.forces[tangent] = self.forces[tangent] + self.follow[c * TANGENTS + t] * f[c * rows.axes]

        if rows.slides and rows.friction:
            each(rows.contacts, slide)
        return worst, unsolved

    def take_in_broken(self) -> Scalar:
        """Make conditions active that are broken and have no force; returns how many."""
        rows = self.rows

        def contact(c: Index, so_far: Scalar) -> Scalar:
            idle = both(self.touching[c] <= 0.0, self.offset[c] < FAR)  # what is far has no row to be looked at
            broken = both(idle, self._value(c * rows.axes) + self.offset[c] < -RESIDUAL)
            self.touching[c] = select(broken, 1.0, self.touching[c])
            return so_far + select(broken, 1.0, 0.0)

        def limit(c: Index, so_far: Scalar) -> Scalar:
            y, side = self._value(c + rows.fixed), self.side[c]
            below = both(both(side <= 0.0, self.low[c] < FAR), y + self.low[c] < -RESIDUAL)
            above = both(both(side >= 0.0, self.up[c] < FAR), self.up[c] - y < -RESIDUAL)
            self.side[c] = select(below, 1.0, select(above, -1.0, side))
            return so_far + select(either(below, above), 1.0, 0.0)

        return loop(rows.limits, limit, loop(rows.contacts, contact, ZERO))

    def _value(self, i: Index) -> Scalar:
        n = self.rows.count
        start: Scalar = self.base[i]
        return loop(n, lambda j, y: y + self.A[i * n + j] * self.forces[j], start)

    def _scale(self) -> tuple[Array, Array]:
        """1 for rows with forces, -1 for upper limits, 0 for rows that are off or follow others; and which are on."""
        rows, scale, on = self.rows, blank(self.rows.count), blank(self.rows.count)

        def touch(c: Index) -> None:
            touching, normal = self.touching[c], c * rows.axes
            scale[normal] = on[normal] = touching  # a contact is on as a whole, sliding or not
            for t in range(rows.axes - 1):
                scale[normal + (1 + t)] = select(self.slips[c * TANGENTS + t] > 0.0, 0.0, touching)
                on[normal + (1 + t)] = touching

        each(rows.contacts, touch)
        fill(Part(scale, rows.touch), rows.loops, lambda i: 1.0)
        fill(Part(scale, rows.fixed), rows.limits, lambda i: self.side[i])
        fill(Part(scale, rows.bounded), rows.boxes, lambda i: self.sticks[i])
        fill(Part(on, rows.touch), rows.count - rows.touch, lambda i: absolute(scale[i + rows.touch]))
        return scale, on

    def _matrix(self, scale: Array) -> Array:
        """A of the rows that get forces, where what slides follows the normals."""
        rows, n = self.rows, self.rows.count
        matrix = array(n * n)

        def row(i: Index) -> None:
            place = i * n
            fill(Part(matrix, place), n, lambda j: self.A[place + j])

            def folded(c: Index) -> None:
                normal = place + c * rows.axes
                for t in range(TANGENTS):
                    matrix[normal] = matrix[normal] + matrix[normal + (1 + t)] * self.follow[c * TANGENTS + t]

            if rows.slides and rows.friction:
                each(rows.contacts, folded)
            fill(Part(matrix, place), n, lambda j: matrix[place + j] * (scale[i] * scale[j]))

        each(n, lambda i: do_when(absolute(scale[i]) > 0.0, lambda: row(i)))
        return matrix

    def _right(self, scale: Array) -> Array:
        """The values of rows without forces, with offsets, and zero where there is to be no force."""
        rows, n = self.rows, self.rows.count
        b = fill(blank(n), n, lambda i: self.base[i] * scale[i])

        def touch(c: Index) -> None:
            normal = c * rows.axes
            b[normal] = b[normal] + select(self.touching[c] > 0.0, self.offset[c], 0.0)

        def limit(c: Index) -> None:
            offset = select(self.side[c] > 0.0, self.low[c], select(self.side[c] < 0.0, self.up[c], 0.0))
            b[c + rows.fixed] = b[c + rows.fixed] + offset

        each(rows.contacts, touch)
        each(rows.limits, limit)
        return b
