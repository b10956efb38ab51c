"""An algorithm gives the same numbers on floats, traced unrolled, traced rolled, simplified, and on many states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bough.backends import ReferenceKernel
from bough.program import Apply, Loop, Program, Store, Switch, evaluate, simplify, trace, walk
from bough.program.evaluate import Evaluator
from bough.scalar import INDEX_OPS, OPS, Array, array, loop, rows
from conformance import CASES, every_operation, newton_sqrt, sample

STATES = 40
WAYS = {"unrolled": False, "rolled": True}

Function = Callable[..., dict[str, Any]]
Numbers = dict[str, list[float]]


def traced(case: str, way: str) -> tuple[Function, Program]:
    function, inputs = CASES[case]
    return function, trace(case, function, inputs, rolled=WAYS[way])


def plain(function: Function, **inputs: list[float]) -> Numbers:
    """The outputs of an algorithm run on floats."""
    outputs = function(**inputs)
    return {name: [float(values[k]) for k in range(len(values))] for name, values in outputs.items()}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
def test_same_numbers_to_the_last_bit(case: str, way: str, rng: np.random.Generator) -> None:
    function, program = traced(case, way)
    for x in sample(rng, STATES).tolist():
        assert evaluate(program, {"x": x}) == plain(function, x=x)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
def test_simplified_to_rounding(case: str, way: str, rng: np.random.Generator) -> None:
    function, program = traced(case, way)
    smaller = simplify(program)
    for x in sample(rng, STATES).tolist():
        got = evaluate(smaller, {"x": x})
        assert got.keys() == plain(function, x=x).keys()
        for name, values in plain(function, x=x).items():
            np.testing.assert_allclose(got[name], values, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
def test_a_batch_of_states(case: str, way: str, rng: np.random.Generator) -> None:
    """The same decisions for every state, whatever the others do; NumPy's sine may differ from Python's by a bit."""
    function, program = traced(case, way)
    x = sample(rng, STATES)
    outputs = {b.name: np.full((STATES, b.size), np.nan) for b in program.of_role("output")}
    ReferenceKernel(program)({"x": x}, outputs)
    for k in range(STATES):
        for name, values in plain(function, x=x[k].tolist()).items():
            np.testing.assert_allclose(outputs[name][k], values, rtol=1e-15, atol=0)


def operations(program: Program) -> set[str]:
    return {x.op for x in walk(program.body) if isinstance(x, Apply)}


@pytest.mark.parametrize("way", WAYS)
def test_one_function_uses_every_operation(way: str) -> None:
    program = trace("every", every_operation, {"x": 6}, rolled=WAYS[way])
    assert operations(program) == OPS.keys()
    assert operations(simplify(program)) == OPS.keys()


def test_the_cases_use_every_instruction() -> None:
    programs = {case: traced(case, "rolled")[1] for case in CASES}
    used = set().union(*map(operations, programs.values()))
    assert used == OPS.keys() | INDEX_OPS.keys()
    kinds = {type(x).__name__ for program in programs.values() for x in walk(program.body)}
    assert kinds == {"Const", "Apply", "Load", "Store", "Loop", "Switch"}
    loops = [x for program in programs.values() for x in walk(program.body) if isinstance(x, Loop)]
    assert {x.reverse for x in loops} == {True, False}
    assert {x.done is None for x in loops} == {True, False}
    carried = [(p, v) for p in programs.values() for x in walk(p.body) if isinstance(x, Loop) for v in x.carried]
    assert {p.kinds[v] for p, v in carried} == {"float", "bool", "int"}


@pytest.mark.parametrize("case", CASES)
def test_unrolled_programs_are_straight_lines(case: str) -> None:
    assert not [x for x in traced(case, "unrolled")[1].body if isinstance(x, Loop | Switch)]


# ---- early exits -------------------------------------------------------------------------------------------------


def test_a_loop_ends_when_every_state_is_done() -> None:
    """Turns are counted by spying on a rule of the evaluator: as many as the slowest state needs, and one to notice."""
    program = trace("newton", newton_sqrt, {"x": 6}, rolled=True)
    divisions = 0

    def divide(a: Any, b: Any) -> Any:
        nonlocal divisions
        divisions += 1
        return np.divide(a, b)

    rules = {**{name: op.meaning for name, op in OPS.items()}, "div": divide, "or": np.logical_or}
    rules |= {"not": np.logical_not, "and": np.logical_and, "select": np.where}
    states = np.array([[0.1, 1.0], [1.9, 0.3], [0.5, 0.01]])
    memory: dict[str, Any] = {"x": [*states.T, *np.zeros((4, 3))]}
    memory |= {b.name: [0.0] * b.size for b in program.buffers if b.role in ("output", "scratch")}
    Evaluator(program, rules, all_done=np.all).run(memory)
    slowest = [int(np.max(turns)) for turns in memory["turns"]]
    assert divisions == sum(slowest) + 2
    assert max(slowest) < 20  # far from the limit of 60
    assert len(set(memory["turns"][1].tolist())) == 3  # and the states really differ


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("constant", [True, False])
def test_an_exit_known_while_tracing(way: str, constant: bool) -> None:
    def double(x: Any) -> dict[str, Any]:
        return {"y": [loop(3, lambda k, v: v + v, x[0], until=lambda v: constant)]}

    program = trace("double", double, {"x": 1}, rolled=WAYS[way])
    assert evaluate(program, {"x": [1.5]}) == {"y": [1.5 if constant else 12.0]}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_made_inside_a_loop_is_written_there_without_selection(way: str) -> None:
    def doubled(x: Any) -> dict[str, Any]:
        def step(k: Any, v: Any) -> Any:
            local, stored = array(1), rows(1)
            local[0] = v * 2.0
            local[0] = local[0] + x[0]
            stored.put(0, (local[0],))
            stored.put(0, (stored.get(0)[0] + 1.0,))
            return stored.get(0)[0]

        return {"y": [loop(3, step, x[1], until=lambda v: v < 0.0)]}

    program = trace("doubled", doubled, {"x": 2}, rolled=WAYS[way])
    turns = 1 if way == "rolled" else 3
    assert [x.op for x in walk(program.body) if isinstance(x, Apply)].count("select") == turns
    for x in ([1.0, 1.0], [1.0, -1.0], [-3.0, 1.0]):
        assert evaluate(program, {"x": x}) == plain(doubled, x=x)


def test_stores_outside_early_exits_cost_no_selection() -> None:
    program = trace("nested", CASES["nested"][0], {"x": 6}, rolled=True)
    assert "select" not in operations(program)
    assert any(isinstance(x, Store) for x in walk(program.body))


# ---- the evaluator -----------------------------------------------------------------------------------------------


def test_inputs_of_the_wrong_size_are_refused() -> None:
    from bough.errors import ShapeError

    program = trace("sum", lambda x: {"y": [x[0] + x[1]]}, {"x": 2})
    with pytest.raises(ShapeError, match="input 'x' has 3 numbers, expected 2"):
        evaluate(program, {"x": [1.0, 2.0, 3.0]})


def test_values_are_dropped_after_their_last_use() -> None:
    """A long chain of operations needs room for a few values, not for all of them."""
    alive = most = 0

    class Alive:
        def __init__(self) -> None:
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def chain(x: Any) -> dict[str, Any]:
        total = x[0]
        for _ in range(200):
            total = total * total + total
        return {"y": [total]}

    program = trace("chain", chain, {"x": 1})
    rules = {"mul": lambda a, b: Alive(), "add": lambda a, b: Alive()}
    Evaluator(program, rules, all_done=bool).run({"x": [Alive()], "y": [0.0]})
    assert 2 <= most <= 5


@pytest.mark.parametrize("rolled", [False, True])
def test_outputs_come_in_the_order_they_are_returned_in(rolled: bool) -> None:
    """Whatever is made first: calls straight from Python take the first output for the result."""

    def function(x: Array) -> dict[str, Any]:
        later, first = array(3), array(2)
        for k in range(3):
            later[k] = x[k] * 2.0
        first[0], first[1] = x[0], x[1]
        return {"first": first, "plain": [x[2]], "later": later}

    program = trace("f", function, {"x": 3}, rolled=rolled)
    assert [b.name for b in program.buffers if b.role in ("input", "output")] == ["x", "first", "plain", "later"]
