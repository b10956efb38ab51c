"""Forces by projected Gauss-Seidel: row after row is given the force it wants, within its bounds, again and again."""

from __future__ import annotations

from bough.complementarity.conditions import Conditions
from bough.complementarity.demands import ZERO, Demands
from bough.scalar import Array, Bool, Index, Part, Scalar, array, either, fill, loop

__all__ = ["gauss_seidel"]

ENDLESS = 2**31 - 1
"""The loop over sweeps ends by what it is told, not by its count."""

HUGE = 1e30
"""Forces that change by so much, in units of a, lead nowhere: the sweeps end while they are finite."""


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
