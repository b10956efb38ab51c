"""What an algorithm must not do while it is traced is refused where it happens, with a message that says what to do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bough.errors import ProgramError
from bough.program import evaluate, trace
from bough.scalar import Counted, Table, Tally, array, gather_index, loop, rows, switch
from conformance import Pair

WHOLE = Table("whole", np.array([1, 0]))


def in_loop(step: Callable[[Any], Any]) -> None:
    def body(k: Any, carry: tuple[()]) -> tuple[()]:
        step(k)
        return carry

    loop(2, body, ())


def outputs(result: Any) -> dict[str, Any]:
    """Outputs of a program that uses the result, if there is one."""
    return {"y": [0.0 if result is None else result]}


def in_switch(*branches: Callable[[], Any]) -> None:
    in_loop(lambda k: switch(gather_index(WHOLE, k), branches))


def set_at(target: Any, index: Any, value: Any) -> None:
    target[index] = value


def of_another_trace(kind: str) -> Any:
    """A value, an index or an array that belongs to a trace that is over."""
    kept: dict[str, Any] = {}

    def other(y: Any) -> dict[str, Any]:
        kept.update(value=y[0], array=array(2))
        in_loop(lambda k: kept.update(index=gather_index(WHOLE, k)))
        return {}

    trace("other", other, {"y": 1}, rolled=True)
    return kept[kind]


def branch_escape(x: Any) -> Any:
    kept: list[Any] = []
    in_loop(lambda k: kept.append(x[k] * x[k]))
    return kept[0] + 1.0


def two_puts(x: Any) -> None:
    stored = rows(2, (0, 0))
    stored.put(0, x[0])
    stored.put(1, x[1])


def other_shape(x: Any) -> None:
    stored = rows(2)
    stored.put(0, (x[0], x[1]))
    stored.put(1, Pair(x[0], x[1]))


ALWAYS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "truth value": (lambda x: x[0] if x[0] < x[1] else x[1], "no truth value: use bough.scalar.select"),
    "logic": (lambda x: x[0] < 0.0 and x[1] < 0.0, "no truth value"),
    "equality": (lambda x: x[0] == x[1], "whether symbolic scalars are equal is not known"),
    "equality of structures": (lambda x: Pair(x[0], 1.0) == Pair(x[1], 1.0), "equal is not known"),
    "float()": (lambda x: float(x[0]), "not a number: use the functions of bough.scalar, not math or numpy"),
    "math": (lambda x: math.sin(x[0]), "not a number"),
    "writing an input": (lambda x: set_at(x, 0, 1.0), "the input 'x' cannot be written: copy it to an array first"),
    "another trace": (lambda x: x[0] + of_another_trace("value"), "a value of one trace was used in another"),
    "counting": (lambda x: x[0] * Counted(Tally()), "cannot trace a Counted"),
    "no constant": (lambda x: x[0] * np.array(2.0), r"array\(2.\) is a ndarray, expected a constant of kind float"),
    "truth value as number": (lambda x: x[0] + True, "True is a bool, expected a constant of kind float"),
    "condition as number": (lambda x: (x[0] < x[1]) + 1.0, "is of kind bool and is used as float"),
    "number as condition": (lambda x: loop(2, lambda k, v: v * v, x[0], until=lambda v: v), "used as bool"),
    "row never written": (lambda x: rows(2).get(1), "read before"),
}

ROLLED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "index of a list": (lambda x: in_loop(lambda k: [1.0, 2.0][k]), "cannot address a Python list: use bough.scalar"),
    "range of an index": (lambda x: in_loop(lambda k: range(k)), "cannot address a Python list"),
    "truth value of an index": (lambda x: in_loop(lambda k: 1.0 if k else 2.0), "a symbolic index has no truth value"),
    "equality of indices": (lambda x: in_loop(lambda k: k == 0), "whether symbolic indices are equal is not known"),
    "index of another trace": (lambda x: x[of_another_trace("index")], "a value of one trace was used in another"),
    "sum of two traces": (lambda x: in_loop(lambda k: k + of_another_trace("index")), "one trace was used in another"),
    "product of two traces": (lambda x: in_loop(lambda k: k * of_another_trace("index")), "was used in another"),
    "number as index": (lambda x: x[x[1]], "is of kind float and is used as int"),
    "float as index": (lambda x: x[1.0], "1.0 is a float, expected a constant of kind int"),
    "left its loop": (branch_escape, "not defined .did it leave its loop or branch"),
    "branches of different shapes": (
        lambda x: in_switch(lambda: (x[0], x[1]), lambda: (x[0],)),
        "the branches of a switch return structures of different shapes",
    ),
    "branches of as many scalars": (
        lambda x: in_switch(lambda: (x[0], x[1]), lambda: Pair(x[0], x[1])),
        "the branches of a switch return structures of different shapes",
    ),
    "branches of different kinds": (
        lambda x: in_switch(lambda: x[0], lambda: 1),
        "is of kind int and is used as float",
    ),
    "loop of another shape": (
        lambda x: loop(2, lambda k, v: (v, v), x[0]),
        "the body of a loop returns a structure of another shape",
    ),
    "frozen loop of another shape": (
        lambda x: loop(2, lambda k, v: (v, v), x[0], until=lambda v: v < 0.0),
        "the body of a loop returns a structure of another shape",
    ),
    "loop of another kind": (lambda x: loop(2, lambda k, v: 1.5, 0), "1.5 is a float, expected a constant of kind int"),
    "carried index that stops": (
        lambda x: loop(2, lambda k, v: (v[0] * 2.0, v[1] + 1), (x[0], 0), until=lambda v: v[0] < 1.0)[0],
        "is of kind int and is used as float",
    ),
    "rows of one kind at two places": (two_puts, "rows of one kind were put at two places"),
    "rows of different shapes": (other_shape, "rows of one kind were given structures of different shapes"),
    "index in a row": (lambda x: in_loop(lambda k: rows(2).put(0, k)), "is of kind int and is used as float"),
}


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("case", ALWAYS)
def test_refused(case: str, rolled: bool) -> None:
    function, message = ALWAYS[case]
    with pytest.raises(ProgramError, match=message):
        trace("f", lambda x: outputs(function(x)), {"x": 2}, rolled=rolled)


@pytest.mark.parametrize("case", ROLLED)
def test_refused_in_rolled_programs(case: str) -> None:
    function, message = ROLLED[case]
    with pytest.raises(ProgramError, match=message):
        trace("f", lambda x: outputs(function(x)), {"x": 2}, rolled=True)


@pytest.mark.parametrize("place", [-1, 2])
def test_places_outside_an_array(place: int) -> None:
    with pytest.raises(IndexError, match=rf"x\[{place}\] is outside 0 … 1"):
        trace("f", lambda x: {"y": [x[place]]}, {"x": 2}, rolled=True)
    with pytest.raises(IndexError, match=rf"array\[{place}\] is outside 0 … 1"):
        trace("f", lambda x: set_at(array(2), place, x[0]) or {}, {"x": 2}, rolled=True)


@pytest.mark.parametrize(("offset", "place"), [(-1, -1), (1, 2)])
def test_places_outside_found_when_running(offset: int, place: int) -> None:
    made = trace("f", lambda x: {"y": [loop(2, lambda k, s: s + x[k + offset], 0.0)]}, {"x": 2}, rolled=True)
    with pytest.raises(ProgramError, match=rf"program 'f': x\[{place}\] is outside 0 … 1"):
        evaluate(made, {"x": [1.0, 2.0]})


def test_outputs() -> None:
    for rolled in (False, True):
        with pytest.raises(ProgramError, match="the output 'x' has the name of an input"):
            trace("f", lambda x: {"x": [x[0]]}, {"x": 2}, rolled=rolled)
    with pytest.raises(ProgramError, match="the output 'y' is an array of another trace"):
        trace("f", lambda x: {"y": of_another_trace("array")}, {"x": 2}, rolled=True)


def test_a_failed_trace_leaves_plain_python_behind() -> None:
    with pytest.raises(ProgramError):
        trace("f", lambda x: {"y": [float(x[0])]}, {"x": 2}, rolled=True)
    assert loop(3, lambda k, s: s + k, 0) == 3
    assert list(array(2)) == [0.0, 0.0]  # type: ignore[call-overload]
