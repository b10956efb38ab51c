"""Results that are zero in every state: no code computes or keeps them, they are written where results go to rows.

Half of the derivatives of a robot with limbs are such zeros, and of its mass matrix: entries between limbs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from bough.backends.llvm.types import Real
from bough.program import Const, Instruction, Load, Loop, Program, Store, Switch, walk

__all__ = ["Zeros", "always_alike", "without_zeros"]

Zeros = dict[str, tuple[int, ...]]
"""By output, where whole squares of as many components as there are lanes begin that are zero in every state."""


def without_zeros(program: Program, real: Real) -> tuple[Program, Zeros]:
    """The program without stores of zeros that fill a square of an output, and where these are; none for one state."""
    if real.lanes == 1:
        return program, {}
    numbers = {x.result: x.value for x in program.body if isinstance(x, Const)}
    zeros = {k for k, x in numbers.items() if type(x) is float and x == 0.0 and math.copysign(1.0, x) > 0.0}
    found: Zeros = {}
    for name in always_alike(program) - _stored_inside(program.body):
        stores = [x for x in program.body if isinstance(x, Store) and x.buffer == name]
        if all(x.index in numbers for x in stores):
            buffer = program.buffer(name)
            others = {numbers[x.index] // real.lanes for x in stores if x.value not in zeros}
            squares = buffer.size // real.lanes
            found[name] = tuple(real.lanes * k for k in range(squares) if k not in others)
    found = {name: places for name, places in found.items() if places}
    gone = {(name, k + j) for name, places in found.items() for k in places for j in range(real.lanes)}
    body = (x for x in program.body if not (isinstance(x, Store) and (x.buffer, numbers.get(x.index)) in gone))
    return replace(program, body=tuple(body)), found


def always_alike(program: Program) -> set[str]:
    """Outputs that are never read, and written at the same places whatever the states are."""
    names = {b.name for b in program.of_role("output")}
    names -= {x.buffer for x in walk(program.body) if isinstance(x, Load)}
    ending = [x for x in walk(program.body) if isinstance(x, Loop) and x.done is not None]
    return names.difference(*(_stored(x.body) for x in ending))


def _stored(block: Iterable[Instruction]) -> set[str]:
    return {x.buffer for x in walk(tuple(block)) if isinstance(x, Store)}


def _stored_inside(block: Iterable[Instruction]) -> set[str]:
    """What loops and switches write to."""
    return {name for x in block if isinstance(x, Loop | Switch) for name in _stored((x,))}
