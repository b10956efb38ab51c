"""Programs for many states in which turns of a loop that know nothing of each other are done side by side.

A loop over the columns of a matrix reads the same factor in each turn. Where two turns are one, what they have in
common is read once for both.
"""

from __future__ import annotations

from dataclasses import replace

from bough.backends.limbs.turns import Lanes, Rewriter
from bough.program import Apply, Const, Instruction, Load, Loop, Program, Store
from bough.program.ir import uses

__all__ = ["turns_beside"]

SIDE_BY_SIDE = 2
"""Turns that are one: their values still find registers."""

IN_COMMON = 32
"""Numbers from outside that a turn has to read at least; fewer stay in registers."""


def turns_beside(program: Program) -> Program:
    """Do two turns at a time in loops that can be so treated, and read many numbers that are the same in all turns."""
    rewriter = Rewriter(program)
    body: list[Instruction] = []
    for x in program.body:
        wanted = isinstance(x, Loop) and _common(x, program) >= IN_COMMON
        joined = rewriter.loop(x, SIDE_BY_SIDE, _Beside) if wanted and isinstance(x, Loop) else None
        body += [x] if joined is None else joined
    if not rewriter.tables:
        return program
    buffers = (*program.buffers, *rewriter.tables)
    return replace(program, buffers=buffers, body=(*rewriter.head, *body), kinds=tuple(rewriter.kinds))


def _common(x: Loop, program: Program) -> int:
    """How many numbers a loop needs from outside."""
    inside = {y.result for y in x.body if isinstance(y, Apply | Const | Load)}
    return sum(program.kinds[v] == "float" for v in {*uses(x)} - inside)


class _Beside(Lanes):
    """The body of a loop, with a value for each turn where they differ."""

    def _apply(self, x: Apply) -> None:
        if not any(v in self._split for v in x.arguments):
            self.body.append(x)
            return
        made = self._new(x.result)
        for k, value in enumerate(made):
            self.body.append(Apply(value, x.op, tuple(self._of(v)[k] for v in x.arguments)))

    def _load(self, x: Load) -> None:
        if x.index not in self._split:
            self.body.append(x)
            return
        for value, place in zip(self._new(x.result), self._of(x.index), strict=True):
            self.body.append(Load(value, x.buffer, place))

    def _store(self, x: Store) -> None:
        for place, value in zip(self._of(x.index), self._of(x.value), strict=True):
            self.body.append(Store(x.buffer, place, value))

    def _of(self, value: int) -> list[int]:
        """A value in each turn."""
        return self._split.get(value, [value] * self._width)

    def _new(self, value: int) -> list[int]:
        """What a value of the loop is called in each turn."""
        self._split[value] = [self._owner.new(self._owner.kinds[value]) for _ in range(self._width)]
        return self._split[value]
