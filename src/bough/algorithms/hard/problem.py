"""The impulses of a step with hard contact, limits, dry friction and loops: which problem they solve, its solution.

Velocities after a step are v⁺ = v + H⁻¹ (dt force + Jᵀ p), where H is the mass matrix, with dt times what damps added.
First bodies bounce: of contacts that close within the step at more than a crawl, those with restitution are struck, all
that approach at a time, and again if that lets others approach (generalised reflections: Smith, Kaufman, Vouga,
Tamstorf and Grinspun 2012). So the last ball of a cradle flies off and the others stay. Then the impulses of the step
are found, so that no gap closes further than to zero (Stewart and Trinkle 1996).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bough.algorithms.constraint_rows import Terms
from bough.algorithms.hard.contacts import AXES, HardContacts
from bough.algorithms.hard.scene import KEPT, HardScene, hard_rows
from bough.algorithms.joint_bounds import bounded_rows
from bough.algorithms.limits import limit_gaps, limit_rows, limit_sides
from bough.algorithms.loops import constraint_terms
from bough.algorithms.response import TreeResponse, response
from bough.algorithms.soft.joint_rows import held_force
from bough.algorithms.soft.scene import FrictionRow
from bough.algorithms.soft.world import WorldTree
from bough.complementarity import FAR, ForceProblem, by_guesses, contact_forces
from bough.complementarity.contact_forces import Found
from bough.model import Mechanism
from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    Table,
    absolute,
    array,
    blank,
    both,
    do_when,
    each,
    either,
    fill,
    gather,
    indexable,
    inner,
    keeping_loops,
    loop,
    maximum,
    minimum,
    negation,
    select,
    sqrt,
)
from bough.scalar.tolerances import TOUCHING

__all__ = ["CRAWL", "MOST_IMPACTS", "HardProblem", "Impulses"]

CRAWL = 1e-3
"""Bodies that approach more slowly than this (m/s), beyond what forces make of their velocity in a step, do not
bounce."""

MOST_IMPACTS = 64
"""So many times bodies strike each other within a step at most; what approaches then is brought to rest."""

GIVE = 1e-3
"""By how much rows give way to impulses that differ from those of the step before, as a part of what an impulse does
along its own row: so what rests does not creep."""

SHORT_LEVER = 0.1
"""A push along the normal that moves the point of a contact this little that way, as a part of any way, is one against
a joint. So is one of a loop along which its joints move this little."""

HEAVIEST = 1e4
"""So many times what forces do in a step a contact carries with a short lever. What it gathers above that, as it pushed
against a joint, must not come free all at once when the lever grows."""

LEAST_PART_OF_STEP = 1e-6
"""The least part of a step in which gaps close."""

ZERO, ONE = 0.0, 1.0  # type: Scalar, Scalar

QUICK = 1e4
"""Accelerations of coordinates (rad/s², m/s²) with which they are expected to near their limits at most."""


@dataclass(frozen=True)
class Impulses:
    """Impulses of all rows in a step; without impacts; and how much of it had passed when something struck."""

    p: Array
    held: Array
    passed: Scalar


class HardProblem:
    """The rows of contacts, loops, limits and dry friction in a state, and what a step of time demands of them.

    Arrays have an entry for each row, or one for each slot of contacts: `on` says which rows there are, `u` their rates
    before the step, `d` what forces change them by, `gaps`, `mu` and `restitution` are those of contacts. `offset` of
    sides of limits is what their rates must not be below, with the other sign, and `errors` are those of loops.
    """

    def __init__(
        self, m: Mechanism, scene: HardScene, q: Array, v: Array, dt: Scalar, world: WorldTree, H: Array, force: Array,
        friction: Scalar | None, bounce: Scalar | None,
    ) -> None:  # fmt: skip
        n, tree = m.model.nv, m.coupling.dof_tree
        self.rows, self._scene = hard_rows(m.model, scene), scene
        rows = self.rows
        self.dt, self.rate, self.n = dt, minimum(scene.rate, 1.0 / dt), n
        self.contacts = HardContacts(scene, world, [v[k] for k in range(n)], dt, friction, bounce)
        with keeping_loops():
            J = array(rows.count * n)
        self.contacts.fill_rows(J, n)
        closed = constraint_terms(m, q, v) if rows.loops else Terms(0, [], [], [], [], [])
        for k in range(rows.loops * n):
            J[rows.touch * n + k] = closed.matrix[k]
        # closing a loop along what joints hardly move would take huge speeds, as where axes are not quite parallel
        levers = [closed.levers[r] / SHORT_LEVER for r in range(rows.loops)]
        self.errors = [closed.errors[r] * minimum(1.0, lever * lever) for r, lever in enumerate(levers)]
        near = limit_rows(m, q, v, Part(J, rows.fixed * n)).rates if rows.limits else []
        self._side_gaps = limit_gaps(m, q) if rows.limits else []
        places = [rub.v if isinstance(rub, FrictionRow) else n + rub.row for rub in scene.frictions]
        self._most = [held_force(m, rub) if isinstance(rub, FrictionRow) else rub.most for rub in scene.frictions]
        bounded_rows(m, tuple((k, math.inf) for k in places), q, None, Part(J, rows.bounded * n))
        self.limits_on = self._near_limits(m, near)
        with keeping_loops():
            self.on = self._rows_on()
            H, force, self.v = indexable(tree.packed_size, H), indexable(n, force), indexable(n, v)
            self.response: TreeResponse = response(tree, H, J, rows.count, self.on)
            self._stiff = fill(array(rows.count), rows.count, lambda i: self.response.A[i * (rows.count + 1)])
            self._levers = fill(array(rows.contacts), rows.contacts, self._lever)
            half = self.response.half(force)
            self.half = fill(array(n), n, lambda k: half[k] * dt)
            self.u, self.d = array(rows.count), array(rows.count)

            def rates(i: Index) -> None:
                self.u[i] = inner(Part(J, i * n), self.v, n)
                self.d[i] = inner(Part(self.response.Z, i * n), self.half, n)

            each(rows.count, lambda i: do_when(self.on[i] > 0.0, partial(rates, i)))
            self._before = fill(blank(rows.count), rows.count, self.u.__getitem__)

    def _give_way(self, part: Scalar) -> None:
        """Let rows give way, so that their impulses are determined however many hold the same body."""
        A, n = self.response.A, self.rows.count

        def row(i: Index) -> None:
            A[i * (n + 1)] = self._stiff[i] * (1.0 + part)

        each(n, row)

    def _near_limits(self, m: Mechanism, rates: list[Scalar]) -> list[Bool]:
        """Which sides of limits could be reached within the step."""
        if not self.rows.limits:
            return []
        sides, near = limit_sides(m.model), self.dt * self.dt * QUICK + TOUCHING
        places = zip(sides.rows.tolist(), sides.signs.tolist(), self._side_gaps, strict=True)
        return [gap + self.dt * (sign * rates[row]) <= near for row, sign, gap in places]

    def _rows_on(self) -> Array:
        """1 for rows that may have an impulse."""
        rows, on = self.rows, array(self.rows.count)

        def contact(c: Index) -> None:
            for t in range(AXES):
                on[c * AXES + t] = self.contacts.on[c]

        each(rows.contacts, contact)
        for i in range(rows.loops):
            on[rows.touch + i] = 1.0
        for (row, _), near in zip(rows.sides, self.limits_on, strict=True):
            on[rows.fixed + row] = select(near, 1.0, on[rows.fixed + row])
        for i in range(rows.bounded, rows.count):
            on[i] = 1.0
        return on

    # ---- the solution --------------------------------------------------------------------------------------------

    @property
    def overfull(self) -> Bool:
        """Whether more contacts touch than there is room for."""
        return self.contacts.count > self.rows.contacts + 0.5

    def _gap_left(self, gap: Scalar, rate: Scalar, passed: Scalar) -> Scalar:
        """The gap after a part of the step has passed, from that at its beginning and the rate before it."""
        return gap + passed * self.dt * rate

    def _time_left(self, passed: Scalar) -> Scalar:
        """The time that is left of the step after a part of it."""
        return self.dt * maximum(1.0 - passed, LEAST_PART_OF_STEP)

    def _offsets(self, passed: Scalar) -> tuple[list[Scalar], list[Bool]]:
        """What normals of contacts and sides of limits must not be below, negated, and which of them may push.

        A part of the step may have `passed` with the velocities before it.
        """
        rows = self.rows
        offset: list[Scalar] = []
        active: list[Bool] = []
        left = self._time_left(passed)
        on, gaps = self.contacts.on, self.contacts.gaps
        conditions = [(c * AXES, 1.0, on[c] > 0.0, gaps[c], self.rate * self._levers[c]) for c in range(rows.contacts)]
        for (row, sign), near, gap in zip(rows.sides, self.limits_on, self._side_gaps, strict=True):
            conditions.append((rows.fixed + row, sign, near, gap, self.rate))
        for row, sign, near, gap, rate in conditions:
            rest = self._gap_left(gap, self._before[row] * sign, passed)
            least = select(near, select(rest > 0.0, rest / left, rate * rest), FAR)
            y = (self.u[row] + self.d[row]) * sign
            offset.append(least)
            active.append(both(near, either(rest <= TOUCHING, y + least <= 0.0)))
        return offset, active

    def _lever(self, c: Index) -> Scalar:
        """How much a push along the normal of a contact moves its point that way, as a part of any way, from 0 to 1.

        Where the way from a joint to the point is along the normal, the joint all but holds the point, and a push would
        turn the body ever faster. It moves the point by u along the normal, and by no more than u (A_tt / A_nn)^½ along
        a tangent t.
        """
        normal, *tangents = (self._stiff[c * AXES + t] for t in range(AXES))
        most: Scalar = normal
        for x in tangents:
            most = maximum(most, x)
        part: Scalar = sqrt(normal / select(most > 0.0, most, 1.0))
        return part

    def _carried(self, i: int, fastest: Scalar, start: Array) -> Scalar:
        """What the impulse of the step before does along its own row; with a short lever only a part of it.

        Forces change rates of contacts by `fastest` at most.
        """
        rate: Scalar = self._stiff[i] * start[i]
        if i >= self.rows.touch:
            return rate
        lever = self._levers[i // AXES]
        most = select(lever < SHORT_LEVER, HEAVIEST * fastest * lever, FAR)
        bounded: Scalar = maximum(minimum(rate, most), -most)
        return bounded

    def solve(self, start: Array) -> Impulses:
        """Impulses of impacts and of the step, round after round; the last round is the step itself.

        It starts from those of the step before, of all rows.
        """
        rows, n = self.rows, self.rows.count
        if not n:
            return Impulses([], [], 0.0)
        last = Table("last", (np.arange(MOST_IMPACTS) == MOST_IMPACTS - 1).astype(float))
        with keeping_loops():
            p, held, hits, approach = array(n), array(n), array(rows.contacts), array(rows.contacts)
            busy: Scalar = loop(n, lambda i, total: total + self.on[i], ZERO)
            passed = self._part_passed()

            def turn(k: Index, carry: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
                _, struck = carry
                before = select(struck > 0.0, passed, 0.0)
                some = self._strike(hits, approach, before, gather(last, k))
                forces = self._impulses(some > 0.0, hits, approach, before, start).forces

                def add(i: Index) -> None:
                    p[i], held[i] = p[i] + forces[i], forces[i]
                    self.u[i] = self.u[i] + inner(Part(self.response.A, i * n), forces, n)

                each(n, lambda i: do_when(self.on[i] > 0.0, partial(add, i)))
                return select(some > 0.0, 0.0, 1.0), maximum(struck, some)

            begin: tuple[Scalar, ...] = (select(busy > 0.0, 0.0, 1.0), 0.0)
            _, struck = loop(MOST_IMPACTS, turn, begin, until=lambda carry: carry[0] > 0.0)
        return Impulses(p, held, select(struck > 0.0, passed, 0.0))

    def _part_passed(self) -> Scalar:
        """How much of the step has passed when the first contact closes, from 0 to 1."""

        def sooner(c: Index, least: Scalar) -> Scalar:
            gap, way = self.contacts.gaps[c], -self.dt * self.u[c * AXES]
            closes = both(self.contacts.on[c] > 0.0, way > gap + TOUCHING)
            return minimum(least, select(closes, maximum(gap, 0.0) / select(closes, way, 1.0), 1.0))

        least: Scalar = loop(self.rows.contacts, sooner, ONE)
        return least

    def _strike(self, hits: Array, approach: Array, passed: Scalar, last: Scalar) -> Scalar:
        """Mark the contacts that are struck, with the velocity at which they are; returns how many.

        A part of the step may have `passed`: what was struck then touches, and is struck again where it approaches.
        Velocities are those in the middle of steps: forces change them for another half until the step begins.
        """
        left = self._time_left(passed)

        def contact(c: Index, count: Scalar) -> Scalar:
            u, d = self.u[c * AXES], self.d[c * AXES]
            gap = self._gap_left(self.contacts.gaps[c], self._before[c * AXES], passed)
            fast = both(u < -CRAWL - maximum(-d, 0.0), self.contacts.restitution[c] > 0.0)
            closes = gap + left * (u + minimum(d, 0.0)) <= TOUCHING
            hit = both(both(fast, closes), both(self.contacts.on[c] > 0.0, last <= 0.0))
            part = passed + minimum(maximum(gap, 0.0) / select(hit, -self.dt * u, 1.0), 1.0 - passed)
            hits[c] = select(hit, 1.0, 0.0)
            approach[c] = minimum(u + (part + 0.5) * d, 0.0)
            more: Scalar = count + hits[c]
            return more

        count: Scalar = loop(self.rows.contacts, contact, ZERO)
        return count

    def _impulses(self, struck: Bool, hits: Array, approach: Array, passed: Scalar, start: Array) -> Found:
        """Impulses of a round: of contacts that are struck, if there are some, else of the step."""
        rows = self.rows
        fastest: Scalar = loop(rows.touch, lambda i, most: maximum(most, absolute(self.d[i])), ZERO)
        base: list[Scalar] = []
        for i in range(rows.count):
            moving: Scalar = self.u[i]
            if i < rows.touch and i % AXES == 0:
                c = i // AXES
                moving = select(hits[c] > 0.0, (1.0 + self.contacts.restitution[c]) * approach[c], moving)
            more = self.rate * self.errors[i - rows.touch] if rows.touch <= i < rows.fixed else 0.0
            less = GIVE * self._carried(i, fastest, start)
            base.append(select(struck, moving, self.u[i] + self.d[i] + more - less))
        offset, active = self._offsets(passed)
        for k in range(len(offset)):
            hit: Bool = hits[k] > 0.0 if k < rows.contacts else False
            offset[k] = select(struck, select(hit, 0.0, FAR), offset[k])
            active[k] = either(both(struck, hit), both(negation(struck), active[k]))
        self._give_way(select(struck, 0.0, GIVE))
        some = fill(array(rows.count), rows.count, lambda i: select(struck, 0.0, start[i]))
        most = [self.dt * force for force in self._most if force is not None]
        sticks = [negation(struck)] * len(most)
        problem = ForceProblem(rows, self.response.A, base, offset, active, [], self.contacts.mu, most, sticks)
        return contact_forces(problem, by_guesses, some)

    def impulses_of_before(self, before: Any) -> Array:
        """Impulses of all rows to start from, from what the step before left."""
        rows, first = self.rows, KEPT * self._scene.kept
        with keeping_loops():
            start, others = array(rows.count), rows.count - rows.touch
            before = indexable(first + others, before)
            if rows.contacts:
                fill(start, rows.touch, self.contacts.slot_impulses(before).__getitem__)
            fill(Part(start, rows.touch), others, Part(before, first).__getitem__)
        return start

    def memory(self, impulses: Impulses) -> list[Scalar]:
        """What the next step starts from."""
        rows, first, held = self.rows, KEPT * self._scene.kept, impulses.held
        with keeping_loops():
            touch = self.contacts.to_remember(held) if rows.contacts else []
        return [*(touch[k] for k in range(first)), *(held[i] for i in range(rows.touch, rows.count))]

    def left_over(self, impulses: Impulses, start: Array) -> Scalar:
        """By how much rows gave way to the change of impulses, as a part of the fastest rate that forces had to stop.

        It is zero where a solution that starts from the impulses finds them again.
        """

        def row(i: Index, carry: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
            most, fastest = carry
            way, rate = self._stiff[i] * absolute(impulses.held[i] - start[i]), absolute(self._before[i])
            here = self.on[i] > 0.0
            rate = select(here, rate + absolute(self.d[i]), 0.0)
            return maximum(most, select(here, way, 0.0)), maximum(fastest, rate)

        if not self.rows.count:
            return 0.0
        begin: tuple[Scalar, Scalar] = (0.0, 0.0)
        with keeping_loops():
            most, fastest = loop(self.rows.count, row, begin)
        return GIVE * most / select(fastest > 0.0, fastest, 1.0)

    def velocities(self, impulses: Impulses) -> list[Scalar]:
        """Velocities after the step."""
        with keeping_loops():
            change = self.response.motion(impulses.p, self.half) if self.rows.count else self.response.free(self.half)
        return [self.v[k] + change[k] for k in range(self.n)]
