"""How many turns the loops of a program take at most, and what indices they hand on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bough.errors import ProgramError
from bough.program.ir import Apply, Block, Const, Load, Loop, Program, Store, Switch, walk
from bough.scalar import INDEX_OPS, Table

__all__ = ["Bounds", "HandedIndices"]


class Bounds:
    """The largest values of indices, from constants and tables."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._made = {x.result: x for x in walk(program.body) if isinstance(x, Const | Apply | Load)}
        self._counts = {x.counter: x.count for x in walk(program.body) if isinstance(x, Loop)}

    def most(self, value: int) -> int:
        """The largest value of an index that is no negative number."""
        return self._between(value)[1]

    def rows(self) -> Iterator[tuple[Loop, int]]:
        """Each loop of the program, and the turns it takes at most in all."""
        return self._rows_of(self._program.body, 1)

    def _rows_of(self, block: Block, rows: int) -> Iterator[tuple[Loop, int]]:
        for x in block:
            if isinstance(x, Loop):
                inside = rows * self.most(x.count)
                yield x, inside
                yield from self._rows_of(x.body, inside)
            elif isinstance(x, Switch):
                for branch in x.branches:
                    yield from self._rows_of(branch, rows)

    def _between(self, value: int) -> tuple[int, int]:
        if value in self._counts:
            return 0, max(self.most(self._counts[value]) - 1, 0)
        x = self._made.get(value)
        if isinstance(x, Const):
            return int(x.value), int(x.value)
        if isinstance(x, Load):
            data = self._program.buffer(x.buffer).data
            if data is not None and data.size:
                return int(data.min()), int(data.max())
        if isinstance(x, Apply):
            (a, b), (c, d) = (self._between(v) for v in x.arguments)
            ends = (a + c, b + d) if x.op == "iadd" else (a * c, a * d, b * c, b * d)
            return min(ends), max(ends)
        raise ProgramError(f"program {self._program.name!r}: how large the index %{value} can get is not known")


class HandedIndices:
    """Indices that loops and branches hand on, as tables: entry r of a table is for the turn that is row r.

    Indices are the same for every state, so they are known before the program runs. The rows of a loop within another
    follow each other, as many for each turn of the outer one as the inner one takes at most.
    """

    def __init__(self, program: Program, bounds: Bounds) -> None:
        self._program, self._bounds = program, bounds
        self._tables = {b.name: b.data for b in program.buffers if b.data is not None}
        self._known: dict[int, int] = {}
        self._seen: dict[int, dict[int, int]] = {}
        self._block(program.body, 0)

    def table(self, value: int) -> Table:
        """What a value is, row by row."""
        seen = self._seen.get(value, {})
        data = np.zeros(max(seen, default=0) + 1, dtype=np.int64)
        data[list(seen)] = list(seen.values())
        return Table(f"index_{value}", data)

    def _block(self, block: Block, row: int) -> None:
        known = self._known
        for x in block:
            if isinstance(x, Loop):
                self._loop(x, row)
            elif isinstance(x, Switch):
                chosen = known[x.selector]
                self._block(x.branches[chosen], row)
                self._hand(x.results, x.yields[chosen], row)
            elif isinstance(x, Store) or self._program.kinds[x.result] != "int":
                continue
            elif isinstance(x, Const):
                known[x.result] = int(x.value)
            elif isinstance(x, Load):
                known[x.result] = int(self._tables[x.buffer][known[x.index]])
            else:
                known[x.result] = INDEX_OPS[x.op].meaning(*(known[a] for a in x.arguments))

    def _loop(self, x: Loop, row: int) -> None:
        turns, most = range(self._known[x.count]), self._bounds.most(x.count)
        moved = x.initial
        for k in reversed(turns) if x.reverse else turns:
            self._hand(x.carried, moved, row * most + k)
            self._known[x.counter] = k
            self._block(x.body, row * most + k)
            moved = x.following
        self._hand(x.results, moved, row)

    def _hand(self, to: tuple[int, ...], values: tuple[int, ...], row: int) -> None:
        pairs = [(a, self._known[b]) for a, b in zip(to, values, strict=True) if self._program.kinds[a] == "int"]
        for value, known in pairs:
            self._known[value] = known
            self._seen.setdefault(value, {})[row] = known
