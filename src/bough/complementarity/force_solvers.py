"""Ways to find the forces of a problem of contacts, loops and limits: exact ones, quick ones, and by sweeps.

The sweeps are those of projected Gauss-Seidel: row after row is given the force it wants, within its bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from bough.complementarity.conditions import Conditions
from bough.complementarity.demands import ZERO, Demands
from bough.complementarity.principal import ROUGHLY, SOLVED, principal
from bough.scalar import Array, Bool, Index, Part, Scalar, array, both, do_when, either, fill, loop, maximum, select

__all__ = ["UNMET", "Solve", "by_guesses", "by_pivoting", "by_sweeps", "gauss_seidel"]

UNMET = 100.0
"""Rows that Gauss-Seidel leaves off by more than this many times its tolerance are not met."""

ENOUGH = 100
"""Sweeps that make about right forces of those of the step before."""

ENDLESS = 2**31 - 1
"""The loop over sweeps ends by what it is told, not by its count."""

HUGE = 1e30
"""Forces that change by so much, in units of a, lead nowhere: the sweeps end while they are finite."""


Solve: TypeAlias = Callable[[Conditions, Array, Array, Array, Any, Array, Array | None], tuple[Array, Scalar, Bool]]
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
    return found["whole"], _largest(Part(found["whole"], 2 * conditions.n), conditions.n), found["status"][0] < SOLVED


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


def gauss_seidel(
    conditions: Conditions, A: Array, b: Array, mu: Array, start: Array, stop: Array, bounds: Array | None = None
) -> dict[str, Array]:
    """Sweep over the rows until no force changes by more than a tolerance, or a number of sweeps is reached.

    `stop` holds the tolerance, in units of a, and the number of sweeps; all else is as `Demands` says. Returns forces,
    their a, by how much rows fail and the number of sweeps, one after the other.
    """
    demands, n = Demands(conditions, A, b, mu, bounds=bounds), conditions.n
    whole = array(3 * n + 1)
    f, a, failing = (Part(whole, k * n) for k in range(3))
    fill(f, n, lambda i: start[i])

    def sweep(_: Index, carry: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        return demands.sweep(f), carry[1] + 1.0

    def done(carry: tuple[Scalar, Scalar]) -> Bool:
        return either(either(carry[0] <= stop[0], carry[0] > HUGE), stop[1] <= carry[1])

    _, sweeps = loop(ENDLESS, sweep, (stop[0] + 1.0, ZERO), until=done)
    fill(a, n, lambda i: demands.value(i, f))
    demands.fail(f, a, failing)
    whole[3 * n] = sweeps
    return {"whole": whole}


def _largest(values: Array, count: int) -> Scalar:
    return loop(count, lambda i, most: maximum(most, values[i]), ZERO)
