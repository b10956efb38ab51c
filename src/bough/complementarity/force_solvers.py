"""Ways to find the forces of a problem of contacts, loops and limits: exact ones, quick ones, and by sweeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from bough.complementarity.conditions import Conditions
from bough.complementarity.demands import Demands
from bough.complementarity.elimination import eliminate
from bough.complementarity.gauss_seidel import gauss_seidel
from bough.complementarity.principal import SOLVED, UNSOLVED, principal
from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    array,
    both,
    do_when,
    each,
    either,
    fill,
    filled,
    inner,
    loop,
    maximum,
    negation,
    select,
)

__all__ = ["UNMET", "Solve", "by_guesses", "by_pivoting", "by_sweeps"]

UNMET = 100.0
"""Rows that Gauss-Seidel leaves off by more than this many times its tolerance are not met."""

ROUGHLY = 1000.0
"""So many times `ROUNDING` will do where bodies lie on so many contacts that no more digits are left."""

ENOUGH = 100
"""Sweeps that make about right forces of those of the step before."""

ZERO: Scalar = 0.0

Solve: TypeAlias = Callable[[Conditions, Array, Array, Array, Array, Array, Array | None], tuple[Array, Scalar, Bool]]
"""From conditions, A, b, coefficients of friction, where to start, which rows are on and bounds of boxes: forces, worst
failure, whether they are no solution."""


def by_pivoting(
    conditions: Conditions,
    A: Array,
    b: Array,
    mu: Array,
    start: Array | None,
    on: Array,
    bounds: Array | None = None,
    brief: bool = False,
) -> tuple[Array, Scalar, Bool]:
    """Exact forces, those of equalities as small as they can be. Good forces to start from save most of the guesses."""
    found = principal(conditions, A, b, mu, bounds=bounds, on=on, start=start, roughly=ROUGHLY, brief=brief)
    n, equalities = conditions.n, conditions.of("equality")
    f, unsolved = found["whole"], found["status"][0] <= UNSOLVED
    if equalities.size:  # these are in one piece
        doubts, none = array(1), 0.0  # type: Array, Scalar

        first, count = int(equalities[0]), equalities.size
        rows, held = array(count**2), Part(f, first)

        def copy(i: Index) -> None:
            fill(Part(rows, i * count), count, lambda j: A[(i + first) * n + (j + first)])

        def shorten() -> None:
            each(count, copy)
            right = filled(count, lambda i: inner(Part(rows, i * count), held, count))
            sizes = filled(count, lambda i: rows[i * (count + 1)])
            shared = eliminate(count, rows, right, sizes, inner(right, right, count))
            least = shared.least_forces(sizes)
            fill(held, count, lambda i: least[i])
            doubts[0] = select(shared.doubtful, 1.0, none)

        do_when(both(found["status"][0] < SOLVED, negation(unsolved)), shorten)
        unsolved = either(unsolved, doubts[0] > 0.0)
    return f, _largest(Part(f, 2 * n), n), unsolved


def by_guesses(
    conditions: Conditions, A: Array, b: Array, mu: Array, start: Array, on: Array, bounds: Array | None = None
) -> tuple[Array, Scalar, Bool]:
    """Exact forces where a few guesses find them; else about right ones, by sweeps from those given.

    For steps of time, which cannot wait: what is not right in one is better in the next, which starts from there.
    """
    f, worst, unsolved = by_pivoting(conditions, A, b, mu, start, on, bounds, brief=True)
    demands, n = Demands(conditions, A, b, mu, bounds=bounds, on=on), conditions.n

    def sweep() -> None:
        fill(f, n, lambda i: start[i])
        loop(ENOUGH, lambda _, change: demands.sweep(f), ZERO)

    do_when(unsolved, sweep)
    return f, worst, False


def by_sweeps(stop: Array) -> Solve:
    """Gauss-Seidel until a tolerance or a number of sweeps is reached, both in `stop`.

    Forces that are worse than none lead nowhere, and none are taken for them.
    """

    def solve(
        conditions: Conditions, A: Array, b: Array, mu: Array, start: Array, on: Array, bounds: Array | None
    ) -> tuple[Array, Scalar, Bool]:
        n = conditions.n
        found = gauss_seidel(conditions, A, b, mu, start, stop, bounds)["whole"]
        none = array(2)
        none[0] = stop[0]
        idle = gauss_seidel(conditions, A, b, mu, array(n), none, bounds)["whole"]
        worst, least = (_largest(Part(whole, 2 * n), n) for whole in (found, idle))
        unmet = worst > UNMET * stop[0]
        worse = both(unmet, least < worst)
        fill(found, n, lambda i: select(worse, 0.0, found[i]))
        return found, select(worse, least, worst), unmet

    return solve


def _largest(values: Array, count: int) -> Scalar:
    return loop(count, lambda i, most: maximum(most, values[i]), ZERO)
