"""The shape of rolled programs: what becomes a loop, a switch, a table, scratch memory, and what needs none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bough.program import Buffer, Load, Loop, Program, Store, Switch, evaluate, trace, walk
from bough.scalar import Table, array, blank, gather, gather_index, loop, rows, switch
from conformance import KINDS, PARENTS, Pair, nested, rows_by_kind, switched, uniform_rows


def rolled(function: Any, size: int = 6) -> Program:
    return trace(function.__name__, function, {"x": size}, rolled=True)


def sizes(program: Program, role: str) -> dict[str, int]:
    return {b.name: b.size for b in program.of_role(role)}


def of_type(program: Program, kind: type) -> list[Any]:
    return [x for x in walk(program.body) if isinstance(x, kind)]


def test_a_loop_is_recorded_once_whatever_its_count() -> None:
    def repeated(count: int) -> Any:
        return lambda x: {"y": [loop(count, lambda k, s: s * x[0] + 1.0, x[1])]}

    lengths = {len(list(walk(trace("f", repeated(n), {"x": 2}, rolled=True).body))) for n in (4, 5, 5000)}
    assert len(lengths) == 1
    assert evaluate(trace("f", repeated(5), {"x": 2}, rolled=True), {"x": [2.0, 1.0]}) == {"y": [63.0]}


def test_a_loop_of_no_turns_is_not_recorded() -> None:
    def never(k: Any, carry: Any) -> Any:
        raise AssertionError("the body of an empty loop was traced")

    program = rolled(lambda x: {"y": [loop(0, never, x[0])]}, 1)  # type: ignore[arg-type,return-value]
    assert not of_type(program, Loop)
    assert evaluate(program, {"x": [4.0]}) == {"y": [4.0]}


def test_nested_loops() -> None:
    program = rolled(nested)
    (outer,) = [x for x in program.body if isinstance(x, Loop)]
    (inner,) = [x for x in outer.body if isinstance(x, Loop)]
    assert (outer.reverse, inner.reverse) == (False, True)
    assert (len(outer.carried), len(inner.carried)) == (1, 1)
    counts = [x for x in outer.body if isinstance(x, Load) and x.result == inner.count]
    assert [x.buffer for x in counts] == ["triangle"]


def test_tables_and_buffers() -> None:
    program = rolled(nested)
    tables = {b.name: (b.kind, b.data.tolist()) for b in program.of_role("table") if b.data is not None}
    assert tables == {"triangle": ("int", [0, 3, 1, 2]), "weights": ("float", [0.5, -1.25, 2.0])}
    assert sizes(program, "input") == {"x": 6}
    assert sizes(program, "output") == {"y": 8, "total": 1}  # the array is the output: nothing is copied
    assert sizes(program, "scratch") == {}


def test_a_switch_with_results() -> None:
    (made,) = of_type(rolled(switched), Switch)
    assert [len(branch_yields) for branch_yields in made.yields] == [2, 2, 2]
    assert len(made.results) == 2
    assert [sum(isinstance(x, Store) for x in branch) for branch in made.branches] == [1, 1, 0]


def test_a_switch_that_is_known_leaves_no_trace() -> None:
    def known(x: Any) -> dict[str, Any]:
        def step(k: Any, total: Any) -> Any:
            alone = switch(gather_index(PARENTS, k), [lambda: total + x[0]])
            return alone + switch(np.int64(1), [lambda: x[1], lambda: x[2]])  # type: ignore[arg-type]

        return {"y": [loop(1, step, 0.0)]}

    program = rolled(known)
    assert not of_type(program, Switch)
    assert evaluate(program, {"x": [1.0, 2.0, 4.0, 0.0, 0.0, 0.0]}) == {"y": [5.0]}


def test_uniform_rows_take_count_times_width() -> None:
    program = rolled(uniform_rows)
    assert sizes(program, "scratch") == {"rows": 5 * 3}
    assert sizes(program, "table") == {"parents": 4}


def test_rows_by_kind_are_packed_and_constants_not_stored() -> None:
    program = rolled(rows_by_kind)
    widths = {0: 2, 1: 1, 2: 0}  # of 4, 1 and 2 scalars
    (starts,) = (b.data for b in program.buffers if b.name == "row_starts")
    assert starts is not None
    assert starts.tolist() == [0, 2, 3, 5, 5] == [sum(widths[k] for k in KINDS[:row]) for row in range(5)]
    assert sizes(program, "scratch") == {"rows": 6}


def test_rows_lie_in_the_order_told() -> None:
    order, kinds = (2, 0, 1), (0, 1, 0)

    def kept(x: Any) -> dict[str, Any]:
        stored, result, kind_of = rows(3, kinds, order), array(3), Table("kinds", np.array(kinds))

        def put(k: Any, carry: tuple[()]) -> tuple[()]:
            def one() -> tuple[()]:
                stored.put(k, x[k], 0)
                return ()

            def two() -> tuple[()]:
                stored.put(k, (x[k], x[k] * 2.0), 1)
                return ()

            return switch(gather_index(kind_of, k), [one, two])

        def get(k: Any, carry: tuple[()]) -> tuple[()]:
            result[k] = switch(gather_index(kind_of, k), [lambda: stored.get(k, 0), lambda: stored.get(k, 1)[1]])
            return carry

        loop(3, put, ())
        loop(3, get, ())
        return {"y": result}

    program = rolled(kept)
    (starts,) = (b.data for b in program.of_role("table") if b.name == "row_starts")
    assert starts is not None
    assert starts.tolist() == [1, 2, 0]
    assert evaluate(program, {"x": [3.0, 4.0, 5.0, 0.0, 0.0, 0.0]})["y"] == [3.0, 8.0, 5.0]


def test_a_blank_array_is_not_cleared() -> None:
    def filled(x: Any) -> dict[str, Any]:
        result = blank(6)

        def put(k: Any, carry: tuple[()]) -> tuple[()]:
            result[k] = x[k] + 1.0
            return carry

        loop(6, put, ())
        return {"y": result}

    program = rolled(filled)
    assert [b.cleared for b in program.of_role("output")] == [False]
    assert evaluate(program, {"x": [1.0] * 6})["y"] == [2.0] * 6
    assert list(filled([1.0] * 6)["y"]) == [2.0] * 6


def test_rows_of_no_width_and_of_no_count() -> None:
    def nothing(x: Any) -> dict[str, Any]:
        empty, none = rows(0, ()), rows(3, (0, 0, 1))
        loop(2, lambda k, c: (none.put(k, (1.0, None)), c)[1], ())
        assert empty is not none
        return {"y": [none.get(1)[0]]}

    program = rolled(nothing)
    assert sizes(program, "scratch") == {"rows": 0, "rows_2": 0}
    assert evaluate(program, {"x": [0.0] * 6}) == {"y": [1.0]}


def test_one_array_as_two_outputs_and_an_input_as_an_output() -> None:
    def function(x: Any) -> dict[str, Any]:
        y = array(2)
        y[1] = x[0]
        return {"a": y, "b": y, "c": x}

    for way in (True, False):
        program = trace("f", function, {"x": 3}, rolled=way)
        assert sizes(program, "output") == {"a": 2, "b": 2, "c": 3}
        got = evaluate(program, {"x": [7.0, 8.0, 9.0]})
        assert got == {"a": [0.0, 7.0], "b": [0.0, 7.0], "c": [7.0, 8.0, 9.0]}


def test_reads_of_what_can_change_are_not_shared() -> None:
    def swap(x: Any) -> dict[str, Any]:
        y = array(2)
        y[0], y[1] = x[0], x[1]
        y[0], y[1] = y[1], y[0]
        return {"y": y, "sum": [y[0] - y[1]]}

    for way in (True, False):
        program = trace("swap", swap, {"x": 2}, rolled=way)
        assert evaluate(program, {"x": [1.0, 5.0]}) == {"y": [5.0, 1.0], "sum": [4.0]}


def test_index_arithmetic() -> None:
    table = Table("table", np.arange(10.0))
    whole = Table("whole", np.array([2, 0, 1]))

    def places(x: Any) -> dict[str, Any]:
        y = array(3)

        def step(k: Any, carry: tuple[()]) -> tuple[()]:
            j = gather_index(whole, k)
            y[j] = gather(table, k * 2 + j + 1) + 100.0 * gather(table, 3 + j * k * 1 + np.int64(2))
            return carry

        loop(3, step, ())
        return {"y": y}

    assert list(places([0.0])["y"]) == [503.0, 706.0, 503.0]
    for way in (True, False):
        assert evaluate(trace("places", places, {"x": 1}, rolled=way), {"x": [0.0]}) == {"y": [503.0, 706.0, 503.0]}


def test_structures_come_back_as_they_went_in() -> None:
    def function(x: Any) -> dict[str, Any]:
        stored = rows(1)
        stored.put(0, Pair(x[0], (None, x[1])))
        got = stored.get(0)
        assert isinstance(got, Pair)
        assert got.second[0] is None
        last = loop(2, lambda k, c: Pair(c.second[1], (None, c.first)), got)
        assert isinstance(last, Pair)
        return {"y": [last.first, last.second[1]]}

    assert evaluate(rolled(function, 2), {"x": [1.0, 2.0]}) == {"y": [1.0, 2.0]}


@pytest.mark.parametrize("role", ["input", "output", "scratch", "table"])
def test_buffers_by_role(role: str) -> None:
    program = rolled(uniform_rows)
    assert all(isinstance(b, Buffer) and b.role == role for b in program.of_role(role))
    assert all(program.buffer(b.name) is b for b in program.of_role(role))
    assert len(program.of_role(role)) == 1
