"""The checker: every way in which a program can be malformed is refused, and says why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from bough.errors import ProgramError
from bough.program import Apply, Buffer, Const, Instruction, Load, Loop, Program, Store, Switch, check, trace
from bough.scalar import Kind
from conformance import CASES

X = Buffer("x", "input", "float", 3)
Y = Buffer("y", "output", "float", 3)
S = Buffer("s", "scratch", "float", 3)
T = Buffer("t", "table", "float", 2, np.array([0.5, 1.5]))
W = Buffer("w", "table", "int", 2, np.array([1, 0]))

KINDS: dict[str, Kind] = {"i": "int", "f": "float", "b": "bool"}


def program(kinds: str, body: Sequence[Instruction], buffers: Sequence[Buffer] = (X, Y, S, T, W)) -> Program:
    """A program whose values have the kinds given by letters: i, f, b."""
    return Program("made", tuple(buffers), tuple(body), tuple(KINDS[k] for k in kinds))


ZERO = Const(0, 0)  # value 0 is the index 0
LOAD = Load(1, "x", 0)  # value 1 is a number

SOUND: dict[str, Program] = {
    "empty": program("", []),
    "straight": program("iff", [ZERO, LOAD, Apply(2, "mul", (1, 1)), Store("y", 0, 2)]),
    "tables": program("ifi", [ZERO, Load(1, "t", 0), Load(2, "w", 0), Store("s", 2, 1)]),
    "loop": program(
        "iiffff", [ZERO, Const(5, 1.0), Loop(0, 1, False, (5,), (2,), (Apply(3, "neg", (2,)),), (3,), (4,))]
    ),
    "switch": program("ifff", [ZERO, LOAD, Switch(0, ((Const(2, 1.0),), ()), ((2,), (1,)), (3,))]),
    "until": program("ifib", [ZERO, LOAD, Loop(0, 2, True, (), (), (Apply(3, "lt", (1, 1)),), (), (), 3)]),
}

MALFORMED: dict[str, tuple[Program, str]] = {
    # values
    "used before its definition": (program("iff", [ZERO, Apply(2, "neg", (1,)), LOAD]), "%1 is used where it is not"),
    "never defined": (program("if", [ZERO, Store("y", 0, 1)]), "%1 is used where it is not defined"),
    "defined twice": (program("if", [ZERO, LOAD, Load(1, "x", 0)]), "%1 is defined twice"),
    "of no kind": (program("i", [ZERO, LOAD]), "%1 has no kind: the program has 1 values"),
    "negative number": (program("i", [ZERO, Load(-1, "x", 0)]), "%-1 has no kind"),
    "constant of another kind": (program("f", [Const(0, 1)]), "%0 is of kind float, expected int"),
    "truth value as number": (program("f", [Const(0, True)]), "%0 is of kind float, expected bool"),
    "foreign constant": (program("f", [Const(0, np.float64(1.0))]), "%0 is a float64, expected a float, bool or int"),
    # operations
    "no such operation": (program("iff", [ZERO, LOAD, Apply(2, "cbrt", (1,))]), "no operation 'cbrt'"),
    "wrong arity": (program("iff", [ZERO, LOAD, Apply(2, "mul", (1,))]), "operation 'mul' has 1 arguments, expected 2"),
    "index as number": (program("if", [ZERO, Apply(1, "neg", (0,))]), "%0 is of kind int and is used as float"),
    "number as condition": (
        program("iff", [ZERO, LOAD, Apply(2, "select", (1, 1, 1))]),
        "%1 is of kind float and is used as bool",
    ),
    "number as result of a comparison": (
        program("iff", [ZERO, LOAD, Apply(2, "lt", (1, 1))]),
        "%2 is of kind float, expected bool",
    ),
    "number as index": (program("iff", [ZERO, LOAD, Load(2, "x", 1)]), "%1 is of kind float and is used as int"),
    "number in index arithmetic": (
        program("ifi", [ZERO, LOAD, Apply(2, "iadd", (0, 1))]),
        "%1 is of kind float and is used as int",
    ),
    # buffers
    "no such buffer": (program("if", [ZERO, Load(1, "z", 0)]), "no buffer 'z'"),
    "store to an input": (program("if", [ZERO, LOAD, Store("x", 0, 1)]), "store to the input 'x'"),
    "store to a table": (program("if", [ZERO, LOAD, Store("t", 0, 1)]), "store to the table 't'"),
    "store of an index": (program("i", [ZERO, Store("y", 0, 0)]), "%0 is of kind int and is used as float"),
    "load of an index as number": (program("if", [ZERO, Load(1, "w", 0)]), "%1 is of kind float, expected int"),
    "outside": (program("if", [Const(0, 3), Load(1, "x", 0)]), r"x\[3\] is outside 0 … 2"),
    "before the start": (program("ii", [Const(0, -1), Load(1, "w", 0)]), r"w\[-1\] is outside 0 … 1"),
    "two of one name": (program("", [], [X, Y, X]), "two buffers have the same name"),
    "table of another size": (
        program("", [], [Buffer("t", "table", "float", 3, np.zeros(2))]),
        r"table 't' has data of shape \(2,\), expected \(3,\)",
    ),
    "table of two dimensions": (program("", [], [Buffer("t", "table", "float", 4, np.eye(2))]), r"shape \(2, 2\)"),
    "table without data": (program("", [], [Buffer("t", "table", "float", 2)]), "buffer 't': tables have data"),
    "input with data": (program("", [], [Buffer("x", "input", "float", 2, np.zeros(2))]), "buffer 'x': tables have"),
    "table of another kind": (
        program("", [], [Buffer("t", "table", "int", 2, np.zeros(2))]),
        "table 't' has data of type float64 and is of kind int",
    ),
    "table of truth values": (program("", [], [Buffer("t", "table", "bool", 1, np.zeros(1))]), "is of kind bool"),
    "indices of a state": (program("", [], [Buffer("s", "scratch", "int", 2)]), "the scratch 's' is of kind int"),
    # loops
    "escapes a loop": (
        program("iiff", [ZERO, Loop(0, 1, False, (), (), (Load(2, "x", 1),), (), ()), Apply(3, "neg", (2,))]),
        r"%2 is used where it is not defined \(did it leave its loop or branch\?\)",
    ),
    "counter escapes": (
        program("iif", [ZERO, Loop(0, 1, False, (), (), (), (), ()), Load(2, "x", 1)]),
        "%1 is used where it is not defined",
    ),
    "carried value escapes": (
        program("iffifff", [ZERO, LOAD, Loop(0, 3, False, (1,), (4,), (), (4,), (5,)), Apply(6, "neg", (4,))]),
        "%4 is used where it is not defined",
    ),
    "carries lists of different lengths": (
        program("ifif", [ZERO, LOAD, Loop(0, 2, False, (1,), (3,), (), (), ())]),
        "a loop carries lists of different lengths",
    ),
    "carries another kind": (
        program("ififf", [ZERO, LOAD, Loop(0, 2, False, (1,), (3,), (), (2,), (4,))]),
        "%2 is of kind int and is used as float",
    ),
    "carried from another kind": (
        program("ifibf", [ZERO, LOAD, Loop(0, 2, False, (1,), (3,), (), (3,), (4,))]),
        "%3 is of kind bool, expected float",
    ),
    "results of another kind": (
        program("ififb", [ZERO, LOAD, Loop(0, 2, False, (1,), (3,), (), (3,), (4,))]),
        "%4 is of kind bool, expected float",
    ),
    "count is a number": (program("ifi", [ZERO, LOAD, Loop(1, 2, False, (), (), (), (), ())]), "used as int"),
    "counter is a number": (program("if", [ZERO, Loop(0, 1, False, (), (), (), (), ())]), "%1 is of kind float"),
    "exit is a number": (program("ifi", [ZERO, LOAD, Loop(0, 2, False, (), (), (), (), (), 1)]), "used as bool"),
    "initial value is not there": (
        program("iifff", [ZERO, Loop(0, 1, False, (2,), (3,), (), (3,), (4,))]),
        "%2 is used where it is not defined",
    ),
    # switches
    "escapes a branch": (
        program("iff", [ZERO, Switch(0, ((LOAD,), ()), ((), ()), ()), Apply(2, "neg", (1,))]),
        "%1 is used where it is not defined",
    ),
    "seen from another branch": (
        program("iff", [ZERO, Switch(0, ((LOAD,), (Apply(2, "neg", (1,)),)), ((), ()), ())]),
        "%1 is used where it is not defined",
    ),
    "yields too little": (
        program("iff", [ZERO, LOAD, Switch(0, ((), ()), ((1,), ()), (2,))]),
        "a branch yields 0 values, expected 1",
    ),
    "yields another kind": (
        program("iff", [ZERO, LOAD, Switch(0, ((), ()), ((1,), (0,)), (2,))]),
        "%0 is of kind int and is used as float",
    ),
    "branches without yields": (program("i", [ZERO, Switch(0, ((), ()), ((),), ())]), "2 branches and 1 lists"),
    "no branches": (program("i", [ZERO, Switch(0, (), (), ())]), "a switch has 0 branches"),
    "selector is a number": (program("if", [ZERO, LOAD, Switch(1, ((),), ((),), ())]), "used as int"),
}


@pytest.mark.parametrize("case", SOUND)
def test_sound_programs_pass(case: str) -> None:
    check(SOUND[case])


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_programs_are_refused(case: str) -> None:
    made, message = MALFORMED[case]
    with pytest.raises(ProgramError, match=f"program 'made': .*{message}"):
        check(made)


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_traces_pass_and_fail_when_an_instruction_is_lost(case: str, rolled: bool) -> None:
    function, inputs = CASES[case]
    made = trace(case, function, inputs, rolled=rolled)
    check(made)
    needed: Any = {v for x in made.body if isinstance(x, Store) for v in (x.index, x.value)}
    for k, x in enumerate(made.body):
        if isinstance(x, Apply | Load | Const) and x.result in needed:
            with pytest.raises(ProgramError, match=f"%{x.result} is used where it is not defined"):
                check(Program(made.name, made.buffers, made.body[:k] + made.body[k + 1 :], made.kinds))
