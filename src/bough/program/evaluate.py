"""The evaluator: the meaning of a program. Slow, obvious, over whatever the rules are: floats, or arrays of states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bough.errors import ProgramError, ShapeError
from bough.program.ir import Apply, Block, Const, Instruction, Load, Loop, Program, Store, Switch, uses
from bough.scalar import INDEX_OPS, OPS
from bough.scalar.control import held_place

__all__ = ["FLOAT_RULES", "Evaluator", "evaluate"]

FLOAT_RULES: dict[str, Callable[..., Any]] = {name: op.meaning for name, op in OPS.items()}


def evaluate(program: Program, inputs: Mapping[str, Any]) -> dict[str, list[float]]:
    """Run a program on one state given as sequences of floats; returns the outputs as lists."""
    memory: dict[str, Any] = {b.name: list(inputs[b.name]) for b in program.of_role("input")}
    for b in program.of_role("input"):
        if len(memory[b.name]) != b.size:
            raise ShapeError(f"input {b.name!r} has {len(memory[b.name])} numbers, expected {b.size}")
    for b in program.of_role("output") + program.of_role("scratch"):
        memory[b.name] = [0.0] * b.size
    Evaluator(program, FLOAT_RULES, all_done=bool).run(memory)
    return {b.name: memory[b.name] for b in program.of_role("output")}


def _look_up(table: list[float], place: float) -> float:
    return table[held_place(place, len(table))]


class Evaluator:
    """Runs a program instruction by instruction with a rule for each operation, and one to look up tables.

    Values are dropped after their last use within a straight-line block, so that a long program over large arrays needs
    memory for its live values only.
    """

    def __init__(
        self,
        program: Program,
        rules: Mapping[str, Callable[..., Any]],
        all_done: Callable[[Any], bool],
        look_up: Callable[[list[float], Any], Any] = _look_up,
    ) -> None:
        self._rules = {**rules, **{name: op.meaning for name, op in INDEX_OPS.items()}}
        self._all_done, self._look_up, self._kinds = all_done, look_up, program.kinds
        self._tables = {b.name: b.data.tolist() for b in program.buffers if b.data is not None}
        self._program = program
        self._dead = _last_uses(program.body)

    def run(self, memory: dict[str, Any]) -> None:
        """Run on `memory`: for each input, output and scratch buffer, a list of what the rules compute with."""
        values: dict[int, Any] = {}
        places, rules = {**memory, **self._tables}, self._rules
        for x, dead in zip(self._program.body, self._dead, strict=True):
            if isinstance(x, Apply) and len(x.arguments) == 2:  # most of them
                a, b = x.arguments
                values[x.result] = rules[x.op](values[a], values[b])
            else:
                self._step(x, values, places)
            for v in dead:
                values.pop(v, None)

    def _block(self, block: Block, values: dict[int, Any], memory: dict[str, Any]) -> None:
        rules = self._rules
        for x in block:
            if isinstance(x, Apply) and len(x.arguments) == 2:
                a, b = x.arguments
                values[x.result] = rules[x.op](values[a], values[b])
            else:
                self._step(x, values, memory)

    def _step(self, x: Instruction, values: dict[int, Any], memory: dict[str, Any]) -> None:
        if isinstance(x, Apply):
            values[x.result] = self._rules[x.op](*[values[a] for a in x.arguments])
        elif isinstance(x, Load) and self._kinds[x.index] == "float":
            values[x.result] = self._look_up(memory[x.buffer], values[x.index])
        elif isinstance(x, Load):
            values[x.result] = memory[x.buffer][self._place(x, values, memory)]
        elif isinstance(x, Store):
            memory[x.buffer][self._place(x, values, memory)] = values[x.value]
        elif isinstance(x, Const):
            values[x.result] = x.value
        elif isinstance(x, Loop):
            self._loop(x, values, memory)
        else:
            self._switch(x, values, memory)

    def _place(self, x: Load | Store, values: dict[int, Any], memory: dict[str, Any]) -> int:
        place: int = values[x.index]
        size = len(memory[x.buffer])
        if not 0 <= place < size:
            raise ProgramError(f"program {self._program.name!r}: {x.buffer}[{place}] is outside 0 … {size - 1}")
        return place

    def _loop(self, x: Loop, values: dict[int, Any], memory: dict[str, Any]) -> None:
        turns = range(values[x.count])
        carry = [values[v] for v in x.initial]
        for k in reversed(turns) if x.reverse else turns:
            values[x.counter] = k
            values.update(zip(x.carried, carry, strict=True))
            self._block(x.body, values, memory)
            carry = [values[v] for v in x.following]
            if x.done is not None and self._all_done(values[x.done]):
                break
        values.update(zip(x.results, carry, strict=True))

    def _switch(self, x: Switch, values: dict[int, Any], memory: dict[str, Any]) -> None:
        choice = values[x.selector]
        self._block(x.branches[choice], values, memory)
        yielded = [values[v] for v in x.yields[choice]]
        values.update(zip(x.results, yielded, strict=True))


def _last_uses(block: Block) -> list[tuple[int, ...]]:
    """For each instruction of a block, the values that nothing after it uses."""
    seen: set[int] = set()
    dead: list[tuple[int, ...]] = []
    for x in reversed(block):
        used = [*uses(x), x.result] if isinstance(x, (Apply, Const, Load)) else uses(x)
        last = tuple([v for v in used if v not in seen])
        seen.update(last)
        dead.append(last)
    return dead[::-1]
