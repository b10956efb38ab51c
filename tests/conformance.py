"""Algorithms that together use every operation and every control structure: what each way of running must get right.

Each takes arrays of scalars and returns arrays of scalars. Run on floats it is its own oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.scalar import (
    Table,
    absolute,
    array,
    atan2,
    both,
    cos,
    either,
    gather,
    gather_index,
    lookup,
    loop,
    multiply_add,
    negation,
    rows,
    select,
    sin,
    sqrt,
    switch,
)

__all__ = ["CASES", "Pair", "every_operation", "newton_sqrt", "sample"]

Outputs = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    first: Any
    second: Any


def every_operation(x: Any) -> Outputs:
    """All rows of the table of operations, each in an output of its own."""
    a, b, c, d = (x[k] for k in range(4))
    less, at_most = a < b, c <= d
    return {
        "sums": [a + b, a - b, -c, 2.0 - d],
        "products": [a * b, a / b, 3.0 * c, 1.0 / d, multiply_add(a, c, d)],
        "functions": [sqrt(absolute(a)), sin(b), cos(c), atan2(a, d)],
        "choices": [
            select(less, a, b),
            select(both(less, at_most), c, d),
            select(either(less, at_most), a, 1.5),
            select(negation(at_most), -b, 0.25),
        ],
    }


def carried(x: Any) -> Outputs:
    """Numbers, a truth value and an index, carried through a loop upwards and one downwards."""

    def up(k: Any, carry: Any) -> Any:
        total, found, place = carry
        return (total * 0.5 + x[place], either(found, x[place] < 0.0), place + 2)

    total, found, _ = loop(3, up, (1.0, False, 0))
    down = loop(6, lambda k, t: t / 3.0 - x[k], total, reverse=True)
    return {"y": [total, select(found, 1.0, 2.0), down]}


TRIANGLE = Table("triangle", np.array([0, 3, 1, 2]))
WEIGHTS = Table("weights", np.array([0.5, -1.25, 2.0]))


def nested(x: Any) -> Outputs:
    """A loop whose inner loop runs as often as a table says, with computed places in an array."""
    y = array(8)

    def outer(i: Any, total: Any) -> Any:
        def inner(j: Any, partial: Any) -> Any:
            y[i * 2 + 1] = y[i * 2 + 1] + x[j + i] * gather(WEIGHTS, j)
            return partial + x[i] * x[j]

        return total - loop(gather_index(TRIANGLE, i), inner, x[i], reverse=True)

    return {"y": y, "total": [loop(4, outer, 0.0)]}


CHOICE = Table("choice", np.array([2, 0, 1, 2, 0]))


def switched(x: Any) -> Outputs:
    """A branch per table entry; the branches return structures of numbers and write to an array."""
    y = array(5)

    def step(k: Any, carry: Any) -> Any:
        def first() -> Any:
            y[k] = x[k] * 2.0
            return Pair(carry.first + x[k], (0.0,))

        def second() -> Any:
            y[k] = -1.0
            return Pair(-carry.first, (x[k] * x[k],))

        def third() -> Any:
            return Pair(3.0, (carry.first,))

        chosen = switch(gather_index(CHOICE, k), [first, second, third])
        return Pair(chosen.first, carry.second + chosen.second[0])

    last = loop(5, step, Pair(x[5], 0.0))
    return {"y": y, "last": [last.first, last.second]}


PARENTS = Table("parents", np.array([0, 1, 1, 3]))


def uniform_rows(x: Any) -> Outputs:
    """A structure per row, read at places that a table gives."""
    stored = rows(5)
    stored.put(0, Pair(1.0, (x[0], 0.0)))

    def step(k: Any, carry: tuple[()]) -> tuple[()]:
        parent = stored.get(gather_index(PARENTS, k))
        first, second = parent.second
        stored.put(k + 1, Pair(parent.first * x[k], (second + 1.0, first - x[k + 1])))
        return carry

    loop(4, step, ())
    last = stored.get(4)
    return {"y": [last.first, *last.second, stored.get(2).first]}


KINDS = (0, 1, 0, 2, 1)


def rows_by_kind(x: Any) -> Outputs:
    """Rows of different lengths, some of whose entries are constants."""
    stored, y = rows(5, KINDS), array(5)
    kinds = Table("kinds", np.array(KINDS))

    def write(k: Any, carry: tuple[()]) -> tuple[()]:
        def wide() -> None:
            stored.put(k, Pair((x[k], 2.0), (x[k] * x[k], -1.0)), kind=0)

        def narrow() -> None:
            stored.put(k, Pair(x[k] + 1.0, None), kind=1)

        def constant() -> None:
            stored.put(k, (0.5, 4.0), kind=2)

        switch(gather_index(kinds, k), [wide, narrow, constant])
        return carry

    def read(k: Any, carry: tuple[()]) -> tuple[()]:
        def wide() -> Any:
            row = stored.get(k, kind=0)
            return row.first[0] * row.first[1] + row.second[0] * row.second[1]

        def constant() -> Any:
            a, b = stored.get(k, kind=2)
            return a * b * x[k]

        y[k] = switch(gather_index(kinds, k), [wide, lambda: stored.get(k, kind=1).first, constant])
        return carry

    loop(5, write, ())
    loop(5, read, ())
    return {"y": y}


def fresh_arrays(x: Any) -> Outputs:
    """An array made inside a loop is zero at every turn; an array may be two outputs, and an input may be one."""
    sums = array(3)

    def step(k: Any, carry: tuple[()]) -> tuple[()]:
        local = array(2)
        local[0] = local[0] + x[k]
        local[1] = local[1] + local[0] * x[k + 1]
        sums[k] = local[0] + local[1]
        return carry

    loop(3, step, ())
    return {"sums": sums, "again": sums, "same": x, "array": [sums[0], 1.0]}


HEIGHTS = Table("heights", np.array([0.5, -1.0, 2.0, 0.25]))


def looked_up(x: Any) -> Outputs:
    """Entries of a table at places that each state has for itself, inside it and beyond both ends."""
    y = array(3)

    def step(k: Any, total: Any) -> Any:
        y[k] = lookup(HEIGHTS, x[k] * 2.0 + 1.0) * x[k]
        return total + lookup(HEIGHTS, total)

    return {"y": y, "total": [loop(3, step, x[3]), lookup(HEIGHTS, 2.5)]}


def newton_sqrt(x: Any) -> Outputs:
    """Square roots by Newton's iteration, each stopped as soon as it is exact enough."""

    def root(square: Any) -> Any:
        def step(k: Any, carry: Any) -> Any:
            guess, turns = carry
            return (0.5 * (guess + square / guess), turns + 1.0)

        return loop(60, step, (1.0 + square, 0.0), until=lambda c: absolute(c[0] * c[0] - square) <= 1e-12 * square)

    first, second = root(absolute(x[0]) + 0.1), root(100.0 * x[1] * x[1] + 0.01)
    return {"roots": [first[0], second[0]], "turns": [first[1], second[1]]}


def frozen_storage(x: Any) -> Outputs:
    """What a state wrote before it was done stays, in arrays and rows alike; what is made inside starts anew."""
    history, stored = array(6), rows(2)
    stored.put(0, (x[0], 0.0))
    stored.put(1, (0.0, x[1]))

    def outer(k: Any, value: Any) -> Any:
        scratch = array(1)

        def inner(j: Any, v: Any) -> Any:
            scratch[0] = scratch[0] + 1.0
            history[5] = history[5] + 1.0
            return v * 0.75

        halved = loop(4, inner, value, until=lambda v: v < 1.0)
        history[k] = halved + scratch[0]
        a, b = stored.get(0)
        stored.put(0, (a + 1.0, b + halved))
        return value * 0.5

    last = loop(5, outer, 8.0 * absolute(x[2]), until=lambda v: v < 1.0)
    return {"history": history, "rows": [*stored.get(0), *stored.get(1)], "last": [last]}


CASES: dict[str, tuple[Callable[..., Outputs], dict[str, int]]] = {
    function.__name__: (function, {"x": 6})
    for function in (
        every_operation,
        carried,
        nested,
        switched,
        uniform_rows,
        rows_by_kind,
        fresh_arrays,
        newton_sqrt,
        frozen_storage,
        looked_up,
    )
}


def sample(rng: np.random.Generator, states: int) -> np.ndarray[Any, Any]:
    """Inputs for all cases, shape (states, 6): numbers on both sides of every comparison."""
    return rng.uniform(-2.0, 2.0, (states, 6))
