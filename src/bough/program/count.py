"""The number of operations a program performs on numbers, loops included: exact, or a quick estimate."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bough.program.ir import Apply, Block, Const, Load, Loop, Program, Store, Switch, walk
from bough.scalar import INDEX_OPS, OPS, Count

__all__ = ["count", "work"]

WEIGHTS = {"sin": 12.0, "cos": 12.0, "div": 8.0, "sqrt": 8.0, "atan2": 60.0, "iadd": 0.0, "imul": 0.0}
"""Estimated cost of operations that differ from a multiplication."""

TURNS = 4  # of a loop whose count is read from a table
EARLY = 4  # turns of a loop that ends once all states are done


def count(program: Program) -> Count:
    """Count by following the indices, tables and loops of the program; numbers are not computed.

    A loop with an early exit is counted to its end.
    """
    counter = _Counter(program)
    counter.block(program.body, {})
    return Count(**counter.numbers)


class _Counter:
    def __init__(self, program: Program) -> None:
        self.kinds = program.kinds
        self.tables = {b.name: b.data for b in program.buffers if b.data is not None}
        self.numbers: Counter[str] = Counter()

    def block(self, block: Block, known: dict[int, Any]) -> None:
        """Count a block; `known` holds the indices seen so far."""
        for x in block:
            if isinstance(x, Const):
                known[x.result] = x.value
            elif isinstance(x, Apply):
                if x.op in INDEX_OPS:
                    known[x.result] = INDEX_OPS[x.op].meaning(*(known[a] for a in x.arguments))
                else:
                    self.numbers.update(OPS[x.op].cost)
            elif isinstance(x, Load):
                if self.kinds[x.result] == "int":
                    known[x.result] = int(self.tables[x.buffer][known[x.index]])
            elif isinstance(x, Loop):
                self.loop(x, known)
            elif isinstance(x, Switch):
                branch, values = x.branches[known[x.selector]], x.yields[known[x.selector]]
                self.block(branch, known)
                self.carry(x.results, values, known)
            else:
                assert isinstance(x, Store)

    def loop(self, x: Loop, known: dict[int, Any]) -> None:
        turns = range(known[x.count])
        self.carry(x.carried, x.initial, known)
        for k in reversed(turns) if x.reverse else turns:
            known[x.counter] = k
            self.block(x.body, known)
            self.carry(x.carried, x.following, known)
        self.carry(x.results, x.carried, known)

    def carry(self, to: tuple[int, ...], values: tuple[int, ...], known: dict[int, Any]) -> None:
        moved = [known.get(v) for v in values]
        for result, value in zip(to, moved, strict=True):
            known[result] = value


def work(program: Program) -> float:
    """Estimate the cost of a program in multiplications, without following its tables."""
    return _work(program.body, {x.result: x.value for x in walk(program.body) if isinstance(x, Const)})


def _work(block: Block, constants: dict[int, Any]) -> float:
    total = 0.0
    for x in block:
        if isinstance(x, Apply):
            total += WEIGHTS.get(x.op, 1.0)
        elif isinstance(x, Load | Store):
            total += 0.5
        elif isinstance(x, Loop):
            turns = max(int(constants.get(x.count, TURNS)), 0)
            total += (turns if x.done is None else min(turns, EARLY)) * _work(x.body, constants)
        elif isinstance(x, Switch):
            total += max(_work(branch, constants) for branch in x.branches)
    return total
