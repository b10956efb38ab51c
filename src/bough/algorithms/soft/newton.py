"""The accelerations under soft contact, by Newton's method on the tree.

For contact with the world the matrix M + Jᵀ W J has the pattern of M: a row of J is not zero only on the path from its
body to the root. So a Newton step factorises it as M itself is factorised, LᵀDL without fill-in, and what contacts add
to M is found as M is: 6 x 6 impedances of bodies that move together add up, towards the root. Contacts between two
bodies would fill in; they are left to conjugate gradients, for which the factor of all the rest is so good a
preconditioner that they end after as many turns as there are such rows that press, and one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bough.algorithms.soft.contacts import Contacts
from bough.algorithms.soft.grip import Grip
from bough.algorithms.soft.law import Answer, one_sided, rubbing
from bough.algorithms.soft.world import WorldTree
from bough.factor import ltdl, mul_H, solve
from bough.scalar import (
    Array,
    Bool,
    Index,
    Scalar,
    absolute,
    array,
    both,
    dot,
    either,
    indexable,
    minus,
    repeat,
    select,
)
from bough.scalar.lazy import cached_property
from bough.tree import Tree

__all__ = ["JointRow", "SoftProblem", "Solved", "WideRow", "diagonal_place"]

SEARCHES = 30
"""Turns of a line search at most."""

FLAT = 0.01
"""A line search ends where the slope is this part of what it was."""

LEFT = 1e-20
"""Conjugate gradients end where the square of what is left is this part of what it was."""

FAR = 1e30

Scalars: TypeAlias = tuple[Scalar, ...]
Carried: TypeAlias = tuple[Scalars, Scalars, Scalars, Scalars, Scalar]


@dataclass(frozen=True)
class JointRow:
    """A condition on one velocity: a limit, for which `sign` says which side, or dry friction up to `friction`."""

    place: int
    sign: float
    D: Scalar
    reference: Scalar
    friction: float | None = None

    def answer(self, a: Scalar) -> Answer:
        """Force and stiffness at an acceleration."""
        x = a * self.sign - self.reference
        return one_sided(x, self.D) if self.friction is None else rubbing(x, self.D, self.friction)


@dataclass(frozen=True)
class WideRow:
    """A row on several velocities: J (n), stiffness, reference acceleration.

    Of a loop or a law between coordinates it always holds, of a limit it pushes and does not pull (`one_sided`).
    """

    J: Scalars
    D: Scalar
    reference: Scalar
    one_sided: bool = False

    def answer(self, along: Scalar) -> tuple[Scalar, Scalar]:
        """Its force and its stiffness at an acceleration J a."""
        x = along - self.reference
        D = select(x < 0.0, self.D, 0.0) if self.one_sided else self.D
        return -(D * x), D


@dataclass(frozen=True)
class Solved:
    """Accelerations, Newton steps that were taken, and whether these were enough."""

    a: Scalars
    steps: Scalar
    enough: Bool


@dataclass(frozen=True)
class _Point:
    """Where Newton's method is: a, M a, the gradient, steps so far, and what the last one gained."""

    a: Scalars
    Ma: Scalars
    g: Scalars
    steps: Scalar
    gain: Scalar


@dataclass(frozen=True)
class SoftProblem:
    """½ aᵀ M a - aᵀ τ + Σ s(J a - a_ref), to be minimised."""

    tree: Tree  # of velocities
    M: Array  # packed path rows
    tau: Sequence[Scalar]
    world: WorldTree
    contacts: Contacts
    rows: Sequence[JointRow]
    wide: Sequence[WideRow] = ()

    def solve(self, start: Sequence[Scalar], scale: float, tolerance: float, iterations: int) -> Solved:
        """The accelerations, from a start on; `scale` makes gradients and gains comparable with the tolerance."""
        none: Scalar = 0.0
        factor = ltdl(self.tree, self.M)
        free = self._entries(solve(self.tree, factor, indexable(self.tree.n, self.tau), unit=True))
        held = self._held()
        if not (self.contacts.layout.touches or self.rows or self.wide):
            return Solved(free, none, True)
        square = (tolerance / scale) ** 2

        def search(_: Index, __: tuple[Scalars, Scalar, Scalar]) -> tuple[Scalars, Scalar, Scalar]:
            Ma = self.times_M(start)
            self.begin(start)
            first = _Point(tuple(start), Ma, self._gradient(start, Ma, None), none, none + 1.0)
            end = repeat(iterations, lambda _, point: self._step(point, scale), first, until=done)
            return end.a, end.steps, select(done(end), 1.0, 0.0)

        def done(point: _Point) -> Bool:
            return either(dot(point.g, point.g) <= square, point.gain <= tolerance)

        a, steps, enough = repeat(1, search, (free, none, none + 1.0), until=lambda _: held <= 0.0)
        return Solved(a, steps, enough > 0.0)

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

    def begin(self, start: Sequence[Scalar]) -> None:
        """Write x = J a - a_ref of contacts."""

        def begin() -> None:
            motions = self.contacts.in_memory(self.world.motions(start))
            self.contacts.each(lambda grip: grip.write("x", minus(grip.along(motions), grip.read("reference"))))

        self._do_where_touching(begin)

    def times_M(self, a: Sequence[Scalar]) -> Scalars:
        """M a."""
        return self._entries(mul_H(self.tree, self.M, indexable(self.tree.n, a)))

    def _entries(self, values: Array) -> Scalars:
        return tuple(values[k] for k in range(self.tree.n))

    def _gradient(self, a: Sequence[Scalar], Ma: Sequence[Scalar], alpha: Scalar | None) -> Scalars:
        """M a - τ - Jᵀ f, where x of contacts has moved on by alpha y."""
        pushed = self.pushed(a, alpha)
        return tuple(m - t - p for m, t, p in zip(Ma, self.tau, pushed, strict=True))

    def pushed(self, a: Sequence[Scalar], alpha: Scalar | None = None) -> list[Scalar]:
        """Jᵀ f of all rows, where x of contacts has moved on by alpha y."""

        def push(grip: Grip, forces: Array) -> None:
            x = grip.read("x")
            if alpha is not None:
                x = [u + alpha * w for u, w in zip(x, grip.read("y"), strict=True)]
                grip.write("x", x)
            grip.add_forces(grip.answer(x).f, forces)

        pushed = list(self._where_touching(lambda: self.world.joint_forces(self.contacts.forces(push))))
        for row in self.rows:
            pushed[row.place] = pushed[row.place] + row.answer(a[row.place]).f[0] * row.sign
        for wide in self.wide:
            force, _ = wide.answer(dot(wide.J, a))
            pushed = [p + j * force for p, j in zip(pushed, wide.J, strict=True)]
        return pushed

    def _do_where_touching(self, rule: Callable[[], None]) -> None:
        """Do something with contacts, unless nothing touches in any state."""

        def run(_: Index, carry: tuple[()]) -> tuple[()]:
            rule()
            return carry

        if self.contacts.layout.touches:
            touching = self.touching  # before the loop, where all others see it
            repeat(1, run, (), until=lambda _: touching <= 0.0)

    def _where_touching(self, rule: Callable[[], Sequence[Scalar]]) -> Scalars:
        """Numbers (n) that contacts add; zero, and not computed, where nothing touches in any state."""
        none: Scalars = (0.0,) * self.tree.n
        if not self.contacts.layout.touches:
            return none
        touching = self.touching
        return repeat(1, lambda _, __: tuple(rule()), none, until=lambda _: touching <= 0.0)

    def _step(self, point: _Point, scale: float) -> _Point:
        """One Newton step: the direction, how far to go, and the gradient there."""
        d, contacts = self._direction(point), self.contacts

        def project() -> None:
            motions = contacts.in_memory(self.world.motions(d))
            contacts.each(lambda grip: grip.write("y", grip.along(motions)))

        self._do_where_touching(project)
        Md, slope = self.times_M(d), dot(point.g, d)
        alpha = self._line_search(point, d, Md, slope)
        a, Ma = (tuple(u + alpha * w for u, w in zip(*pair, strict=True)) for pair in ((point.a, d), (point.Ma, Md)))
        gain = absolute(alpha * slope) * (0.5 * scale)
        return _Point(a, Ma, self._gradient(a, Ma, alpha), point.steps + 1.0, gain)

    def _direction(self, point: _Point) -> Scalars:
        """- H⁻¹ g."""
        return self.stiff(point.a)([-value for value in point.g])

    def stiff(self, a: Scalars) -> Callable[[Sequence[Scalar]], Scalars]:
        """What solves H x = b, where H = M + Jᵀ W J at the accelerations a, for which x of contacts was written."""
        contacts, tree = self.contacts, self.tree
        size = tree.packed_size
        H = tuple(self.M[k] for k in range(size))
        if contacts.layout.touched:
            H = self._with_contacts(H)
        matrix = array(size)
        for k, value in enumerate(H):
            matrix[k] = value
        for row in self.rows:
            place = diagonal_place(tree, row.place)
            matrix[place] = matrix[place] + row.answer(a[row.place]).W[0][0]
        factor = ltdl(tree, matrix)

        def precondition(b: Sequence[Scalar]) -> Scalars:
            return self._entries(solve(tree, factor, indexable(tree.n, b), unit=True))

        if not (contacts.layout.between or self.wide):
            return precondition
        held = contacts.stiffness(between=True) + (1.0 if self.wide else 0.0)

        def solution(b: Sequence[Scalar]) -> Scalars:
            return repeat(
                1, lambda _, x: self._between(a, x, precondition), precondition(b), until=lambda _: held <= 0.0
            )

        return solution

    def _with_contacts(self, H: Scalars) -> Scalars:
        """H with what contacts with the world add, where there are some in some state."""

        def stiffen(grip: Grip, K: Array) -> None:
            grip.add_impedance(grip.answer(grip.read("x")).W, K)

        def add(_: Index, H: Scalars) -> Scalars:
            more = self.world.impedances(self.contacts.impedances(stiffen))
            return tuple(value + more[k] for k, value in enumerate(H))

        stiff = self.contacts.stiffness(between=False)
        return repeat(1, add, H, until=lambda _: stiff <= 0.0)

    def _between(self, a: Scalars, d: Scalars, precondition: Callable[[Sequence[Scalar]], Scalars]) -> Scalars:
        """The solution at a with what would fill in too, from that without, by conjugate gradients."""
        contacts, stiff = self.contacts, [wide.answer(dot(wide.J, a))[1] for wide in self.wide]

        def times(p: Sequence[Scalar]) -> list[Scalar]:
            motions = contacts.in_memory(self.world.motions(p))

            def push(grip: Grip, forces: Array) -> None:
                W, u = grip.answer(grip.read("x")).W, grip.along(motions)
                rows = range(len(W))
                grip.add_forces([dot([W[max(i, k)][min(i, k)] for k in rows], u) for i in rows], forces)

            total = self.world.joint_forces(contacts.forces(push, between=True))
            for wide, D in zip(self.wide, stiff, strict=True):
                along = D * dot(wide.J, p)
                total = [x + j * along for x, j in zip(total, wide.J, strict=True)]
            return total

        r = tuple(-value for value in times(d))
        z = precondition(r)
        rz = dot(r, z)
        limit = rz * LEFT

        def turn(_: Index, carry: Carried) -> Carried:
            d, r, p, Tp, rz = carry  # Tp: the matrix without these contacts, times p
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
            return d, r, p, Tp, following

        return repeat(4 * self.tree.n, turn, (d, r, z, r, rz), until=lambda carry: carry[4] <= limit)[0]

    def _line_search(self, point: _Point, d: Scalars, Md: Scalars, slope: Scalar) -> Scalar:
        """How far to go along d: where the slope vanishes, by Newton steps within a bracket."""
        contacts, none = self.contacts, 0.0  # type: Contacts, Scalar
        curvature, base = dot(d, Md), dot(d, point.Ma) - dot(d, self.tau)
        flat = absolute(slope) * FLAT

        def look(_: Index, carry: tuple[Scalar, Scalar, Scalar, Scalar]) -> tuple[Scalar, Scalar, Scalar, Scalar]:
            alpha, low, high, _ended = carry

            def add(grip: Grip, sums: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
                y = grip.read("y")
                answer = grip.answer([u + alpha * w for u, w in zip(grip.read("x"), y, strict=True)])
                first, second = sums[0] - dot(answer.f, y), sums[1]
                for i, row in enumerate(answer.W):
                    for j, w in enumerate(row):
                        second = second + w * (y[i] * y[j]) * (1.0 if i == j else 2.0)
                return first, second

            first, second = contacts.sum(add, (base + alpha * curvature, curvature))
            for row in self.rows:
                rate = d[row.place]
                found = row.answer(point.a[row.place] + alpha * rate)
                first = first - found.f[0] * (row.sign * rate)
                second = second + found.W[0][0] * (rate * rate)
            for wide in self.wide:
                rate = dot(wide.J, d)
                force, stiff = wide.answer(dot(wide.J, point.a) + alpha * rate)
                first = first - force * rate
                second = second + stiff * (rate * rate)
            ends = absolute(first) <= flat
            low = select(first < 0.0, alpha, low)
            high = select(first < 0.0, high, alpha)
            newton = alpha - first / select(second > 0.0, second, 1.0)
            halved = select(high < FAR, 0.5 * (low + high), 2.0 * alpha)
            following = select(both(newton > low, newton < high), newton, halved)
            return select(ends, alpha, following), low, high, select(ends, 1.0, 0.0)

        begin = (none + 1.0, none, none + FAR, none)
        return repeat(SEARCHES, look, begin, until=lambda carry: carry[3] > 0.0)[0]


def diagonal_place(tree: Tree, k: int) -> int:
    """Where an entry of the diagonal lies in packed path rows, counted from 0."""
    return int(tree.packed_starts[k]) + int(tree.depths[k]) - 1
