"""The simplifier: reciprocals shared, what nothing uses dropped, and a second run finds nothing to do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bough.program import (
    Apply,
    Buffer,
    Const,
    Load,
    Loop,
    Program,
    Store,
    Switch,
    count,
    evaluate,
    show,
    simplify,
    trace,
    walk,
)
from bough.program.simplify import drop_unused, share_reciprocals
from bough.scalar import Count, Table, array, blank, gather_index, keeping_loops, loop, repeat, rows, sin, switch
from conformance import CASES, sample

CHOICE = Table("choice", np.array([1, 0]))


def traced(function: Callable[..., Any], rolled: bool = False, size: int = 4) -> Program:
    return trace("f", function, {"x": size}, rolled=rolled)


def names(program: Program) -> list[str]:
    return [x.op for x in walk(program.body) if isinstance(x, Apply)]


# ---- reciprocals -------------------------------------------------------------------------------------------------


def test_divisions_by_one_value_share_its_reciprocal() -> None:
    program = simplify(traced(lambda x: {"y": [x[k] / x[3] for k in range(3)]}))
    assert count(program) == Count(div=1, mul=3)
    assert names(program) == ["div", "mul", "mul", "mul"]


def test_a_single_division_stays() -> None:
    program = traced(lambda x: {"y": [x[0] / x[1], x[1] / x[2], x[0] / 3.0]})
    assert count(simplify(program)) == Count(div=3)


def test_divisors_are_told_apart() -> None:
    program = traced(lambda x: {"y": [x[0] / x[2], x[1] / x[2], x[0] / x[3], x[1] / x[3], x[0] / x[1]]})
    assert count(simplify(program)) == Count(div=3, mul=4)


@pytest.mark.parametrize("first", [True, False])
def test_a_reciprocal_that_is_there_is_used(first: bool) -> None:
    def function(x: Any) -> dict[str, Any]:
        one, others = (lambda: 1.0 / x[3]), (lambda: [x[0] / x[3], x[1] / x[3]])
        return {"y": [one(), *others()] if first else [*others(), one()]}

    program = simplify(traced(function))
    assert count(program) == Count(div=1, mul=2)
    got = evaluate(program, {"x": [3.0, 5.0, 0.0, 8.0]})
    assert got == {"y": [0.125, 0.375, 0.625] if first else [0.375, 0.625, 0.125]}


def test_blocks_are_looked_at_one_by_one() -> None:
    """A reciprocal is not moved into or out of a loop: it may not be needed there, or not be the same."""

    def function(x: Any) -> dict[str, Any]:
        inside = loop(2, lambda k, s: s / x[3] + x[k] / x[3], 0.0)
        return {"y": [x[0] / x[3], inside]}

    program = simplify(traced(function, rolled=True))
    assert names(program) == ["div", "mul", "mul", "add", "div"]
    assert evaluate(program, {"x": [3.0, 5.0, 0.0, 4.0]}) == {"y": [0.75, 1.4375]}


# ---- what nothing uses -------------------------------------------------------------------------------------------


def test_unused_operations_are_dropped_with_what_only_they_use() -> None:
    def function(x: Any) -> dict[str, Any]:
        (x[0] * x[1] + x[2]) / x[3]
        return {"y": [x[0] - x[1]]}

    program = simplify(traced(function))
    assert names(program) == ["sub"]
    assert show(program).count("x[") == 2  # of the four reads two are left


def effects(program: Program) -> tuple[int, int, int]:
    kinds = [type(x) for x in walk(program.body)]
    return kinds.count(Loop), kinds.count(Switch), kinds.count(Store)


def test_storage_that_nothing_reads_is_dropped() -> None:
    def function(x: Any) -> dict[str, Any]:
        unread, chain, used, stored = array(2), array(2), array(2), rows(2)

        def step(k: Any, carry: Any) -> Any:
            unread[k] = chain[k] * 2.0  # so nothing needs the chain either
            chain[k] = x[k]
            stored.put(k, (x[k], 1.0))
            used[k] = x[k] + 1.0
            return carry

        loop(2, step, ())
        return {"y": [used[0]]}

    program = traced(function, rolled=True)
    assert {b.name for b in program.of_role("scratch")} == {"array", "array_2", "array_3", "rows"}
    smaller = simplify(program)
    assert [b.name for b in smaller.of_role("scratch")] == ["array_3"]
    assert effects(smaller) == (1, 0, 2)
    assert names(smaller) == ["add"]
    assert evaluate(smaller, {"x": [1.5, 0.0, 0.0, 0.0]}) == {"y": [2.5]}


def test_loops_and_switches_without_use_are_dropped() -> None:
    def function(x: Any) -> dict[str, Any]:
        loop(2, lambda k, s: s + switch(gather_index(CHOICE, k), [lambda: x[0], lambda: x[1]]), 0.0)
        return {"y": [x[2]]}

    program = simplify(traced(function, rolled=True))
    assert effects(program) == (0, 0, 1)
    assert [b.name for b in program.buffers] == ["x", "y"]


def test_what_has_an_effect_is_kept() -> None:
    def function(x: Any) -> dict[str, Any]:
        y = array(2)

        def step(k: Any, unused: Any) -> Any:
            switch(gather_index(CHOICE, k), [lambda: y.__setitem__(k, x[k]), lambda: None])
            return unused + 1.0

        loop(2, step, 0.0)
        return {"y": y}

    program = simplify(traced(function, rolled=True))
    assert effects(program) == (1, 1, 1)
    assert evaluate(program, {"x": [5.0, 6.0, 0.0, 0.0]}) == {"y": [0.0, 6.0]}


def test_the_condition_of_an_early_exit_is_kept() -> None:
    x, y = Buffer("x", "input", "float", 1), Buffer("y", "output", "float", 1)
    body = (Apply(5, "lt", (3, 1)), Apply(4, "mul", (3, 1)))
    turns = Loop(2, 6, False, (1,), (3,), body, (4,), (7,), done=5)
    program = Program(
        "exit",
        (x, y),
        (Const(0, 0), Const(2, 9), Load(1, "x", 0), turns, Store("y", 0, 7)),
        ("int", "float", "int", "float", "float", "bool", "int", "float"),
    )
    assert same(simplify(program), program)
    assert evaluate(program, {"x": [0.5]}) == {"y": [0.125]}  # 0.25 is below 0.5, and the loop ends after that turn


def test_inputs_and_outputs_stay() -> None:
    program = simplify(trace("f", lambda x, unused: {"y": [], "z": [1.0]}, {"x": 1, "unused": 3}))
    assert [(b.name, b.size) for b in program.buffers] == [("x", 1), ("unused", 3), ("y", 0), ("z", 1)]


# ---- all passes --------------------------------------------------------------------------------------------------


def same(a: Program, b: Program) -> bool:
    return (a.body, a.kinds, a.buffers) == (b.body, b.kinds, b.buffers)


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_simplifying_again_changes_nothing(case: str, rolled: bool) -> None:
    once = simplify(trace(case, CASES[case][0], CASES[case][1], rolled=rolled))
    assert same(simplify(once), once)
    for one in (share_reciprocals, drop_unused):
        assert same(one(once), once)


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_dropping_changes_no_number(case: str, rolled: bool, rng: np.random.Generator) -> None:
    program = trace(case, CASES[case][0], CASES[case][1], rolled=rolled)
    smaller = drop_unused(program)
    assert len(list(walk(smaller.body))) <= len(list(walk(program.body)))
    for x in sample(rng, 10).tolist():
        assert evaluate(smaller, {"x": x}) == evaluate(program, {"x": x})


def test_results_are_stored_as_soon_as_they_are_known() -> None:
    def several(x: Any) -> dict[str, Any]:
        first, second = x[0] * x[1], sin(x[0])
        return {"y": [first, second, second + first]}

    program = simplify(trace("early", several, {"x": 2}))
    kinds = [x.op if isinstance(x, Apply) else type(x).__name__ for x in program.body if not isinstance(x, Const)]
    assert kinds == ["Load", "Load", "mul", "Store", "sin", "Store", "add", "Store"]
    assert evaluate(program, {"x": [2.0, 3.0]})["y"] == [6.0, math.sin(2.0), math.sin(2.0) + 6.0]


def test_a_place_that_is_written_twice_keeps_its_last_value() -> None:
    x, y = Buffer("x", "input", "float", 1), Buffer("y", "output", "float", 2)
    body = (
        Const(0, 0),
        Const(1, 1),
        Load(2, "x", 0),
        Apply(3, "add", (2, 2)),
        Store("y", 0, 3),
        Store("y", 0, 2),
        Store("y", 1, 3),
    )
    program = simplify(Program("twice", (x, y), body, ("int", "int", "float", "float")))
    assert evaluate(program, {"x": [2.0]})["y"] == [2.0, 4.0]


def test_an_output_that_is_read_stays_in_order() -> None:
    x, y = Buffer("x", "input", "float", 1), Buffer("y", "output", "float", 1)
    body = (
        Const(0, 0),
        Load(1, "x", 0),
        Apply(2, "neg", (1,)),
        Load(3, "y", 0),
        Apply(4, "add", (2, 3)),
        Store("y", 0, 2),
        Load(5, "y", 0),
        Apply(6, "add", (5, 4)),
        Store("y", 0, 6),
    )
    program = simplify(Program("read", (x, y), body, ("int", *["float"] * 6)))
    assert evaluate(program, {"x": [2.0]})["y"] == [-4.0]


def test_scratch_memory_is_written_as_soon_as_it_can_be() -> None:
    """What a loop reads later is stored behind where it is made, unless something reads the memory before."""

    def function(x: Any, first: bool) -> dict[str, Any]:
        with keeping_loops():
            scratch = blank(4)
        made = [x[k] * x[k] for k in range(4)]
        more = made[0] + made[1] + made[2]
        for k in range(4):
            if first and k == 2:
                more = more + repeat(2, lambda j, s: s + scratch[j], 0.0)
            scratch[k] = made[k]
        return {"y": [repeat(4, lambda j, s: s + scratch[j], more)]}

    def behind(program: Program) -> list[bool]:
        """Of each store to scratch memory, whether what it stores was made just before."""
        stored = [k for k, x in enumerate(program.body) if isinstance(x, Store) and x.buffer != "y"]
        before = [program.body[k - 1] for k in stored]
        return [isinstance(x, Apply) and x.op == "mul" for x in before]

    for first in (False, True):
        program = traced(lambda x, first=first: function(x, first))
        after = simplify(program)
        assert all(behind(after)) is not first
        assert evaluate(after, {"x": [1.0, 2.0, 3.0, 4.0]}) == evaluate(program, {"x": [1.0, 2.0, 3.0, 4.0]})
