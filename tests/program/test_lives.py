"""Scratch memory that buffers share: never two at the same time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.export.c import C
from bough.program import Program, trace
from bough.program.lives import Wanted, together, wanted_by
from bough.scalar import array, blank, fill, keeping_loops

LIVES = st.tuples(st.integers(0, 9), st.integers(0, 20), st.integers(0, 20)).map(lambda x: Wanted(x[0], *sorted(x[1:])))


@given(st.lists(LIVES, max_size=12))
def test_buffers_that_are_needed_together_do_not_overlap(wanted: list[Wanted]) -> None:
    starts = together(wanted)
    for j, (x, at) in enumerate(zip(wanted, starts, strict=True)):
        for y, there in zip(wanted[:j], starts[:j], strict=True):
            apart = x.last < y.first or y.last < x.first
            assert apart or at + x.size <= there or there + y.size <= at


def test_those_that_are_not_share_their_place() -> None:
    assert together([Wanted(4, 0, 1), Wanted(8, 2, 3), Wanted(2, 4, 5)]) == [0, 0, 0]
    assert sorted(together([Wanted(4, 0, 2), Wanted(8, 2, 3), Wanted(2, 4, 5)])) == [0, 0, 8]


def twice(cleared: bool) -> Program:
    """A program that fills and reads one array, then another one."""

    def rule(x: Any) -> dict[str, Any]:
        with keeping_loops():
            y = blank(4)
            for _ in range(2):
                some = (array if cleared else blank)(4)
                fill(some, 4, x.__getitem__)
                fill(y, 4, some.__getitem__)
        return {"y": y}

    return trace("twice", rule, {"x": 4}, rolled=True)


@pytest.mark.parametrize("cleared", [False, True])
def test_what_is_cleared_before_the_program_begins_is_needed_from_then_on(cleared: bool) -> None:
    lives = wanted_by(twice(cleared)).values()
    assert len(lives) == (0 if cleared else 2)
    if lives:
        first, second = lives
        assert first[1] < second[0]


def test_arrays_of_exported_c_share_their_places() -> None:
    assert C(twice(cleared=False)).work == 4
    assert C(twice(cleared=True)).work == 8
