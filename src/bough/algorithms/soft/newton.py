"""The accelerations under soft contact, by Newton's method on the tree.

For contact with the world the matrix M + Jᵀ W J has the pattern of M: a row of J is not zero only on the path from its
body to the root. So a Newton step factorises it as M itself is factorised, LᵀDL without fill-in, and what contacts add
to M is found as M is: 6 x 6 impedances of bodies that move together add up, towards the root. Contacts between two
bodies would fill in; the normals of a few are solved with one by one (`few_between.py`), and what is left is left to
conjugate gradients, for which the factor of all the rest is so good a preconditioner that they end after as many turns
as there are such rows that press, and one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from bough.algorithms.soft.axes import symmetric_times
from bough.algorithms.soft.contacts import Contacts
from bough.algorithms.soft.few_between import TAKEN, with_few_between
from bough.algorithms.soft.grip import Grip
from bough.algorithms.soft.rows import JointRow, WideRow
from bough.algorithms.soft.stiffened import ArticulatedBodies, PackedMatrix, Solve
from bough.algorithms.soft.world import WorldTree
from bough.factor import mul_H
from bough.scalar import (
    Array,
    Bool,
    Index,
    Scalar,
    absolute,
    both,
    dot,
    either,
    indexable,
    minus,
    negation,
    repeat,
    select,
)
from bough.scalar.lazy import cached_property
from bough.tree import Tree

__all__ = ["SoftProblem", "Solved"]

C = TypeVar("C")

SEARCHES, FLAT = 30, 0.01
"""A line search ends after so many turns, or where the slope is this part of what it was."""

LEFT, SPARE_TURNS = 1e-20, 1.0
"""Conjugate gradients end where the square of what is left is this part of what it was.

Single precision never gets there; they end, too, after as many turns as there are rows, and these: in exact arithmetic
rows of rank k take k + 1.
"""

FAR = 1e30

Scalars: TypeAlias = tuple[Scalar, ...]
Carried: TypeAlias = tuple[Scalars, Scalars, Scalars, Scalars, Scalar, Scalar]
Bracket: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar]
"""How far to go, from where to where that may be, and 1 where it is found."""


@dataclass(frozen=True)
class Solved:
    """Accelerations, Newton steps that were taken, and whether these were enough."""

    a: Scalars
    steps: Scalar
    enough: Bool


@dataclass(frozen=True)
class _Point:
    """Where Newton's method is: a, the gradient, steps so far, and what the last one gained."""

    a: Scalars
    g: Scalars
    steps: Scalar
    gain: Scalar


@dataclass(frozen=True)
class _Bend:
    """What rows lack after a way y, r = f - W y - f′, added up: r · y, yᵀ (W′ - W) y, and r · r."""

    slope: Scalar
    stiffer: Scalar
    square: Scalar

    def and_also(self, y: Sequence[Scalar], r: Sequence[Scalar], stiffer: Scalar) -> _Bend:
        """With rows more."""
        return _Bend(self.slope + dot(r, y), self.stiffer + stiffer, self.square + dot(r, r))


@dataclass(frozen=True)
class SoftProblem:
    """½ aᵀ M a - aᵀ τ + Σ s(J a - a_ref), to be minimised.

    A Newton step d solves (M + Jᵀ W J) d = -g, so that M d is known without being multiplied out: with y = J d, the
    gradient after α d is (1 - α) g + Jᵀ (f - α W y - f′), f and f′ the forces before and after. It vanishes after a
    whole step along which no row begins or ceases to press.
    """

    tree: Tree  # of velocities
    M: Array  # packed path rows
    matrix: PackedMatrix | ArticulatedBodies  # the same
    lack: Callable[[Sequence[Scalar]], Sequence[Scalar]]  # M a - τ
    world: WorldTree
    contacts: Contacts
    rows: Sequence[JointRow]
    wide: Sequence[WideRow] = ()

    def solve(self, start: Sequence[Scalar], scale: float, tolerance: float, iterations: int) -> Solved:
        """The accelerations, from a start on; `scale` makes gradients and gains comparable with the tolerance.

        Where nothing is held, one step from zero finds M⁻¹ τ.
        """
        none: Scalar = 0.0
        if not (self.contacts.layout.touches or self.rows or self.wide):
            right = [-value for value in self.lack((0.0,) * self.tree.n)]
            return Solved(self.matrix.factor(self.contacts, ())(right), none, True)
        square, held = (tolerance / scale) ** 2, self._held() > 0.0
        begin = tuple(select(held, value, 0.0) for value in start)
        first = _Point(begin, tuple(minus(self.lack(begin), self.pushed(begin))), none, none + 1.0)

        def done(point: _Point) -> Bool:
            flat = both(dot(point.g, point.g) <= square, either(held, point.steps > 0.0))
            return either(flat, negation(point.gain > tolerance))  # what is not a number does not become one

        end = repeat(iterations, lambda _, point: self._step(point, scale, tolerance, square), first, until=done)
        return Solved(end.a, end.steps, done(end))

    @cached_property
    def touching(self) -> Scalar:
        """The sum of the stiffness of all contacts: zero where nothing touches."""
        return self.contacts.stiffness(False) + self.contacts.stiffness(True)

    def _held(self) -> Scalar:
        """The sum of the stiffness of all rows: zero where nothing touches and no limit is near."""
        total = self.touching
        for D in [*(row.D for row in self.rows), *(row.D for row in self.wide)]:
            total = total + D
        return total

    def begin(self, a: Sequence[Scalar]) -> None:
        """Write x = J a - a_ref of contacts."""

        def begin(nothing: tuple[()]) -> tuple[()]:
            motions = self._motions(a)

            def rule(grip: Grip) -> None:
                grip.begin(*motions)

            self.contacts.each(rule)
            return nothing

        self._where_touching(begin, ())

    def pushed(self, a: Sequence[Scalar]) -> list[Scalar]:
        """Jᵀ f of all rows; x of contacts is written on the way."""

        def push(_: Scalars) -> Scalars:
            motions = self._motions(a)

            def rule(grip: Grip, forces: Array, nothing: tuple[()]) -> tuple[()]:
                grip.add_forces(grip.answer(grip.begin(*motions)).f, forces)
                return nothing

            return tuple(self.world.joint_forces(self.contacts.forces(rule, ())[0]))

        found = self._where_touching(push, self._none)
        pushed = list(found)
        for row in self.rows:
            pushed[row.place] = pushed[row.place] + row.answer(a[row.place]).f[0] * row.sign
        for wide in self.wide:
            force, _ = wide.answer(dot(wide.J, a))
            pushed = [p + j * force for p, j in zip(pushed, wide.J, strict=True)]
        return pushed

    def _motions(self, a: Sequence[Scalar]) -> tuple[Array, ...]:
        """What x = J a - a_ref of contacts is found from, in memory: accelerations of bodies, and their velocities.

        Where one rate B holds for all contacts, it is their sum a + B v alone.
        """
        contacts, motions = self.contacts, self.world.motions
        if contacts.rate is not None:
            together = [x + contacts.rate * v for x, v in zip(a, contacts.rates, strict=True)]
            return (contacts.in_memory(motions(together)),)
        return contacts.in_memory(motions(a)), contacts.in_memory(motions(contacts.rates), velocities=True)

    def times_M(self, a: Sequence[Scalar]) -> Scalars:
        """M a."""
        return self._entries(mul_H(self.tree, self.M, indexable(self.tree.n, a)))

    def _entries(self, values: Array) -> Scalars:
        return tuple(values[k] for k in range(self.tree.n))

    @property
    def _none(self) -> Scalars:
        return (0.0,) * self.tree.n

    def _where_touching(self, rule: Callable[[C], C], carry: C) -> C:
        """Do something with contacts; nothing is done where nothing touches in any state."""
        if not self.contacts.layout.touches:
            return carry
        touching = self.touching  # before the loop, where all others see it
        return repeat(1, lambda _, state: rule(state), carry, until=lambda _: touching <= 0.0)

    def _step(self, point: _Point, scale: float, tolerance: float, square: float) -> _Point:
        """One Newton step: the direction, how far to go, and the gradient there."""
        d, left = self._solver(point.a)([-value for value in point.g])
        slope, rest = dot(point.g, d), dot(left, d)
        bend = self._bend(point, d, None)
        alpha = self._line_search(point, d, slope, rest, bend)
        gain = absolute(alpha * slope) * (0.5 * scale)
        ends = either(both(bend.square <= 0.0, dot(left, left) <= square), negation(gain > tolerance))

        def after(_: Index, __: Scalars) -> Scalars:
            more = zip(point.g, left, self._lacks(point, d, alpha), strict=True)
            return tuple((1.0 - alpha) * g + alpha * u + r for g, u, r in more)

        g = repeat(1, after, self._none, until=lambda _: ends)
        return _Point(tuple(u + alpha * w for u, w in zip(point.a, d, strict=True)), g, point.steps + 1.0, gain)

    def _bend(self, point: _Point, d: Scalars, alpha: Scalar | None) -> _Bend:
        """What all rows lack after α d; after d itself, y = J d of contacts is written on the way."""
        contacts, none = self.contacts, 0.0  # type: Contacts, Scalar

        def project(bend: _Bend) -> _Bend:
            motions = contacts.in_memory(self.world.motions(d))
            return contacts.sum(lambda grip, sums: add(grip, sums, grip.project(motions)), bend)

        def add(grip: Grip, bend: _Bend, y: Sequence[Scalar]) -> _Bend:
            way = y if alpha is None else [alpha * value for value in y]
            _, r, stiffer = grip.lack(grip.read("x"), way, y)
            return bend.and_also(y, r, stiffer)

        bend = _Bend(none, none, none)
        if alpha is None:
            bend = self._where_touching(project, bend)
        else:
            bend = contacts.sum(lambda grip, sums: add(grip, sums, grip.read("y")), bend)
        for row in self.rows:
            rate, a = d[row.place], point.a[row.place]
            r, more = row.lack(a, rate if alpha is None else alpha * rate)
            bend = bend.and_also((rate * row.sign,), (r,), more * (rate * rate))
        for wide in [row for row in self.wide if row.bends]:
            rate, along = dot(wide.J, d), dot(wide.J, point.a)
            r, more = wide.lack(along, rate if alpha is None else alpha * rate)
            bend = bend.and_also((rate,), (r,), more * (rate * rate))
        return bend

    def _lacks(self, point: _Point, d: Scalars, alpha: Scalar) -> list[Scalar]:
        """Jᵀ r of what all rows lack after α d; x of contacts moves on."""

        def push(grip: Grip, forces: Array, nothing: tuple[()]) -> tuple[()]:
            y = grip.read("y")
            x, r, _ = grip.lack(grip.read("x"), [alpha * value for value in y], y)
            grip.write("x", x)
            grip.add_forces(r, forces)
            return nothing

        total = list(self._where_touching(
            lambda _: tuple(self.world.joint_forces(self.contacts.forces(push, ())[0])), self._none
        ))  # fmt: skip
        for row in self.rows:
            k = row.place
            total[k] = total[k] + row.lack(point.a[k], alpha * d[k])[0] * row.sign
        for wide in [row for row in self.wide if row.bends]:
            r, _ = wide.lack(dot(wide.J, point.a), alpha * dot(wide.J, d))
            total = [x + j * r for x, j in zip(total, wide.J, strict=True)]
        return total

    def stiff(self, a: Scalars) -> Callable[[Sequence[Scalar]], Scalars]:
        """What solves H x = b, where H = M + Jᵀ W J at the accelerations a, for which x of contacts was written."""
        solver = self._solver(a)
        return lambda b: solver(b)[0]

    def _solver(self, a: Scalars) -> Callable[[Sequence[Scalar]], tuple[Scalars, Scalars]]:
        """What solves H x = b at a; with x comes what is left, H x - b."""
        contacts = self.contacts
        precondition = self.matrix.factor(
            contacts, [(row.place, row.answer(a[row.place]).W[0][0]) for row in self.rows]
        )
        if not (contacts.layout.between or self.wide):
            return lambda b: (precondition(b), self._none)
        held: Scalar = float(len(self.wide))
        if contacts.layout.between:
            precondition, rows = with_few_between(precondition, contacts, self.world)
            held = held + rows

        def solution(b: Sequence[Scalar]) -> tuple[Scalars, Scalars]:
            first = precondition(b), self._none
            return repeat(
                1, lambda _, x: self._between(a, b, x[0], precondition, held), first, until=lambda _: held <= 0.0
            )

        return solution

    def _between(
        self, a: Scalars, b: Sequence[Scalar], z: Scalars, precondition: Solve, rows: Scalar
    ) -> tuple[Scalars, Scalars]:
        """The solution at a with all that would fill in, by conjugate gradients from zero, and what is left, H x - b.

        z is the solution of what the preconditioner knows, `rows` how many press beside that.
        """
        contacts, stiff = self.contacts, [wide.answer(dot(wide.J, a))[1] for wide in self.wide]

        def pushed(p: Sequence[Scalar]) -> list[Scalar]:
            motions = contacts.in_memory(self.world.motions(p))

            def push(grip: Grip, forces: Array, nothing: tuple[()]) -> tuple[()]:
                W, u = grip.answer(grip.read("x")).W, grip.along(motions)
                left = select(grip.read("y")[0] <= TAKEN, 0.0, W[0][0])  # the preconditioner knows of what is taken
                grip.add_forces(symmetric_times([[left], *W[1:]], u), forces)
                return nothing

            return self.world.joint_forces(contacts.forces(push, (), between=True, left=True)[0])

        def times(p: Sequence[Scalar]) -> list[Scalar]:
            total = pushed(p) if contacts.layout.between else list(self._none)
            for wide, D in zip(self.wide, stiff, strict=True):
                along = D * dot(wide.J, p)
                total = [x + j * along for x, j in zip(total, wide.J, strict=True)]
            return total

        none: Scalar = 0.0
        turns = rows + SPARE_TURNS
        r = tuple(b)
        rz = dot(r, z)
        limit = rz * LEFT

        def done(carry: Carried) -> Bool:
            return either(carry[4] <= limit, carry[5] >= turns)

        def turn(_: Index, carry: Carried) -> Carried:
            d, r, p, Tp, rz, taken = carry  # Tp: the matrix without these contacts, times p
            Hp = tuple(t + b for t, b in zip(Tp, times(p), strict=True))
            curvature = dot(p, Hp)
            alpha = rz / select(curvature > 0.0, curvature, 1.0)
            d = tuple(x + alpha * y for x, y in zip(d, p, strict=True))
            r = tuple(x - alpha * y for x, y in zip(r, Hp, strict=True))
            z = precondition(r)
            following = dot(r, z)
            beta = following / select(rz > 0.0, rz, 1.0)
            p = tuple(x + beta * y for x, y in zip(z, p, strict=True))
            Tp = tuple(x + beta * y for x, y in zip(r, Tp, strict=True))
            return d, r, p, Tp, following, taken + 1.0

        found, right, *_ = repeat(4 * self.tree.n, turn, (self._none, r, z, r, rz, none), until=done)
        return found, tuple(-value for value in right)

    def _line_search(self, point: _Point, d: Scalars, slope: Scalar, rest: Scalar, bend: _Bend) -> Scalar:
        """How far to go along d: where the slope vanishes, by Newton steps within a bracket, the first of which is d.

        The slope after α d is (1 - α) g · d + α `rest` and what rows lack, `bend` after d itself.
        """
        flat, none = absolute(slope) * FLAT, 0.0  # type: Scalar, Scalar

        def narrowed(alpha: Scalar, low: Scalar, high: Scalar, bend: _Bend) -> Bracket:
            first = (1.0 - alpha) * slope + alpha * rest + bend.slope
            second = rest - slope + bend.stiffer
            ends = absolute(first) <= flat
            low, high = select(first < 0.0, alpha, low), select(first < 0.0, high, alpha)
            newton = alpha - first / select(second > 0.0, second, 1.0)
            halved = select(high < FAR, 0.5 * (low + high), 2.0 * alpha)
            following = select(both(newton > low, newton < high), newton, halved)
            return select(ends, alpha, following), low, high, select(ends, 1.0, 0.0)

        def look(_: Index, carry: Bracket) -> Bracket:
            alpha, low, high, _ended = carry
            return narrowed(alpha, low, high, self._bend(point, d, alpha))

        begin = narrowed(none + 1.0, none, none + FAR, bend)
        return repeat(SEARCHES, look, begin, until=lambda carry: carry[3] > 0.0)[0]
