"""Exact forces by principal pivoting in blocks: of all rows at once it is guessed which are at a bound, and which one.

For a guess the forces follow from linear equations: a = 0 for the rows that are free, the bound for all others. Where
they fail, the rows say what to guess next (Kostreva's blocks; a semismooth Newton method). Sweeps of projected
Gauss-Seidel give the first guess, and new ones where guesses lead nowhere (Silcowitz, Niebe and Erleben 2010). Nearly
all problems need one to three guesses, but nothing says that they end: what is not solved is left to `lemke`.

Friction at the bound of a cone turns with the direction of sliding, which is taken to first order (Alart and Curnier
1991): then guesses converge to the forces instead of hitting them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from bough.complementarity.conditions import NO_NORMAL, Conditions, Kind
from bough.complementarity.demands import ZERO, Demands
from bough.complementarity.elimination import Run, Stored, shorten_forces, solved
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
    conditions: Conditions,
    A: Array,
    b: Array,
    mu: Array,
    slip: Array | None = None,
    bounds: Array | None = None,
    on: Array | None = None,
    start: Array | None = None,
    roughly: float = 1.0,
    brief: bool = False,
) -> dict[str, Array]:
    """Forces, their a, by how much rows fail and how many times a row changed sides, one after the other; a status.

    The status is SOLVED, or UNSOLVED for what is left to others. Equalities that depend on other rows get the smallest
    forces that do. Where rows nearly depend on each other few digits are left: then conditions that fail by `roughly`
    times `ROUNDING` will do. `brief`: so exactly in all guesses, of which there are few.
    """
    n, whole, status = conditions.n, array(3 * conditions.n + 1), array(1)
    search = _Search(Demands(conditions, A, b, mu, slip, bounds, on), whole, start, roughly, brief)
    begin = (search.unmet(search.limit * roughly if brief else search.limit), ZERO, ZERO)
    turns = search.schedule.turns
    failures, dependent, pivots = loop(turns, search.turn, begin, until=lambda carry: carry[0] <= 0.0)
    whole[3 * n] = pivots
    status[0] = select(failures > 0.0, UNSOLVED, SOLVED)

    def shorten() -> None:
        doubtful = shorten_forces(n, A, conditions.of("equality"), search.f)
        search.demands.values(search.f, search.a)
        status[0] = select(either(doubtful, search.unmet(search.limit * ROUGHLY) > 0.0), UNSOLVED, SOLVED)

    if "equality" in conditions.kinds:
        do_when(both(dependent > 0.0, failures <= 0.0), shorten)
    return {"whole": whole, "status": status}


class _Search:
    """Forces on their way to what is demanded, their a, and by how much rows fail, all parts of `whole`."""

    def __init__(self, demands: Demands, whole: Array, start: Array | None, roughly: float, brief: bool) -> None:
        self.demands, self.n, b = demands, demands.n, demands.b
        n = self.n
        self.f, self.a, self.failing = (Part(whole, k * n) for k in range(3))
        self._sides, self._weights, self._urgent, self._wishes, self._kept = (array(n) for _ in range(5))
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

        count: Scalar = loop(self.n, lambda i, so_far: so_far + select(met(i), 0.0, 1.0), ZERO)
        return count

    def turn(self, k: Index, carry: tuple[Scalar, Scalar, Scalar]) -> tuple[Scalar, Scalar, Scalar]:
        """One guess; returns how many rows are not met, how many equalities depend on others, and all pivots."""
        demands, f, a, sides, schedule = self.demands, self.f, self.a, self._sides, self.schedule
        loop(gather_index(schedule.sweeps, k), lambda _, change: demands.sweep(f), ZERO)
        each(gather_index(schedule.swept, k), lambda _: demands.values(f, a))
        each(gather_index(schedule.anew, k), lambda _: _begin_anew(demands, f, a, sides))
        if schedule.smooths:
            each(gather_index(schedule.smooth, k), lambda _: self._smooth())
        worst = _wish(demands, f, a, sides, self._weights, self.failing, self._wishes, self._urgent)
        alone, soft = gather(schedule.alone, k) > 0.0, gather(schedule.soft, k)

        def moved(i: Index, owner: Index) -> Scalar:
            """The side of a row: the one it wants, or the one it has had."""
            return select(both(alone, self._urgent[owner] < worst), sides[i], self._wishes[i])

        guess, pivots = _guess(demands, f, a, sides, moved)
        dependent = _follow(demands, guess, f, soft)
        demands.values(f, a)
        failures = self.unmet(self.limit * gather(schedule.roughly, k))
        if self._settles:
            last = gather_index(schedule.settle, k)
            failures = loop(last, lambda _, left: when(left > 0.0, self._settle, left), failures)
        return failures, dependent, carry[2] + pivots

    def _smooth(self) -> None:
        follow_smooth_path(self.demands, self.f, self.a, self._scale, _runs(self.demands))
        fill(self._kept, self.n, lambda i: self.f[i])

    def _settle(self, _: Scalar) -> Scalar:
        """Use the forces of the smooth path if their violation counts as zero."""
        fill(self.f, self.n, lambda i: self._kept[i])
        self.demands.values(self.f, self.a)
        return self.unmet(RESIDUAL * self._size, RESIDUAL)


def _begin_anew(demands: Demands, f: Array, a: Array, sides: Array) -> None:
    fill(f, demands.n, lambda i: 0.0)
    fill(a, demands.n, lambda i: demands.b[i])
    fill(sides, demands.n, lambda i: FREE)


def _wish(
    demands: Demands, f: Array, a: Array, sides: Array, weights: Array, failing: Array, wishes: Array, urgent: Array
) -> Scalar:
    """Fill in the side that each row wants, and by how much each contact that wants another one fails.

    Rows that belong to no contact count by themselves. Returns the most.
    """
    fill(urgent, demands.n, lambda i: 0.0)

    def note(i: Index, owner: Index, side: Scalar, most: Scalar) -> Scalar:
        wishes[i] = side
        same = both(side <= sides[i], sides[i] <= side)
        fails = select(same, 0.0, weights[i] * failing[i])
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


Moved: TypeAlias = Callable[[Index, Index], Scalar]


class _Guess:
    """Where forces are, what they are before equations change them, and what becomes of the equations."""

    def __init__(self, n: int) -> None:
        self.sides, self.forces = array(n), array(n)
        self.links = array(n)  # how friction at a bound of its pyramid follows the force of its normal
        self.turns = rows(n)  # at the first row of a cone: what becomes of its two equations

    def note(self, i: Index, side: Scalar, force: Scalar, sides: Array, pressed: Bool = True) -> Scalar:
        """Write down a row, which is at its lower bound if it is not pressed; returns 1 if it was elsewhere before."""
        self.sides[i], self.forces[i] = select(pressed, side, LOW), force
        same = both(side <= sides[i], sides[i] <= side)
        sides[i] = side
        return select(same, 0.0, 1.0)


def _guess(demands: Demands, f: Array, a: Array, sides: Array, moved: Moved) -> tuple[_Guess, Scalar]:
    """What the rows say of forces f and their a; and how many think otherwise than before."""
    guess = _Guess(demands.n)

    def row(kind: Kind, i: Index, normal: Index, changed: Scalar) -> Scalar:
        if kind == "cone":
            return changed + _guess_cone(demands, guess, f, a, sides, i, normal, moved)
        if kind == "equality":
            return changed + guess.note(i, UNBOUNDED, f[i], sides)
        side = moved(i, normal if kind == "pyramid" else i)
        if kind == "inequality":
            return changed + guess.note(i, side, select(side > LOW, f[i], 0.0), sides)
        if kind == "box":
            low, high = demands.bounds_of(kind, i, normal, f)
            return changed + guess.note(i, side, select(side <= LOW, low, select(side <= HIGH, high, f[i])), sides)
        low, high = demands.slopes(i, normal)
        pressed = guess.sides[normal] >= FREE  # where the normal has no force friction has none either
        link = select(pressed, select(side <= LOW, low, select(side <= HIGH, high, 0.0)), 0.0)
        guess.links[i] = link
        force = select(both(pressed, side >= FREE), f[i], link * guess.forces[normal])
        return changed + guess.note(i, side, force, sides, pressed)

    return guess, demands.each(row, ZERO)


class _Turn(NamedTuple):
    """The equations of a cone at its bound, made of those for a = 0.

    With w = f - a / size, its direction d, and M = μ fₙ / |w| (1 - d dᵀ), they are f - μ fₙ d = 0, to first order
    size (1 - M) Δf + M Δa - size μ d Δfₙ = -size (f - μ fₙ d).
    """

    M: tuple[Scalar, Scalar, Scalar]  # the first row, and the second entry of the second one
    size: Scalar
    normal: tuple[Scalar, Scalar]
    right: tuple[Scalar, Scalar]


def _guess_cone(
    demands: Demands, guess: _Guess, f: Array, a: Array, sides: Array, i: Index, normal: Index, moved: Moved
) -> Scalar:
    """What the two rows of a cone say; returns how many think otherwise than before."""
    size, mu = demands.cone_size(i), demands.mu[normal]
    wanted = [f[k] - a[k] / size for k in (i, i + 1)]
    length = sqrt(wanted[0] * wanted[0] + wanted[1] * wanted[1])
    bound = mu * maximum(f[normal], 0.0)
    side = moved(i, normal)
    pressed, turning = guess.sides[normal] >= FREE, side >= TURNING
    inverse = 1.0 / select(length > 0.0, length, 1.0)
    x, y = wanted[0] * inverse, wanted[1] * inverse
    part = bound * inverse
    M = (part * y * y, -part * x * y, part * x * x)
    right = (
        M[0] * a[i] + M[1] * a[i + 1] - size * (f[i] - bound * x),
        M[1] * a[i] + M[2] * a[i + 1] - size * (f[i + 1] - bound * y),
    )
    turns = (M, size, (-size * mu * x, -size * mu * y), right)
    stays = ((1.0, 0.0, 1.0), ZERO, (ZERO, ZERO), (ZERO, ZERO))
    guess.turns.put(i, map_leaves(lambda new, old: select(turning, new, old), _Turn(*turns), _Turn(*stays)))
    first = guess.note(i, side, select(pressed, f[i], 0.0), sides, pressed)
    return first + guess.note(i + 1, side, select(pressed, f[i + 1], 0.0), sides, pressed)


def _follow(demands: Demands, guess: _Guess, f: Array, soft: Scalar) -> Scalar:
    """Let the forces be those of the guess; returns how many equalities depend on other rows.

    The equations are a = 0 in the rows that are free, for the changes of their forces; friction at its bound changes
    with its normal. What rows and columns that are not free hold does not matter: their forces do not change.
    """
    n, dependent = demands.n, array(1)

    def inverse(k: Index, pivot: Scalar) -> Scalar:
        regular = absolute(pivot) > PIVOT * demands.diagonal[k]
        clear = both(regular, soft <= 0.0)  # where rows are soft, all pivots are regular
        dependent[0] = dependent[0] + select(either(clear, guess.sides[k] < UNBOUNDED), 0.0, 1.0)
        used = both(regular, guess.sides[k] >= FREE)
        return select(used, 1.0 / select(used, pivot, 1.0), 0.0)

    change = solved(_equations(demands, guess, soft), n, inverse, _runs(demands), demands.on)
    normals = Table("normal_or_none", np.maximum(demands.conditions.normal, 0))
    fill(f, n, lambda i: guess.forces[i] + change[i] + guess.links[i] * change[gather_index(normals, i)])
    count: Scalar = dependent[0]
    return count


def _runs(demands: Demands) -> list[Run]:
    """Blocks of rows that are eliminated at a time: contacts, where rows may be off, else some rows at a time."""
    conditions = demands.conditions
    if demands.on is None:
        return Run.cover(demands.n)
    firsts = [i for i in range(demands.n) if conditions.normals[i] == NO_NORMAL]
    sizes = [end - start for start, end in pairwise([*firsts, demands.n])]
    runs, start = [], 0
    for size, some in groupby(sizes):
        count = len(list(some))
        runs.append(Run(start, count, size))
        start += count * size
    return runs


def _equations(demands: Demands, guess: _Guess, soft: Scalar) -> Array:
    """A, with what links add to the columns of normals, and -a as the last column; row by row."""
    n, conditions = demands.n, demands.conditions
    K = Stored(rows(n * (n + 1)))
    tangents = Table("tangents", conditions.pyramid)
    normals = Table("normals_of_tangents", conditions.normal[conditions.pyramid])

    def equation(i: Index) -> None:
        start, source = i * (n + 1), i * n
        fill(Part(K, start), n, lambda j: demands.A[source + j])
        K[start + i] = K[start + i] + soft * demands.diagonal[i]
        K[start + n] = -demands.value(i, guess.forces)

        def linked(t: Index) -> None:
            tangent, place = gather_index(tangents, t), start + gather_index(normals, t)
            K[place] = K[place] + guess.links[tangent] * demands.A[source + tangent]

        each(len(conditions.pyramid), linked)

    demands.where_on(equation)
    _turn_cones(K, demands, guess)
    return K


def _turn_cones(K: Array, demands: Demands, guess: _Guess) -> None:
    """Make the equations of cones at their bounds of those for a = 0."""
    n, conditions = demands.n, demands.conditions
    firsts = Table("cones", conditions.cones)
    normals = Table("normals_of_cones", conditions.normal[conditions.cones])

    def cone(c: Index, carry: tuple[()]) -> tuple[()]:
        i, normal = gather_index(firsts, c), gather_index(normals, c)
        turn = _Turn(*guess.turns.get(i))
        first, second = i * (n + 1), (i + 1) * (n + 1)

        def mix(j: Index, carry: tuple[()]) -> tuple[()]:
            x, y = K[first + j], K[second + j]
            K[first + j], K[second + j] = turn.M[0] * x + turn.M[1] * y, turn.M[1] * x + turn.M[2] * y
            return carry

        loop(n + 1, mix, ())
        for k, start in enumerate((first, second)):
            diagonal, other = start + i + k, start + i + (1 - k)
            K[diagonal] = K[diagonal] + turn.size * (1.0 - turn.M[2 * k])
            K[other] = K[other] - turn.size * turn.M[1]
            K[start + normal] = K[start + normal] + turn.normal[k]
            K[start + n] = K[start + n] + turn.right[k]
        return carry

    loop(len(conditions.cones), cone, ())
