"""Exact forces by principal pivoting in blocks: of all rows at once it is guessed which are at a bound, and which one.

For a guess the forces follow from linear equations: a = 0 for the rows that are free, the bound for all others. Where
they fail, the rows say what to guess next (Kostreva's blocks; a semismooth Newton method). Sweeps of projected
Gauss-Seidel give the first guess, and new ones where guesses lead nowhere (Silcowitz, Niebe and Erleben 2010). Nearly
all problems need one to three guesses, but nothing says that they end: what is not solved is left to `lemke`.

Friction at the bound of a cone turns with the direction of sliding, which is taken to first order (Alart and Curnier
1991): then guesses converge to the forces instead of hitting them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bough.complementarity.conditions import Kind
from bough.complementarity.demands import ZERO, Demands
from bough.complementarity.elimination import shorten_forces, solved
from bough.complementarity.schedule import Schedule
from bough.complementarity.smooth_program import follow_smooth_path
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
    gather_index,
    loop,
    map_leaves,
    maximum,
    rows,
    select,
    sqrt,
    when,
)
from bough.scalar.tolerances import RESIDUAL, ROUNDING

__all__ = ["ROUGHLY", "SOLVED", "UNSOLVED", "principal"]

PIVOT = 1e-10
"""A pivot below this part of its diagonal entry is none: the row depends on those before it, and keeps its force."""

SOLVED, UNSOLVED = 1.0, -1.0
"""What is said of a state."""

ROUGHLY = 1000.0
"""So many times `ROUNDING` will do where forces are made smaller, or bodies lie on so many contacts that no more digits
are left."""

LOW, HIGH, FREE, TURNING, UNBOUNDED = 0.0, 1.0, 2.0, 3.0, 4.0
"""Where a force is: at its lower bound, at its upper one, between, at the bound of a cone; or there are none."""


def principal(
    demands: Demands, start: Array | None = None, roughly: float = 1.0, brief: bool = False
) -> dict[str, Array]:
    """Forces, their a, by how much rows fail and how many times a row changed sides, one after the other; a status.

    The status is SOLVED, or UNSOLVED for what is left to others. Equalities that depend on other rows get the smallest
    forces that do. Where rows nearly depend on each other few digits are left: then conditions that fail by `roughly`
    times `ROUNDING` will do. `brief`: so exactly in all guesses, of which there are few.
    """
    n, whole, status = demands.n, array(3 * demands.n + 1), array(1)
    search = _Search(demands, whole, start, roughly, brief)
    begin = (search.unmet(search.limit * roughly if brief else search.limit), ZERO, ZERO)
    turns = search.schedule.turns
    failures, dependent, pivots = loop(turns, search.turn, begin, until=lambda carry: carry[0] <= 0.0)
    whole[3 * n] = pivots
    status[0] = select(failures > 0.0, UNSOLVED, SOLVED)

    def shorten() -> None:
        doubtful = shorten_forces(n, demands.A, demands.conditions.of("equality"), search.f)
        demands.values(search.f, search.a)
        status[0] = select(either(doubtful, search.unmet(search.limit * ROUGHLY) > 0.0), UNSOLVED, SOLVED)

    if "equality" in demands.conditions.kinds:
        do_when(both(dependent > 0.0, failures <= 0.0), shorten)
    return {"whole": whole, "status": status}


class _Search:
    """Forces on their way to what is demanded, their a, and by how much rows fail, all parts of `whole`."""

    def __init__(self, demands: Demands, whole: Array, start: Array | None, roughly: float, brief: bool) -> None:
        self.demands, self.n, b = demands, demands.n, demands.b
        n = self.n
        self.f, self.a, self.failing = (Part(whole, k * n) for k in range(3))
        self.sides, self._weights, self.urgent, self.wishes, self._kept = (array(n) for _ in range(5))
        fill(self.a, n, lambda i: b[i])
        if start is not None:
            fill(self.f, n, lambda i: start[i])
            demands.values(self.f, self.a)
        fill(self._weights, n, lambda i: 1.0 / sqrt(demands.size(i)))
        self._size: Scalar = loop(n, lambda i, most: maximum(most, self._weights[i] * absolute(b[i])), ZERO)
        self._scale = select(self._size > 0.0, self._size, 1.0)
        self.limit = ROUNDING * self._scale
        self.schedule = Schedule(demands.conditions, start is not None, roughly, brief)
        self._settles = self.schedule.smooths and roughly > 1.0

    def unmet(self, most: Scalar, anyway: float = 0.0) -> Scalar:
        """How many rows fail by more than some part of their weight, and than what counts as nothing anyway."""
        self.demands.fail(self.f, self.a, self.failing)

        def met(i: Index) -> Bool:
            little = self._weights[i] * self.failing[i] <= most
            return either(little, self.failing[i] <= anyway) if anyway else little

        return loop(self.n, lambda i, so_far: so_far + select(met(i), 0.0, 1.0), ZERO)

    def turn(self, k: Index, carry: tuple[Scalar, Scalar, Scalar]) -> tuple[Scalar, Scalar, Scalar]:
        """One guess; returns how many rows are not met, how many equalities depend on others, and all pivots."""
        demands, f, a, schedule = self.demands, self.f, self.a, self.schedule
        loop(gather_index(schedule.sweeps, k), lambda _, change: demands.sweep(f), ZERO)
        each(gather_index(schedule.swept, k), lambda _: demands.values(f, a))
        each(gather_index(schedule.anew, k), lambda _: self._begin_anew())
        if schedule.smooths:
            each(gather_index(schedule.smooth, k), lambda _: self._smooth())
        worst = self._wish()
        alone, soft = gather(schedule.alone, k) > 0.0, gather(schedule.soft, k)
        guess = _Guess(self, alone, worst)
        pivots = demands.each(guess.row, ZERO)
        dependent = guess.follow(soft)
        demands.values(f, a)
        failures = self.unmet(self.limit * gather(schedule.roughly, k))
        if self._settles:
            last = gather_index(schedule.settle, k)
            failures = loop(last, lambda _, left: when(left > 0.0, self._settle, left), failures)
        return failures, dependent, carry[2] + pivots

    def _begin_anew(self) -> None:
        fill(self.f, self.n, lambda i: 0.0)
        fill(self.a, self.n, lambda i: self.demands.b[i])
        fill(self.sides, self.n, lambda i: FREE)

    def _smooth(self) -> None:
        follow_smooth_path(self.demands, self.f, self.a, self._scale)
        fill(self._kept, self.n, lambda i: self.f[i])

    def _settle(self, _: Scalar) -> Scalar:
        """Use the forces of the smooth path if their violation counts as zero."""
        fill(self.f, self.n, lambda i: self._kept[i])
        self.demands.values(self.f, self.a)
        return self.unmet(RESIDUAL * self._size, RESIDUAL)

    def _wish(self) -> Scalar:
        """Fill in which side rows want, and by how much contacts, or rows of none, fail that want another; the most."""
        demands, f, a, urgent = self.demands, self.f, self.a, self.urgent
        fill(urgent, self.n, lambda i: 0.0)

        def note(i: Index, owner: Index, side: Scalar, most: Scalar) -> Scalar:
            self.wishes[i] = side
            fails = select(_is_at(self.sides, i, side), 0.0, self._weights[i] * self.failing[i])
            urgent[owner] = maximum(urgent[owner], fails)
            return maximum(most, fails)

        def row(kind: Kind, i: Index, normal: Index, most: Scalar) -> Scalar:
            if kind == "equality":
                return most
            if kind == "cone":
                size = demands.cone_size(i)
                x, y = (f[k] - a[k] / size for k in (i, i + 1))
                bound = demands.mu[normal] * maximum(f[normal], 0.0)
                turning = select(bound <= sqrt(x * x + y * y), TURNING, FREE)
                return note(i + 1, normal, turning, note(i, normal, turning, most))
            wanted = f[i] - a[i] / demands.size(i)
            if kind == "inequality":
                return note(i, i, select(wanted > 0.0, FREE, LOW), most)
            low, high = demands.bounds_of(kind, i, normal, f)
            owner = normal if kind == "pyramid" else i
            return note(i, owner, select(wanted <= low, LOW, select(high <= wanted, HIGH, FREE)), most)

        return demands.each(row, ZERO)


def _is_at(sides: Array, i: Index, side: Scalar) -> Bool:
    return both(side <= sides[i], sides[i] <= side)


class _Turn(NamedTuple):
    """The equations of a cone at its bound, made of those for a = 0.

    With w = f - a / size, its direction d, and M = μ fₙ / |w| (1 - d dᵀ), they are f - μ fₙ d = 0, to first order
    size (1 - M) Δf + M Δa - size μ d Δfₙ = -size (f - μ fₙ d).
    """

    M: tuple[Scalar, Scalar, Scalar]  # the first row, and the second entry of the second one
    size: Scalar
    normal: tuple[Scalar, Scalar]
    right: tuple[Scalar, Scalar]


class _Guess:
    """Where forces are, what they are before equations change them, and what becomes of the equations.

    A row is at the side it wants, or has had; `alone`: only that of the contact that fails `worst` gets another one.
    """

    def __init__(self, search: _Search, alone: Bool, worst: Scalar) -> None:
        self._search, self._alone, self._worst = search, alone, worst
        self._demands, self._f, self._a, n = search.demands, search.f, search.a, search.n
        self._sides, self._forces = array(n), array(n)
        self._links = array(n)  # how friction at a bound of its pyramid follows the force of its normal
        self._turns = rows(n)  # at the first row of a cone: what becomes of its two equations

    def row(self, kind: Kind, i: Index, normal: Index, changed: Scalar) -> Scalar:
        """Take down what a row says of forces and their a, and count it if it is elsewhere than before."""
        demands, f = self._demands, self._f
        if kind == "cone":
            return changed + self._cone(i, normal)
        if kind == "equality":
            return changed + self._note(i, UNBOUNDED, f[i])
        side = self._moved(i, normal if kind == "pyramid" else i)
        if kind == "inequality":
            return changed + self._note(i, side, select(side > LOW, f[i], 0.0))
        if kind == "box":
            low, high = demands.bounds_of(kind, i, normal, f)
            return changed + self._note(i, side, select(side <= LOW, low, select(side <= HIGH, high, f[i])))
        low, high = demands.slopes(i, normal)
        pressed = self._sides[normal] >= FREE  # where the normal has no force friction has none either
        link = select(pressed, select(side <= LOW, low, select(side <= HIGH, high, 0.0)), 0.0)
        self._links[i] = link
        force = select(both(pressed, side >= FREE), f[i], link * self._forces[normal])
        return changed + self._note(i, side, force, pressed)

    def _moved(self, i: Index, owner: Index) -> Scalar:
        search = self._search
        stays = both(self._alone, search.urgent[owner] < self._worst)
        return select(stays, search.sides[i], search.wishes[i])

    def _note(self, i: Index, side: Scalar, force: Scalar, pressed: Bool = True) -> Scalar:
        """Write down a row, which is at its lower bound if it is not pressed; returns 1 if it was elsewhere before."""
        self._sides[i], self._forces[i] = select(pressed, side, LOW), force
        same = _is_at(self._search.sides, i, side)
        self._search.sides[i] = side
        return select(same, 0.0, 1.0)

    def _cone(self, i: Index, normal: Index) -> Scalar:
        """Take down the two rows of a cone; returns how many are elsewhere than before."""
        demands, f, a = self._demands, self._f, self._a
        size, mu = demands.cone_size(i), demands.mu[normal]
        wanted = [f[k] - a[k] / size for k in (i, i + 1)]
        length = sqrt(wanted[0] * wanted[0] + wanted[1] * wanted[1])
        bound = mu * maximum(f[normal], 0.0)
        side = self._moved(i, normal)
        pressed, turning = self._sides[normal] >= FREE, side >= TURNING
        inverse = 1.0 / select(length > 0.0, length, 1.0)
        x, y = wanted[0] * inverse, wanted[1] * inverse
        part = bound * inverse
        M = (part * y * y, -part * x * y, part * x * x)
        right = (
            M[0] * a[i] + M[1] * a[i + 1] - size * (f[i] - bound * x),
            M[1] * a[i] + M[2] * a[i + 1] - size * (f[i + 1] - bound * y),
        )
        turns = _Turn(M, size, (-size * mu * x, -size * mu * y), right)
        stays = _Turn((1.0, 0.0, 1.0), ZERO, (ZERO, ZERO), (ZERO, ZERO))
        self._turns.put(i, map_leaves(lambda new, old: select(turning, new, old), turns, stays))
        first = self._note(i, side, select(pressed, f[i], 0.0), pressed)
        return first + self._note(i + 1, side, select(pressed, f[i + 1], 0.0), pressed)

    def follow(self, soft: Scalar) -> Scalar:
        """Let the forces be those of the guess; returns how many equalities depend on other rows.

        The equations are a = 0 in the rows that are free, for the changes of their forces; friction at its bound
        changes with its normal. What rows and columns that are not free hold does not matter: their forces stay.
        """
        demands, n, dependent = self._demands, self._demands.n, array(1)

        def inverse(k: Index, pivot: Scalar) -> Scalar:
            regular = absolute(pivot) > PIVOT * demands.diagonal[k]
            clear = both(regular, soft <= 0.0)  # where rows are soft, all pivots are regular
            dependent[0] = dependent[0] + select(either(clear, self._sides[k] < UNBOUNDED), 0.0, 1.0)
            used = both(regular, self._sides[k] >= FREE)
            return select(used, 1.0 / select(used, pivot, 1.0), 0.0)

        change = solved(self._equations(soft), n, inverse, demands.runs, demands.on)
        normals = Table("normal_or_none", np.maximum(demands.conditions.normal, 0))
        fill(self._f, n, lambda i: self._forces[i] + change[i] + self._links[i] * change[gather_index(normals, i)])
        count: Scalar = dependent[0]
        return count

    def _equations(self, soft: Scalar) -> Array:
        """A, with what links add to the columns of normals, and -a as the last column; row by row."""
        demands, n, conditions = self._demands, self._demands.n, self._demands.conditions
        K = blank(n * (n + 1))
        tangents = Table("tangents", conditions.pyramid)
        normals = Table("normals_of_tangents", conditions.normal[conditions.pyramid])

        def equation(i: Index) -> None:
            start, source = i * (n + 1), i * n
            fill(Part(K, start), n, lambda j: demands.A[source + j])
            K[start + i] = K[start + i] + soft * demands.diagonal[i]
            K[start + n] = -demands.value(i, self._forces)

            def linked(t: Index) -> None:
                tangent, place = gather_index(tangents, t), start + gather_index(normals, t)
                K[place] = K[place] + self._links[tangent] * demands.A[source + tangent]

            each(len(conditions.pyramid), linked)

        demands.where_on(equation)
        firsts = Table("cones", conditions.cones)
        owners = Table("normals_of_cones", conditions.normal[conditions.cones])
        each(len(conditions.cones), lambda c: self._turn(K, gather_index(firsts, c), gather_index(owners, c)))
        return K

    def _turn(self, K: Array, i: Index, normal: Index) -> None:
        """Make the equations of a cone of those for a = 0."""
        turn, n = _Turn(*self._turns.get(i)), self._demands.n
        first, second = i * (n + 1), (i + 1) * (n + 1)

        def mix(j: Index) -> None:
            x, y = K[first + j], K[second + j]
            K[first + j], K[second + j] = turn.M[0] * x + turn.M[1] * y, turn.M[1] * x + turn.M[2] * y

        each(n + 1, mix)
        for k, start in enumerate((first, second)):
            diagonal, other = start + i + k, start + i + (1 - k)
            K[diagonal] = K[diagonal] + turn.size * (1.0 - turn.M[2 * k])
            K[other] = K[other] - turn.size * turn.M[1]
            K[start + normal] = K[start + normal] + turn.normal[k]
            K[start + n] = K[start + n] + turn.right[k]
