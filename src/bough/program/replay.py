"""Programs run again, over scalars: what a program does becomes a rule that can be traced, counted or run on floats.

Loops stay loops where the control primitives keep them, and constants fold and equal operations meet as they did when
the program was traced. Derivatives are made this way: `forward` and `reverse` replay a program and add to it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from bough.program.ir import (
    Apply,
    Block,
    Buffer,
    Const,
    Instruction,
    Load,
    Loop,
    Program,
    Store,
    Switch,
    until_done,
    walk,
)
from bough.scalar import (
    Array,
    Index,
    SymbolicIndex,
    Table,
    gather,
    indexable,
    keeping_loops,
    lookup,
    loop,
    switch,
    unguarded,
)
from bough.scalar.dual import APPLIED

__all__ = ["Replay", "keeping_loops_of"]


def _times(a: Index, b: Index) -> Index:
    return b * a if isinstance(b, SymbolicIndex) else a * b


RULES: dict[str, Callable[..., Any]] = {**APPLIED, "iadd": operator.add, "imul": _times}


def keeping_loops_of(program: Program) -> AbstractContextManager[None]:
    """A context in which the loops of a program stay loops, if it has any."""
    return keeping_loops() if any(isinstance(x, Loop | Switch) for x in walk(program.body)) else nullcontext()


class Replay:
    """A program that is run again on arrays of scalars, one for each input; to be run within `keeping_loops_of` it."""

    def __init__(self, program: Program, inputs: Mapping[str, Array]) -> None:
        self.program = program
        self.values: dict[int, Any] = {}
        self.tables = {b.name: Table(b.name, b.data) for b in program.buffers if b.data is not None}
        self.memory: dict[str, Array] = {}
        constants = {x.result for x in walk(program.body) if isinstance(x, Const)}
        self.at_index = {x.buffer for x in walk(program.body) if isinstance(x, Load) and x.index not in constants}
        for b in program.buffers:
            if b.role == "input":
                self.memory[b.name] = self.readable(b, inputs[b.name])
            elif b.role != "table":
                self.memory[b.name] = unguarded(b.size, b.cleared)

    def readable(self, b: Buffer, values: Array) -> Array:
        """An array that can be read wherever the program reads a buffer."""
        return indexable(b.size, values) if b.name in self.at_index else values

    def run(self) -> dict[str, Array]:
        """Run it, and return its outputs."""
        self.block(self.program.body)
        return {b.name: self.memory[b.name] for b in self.program.of_role("output")}

    def block(self, block: Block) -> None:
        """Run instructions one after the other."""
        for x in block:
            self.step(x)

    def step(self, x: Instruction) -> None:
        """Run one instruction."""
        values = self.values
        if isinstance(x, Apply):
            values[x.result] = RULES[x.op](*[values[a] for a in x.arguments])
        elif isinstance(x, Const):
            values[x.result] = x.value
        elif isinstance(x, Load):
            values[x.result] = self.load(x)
        elif isinstance(x, Store):
            self.memory[x.buffer][values[x.index]] = values[x.value]
        elif isinstance(x, Loop):
            self.loop(x)
        else:
            self.switch(x)

    def load(self, x: Load) -> Any:
        """What a load reads."""
        place = self.values[x.index]
        if self.program.kinds[x.index] == "float":
            return lookup(self.tables[x.buffer], place)
        return gather(self.tables[x.buffer], place) if x.buffer in self.tables else self.memory[x.buffer][place]

    # ---- what blocks hand on -------------------------------------------------------------------------------------

    def handed(self, value: int, like: int) -> Any:
        """A value as loops and branches hand it on: in the shape of the value `like` that it becomes."""
        return self.values[value]

    def take(self, value: int, like: int, handed: Any) -> None:
        """Make a value of what was handed on in the shape of `like`."""
        self.values[value] = handed

    def begin_turn(self, x: Loop, counter: Any, before: Block) -> None:
        """Called in each turn of a loop, when what is needed to know whether it is done has been run."""

    def begin_branch(self, x: Switch) -> None:
        """Called at the start of each branch of a switch."""

    def end_block(self) -> None:
        """Called at the end of each turn and of each branch."""

    # ---- control -------------------------------------------------------------------------------------------------

    def loop(self, x: Loop) -> None:
        """Run a loop."""
        before, after = until_done(x)

        def taken(carry: tuple[Any, ...]) -> None:
            for value, handed in zip(x.carried, carry, strict=True):
                self.take(value, value, handed)

        def done(carry: tuple[Any, ...]) -> Any:
            taken(carry)
            self.block(before)
            return self.values[x.done]  # type: ignore[index]

        def turn(k: Any, carry: tuple[Any, ...]) -> tuple[Any, ...]:
            taken(carry)
            self.values[x.counter] = k
            self.begin_turn(x, k, before)
            self.block(after)
            following = tuple(self.handed(v, like) for v, like in zip(x.following, x.carried, strict=True))
            self.end_block()
            return following

        initial = tuple(self.handed(v, like) for v, like in zip(x.initial, x.carried, strict=True))
        until = None if x.done is None else done
        results = loop(self.values[x.count], turn, initial, reverse=x.reverse, until=until)
        for value, like, handed in zip(x.results, x.carried, results, strict=True):
            self.take(value, like, handed)

    def switch(self, x: Switch) -> None:
        """Run a branch."""

        def branch(k: int) -> tuple[Any, ...]:
            self.begin_branch(x)
            self.block(x.branches[k])
            yielded = tuple(self.handed(v, like) for v, like in zip(x.yields[k], x.results, strict=True))
            self.end_block()
            return yielded

        branches = [partial(branch, k) for k in range(len(x.branches))]
        for value, handed in zip(x.results, switch(self.values[x.selector], branches), strict=True):
            self.take(value, value, handed)
