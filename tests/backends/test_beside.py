"""Turns of a loop side by side: which loops are so treated, and that every bit stays."""

from __future__ import annotations

import numpy as np
import pytest

from bough.backends.limbs import turns_beside
from bough.program import Const, Loop, Program, check, evaluate, simplify, trace, walk
from bough.scalar import Array, Index, Scalar, Table, blank, gather_index, keeping_loops, repeat

N = 40
"""Numbers that all turns read: enough for it."""


def program_of(count: int, common: int, running: bool = False) -> Program:
    """Columns times a few numbers that all have in common, the last column first; or sums that run on."""
    places = Table("places", np.arange(count)[::-1])

    def rule(x: Array) -> dict[str, Array]:
        factor = [x[k] * x[k] for k in range(common)]
        with keeping_loops():
            given, result = blank(count), blank(count + 1)
        for k in range(count):
            given[k] = x[k] + 1.0
        result[count if not running else 0] = x[0]

        def column(row: Index, carry: tuple[()]) -> tuple[()]:
            at = gather_index(places, row)
            total: Scalar = result[row] if running else given[row]
            for value in factor:
                total = total * value + value
            result[row + 1 if running else at] = total
            return carry

        repeat(count, column, ())
        return {"y": result}

    return simplify(trace("columns", rule, {"x": N}))


def turns(program: Program) -> int:
    (loop,) = (x for x in walk(program.body) if isinstance(x, Loop))
    constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
    return int(constants[loop.count])


@pytest.mark.parametrize(("count", "after"), [(2, 1), (5, 3), (8, 4)])
def test_two_turns_are_one_and_every_bit_stays(count: int, after: int, rng: np.random.Generator) -> None:
    program, x = program_of(count, N), {"x": rng.normal(size=N).tolist()}
    joined = turns_beside(program)
    check(joined)
    assert turns(joined) == after
    assert evaluate(joined, x) == evaluate(program, x)


@pytest.mark.parametrize(("common", "running"), [(8, False), (N, True)])
def test_loops_stay_that_read_little_or_know_of_each_other(common: int, running: bool) -> None:
    program = program_of(6, common, running)
    assert turns_beside(program) is program
