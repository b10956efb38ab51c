"""Counting a program: loops, tables and switches followed, and the same numbers as the counting scalar."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bough.program import Program, count, trace
from bough.scalar import Count, Counted, Table, Tally, gather, gather_index, loop, sqrt, switch
from conformance import every_operation, newton_sqrt


def counted(function: Any, **sizes: int) -> Count:
    """What the counting scalar says of an algorithm."""
    tally = Tally()
    function(**{name: [Counted(tally) for _ in range(size)] for name, size in sizes.items()})
    return tally.count


def traced(function: Any, rolled: bool, **sizes: int) -> Program:
    return trace("counted", function, sizes, rolled=rolled)


def test_every_operation() -> None:
    expected = Count(mul=3, add=4, div=2, sqrt=1, trig=3, other=11)
    assert counted(every_operation, x=6) == expected
    for rolled in (False, True):
        assert count(traced(every_operation, rolled, x=6)) == expected


def test_a_carried_constant_folds_in_the_first_turn_only_when_unrolled() -> None:
    def total(x: Any) -> dict[str, Any]:
        return {"y": [loop(3, lambda k, s: s + x[k], 0.0)]}

    assert counted(total, x=3) == count(traced(total, False, x=3)) == Count(add=2)
    assert count(traced(total, True, x=3)) == Count(add=3)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_loops_and_switches_are_followed(turns: list[int], choices: list[int]) -> None:
    """Trip counts and branches from tables, an index carried from turn to turn."""
    times, choice = Table("times", np.array(turns)), Table("choice", np.array(choices))
    numbers = Table("numbers", np.linspace(2.0, 3.0, 5))

    def algorithm(x: Any) -> dict[str, Any]:
        def inner(j: Any, carry: Any) -> Any:
            value, place = carry
            branches = [
                lambda: value * x[0],
                lambda: (value + x[0]) / x[1],
                lambda: sqrt(value) - value * gather(numbers, j),
            ]
            return switch(gather_index(choice, place), branches), j

        def outer(i: Any, value: Any) -> Any:
            return loop(gather_index(times, i), inner, (value + x[1], i), reverse=True)[0]

        return {"y": [loop(len(turns), outer, x[0])]}

    expected = counted(algorithm, x=2)
    assert count(traced(algorithm, True, x=2)) == expected
    assert count(traced(algorithm, False, x=2)) == expected
    by_hand = Count(add=len(turns))
    for i, number in enumerate(turns):
        for place in [i, *reversed(range(number))][:number]:
            by_hand += (Count(mul=1), Count(add=1, div=1), Count(sqrt=1, mul=1, add=1))[choices[place]]
    assert expected == by_hand


def test_an_early_exit_is_counted_to_its_end() -> None:
    program = traced(newton_sqrt, True, x=6)
    assert count(program).div == 2 * 60


def test_common_parts_are_counted_once() -> None:
    def twice(x: Any) -> dict[str, Any]:
        return {"y": [x[0] * x[1] + 1.0, x[1] * x[0] - 1.0]}

    assert counted(twice, x=2) == Count(mul=2, add=2)
    assert count(traced(twice, False, x=2)) == Count(mul=1, add=2)
