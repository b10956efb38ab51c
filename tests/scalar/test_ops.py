"""The table of operations: every row's meaning, derivative, cost and commutativity, and how algorithms reach it."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from bough.scalar import (
    INDEX_OPS,
    OPS,
    Op,
    Symbolic,
    absolute,
    atan2,
    both,
    cos,
    either,
    maximum,
    minimum,
    multiply_add,
    negation,
    select,
    sin,
    sqrt,
)

NUMBERS = (-2.5, -0.75, 0.4, 1.3, 3.0)
TRUTHS = (False, True)

# What each operation gives, worked out by hand.
EXAMPLES: dict[str, list[tuple[tuple[Any, ...], Any]]] = {
    "neg": [((2.5,), -2.5), ((-1.0,), 1.0)],
    "add": [((2.5, -4.0), -1.5)],
    "sub": [((2.5, -4.0), 6.5)],
    "mul": [((2.5, -4.0), -10.0)],
    # (1 + 2⁻³⁰)² = 1 + 2⁻²⁹ + 2⁻⁶⁰: the last term survives a single rounding only
    "fma": [((2.5, -4.0, 1.0), -9.0), ((1 + 2.0**-30, 1 + 2.0**-30, -1 - 2.0**-29), 2.0**-60)],
    "div": [((3.0, -4.0), -0.75)],
    "sqrt": [((6.25,), 2.5), ((0.0,), 0.0)],
    "sin": [((0.0,), 0.0), ((math.pi / 6,), 0.5)],
    "cos": [((0.0,), 1.0), ((math.pi / 3,), 0.5)],
    "atan2": [((1.0, 1.0), math.pi / 4), ((1.0, -1.0), 3 * math.pi / 4), ((-1.0, 0.0), -math.pi / 2)],
    "lt": [((1.0, 2.0), True), ((2.0, 2.0), False), ((3.0, 2.0), False)],
    "le": [((1.0, 2.0), True), ((2.0, 2.0), True), ((3.0, 2.0), False)],
    "and": [((True, True), True), ((True, False), False), ((False, False), False)],
    "or": [((True, False), True), ((False, False), False), ((True, True), True)],
    "not": [((True,), False), ((False,), True)],
    "select": [((True, 1.5, -2.0), 1.5), ((False, 1.5, -2.0), -2.0)],
    "iadd": [((3, -1), 2)],
    "imul": [((3, 4), 12)],
}

COSTS = {
    (): {"neg", "iadd", "imul"},
    ("add",): {"add", "sub"},
    ("mul",): {"mul"},
    ("mul", "add"): {"fma"},
    ("div",): {"div"},
    ("sqrt",): {"sqrt"},
    ("trig",): {"sin", "cos", "atan2"},
    ("other",): {"lt", "le", "and", "or", "not", "select"},
}

ALL = {**OPS, **INDEX_OPS}


@pytest.mark.parametrize("op", ALL.values(), ids=ALL)
def test_meaning(op: Op) -> None:
    for arguments, result in EXAMPLES[op.name]:
        assert len(arguments) == len(op.arguments)
        got = op.meaning(*arguments)
        assert got == pytest.approx(result, rel=1e-15, abs=0)
        assert type(got).__name__ == op.result


def test_every_row_has_a_name_and_an_example() -> None:
    assert not OPS.keys() & INDEX_OPS.keys()
    assert EXAMPLES.keys() == ALL.keys()
    assert all(name == op.name for name, op in ALL.items())


def test_cost_classes() -> None:
    assert {name: op.cost for name, op in ALL.items()} == {
        name: cost for cost, names in COSTS.items() for name in names
    }


def points(op: Op) -> list[tuple[Any, ...]]:
    """Arguments of the right kinds, inside the domain of the operation."""
    numbers = tuple(x for x in NUMBERS if x > 0) if op.name == "sqrt" else NUMBERS
    choices: dict[str, tuple[Any, ...]] = {"float": numbers, "bool": TRUTHS, "int": (-2, 0, 5)}
    return list(product(*(choices[kind] for kind in op.arguments)))


@pytest.mark.parametrize("op", ALL.values(), ids=ALL)
def test_only_what_commutes_says_so(op: Op) -> None:
    if len(op.arguments) == 2:
        assert op.commutes == all(op.meaning(a, b) == op.meaning(b, a) for a, b in points(op))
    else:
        assert not op.commutes


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.result == "float"], ids=lambda op: op.name)
def test_partial_derivatives_against_central_differences(op: Op) -> None:
    assert op.partials is not None
    step = 1e-5
    for arguments in points(op):
        partials = op.partials(arguments, op.meaning(*arguments))
        assert len(partials) == len(arguments)
        for k, (kind, partial) in enumerate(zip(op.arguments, partials, strict=True)):
            if kind != "float":
                assert partial is None
                continue
            up, down = ([*arguments[:k], arguments[k] + h, *arguments[k + 1 :]] for h in (step, -step))
            difference = op.meaning(*up) - op.meaning(*down)
            if op.name == "atan2":  # the step may cross the cut
                difference = math.remainder(difference, 2 * math.pi)
            assert partial == pytest.approx(difference / (2 * step), rel=1e-8, abs=1e-9)


def test_truth_values_have_no_derivatives() -> None:
    assert {name for name, op in ALL.items() if op.partials is None} == {
        name for name, op in ALL.items() if op.result != "float"
    }


# ---- how algorithms reach the table ------------------------------------------------------------------------------


class Noted(Symbolic):
    """A scalar that notes the names of the operations applied to it."""

    def __init__(self, names: list[str], negative_of: Symbolic | None = None) -> None:
        self.names = names
        self._negative_of = negative_of

    @property
    def negative_of(self) -> Symbolic | None:
        return self._negative_of

    def record(self, op: Op, arguments: tuple[Any, ...]) -> Noted:
        assert len(arguments) == len(op.arguments)
        self.names.append(op.name)
        return Noted(self.names, self if op.name == "neg" else None)


def noted(function: Any) -> list[str]:
    names: list[str] = []
    function(Noted(names), Noted(names))
    return names


REACHED_BY = {
    "-a": (lambda a, b: -a, ["neg"]),
    "+a": (lambda a, b: +a, []),
    "a + b": (lambda a, b: a + b, ["add"]),
    "2 + b": (lambda a, b: 2.0 + b, ["add"]),
    "a - b": (lambda a, b: a - b, ["sub"]),
    "2 - b": (lambda a, b: 2.0 - b, ["sub"]),
    "a * b": (lambda a, b: a * b, ["mul"]),
    "2 * b": (lambda a, b: 2.0 * b, ["mul"]),
    "multiply_add": (lambda a, b: multiply_add(2.0, a, b), ["fma"]),
    "a / b": (lambda a, b: a / b, ["div"]),
    "2 / b": (lambda a, b: 2.0 / b, ["div"]),
    "a / 2": (lambda a, b: a / 2.0, ["div"]),
    "sqrt": (lambda a, b: sqrt(a), ["sqrt"]),
    "sin": (lambda a, b: sin(a), ["sin"]),
    "cos": (lambda a, b: cos(a), ["cos"]),
    "atan2": (lambda a, b: atan2(a, b), ["atan2"]),
    "atan2 of a constant": (lambda a, b: atan2(1.0, b), ["atan2"]),
    "<": (lambda a, b: a < b, ["lt"]),
    ">": (lambda a, b: a > 1.0, ["lt"]),
    "<=": (lambda a, b: a <= b, ["le"]),
    ">=": (lambda a, b: a >= b, ["le"]),
    "both": (lambda a, b: both(a, b), ["and"]),
    "either": (lambda a, b: either(a, b), ["or"]),
    "negation": (lambda a, b: negation(a), ["not"]),
    "select": (lambda a, b: select(a, b, 1.0), ["select"]),
    "minimum": (lambda a, b: minimum(a, b), ["lt", "select"]),
    "maximum": (lambda a, b: maximum(a, 0.0), ["lt", "select"]),
    "absolute": (lambda a, b: absolute(a), ["lt", "neg", "select"]),
}


@pytest.mark.parametrize("form", REACHED_BY)
def test_what_records_what(form: str) -> None:
    function, names = REACHED_BY[form]
    assert noted(function) == names


def test_every_operation_is_reachable() -> None:
    assert {name for _, names in REACHED_BY.values() for name in names} == OPS.keys()


@pytest.mark.parametrize("a", NUMBERS)
@pytest.mark.parametrize("b", NUMBERS)
def test_functions_of_floats(a: float, b: float) -> None:
    assert (sin(a), cos(a), atan2(a, b)) == (math.sin(a), math.cos(a), math.atan2(a, b))
    assert sqrt(absolute(a)) == math.sqrt(abs(a))
    assert (minimum(a, b), maximum(a, b)) == (min(a, b), max(a, b))
    assert select(a < b, a, b) == min(a, b)


def test_functions_of_truth_values() -> None:
    unknown = Noted([])
    for a, b in product(TRUTHS, TRUTHS):
        assert (both(a, b), either(a, b), negation(a)) == (a and b, a or b, not a)
    assert both(True, unknown) is both(unknown, True) is either(False, unknown) is either(unknown, False) is unknown
    assert both(False, unknown) is both(unknown, False) is False
    assert either(True, unknown) is either(unknown, True) is True
    assert select(unknown, 2.0, unknown) is not unknown
    assert select(unknown, unknown, unknown) is unknown  # nothing to choose
    assert unknown.names == ["select"]


def test_signs_leave_sines_and_cosines() -> None:
    assert noted(lambda a, b: sin(-a)) == ["neg", "sin", "neg"]
    assert noted(lambda a, b: cos(-a)) == ["neg", "cos"]


def test_rules_over_scalars_hold_element_by_element_of_arrays() -> None:
    many: Any = np.array([-4.0, 0.0, 9.0])
    of_many: Any = maximum(many, 0.0)
    assert of_many.tolist() == [maximum(x, 0.0) for x in many.tolist()]
    assert np.array_equal(sqrt(of_many), [0.0, 0.0, 3.0])
