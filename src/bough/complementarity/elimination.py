"""Linear equations by elimination, in order, over scalars; some unknowns are zero and their equations not asked for."""

from __future__ import annotations

from collections.abc import Callable

from bough.scalar import Array, Index, Part, Scalar, array, fill, loop

__all__ = ["solved"]

BLOCK = 4
"""So many unknowns are eliminated in one pass over the equations below them: passes cost more than their sums do."""


def solved(K: Array, n: int, inverse: Callable[[Index, Scalar], Scalar]) -> Array:
    """The solution x of n equations in `K`, n + 1 numbers each: coefficients and the right side; K is overwritten.

    ``inverse(k, pivot)`` is 1 / pivot, or zero for an unknown that is zero. What its column and its equation hold does
    not matter then.
    """
    inverses, x, wide = array(n), array(n), n + 1

    def block(k: Index, count: int) -> None:
        _among_themselves(K, wide, k, count, inverses, inverse)
        _below(K, wide, k, count, inverses)

    def blocks(number: Index, carry: tuple[()]) -> tuple[()]:
        block(number * BLOCK, BLOCK)
        return carry

    loop(n // BLOCK, blocks, ())
    if n % BLOCK:
        _among_themselves(K, wide, n // BLOCK * BLOCK, n % BLOCK, inverses, inverse)

    def back(k: Index, carry: tuple[()]) -> tuple[()]:
        start = k * wide + k + 1
        rest: Scalar = loop(k * -1 + (n - 1), lambda j, part: part - K[start + j] * x[k + 1 + j], K[k * wide + n])
        x[k] = inverses[k] * rest
        return carry

    loop(n, back, (), reverse=True)
    return x


def _among_themselves(
    K: Array, wide: int, k: Index, count: int, inverses: Array, inverse: Callable[[Index, Scalar], Scalar]
) -> None:
    """Eliminate the unknowns k … k + count - 1 from each other's equations."""
    for m in range(count):
        for p in range(m):
            start, source = (k + m) * wide + k + p, (k + p) * wide + k + p
            factor = K[start] * inverses[k + p]
            _subtract(K, start + 1, [factor], [source + 1], k * -1 + (wide - 1 - p))
        inverses[k + m] = inverse(k + m, K[(k + m) * wide + k + m])


def _below(K: Array, wide: int, k: Index, count: int, inverses: Array) -> None:
    """Eliminate the unknowns k … k + count - 1 from the equations below theirs."""
    corner = [[K[(k + p) * wide + k + m] for m in range(count)] for p in range(count)]
    scale = [inverses[k + m] for m in range(count)]
    sources = [(k + p) * wide + k + count for p in range(count)]

    def equation(r: Index, carry: tuple[()]) -> tuple[()]:
        start = (k + count + r) * wide + k
        factors: list[Scalar] = []
        for m in range(count):
            entry: Scalar = K[start + m]
            for p, factor in enumerate(factors):
                entry = entry - factor * corner[p][m]
            factors.append(entry * scale[m])
        _subtract(K, start + count, factors, sources, k * -1 + (wide - count))
        return carry

    loop(k * -1 + (wide - 1 - count), equation, ())


def _subtract(K: Array, start: Index, factors: list[Scalar], sources: list[Index], count: Index) -> None:
    """Take multiples of some rows from another one."""

    def entry(j: Index) -> Scalar:
        value: Scalar = K[start + j]
        for factor, source in zip(factors, sources, strict=True):
            value = value - factor * K[source + j]
        return value

    fill(Part(K, start), count, entry)
