"""Results that hold a number in several places, or zeros: made once, and copied to where they belong at the end.

A mass matrix is symmetric, and between limbs it is zero. Of such a result a program writes each value to scratch memory
once; a table says which of them each component is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bough.program.ir import Apply, Buffer, Const, Instruction, Load, Loop, Program, Store
from bough.scalar import Kind

__all__ = ["write_once"]

MOST_VALUES = 0.75
"""Part of the components of a result that may be different values at most for it to be treated so."""


def write_once(program: Program) -> Program:
    """Copy results from where each of their values is once, if the program is straight-line code and it pays."""
    if not all(isinstance(x, Const | Apply | Load | Store) for x in program.body):
        return program
    constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
    places = {b.name: found for b in program.of_role("output") if (found := _places(program, b, constants))}
    if not places:
        return program
    kinds: list[Kind] = list(program.kinds)
    body: list[Instruction] = []
    written: set[tuple[str, int]] = set()

    def constant(value: int) -> int:
        kinds.append("int")
        body.append(Const(len(kinds) - 1, value))
        return len(kinds) - 1

    for x in program.body:
        if not isinstance(x, Store) or x.buffer not in places:
            body.append(x)
            continue
        place = places[x.buffer][int(constants[x.index])]
        if (x.buffer, place) not in written:
            written.add((x.buffer, place))
            body.append(Store(_values(x.buffer), constant(place), x.value))
    buffers = [replace(b, cleared=False) if b.name in places else b for b in program.buffers]
    for name, found in places.items():
        buffers.append(Buffer(_values(name), "scratch", "float", max(found) + 1, cleared=False))
        buffers.append(Buffer(_table(name), "table", "int", len(found), np.array(found, np.int64)))
        count, counter = constant(len(found)), len(kinds)
        kinds += ["int", "int", "float"]
        turn = (
            Load(counter + 1, _table(name), counter),
            Load(counter + 2, _values(name), counter + 1),
            Store(name, counter, counter + 2),
        )
        body.append(Loop(count, counter, False, (), (), turn, (), ()))
    return replace(program, buffers=tuple(buffers), body=tuple(body), kinds=tuple(kinds))


def _places(program: Program, result: Buffer, constants: Mapping[int, object]) -> list[int]:
    """Which of its values each component of a result is, counted as they are first written; none if it does not pay."""
    stores = [x for x in program.body if isinstance(x, Store) and x.buffer == result.name]
    values = {int(constants[x.index]): _same(x.value, constants) for x in stores if x.index in constants}  # type: ignore[call-overload]
    numbers = {value: k for k, value in enumerate(dict.fromkeys(values.values()))}
    is_read = any(isinstance(x, Load) and x.buffer == result.name for x in program.body)
    if is_read or not len(values) == len(stores) == result.size or len(numbers) >= MOST_VALUES * result.size:
        return []
    return [numbers[values[k]] for k in range(result.size)]


def _same(value: int, constants: Mapping[int, object]) -> int | str:
    """What equal values have in common: constants may be written down more than once."""
    return repr(constants[value]) if value in constants else value


def _values(name: str) -> str:
    return f"values of {name}"


def _table(name: str) -> str:
    return f"places in {name}"
