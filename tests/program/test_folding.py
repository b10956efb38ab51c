"""What the tracer records: constants folded, equal operations shared, signs pulled out; nothing that is not needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from operator import neg
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.program import Apply, Const, Load, Program, evaluate, trace, walk
from bough.scalar import OPS, Op, Table, cos, gather, loop, select, sin


def recorded(function: Callable[..., Any], rolled: bool = False) -> list[str]:
    """Names of the operations recorded for a function of three scalars."""
    program = trace("f", lambda x: {"y": [function(x[0], x[1], x[2])]}, {"x": 3}, rolled=rolled)
    return [x.op for x in walk(program.body) if isinstance(x, Apply)]


def recorded_pair(function: Callable[..., tuple[Any, Any]]) -> list[str]:
    program = trace("f", lambda x: {"y": list(function(x[0], x[1], x[2]))}, {"x": 3})
    return [x.op for x in walk(program.body) if isinstance(x, Apply)]


NOTHING: dict[str, Callable[..., Any]] = {
    "a 0": lambda a, b, c: a * 0.0,
    "a 1": lambda a, b, c: 1.0 * a,
    "a + 0": lambda a, b, c: 0.0 + a,
    "a - 0": lambda a, b, c: a - 0.0,
    "a / 1": lambda a, b, c: a / 1.0,
    "0 / a": lambda a, b, c: 0.0 / a,
    "-(-a)": lambda a, b, c: neg(neg(a)),
    "(-1) (-a)": lambda a, b, c: -1.0 * -a,
    "(-a) / (-1)": lambda a, b, c: -a / -1.0,
    "constants": lambda a, b, c: (3.0 - 1.0) / 4.0,
    "one of a kind": lambda a, b, c: select(a < b, c, c),
}


@pytest.mark.parametrize("form", NOTHING)
def test_what_folds_leaves_no_operation(form: str) -> None:
    # the operands of the form may be recorded (a sign, a comparison), the form itself may not
    operands = {"-(-a)": ["neg"], "(-1) (-a)": ["neg"], "(-a) / (-1)": ["neg"], "one of a kind": ["lt"]}
    assert recorded(NOTHING[form]) == operands.get(form, [])


SIGNS: dict[str, tuple[Callable[..., Any], list[str]]] = {
    "a - b": (lambda a, b, c: a - b, ["sub"]),
    "2 - b": (lambda a, b, c: 2.0 - b, ["sub"]),
    "a + (-2)": (lambda a, b, c: a + -2.0, ["sub"]),
    "a (-2)": (lambda a, b, c: a * -2.0, ["mul", "neg"]),
    "(-a) (-b)": (lambda a, b, c: (-a) * (-b), ["neg", "neg", "mul"]),
    "(-a) (-2)": (lambda a, b, c: (-a) * -2.0, ["neg", "mul"]),
    "(-a) - b": (lambda a, b, c: -a - b, ["neg", "add", "neg"]),
    "a - (-b)": (lambda a, b, c: a - (-b), ["neg", "add"]),
    "(-a) - 2": (lambda a, b, c: -a - 2.0, ["neg", "add", "neg"]),
    "(-a) / (-2)": (lambda a, b, c: -a / -2.0, ["neg", "div"]),
    "a / (-2)": (lambda a, b, c: a / -2.0, ["div", "neg"]),
    "(-2) / (-a)": (lambda a, b, c: -2.0 / -a, ["neg", "div"]),
    "cos(-a)": (lambda a, b, c: cos(-a), ["neg", "cos"]),
}


@pytest.mark.parametrize("form", SIGNS)
def test_signs_cost_no_more_than_they_must(form: str) -> None:
    function, names = SIGNS[form]
    assert recorded(function) == names


EQUAL: dict[str, tuple[Callable[..., tuple[Any, Any]], list[str]]] = {
    "a + b, b + a": (lambda a, b, c: (a + b, b + a), ["add"]),
    "a b, b a": (lambda a, b, c: (a * b, b * a), ["mul"]),
    "a - b, b - a": (lambda a, b, c: (a - b, b - a), ["sub", "neg"]),
    "a - a, a - a": (lambda a, b, c: (a - a, a - a), ["sub"]),
    "a / b, b / a": (lambda a, b, c: (a / b, b / a), ["div", "div"]),
    "a - b, -b + a": (lambda a, b, c: (a - b, -b + a), ["sub", "neg"]),
    "a + b, -(-a - b)": (lambda a, b, c: (a + b, -(-a - b)), ["add", "neg", "neg"]),
    "2 + a, -(-2 - a)": (lambda a, b, c: (2.0 + a, -(-2.0 - a)), ["add", "neg"]),
    "a b, -a b": (lambda a, b, c: (a * b, (-a) * b), ["mul", "neg", "neg"]),
    "a / 2, -a / -2": (lambda a, b, c: (a / 2.0, -a / -2.0), ["div", "neg"]),
    "2 / a, -2 / a": (lambda a, b, c: (2.0 / a, -2.0 / a), ["div", "neg"]),
    "sin a, sin -a": (lambda a, b, c: (sin(a), sin(-a)), ["sin", "neg", "neg"]),
    "a < b, b > a": (lambda a, b, c: (select(a < b, a, c), select(b > a, b, c)), ["lt", "select", "select"]),
    "whole expressions": (
        lambda a, b, c: ((a + b) * c - a / b, c * (b + a) + -(a / b)),
        ["add", "mul", "div", "sub", "neg"],
    ),
}


@pytest.mark.parametrize("form", EQUAL)
def test_equal_operations_are_shared(form: str) -> None:
    function, names = EQUAL[form]
    assert recorded_pair(function) == names


def test_constants_and_reads_are_shared() -> None:
    program = trace("f", lambda x: {"y": [x[0] + 2.5, x[0] * 2.5]}, {"x": 1}, rolled=True)
    kinds = Counter(type(x) for x in program.body)
    floats = [x.value for x in program.body if isinstance(x, Const) and isinstance(x.value, float)]
    assert (kinds[Load], floats) == (1, [2.5])


def test_zeros_of_both_signs_stay_apart() -> None:
    program = trace("f", lambda x: {"y": [0.0, -0.0]}, {"x": 1})
    assert [str(v) for v in evaluate(program, {"x": [1.0]})["y"]] == ["0.0", "-0.0"]


def test_operations_are_shared_with_what_encloses_them_only() -> None:
    """A product known outside a loop is not repeated inside; one made inside means nothing outside."""

    def known_before(x: Any) -> dict[str, Any]:
        outside = x[0] * x[1]
        return {"y": [loop(3, lambda k, s: s + x[0] * x[1], outside)]}

    def known_after(x: Any) -> dict[str, Any]:
        total = loop(3, lambda k, s: s + x[0] * x[1], 0.0)
        return {"y": [total, x[0] * x[1]]}

    for function, products, expected in ((known_before, 1, [24.0]), (known_after, 2, [18.0, 6.0])):
        program = trace("f", function, {"x": 2}, rolled=True)
        assert [x.op for x in walk(program.body) if isinstance(x, Apply)].count("mul") == products
        assert evaluate(program, {"x": [2.0, 3.0]})["y"] == expected


def test_tables_with_the_same_contents_are_one() -> None:
    def read(x: Any) -> dict[str, Any]:
        tables = [Table(name, np.array([1.0, 2.0])) for name in ("a", "b")] + [Table("a", np.array([3.0, 4.0]))]
        total = loop(2, lambda k, s: s + sum(gather(table, k) for table in tables), x[0])
        return {"y": [total]}

    program = trace("f", read, {"x": 1}, rolled=True)
    assert [(b.name, b.data.tolist()) for b in program.of_role("table") if b.data is not None] == [
        ("a", [1.0, 2.0]),
        ("a_2", [3.0, 4.0]),
    ]
    assert evaluate(program, {"x": [0.0]}) == {"y": [13.0]}


def test_an_entry_at_a_known_place_is_a_constant() -> None:
    table = Table("t", np.array([4.0, 0.0]))
    for rolled in (False, True):
        assert recorded(lambda a, b, c: a * gather(table, 1) + b * gather(table, 0), rolled) == ["mul"]


def test_names_of_outputs_and_inputs_win() -> None:
    """Tables and scratch are renamed where a caller's name is the same as theirs."""

    def function(array: Any) -> dict[str, Any]:
        from bough.scalar import array as make

        table, y = Table("y", np.array([1.0, 2.0])), make(2)

        def step(k: Any, carry: tuple[()]) -> tuple[()]:
            y[k] = gather(table, k) * array[k]
            return carry

        loop(2, step, ())
        return {"y": y, "array_2": [y[0]]}

    program = trace("f", function, {"array": 2}, rolled=True)
    assert {(b.name, b.role) for b in program.buffers} == {
        ("array", "input"), ("y", "output"), ("y_2", "table"), ("array_2", "output"),
    }  # fmt: skip
    assert evaluate(program, {"array": [3.0, 4.0]}) == {"y": [3.0, 8.0], "array_2": [3.0]}


# ---- random expressions ------------------------------------------------------------------------------------------

NUMBERS = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
ARITHMETIC = [OPS[name] for name in ("neg", "add", "sub", "mul")]


@st.composite
def expressions(draw: st.DrawFn) -> Callable[[list[Any]], Any]:
    """A random expression in four variables and constants, as a function of a list."""
    steps: list[tuple[Op, int, int]] = draw(
        st.lists(
            st.tuples(st.sampled_from(ARITHMETIC), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=25
        )
    )
    constants = draw(st.lists(NUMBERS, min_size=2, max_size=4))

    def run(x: list[Any]) -> Any:
        values = [*x, *constants]
        for op, i, j in steps:
            a = values[i % len(values)]
            b = values[j % (len(x) + len(constants)) if op.name == "mul" else j % len(values)]  # so nothing overflows
            values.append(-a if op.name == "neg" else {"add": a + b, "sub": a - b, "mul": a * b}[op.name])
        return values[-1]

    return run


@given(expressions(), st.lists(st.integers(-3, 3).map(float), min_size=4, max_size=4))
def test_folding_changes_no_value(expression: Callable[[list[Any]], Any], x: list[float]) -> None:
    """Nothing is reassociated, so values are equal to the last bit."""
    program = trace("f", lambda x: {"y": [expression([x[k] for k in range(4)])]}, {"x": 4})
    assert evaluate(program, {"x": x}) == {"y": [expression(x)]}
    assert_canonical(program)


def assert_canonical(program: Program) -> None:
    """No operation is recorded twice, none has a neutral constant, and signs are not operands of arithmetic."""
    seen = set()
    constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
    negations = {x.result for x in program.body if isinstance(x, Apply) and x.op == "neg"}
    for x in program.body:
        if isinstance(x, Apply):
            assert (x.op, x.arguments) not in seen
            assert x.op != "sub" or (x.op, x.arguments[::-1]) not in seen
            seen.add((x.op, x.arguments))
            assert not negations & set(x.arguments)
            neutral = {"add": (0.0,), "sub": (0.0,), "mul": (0.0, 1.0), "neg": ()}[x.op]
            values = [constants[a] for a in x.arguments if a in constants]
            assert all(value > 0.0 and value not in neutral for value in values)
