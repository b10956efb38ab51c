"""Linear equations by elimination, in order, over scalars; some unknowns are zero and their equations not asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bough.scalar import Array, Index, Scalar, array, do_when, each, loop

__all__ = ["BLOCK", "Run", "solved"]

BLOCK = 4
"""So many unknowns are eliminated in one pass over the equations below them: passes cost more than their sums do."""


@dataclass(frozen=True)
class Run:
    """Blocks of unknowns of one size, one after the other: where they begin, how many, how large."""

    start: int
    count: int
    size: int

    @staticmethod
    def cover(n: int) -> list[Run]:
        """All of n unknowns."""
        runs = [Run(0, n // BLOCK, BLOCK), Run(n // BLOCK * BLOCK, 1, n % BLOCK)]
        return [run for run in runs if run.count and run.size]


def solved(
    K: Array, n: int, inverse: Callable[[Index, Scalar], Scalar], runs: Sequence[Run], on: Array | None = None
) -> Array:
    """The solution x of n equations in `K`, n + 1 numbers each: coefficients and the right side; K is overwritten.

    ``inverse(k, pivot)`` is 1 / pivot, or zero for an unknown that is zero. What its column and its equation hold does
    not matter then. Blocks of unknowns whose first has a zero in `on` are zero, and cost nothing where that is so in
    every state.
    """
    inverses, x, wide = array(n), array(n), n + 1

    def where_on(first: Index, rule: Callable[[], None]) -> None:
        if on is None:
            rule()
        else:
            do_when(on[first] > 0.0, rule)

    def block(number: int, b: Index) -> None:
        run = runs[number]
        first = b * run.size + run.start
        for k, before in enumerate(runs[: number + 1]):

            def source(p: Index, before: Run = before) -> None:
                start = p * before.size + before.start
                where_on(start, lambda: _eliminate(K, wide, first, run.size, start, before.size, inverses))

            each(before.count if k < number else b, source)
        _among_themselves(K, wide, first, run.size, inverses, inverse)

    for number, run in enumerate(runs):

        def forward(b: Index, number: int = number, run: Run = run) -> None:
            where_on(b * run.size + run.start, lambda: block(number, b))

        each(run.count, forward)

    def substitute(k: Index) -> None:
        start = k * wide + k + 1
        rest: Scalar = loop(k * -1 + (n - 1), lambda j, part: part - K[start + j] * x[k + 1 + j], K[k * wide + n])
        x[k] = inverses[k] * rest

    for run in reversed(runs):

        def backward(b: Index, run: Run = run) -> None:
            first = b * run.size + run.start

            def block(first: Index = first) -> None:
                for m in reversed(range(run.size)):
                    substitute(first + m)

            where_on(first, block)

        each(run.count, backward, reverse=True)
    return x


def _among_themselves(
    K: Array, wide: int, k: Index, count: int, inverses: Array, inverse: Callable[[Index, Scalar], Scalar]
) -> None:
    """Eliminate the unknowns k … k + count - 1 from each other's equations."""
    for m in range(count):
        for p in range(m):
            start, source = (k + m) * wide + k + p, (k + p) * wide + k + p
            factor = K[start] * inverses[k + p]
            _subtract(K, [start + 1], [[factor]], [source + 1], k * -1 + (wide - 1 - p))
        inverses[k + m] = inverse(k + m, K[(k + m) * wide + k + m])


def _eliminate(K: Array, wide: int, i: Index, rows: int, k: Index, count: int, inverses: Array) -> None:
    """Eliminate the unknowns k … k + count - 1 from some equations below theirs, those from i on."""
    corner = [[K[(k + p) * wide + k + m] for m in range(count)] for p in range(count)]
    scale = [inverses[k + m] for m in range(count)]
    multiples = []
    for r in range(rows):
        factors: list[Scalar] = []
        for m in range(count):
            entry: Scalar = K[(i + r) * wide + k + m]
            for p, factor in enumerate(factors):
                entry = entry - factor * corner[p][m]
            factors.append(entry * scale[m])
        multiples.append(factors)
    starts = [(i + r) * wide + k + count for r in range(rows)]
    sources = [(k + p) * wide + k + count for p in range(count)]
    _subtract(K, starts, multiples, sources, k * -1 + (wide - count))


def _subtract(K: Array, starts: list[Index], multiples: list[list[Scalar]], sources: list[Index], count: Index) -> None:
    """Take multiples of some rows from others."""

    def entry(j: Index) -> None:
        given = [K[source + j] for source in sources]
        for start, factors in zip(starts, multiples, strict=True):
            value: Scalar = K[start + j]
            for factor, x in zip(factors, given, strict=True):
                value = value - factor * x
            K[start + j] = value

    each(count, entry)
