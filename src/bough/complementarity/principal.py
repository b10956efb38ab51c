"""Exact forces by principal pivoting in blocks: of all rows at once it is guessed which are at a bound, and which one.

For a guess the forces follow from linear equations: a = 0 for the rows that are free, the bound for all others. Where
they fail, the rows say what to guess next (Kostreva's blocks; a semismooth Newton method). Sweeps of projected
Gauss-Seidel give the first guess, and new ones where guesses lead nowhere (Silcowitz, Niebe and Erleben 2010). Nearly
all problems need one to three guesses, but nothing says that they end: what is not solved is left to `lemke`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bough.complementarity.conditions import Conditions, Kind
from bough.complementarity.demands import ZERO, Demands, Part, fill
from bough.complementarity.elimination import solved
from bough.scalar import (
    Array,
    Index,
    Rows,
    Scalar,
    Table,
    absolute,
    array,
    both,
    either,
    gather_index,
    loop,
    maximum,
    negation,
    rows,
    select,
    sqrt,
)

__all__ = ["principal"]

EXACT = 1e-12
"""Forces that fail by less than this, in a problem of magnitude 1, are a solution."""

PIVOT = 1e-10
"""A pivot below this part of its diagonal entry is none: the row depends on those before it, and keeps its force."""

GUESSES, SWEEPS, ROUNDS = 4, 6, 7
"""So many guesses are made in a row after some sweeps, twice as many sweeps in each round as in the one before."""


LOW, HIGH, FREE, UNBOUNDED = 0.0, 1.0, 2.0, 3.0
"""Where a force is: at its lower bound, at its upper one, between; or there are none."""

_SCHEDULE = [SWEEPS << k for k in range(ROUNDS)]
_SWEEPS = Table("sweeps", np.array([n for sweeps in _SCHEDULE for n in (sweeps, *[0] * (GUESSES - 1))], np.int64))
_SWEPT = Table("swept", np.minimum(_SWEEPS.data, 1))


def principal(
    conditions: Conditions, A: Array, b: Array, mu: Array, slip: Array | None = None, bounds: Array | None = None
) -> dict[str, Array]:
    """Forces, their a, by how much rows fail and how many times a row changed sides, one after the other; a verdict.

    The verdict is positive, or negative for a state that is left to others: one that is not solved, or one whose
    equalities depend on other rows, so that their smallest forces are to be found.
    """
    demands, n = Demands(conditions, A, b, mu, slip, bounds), conditions.n
    whole, verdict, sides, weights = array(3 * n + 1), array(2), array(n), array(n)
    f, a, failing = (Part(whole, k * n) for k in range(3))
    fill(a, n, lambda i: b[i])
    fill(weights, n, lambda i: 1.0 / sqrt(demands.size(i)))
    size: Scalar = loop(n, lambda i, most: maximum(most, weights[i] * absolute(b[i])), ZERO)
    limit = EXACT * select(size > 0.0, size, 1.0)

    def unmet() -> Scalar:
        demands.fail(f, a, failing)
        count: Scalar = loop(n, lambda i, so_far: so_far + select(weights[i] * failing[i] <= limit, 0.0, 1.0), ZERO)
        return count

    def turn(k: Index, carry: tuple[Scalar, Scalar, Scalar]) -> tuple[Scalar, Scalar, Scalar]:
        loop(gather_index(_SWEEPS, k), lambda _, change: demands.sweep(f), ZERO)
        fill(a, gather_index(_SWEPT, k) * n, lambda i: demands.value(i, f))
        guess, pivots = _guess(demands, f, a, sides)
        dependent = _follow(demands, guess, f)
        fill(a, n, lambda i: demands.value(i, f))
        return unmet(), dependent, carry[2] + pivots

    start = (unmet(), ZERO, ZERO)
    failures, dependent, pivots = loop(_SWEEPS.data.size, turn, start, until=lambda carry: carry[0] <= 0.0)
    whole[3 * n] = pivots
    verdict[0], verdict[1] = 1.0, select(failures + dependent <= 0.0, 1.0, -1.0)
    return {"whole": whole, "verdict": verdict}


class _Guess(NamedTuple):
    """Where each force is; the force before equations change it; and how it follows the force of its normal."""

    sides: Array
    forces: Array
    links: Array


def _guess(demands: Demands, f: Array, a: Array, sides: Array) -> tuple[_Guess, Scalar]:
    """What the rows say of forces f and their a; and how many think otherwise than before."""
    guess = _Guess(*(array(demands.n) for _ in range(3)))

    def row(kind: Kind, i: Index, normal: Index, changed: Scalar) -> Scalar:
        wanted, link = f[i] - a[i] / demands.size(i), ZERO
        side: Scalar
        if kind == "equality":
            side, force = UNBOUNDED, f[i]
        elif kind == "inequality":
            side, force = select(wanted > 0.0, FREE, LOW), select(wanted > 0.0, f[i], 0.0)
        else:
            low, high = demands.bounds_of(kind, i, normal, f)
            at_low, at_high = wanted <= low, high <= wanted
            if kind == "pyramid":  # where the normal has no force friction has none either
                low_slope, high_slope = demands.slopes(i, normal)
                pressed = guess.sides[normal] >= FREE
                at_low = either(at_low, negation(pressed))
                link = select(pressed, select(at_low, low_slope, select(at_high, high_slope, 0.0)), 0.0)
                low = high = link * guess.forces[normal]
            side = select(at_low, LOW, select(at_high, HIGH, FREE))
            force = select(at_low, low, select(at_high, high, f[i]))
        guess.sides[i], guess.forces[i], guess.links[i] = side, force, link
        same = both(side <= sides[i], sides[i] <= side)
        sides[i] = side
        return changed + select(same, 0.0, 1.0)

    return guess, demands.each(row, ZERO)


def _follow(demands: Demands, guess: _Guess, f: Array) -> Scalar:
    """Let the forces be those of the guess; returns how many equalities depend on other rows.

    The equations are a = 0 in the rows that are free, for the changes of their forces; friction at its bound changes
    with its normal. What rows and columns that are not free hold does not matter: their forces do not change.
    """
    n, dependent = demands.n, array(1)

    def inverse(k: Index, pivot: Scalar) -> Scalar:
        regular = absolute(pivot) > PIVOT * demands.diagonal[k]
        dependent[0] = dependent[0] + select(either(regular, guess.sides[k] < UNBOUNDED), 0.0, 1.0)
        used = both(regular, guess.sides[k] >= FREE)
        return select(used, 1.0 / select(used, pivot, 1.0), 0.0)

    change = solved(_equations(demands, guess), n, inverse)
    normals = Table("normal_or_none", np.maximum(demands.conditions.normal, 0))
    fill(f, n, lambda i: guess.forces[i] + change[i] + guess.links[i] * change[gather_index(normals, i)])
    count: Scalar = dependent[0]
    return count


def _equations(demands: Demands, guess: _Guess) -> Array:
    """A, with what links add to the columns of normals, and -a as the last column; row by row."""
    n, conditions = demands.n, demands.conditions
    K = _Stored(rows(n * (n + 1)))
    tangents = Table("tangents", conditions.pyramid)
    normals = Table("normals_of_tangents", conditions.normal[conditions.pyramid])

    def equation(i: Index, carry: tuple[()]) -> tuple[()]:
        start, source = i * (n + 1), i * n
        fill(Part(K, start), n, lambda j: demands.A[source + j])
        K[start + n] = -demands.value(i, guess.forces)

        def linked(t: Index, carry: tuple[()]) -> tuple[()]:
            tangent, place = gather_index(tangents, t), start + gather_index(normals, t)
            K[place] = K[place] + guess.links[tangent] * demands.A[source + tangent]
            return carry

        return loop(len(conditions.pyramid), linked, carry)

    loop(n, equation, ())
    return K


class _Stored:
    """Scalars in rows: they need not be zero at first."""

    def __init__(self, stored: Rows) -> None:
        self._stored = stored

    def __getitem__(self, index: Index) -> Scalar:
        value: Scalar = self._stored.get(index)
        return value

    def __setitem__(self, index: Index, value: Scalar) -> None:
        self._stored.put(index, value)
