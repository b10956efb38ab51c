"""Control primitives in plain Python, what overrides them, and structures of scalars."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from bough.errors import ProgramError
from bough.scalar import (
    Control,
    Counted,
    Table,
    Tally,
    activate,
    array,
    blank,
    gather,
    gather_index,
    leaves,
    loop,
    map_leaves,
    rebuild,
    rows,
    select,
    shape,
    switch,
)

# ---- loops -------------------------------------------------------------------------------------------------------


def visited(count: int, **options: Any) -> tuple[int, ...]:
    return loop(count, lambda k, seen: (*seen, k), (), **options)


def test_loop_order() -> None:
    assert visited(4) == (0, 1, 2, 3)
    assert visited(4, reverse=True) == (3, 2, 1, 0)
    assert visited(0) == visited(0, reverse=True) == ()
    assert visited(np.int64(2)) == (0, 1)  # type: ignore[arg-type]


def test_loop_ends_early() -> None:
    assert visited(9, until=lambda seen: len(seen) == 3) == (0, 1, 2)
    assert visited(9, until=lambda seen: True) == ()
    assert visited(3, until=lambda seen: False) == (0, 1, 2)
    assert visited(9, until=lambda seen: len(seen) == 2, reverse=True) == (8, 7)
    asked: list[int] = []
    visited(9, until=lambda seen: asked.append(len(seen)) or len(seen) == 2)  # type: ignore[func-returns-value]
    assert asked == [0, 1, 2]


def test_an_early_exit_that_is_not_known_runs_to_the_end() -> None:
    tally = Tally()
    x = Counted(tally)
    loop(3, lambda k, c: (c[0] * c[1], c[1]), (x, x), until=lambda c: c[0] < 1.0)
    assert (tally.count.mul, tally.count.other) == (3, 6)  # a comparison and a selection per turn


# ---- switch, gather, storage -------------------------------------------------------------------------------------


def test_switch_runs_one_branch() -> None:
    ran: list[int] = []
    branches = [lambda k=k: ran.append(k) or 10 * k for k in range(3)]  # type: ignore[func-returns-value]
    assert switch(2, branches) == 20
    assert ran == [2]
    for outside in (-1, 3):
        with pytest.raises(IndexError, match=rf"branches\[{outside}\] is outside 0 … 2"):
            switch(outside, branches)


def test_gather() -> None:
    numbers, whole = Table("numbers", np.array([0.5, 1.5])), Table("whole", np.array([3, 1], dtype=np.int32))
    assert gather(numbers, 1) == 1.5
    assert type(gather(numbers, 1)) is float
    assert gather_index(whole, 0) == 3
    assert type(gather_index(whole, 0)) is int
    assert (numbers.data.dtype, whole.data.dtype) == (np.float64, np.int64)
    for outside in (-1, 2):
        with pytest.raises(IndexError, match=rf"numbers\[{outside}\] is outside 0 … 1"):
            gather(numbers, outside)


def test_a_table_keeps_its_own_copy() -> None:
    data = np.arange(3.0)
    table = Table("t", data)
    data[0] = 9.0  # still writable
    assert gather(table, 0) == 0.0
    with pytest.raises(ValueError, match="read-only"):
        table.data[0] = 1.0
    with pytest.raises(ProgramError, match=r"table 't' has shape \(2, 2\), expected one dimension"):
        Table("t", np.eye(2))


def test_tables_are_told_apart_by_contents() -> None:
    assert Table("a", np.arange(3)).contents == Table("b", np.arange(3)).contents
    others = [np.arange(4), np.arange(3.0), np.array([0, 1, 3])]
    assert all(Table("a", np.arange(3)).contents != Table("a", other).contents for other in others)


def test_arrays_start_at_zero() -> None:
    values = array(3)
    values[1] = 2.0
    assert [values[k] for k in range(3)] == [0.0, 2.0, 0.0]
    assert array(3)[1] == 0.0


def test_rows() -> None:
    stored = rows(3, kinds=[0, 1, 0])
    stored.put(0, (1.0, 2.0))
    stored.put(1, None, kind=1)
    assert stored.get(0) == (1.0, 2.0)
    assert stored.get(1, kind=1) is None
    with pytest.raises(ProgramError, match="row 2 was read before it was written"):
        stored.get(2)
    with pytest.raises(IndexError, match=r"rows\[-1\] is outside 0 … 2"):
        stored.get(-1)
    with pytest.raises(IndexError, match=r"rows\[3\] is outside 0 … 2"):
        stored.put(3, 1.0)


# ---- overriding --------------------------------------------------------------------------------------------------


class Twice(Control):
    """Runs every loop twice, and says so for everything else."""

    def loop(self, count: Any, body: Callable[..., Any], carry: Any, reverse: bool = False, until: Any = None) -> Any:
        return super().loop(count, body, super().loop(count, body, carry, reverse, until), reverse, until)

    def switch(self, selector: Any, branches: Any) -> Any:
        return "switch"

    def gather(self, table: Table, index: Any) -> Any:
        return "gather"

    def array(self, size: int) -> Any:
        return "array"

    def blank(self, size: int) -> Any:
        return "blank"

    def rows(self, count: int, kinds: Any = None, order: Any = None) -> Any:
        return ("rows", kinds, order)


def test_the_active_control_answers() -> None:
    with activate(Twice()):
        assert visited(2) == (0, 1, 0, 1)
        assert switch(0, [lambda: "plain"]) == "switch"
        table = Table("t", np.zeros(1))
        assert gather(table, 0) == gather_index(table, 0) == "gather"
        assert array(1) == "array"
        assert blank(1) == "blank"
        assert rows(2, [0, 1], [1, 0]) == ("rows", [0, 1], [1, 0])
        with activate(Control()):
            assert visited(2) == (0, 1)
        assert visited(1) == (0, 0)
    assert visited(2) == (0, 1)


def test_an_error_restores_the_control() -> None:
    with pytest.raises(ValueError, match="stop"), activate(Twice()):
        raise ValueError("stop")
    assert visited(2) == (0, 1)


def test_a_control_is_active_in_its_own_thread_only() -> None:
    seen: list[tuple[int, ...]] = []
    with activate(Twice()):
        thread = threading.Thread(target=lambda: seen.append(visited(1)))
        thread.start()
        thread.join()
    assert seen == [(0,)]


# ---- structures --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    first: Any
    second: Any


NESTED = Pair((1.0, None, Pair(2.0, ())), 3.0)


def test_leaves_and_rebuild() -> None:
    assert leaves(NESTED) == [1.0, 2.0, 3.0]
    assert rebuild(NESTED, iter("abc")) == Pair(("a", None, Pair("b", ())), "c")
    assert leaves(None) == leaves(()) == []
    assert leaves(4.0) == [4.0]
    assert rebuild(4.0, iter([5.0])) == 5.0


def test_map_leaves() -> None:
    assert map_leaves(lambda a, b: a - b, NESTED, NESTED) == Pair((0.0, None, Pair(0.0, ())), 0.0)
    assert map_leaves(lambda a: -a, (1.0, (2.0,))) == (-1.0, (-2.0,))
    with pytest.raises(ProgramError, match="structures with 2, 1 scalars, expected one shape"):
        map_leaves(lambda a, b: a + b, (1.0, 2.0), (1.0,))


def test_shape_sees_everything_but_the_scalars() -> None:
    assert shape(NESTED) == shape(rebuild(NESTED, iter([7, 8, Counted(Tally())])))
    different = [1.0, (), None, (1.0,), (1.0, 2.0), ((1.0,), 2.0), (1.0, (2.0,)), (1.0, None), Pair(1.0, 2.0)]
    shapes = [shape(structure) for structure in different]
    assert all(a != b for k, a in enumerate(shapes) for b in shapes[:k])
    assert len(set(shapes)) == len(shapes)


# ---- what a symbolic scalar refuses ------------------------------------------------------------------------------


def test_what_is_not_known_is_refused() -> None:
    a = Counted(Tally())
    refused: dict[str, Callable[[], object]] = {
        "no truth value": lambda: 1.0 if a < 0.0 else 2.0,
        "not a number": lambda: float(a),
        "equal is not known": lambda: a == 0.0,
    }
    for message, action in refused.items():
        with pytest.raises(ProgramError, match=message):
            action()
    with pytest.raises(ProgramError, match="no truth value"):
        min(a, a)
    with pytest.raises(ProgramError, match="equal is not known"):
        a != a  # noqa: B015
    assert len({a, a}) == 1  # it still has an identity
    assert select(True, a, 0.0) is a
