"""Forces by projected Gauss-Seidel: row after row is given the force it wants, within its bounds, again and again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bough.complementarity.conditions import KINDS, Conditions
from bough.scalar import (
    Array,
    Bool,
    Index,
    Scalar,
    Table,
    absolute,
    array,
    either,
    gather_index,
    loop,
    maximum,
    minimum,
    select,
    sqrt,
    switch,
)

__all__ = ["gauss_seidel"]

ZERO: Scalar = 0.0

ENDLESS = 2**31 - 1
"""The loop over sweeps ends by what it is told, not by its count."""


def gauss_seidel(
    conditions: Conditions, A: Array, b: Array, mu: Array, start: Array, stop: Array
) -> dict[str, Array | list[Scalar]]:
    """Sweep over the rows until no force changes by more than a tolerance, or a number of sweeps is reached.

    `A` is dense, row by row, and `mu` is read at the rows of friction. `stop` holds the tolerance, in units of a, and
    the number of sweeps. A change of force counts by the change of its own a that it makes.
    """
    n = conditions.n
    f, d = _filled(n, lambda i: start[i]), _filled(n, lambda i: A[i * (n + 1)])
    count, kinds, places, normals = _blocks(conditions)

    def value(i: Index) -> Scalar:
        sum: Scalar = loop(n, lambda j, part: part + A[i * n + j] * f[j], b[i])
        return sum

    def wanted(i: Index, size: Scalar) -> Scalar:
        """The force that would make a zero, if the row were as heavy as said; zero where no force moves it."""
        return select(size > 0.0, f[i] - value(i) / select(size > 0.0, size, 1.0), 0.0)

    def moved(i: Index, size: Scalar, force: Scalar) -> Scalar:
        change = size * absolute(force - f[i])
        f[i] = force
        return change

    def block(k: Index, worst: Scalar) -> Scalar:
        i, normal = gather_index(places, k), gather_index(normals, k)

        def equality() -> Scalar:
            return moved(i, d[i], wanted(i, d[i]))

        def inequality() -> Scalar:
            return moved(i, d[i], maximum(wanted(i, d[i]), 0.0))

        def pyramid() -> Scalar:
            bound = mu[i] * f[normal]
            return moved(i, d[i], maximum(-bound, minimum(bound, wanted(i, d[i]))))

        def cone() -> Scalar:
            # both rows at once, as heavy as the heaviest direction in their plane
            mean, half, off = (d[i] + d[i + 1]) / 2.0, (d[i] - d[i + 1]) / 2.0, A[i * (n + 1) + 1]
            size = mean + sqrt(half * half + off * off)
            first, second = wanted(i, size), wanted(i + 1, size)
            bound, length = mu[i] * f[normal], sqrt(first * first + second * second)
            part = select(length <= bound, 1.0, bound / select(length > 0.0, length, 1.0))
            return maximum(moved(i, size, part * first), moved(i + 1, size, part * second))

        return maximum(worst, switch(gather_index(kinds, k), [equality, inequality, pyramid, cone]))  # as in KINDS

    def sweep(_: Index, carry: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        return loop(count, block, ZERO), carry[1] + 1.0

    def done(carry: tuple[Scalar, Scalar]) -> Bool:
        return either(carry[0] <= stop[0], stop[1] <= carry[1])

    _, number = loop(ENDLESS, sweep, (stop[0] + 1.0, ZERO), until=done)
    return {"f": f, "a": _filled(n, value), "sweeps": [number]}


def _filled(n: int, entry: Callable[[Index], Scalar]) -> Array:
    """An array of n scalars."""
    result = array(n)

    def fill(i: Index, carry: tuple[()]) -> tuple[()]:
        result[i] = entry(i)
        return carry

    loop(n, fill, ())
    return result


def _blocks(conditions: Conditions) -> tuple[int, Table, Table, Table]:
    """What is moved together, one row or the two of a cone: how many, their kinds, first rows and normals."""
    second = set((conditions.cones + 1).tolist())
    rows = [i for i in range(conditions.n) if i not in second]
    kinds = [KINDS.index(conditions.kinds[i]) for i in rows]
    normals = [max(conditions.normals[i], 0) for i in rows]

    def table(name: str, entries: list[int]) -> Table:
        return Table(name, np.array(entries, np.int64))

    return len(rows), table("kinds", kinds), table("rows", rows), table("normals", normals)
