"""Arrays of scalars: parts of them, and loops over their entries, written on the control primitives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bough.scalar.control import Array, Table, array, gather_index, loop, when
from bough.scalar.symbolic import Bool, Index, Scalar

__all__ = ["Part", "do_when", "dot", "each", "entries_at", "fill", "filled", "inner", "minus", "plus", "scatter"]


class Part:
    """An array from some entry on: entry k is entry start + k of the whole array."""

    def __init__(self, values: Array, start: Index) -> None:
        self._values, self._start = values, start

    def __getitem__(self, index: Any) -> Any:
        return self._values[index + self._start]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._values[index + self._start] = value


def each(count: Index, rule: Callable[[Any], None], *, reverse: bool = False) -> None:
    """Run ``rule(k)`` for k = 0 … count-1, or downwards."""

    def step(k: Any, carry: tuple[()]) -> tuple[()]:
        rule(k)
        return carry

    loop(count, step, (), reverse=reverse)


def do_when(condition: Bool, rule: Callable[[], None]) -> None:
    """Run ``rule()`` for the states in which a condition holds; if it holds in none, nothing is run."""

    def run(carry: tuple[()]) -> tuple[()]:
        rule()
        return carry

    when(condition, run, ())


def fill(values: Array, count: Index, entry: Callable[[Any], Scalar]) -> Array:
    """Write ``entry(k)`` to the first `count` entries of an array, and return the array."""

    def put(k: Any) -> None:
        values[k] = entry(k)

    each(count, put)
    return values


def filled(size: int, entry: Callable[[Any], Scalar]) -> Array:
    """A new array with the entries ``entry(k)`` for k = 0 … size-1."""
    return fill(array(size), size, entry)


def entries_at(values: Array, places: Table) -> Array:
    """A new array with the entries of an array at some places."""
    return filled(places.data.size, lambda k: values[gather_index(places, k)])


def scatter(values: Array, places: Table, result: Array) -> Array:
    """Write entries to their places; returns the array they are in then."""

    def put(k: Index) -> None:
        result[gather_index(places, k)] = values[k]

    each(places.data.size, put)
    return result


def inner(a: Array, b: Array, size: Index) -> Scalar:
    """The sum of products of entries of two arrays."""
    none: Scalar = 0.0
    return loop(size, lambda k, total: total + a[k] * b[k], none)


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """The sum of products of entries of two sequences."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def plus(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """The sums of entries of two sequences."""
    return [x + y for x, y in zip(a, b, strict=True)]


def minus(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """The differences of entries of two sequences."""
    return [x - y for x, y in zip(a, b, strict=True)]
