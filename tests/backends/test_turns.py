"""Turns of a loop in the lanes of vectors: which loops are so run, and that every bit stays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bough.backends import Argument
from bough.backends.limbs import join_turns
from bough.kernel.function import Function
from bough.program import trace
from bough.scalar import Array, Index, Scalar, Table, array, gather_index, keeping_loops, repeat

N = 5
WIDEST = 4

Turn = Callable[[Index, Array, Array], None]


def rule_of(count: int, turn: Turn) -> Callable[..., dict[str, Array]]:
    def rule(x: Array) -> dict[str, Array]:
        with keeping_loops():
            scratch, result = array(N * count), array(N * count)
        for k in range(N * count):
            scratch[k] = x[k % N] * (1.0 + k)

        def step(row: Index, carry: tuple[()]) -> tuple[()]:
            turn(row, scratch, result)
            return carry

        repeat(count, step, ())
        return {"y": result}

    return rule


def product(count: int, backwards: bool) -> Turn:
    """Sums of the entries of a column, written where a table says, the last column first or in order."""
    places = np.arange(count)[:: -1 if backwards else 1]

    def turn(row: Index, given: Array, result: Array) -> None:
        at = gather_index(Table("places", places), row)
        total: Scalar = 0.5
        for k in range(N):
            total = total * given[row + k * count] + given[k]
            result[at + k * count] = total / (1.0 + given[row] * given[row])

    return turn


def running(row: Index, given: Array, result: Array) -> None:
    """Each turn reads what the one before it wrote."""
    result[row + 1] = result[row] + given[row]


def to_one_place(row: Index, given: Array, result: Array) -> None:
    """All write to one place."""
    result[0] = given[row] * 2.0


def in_place(row: Index, given: Array, result: Array) -> None:
    """Each turn changes what was there: it may not be run twice."""
    given[row] = given[row] * 2.0 + 1.0
    result[row] = given[row]


@pytest.mark.parametrize(("count", "width"), [(4, 4), (5, 0), (8, 4)])
def test_turns_that_change_what_they_read_are_run_once(
    count: int, width: int, rng: np.random.Generator, compiled: None
) -> None:
    rule = rule_of(count, in_place)
    packed = join_turns(trace("f", rule, {"x": N}), WIDEST)
    assert set(packed.widths.values()) == ({width} if width else set())
    f = Function("f", [Argument("x", (N,), "")], [Argument("y", (N * count,), "")], rule, size=N, digest=lambda: None)
    x = rng.normal(size=(3, N))
    np.testing.assert_array_equal(f(x[1]), f(x)[1])


@pytest.mark.parametrize(("count", "width"), [(1, 0), (2, 2), (3, 2), (4, 4), (7, 4), (12, 4)])
@pytest.mark.parametrize("backwards", [False, True], ids=["in order", "backwards"])
def test_columns_share_vectors(
    count: int, width: int, backwards: bool, rng: np.random.Generator, compiled: None
) -> None:
    rule = rule_of(count, product(count, backwards))
    packed = join_turns(trace("f", rule, {"x": N}), WIDEST)
    assert set(packed.widths.values()) == ({width} if width else set())
    assert packed.in_all_loops == bool(width)
    f = Function("f", [Argument("x", (N,), "")], [Argument("y", (N * count,), "")], rule, size=N, digest=lambda: None)
    x = rng.normal(size=(3, N))
    many = f(x)  # states in lanes: the loop as it was
    for k in range(3):
        np.testing.assert_array_equal(f(x[k]), many[k])


@pytest.mark.parametrize("turn", [running, to_one_place])
def test_turns_that_know_of_each_other_stay_a_loop(turn: Turn) -> None:
    program = trace("f", rule_of(4, turn), {"x": N})
    assert join_turns(program, WIDEST).program is program
