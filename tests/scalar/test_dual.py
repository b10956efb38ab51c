"""Dual numbers: every operation against differences and against the table, on floats, traced scalars and each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import bough
from bough.program import evaluate, trace
from bough.scalar import (
    OPS,
    Counted,
    Dual,
    Tally,
    absolute,
    atan2,
    both,
    cos,
    derivative,
    either,
    maximum,
    minimum,
    multiply_add,
    negation,
    select,
    sin,
    sqrt,
)
from differences import derivative as by_differences

POINTS = [(0.7, 1.3), (-0.4, 2.0), (1.9, 0.3), (0.5, 0.5)]
DIRECTIONS = [(1.0, 0.0), (0.3, -1.2)]

# For every operation on numbers a function of two scalars that uses it, smooth at the points above.
FUNCTIONS: dict[str, Any] = {
    "neg": lambda x, y: -x * y,
    "add": lambda x, y: x + y * 2.0 + 1.0,
    "sub": lambda x, y: 1.0 - x - y,
    "mul": lambda x, y: x * y * 3.0,
    "fma": lambda x, y: multiply_add(x, y, x),
    "div": lambda x, y: x / y + 1.0 / y + x / 2.0,
    "sqrt": lambda x, y: sqrt(x * x + y),
    "sin": lambda x, y: sin(x * y) + sin(-x),
    "cos": lambda x, y: cos(x - y) * cos(-y),
    "atan2": lambda x, y: atan2(y, x) + atan2(x, 2.0) + atan2(1.0, y),
    "select": lambda x, y: select(x < y + 0.1, x * x, y * y) + absolute(x) + maximum(x, y * 2.0) - minimum(x, 9.0),
}


def test_every_operation_on_numbers_is_tried() -> None:
    assert set(FUNCTIONS) == {op.name for op in OPS.values() if op.result == "float"}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_rates_are_those_of_differences(name: str, point: tuple[float, float], direction: tuple[float, float]) -> None:
    function = FUNCTIONS[name]
    value, rate = derivative(lambda x: function(*x), point, direction)
    assert value == function(*point)
    want = by_differences(lambda t: function(*(a + t * b for a, b in zip(point, direction, strict=True))), 2e-3)
    assert rate == pytest.approx(want, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "op", [op for op in OPS.values() if op.result == "float" and op.name != "select"], ids=lambda op: op.name
)
def test_rates_are_those_of_the_table(op: Any) -> None:
    values = (0.8, 1.7, -0.6)[: len(op.arguments)]
    rates = (0.9, -1.1, 0.4)[: len(op.arguments)]
    found = Dual(values[0], rates[0]).record(op, tuple(Dual(a, b) for a, b in zip(values, rates, strict=True)))
    assert found.value == op.meaning(*values)
    partials = op.partials(values, found.value)
    assert found.rate == pytest.approx(sum(a * b for a, b in zip(partials, rates, strict=True)), rel=1e-15)


def test_comparisons_are_of_values_and_have_no_rate() -> None:
    def function(x: tuple[Any, Any]) -> tuple[Any, ...]:
        a, b = x
        both_true = both(a < b, negation(b <= 1.0))
        return (a < b, a <= b, a > b, a >= 2.0, a > 0.0, both_true, either(a > b, a < 0.0))

    values, rates = derivative(function, (1.0, 2.0), (1.0, -1.0))
    assert values == (True, True, False, False, True, True, False)
    assert rates == (0.0,) * 7


def test_what_does_not_change_stays_as_it_is() -> None:
    seen: list[Any] = []
    derivative(lambda x: seen.extend(x) or x[0], (1.0, 2.0), (0.0, 1.0))
    assert seen[0] == 1.0
    assert isinstance(seen[1], Dual)
    assert derivative(lambda x: 3.0, 1.0, 1.0) == (3.0, 0.0)


def test_what_is_not_chosen_need_not_be_finite() -> None:
    tally = Tally()
    chosen = select(Counted(tally) < 1.0, Dual(1.0, 2.0), Dual(0.0, math.inf))
    assert isinstance(chosen, Dual)
    assert isinstance(chosen.rate, Counted)
    program = trace("guarded", lambda x: {"y": list(derivative(_guarded_root, x[0], 1.0))}, {"x": 1})
    assert [evaluate(program, {"x": [x]})["y"] for x in (0.0, 4.0)] == [[0.0, 1.0], [2.0, 0.25]]


def _guarded_root(x: Any) -> Any:
    small = x < 1e-9
    return select(small, x, sqrt(select(small, 1.0, x)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_by_dual_numbers_within_dual_numbers(name: str) -> None:
    function, point, (dx, dy) = FUNCTIONS[name], POINTS[0], DIRECTIONS[1]

    def slope(x: tuple[Any, Any]) -> Any:
        return derivative(lambda z: function(*z), x, (dx, dy))[1]

    curve = derivative(slope, point, (dx, dy))[1]
    want = by_differences(lambda t: slope((point[0] + t * dx, point[1] + t * dy)), 2e-3)
    assert curve == pytest.approx(want, rel=1e-9, abs=1e-8)


def test_directions_are_not_confused() -> None:
    """d/dx (x · d/dy (x + y)) is 1, not 2."""
    assert derivative(lambda x: x * derivative(lambda y: x + y, 1.0, 1.0)[1], 3.0, 1.0) == (3.0, 1.0)


@pytest.mark.parametrize("rolled", [False, True])
def test_traced_derivatives_are_those_on_floats(rolled: bool) -> None:
    def program(x: Any) -> dict[str, Any]:
        at, along = (x[0], x[1]), (x[2], x[3])
        pairs = [derivative(lambda z, f=f: f(*z), at, along) for f in FUNCTIONS.values()]
        return {"y": [part for pair in pairs for part in pair]}

    traced = trace("derivatives", program, {"x": 4}, rolled=rolled)
    for point in POINTS:
        for direction in DIRECTIONS:
            want = program((*point, *direction))["y"]
            assert evaluate(traced, {"x": [*point, *direction]})["y"] == pytest.approx(want, rel=1e-13, abs=1e-13)


POWERS = [0, 1, 2, 3, 7, 10, -1, -3, 2.0, 0.5, True, np.int64(4), np.float64(-2.0)]


@pytest.mark.parametrize("exponent", POWERS, ids=repr)
def test_powers_and_their_rates(exponent: Any) -> None:
    """As of floats, on traced scalars, on dual numbers, and on the one within the other."""
    x, n = 1.3, float(exponent)
    want, slope, curve = x**n, n * x ** (n - 1), n * (n - 1) * x ** (n - 2)
    program = trace("power", lambda x: {"y": [x[0] ** exponent]}, {"x": 1})
    assert evaluate(program, {"x": [x]})["y"][0] == pytest.approx(want, rel=1e-14)
    assert derivative(lambda x: x**exponent, x, 2.0) == pytest.approx((want, 2.0 * slope), rel=1e-14)
    inner = derivative(lambda x: derivative(lambda y: y**exponent, x, 1.0)[1], x, 1.0)
    assert inner == pytest.approx((slope, curve), rel=1e-13)


OTHERS = [1.5, -0.5, math.nan, math.inf, 2j, "2", None, Counted(Tally()), np.ones(2)]


@pytest.mark.parametrize("exponent", OTHERS, ids=lambda x: type(x).__name__)
def test_other_powers_are_refused(exponent: Any) -> None:
    for scalar in (Counted(Tally()), Dual(1.0, 2.0)):
        with pytest.raises(bough.errors.ProgramError, match=r"expected an integer that is known, or 0\.5 for the root"):
            scalar**exponent
    with pytest.raises(bough.errors.ProgramError, match=r"2\.0 to the power of a symbolic scalar"):
        2.0 ** Counted(Tally())
