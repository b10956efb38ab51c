"""Programs for one state in which turns of a loop that know nothing of each other are done in the lanes of a vector.

A loop over the columns of a matrix runs the same straight-line code for each. What each turn reads and writes is known
beforehand, since indices come from tables alone: where no turn writes what another one reads or writes, several run at
once. The last ones are run with some that have been: all write the same there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bough.backends.limbs.packs import Packed
from bough.program import Apply, Buffer, Const, Instruction, Load, Loop, Program, Store, walk
from bough.scalar import Kind

__all__ = ["Lanes", "Rewriter", "join_turns"]

LANE_BY_LANE = frozenset({"add", "sub", "mul", "div", "neg", "sqrt", "fma"})
MOST_LOOKED_AT = 200_000  # instructions of all turns
FIRST_TURNS = "turns "
"""In front of the numbers of the tables that say with which turn the first lane begins."""


def join_turns(program: Program, widest: int) -> Packed:
    """Run the turns of each loop that can be so treated in vectors of up to `widest` lanes."""
    rewriter = Rewriter(program)
    body: list[Instruction] = []
    for x in program.body:
        joined = rewriter.loop(x, widest) if isinstance(x, Loop) else None
        body += [x] if joined is None else joined
    buffers = (*program.buffers, *rewriter.tables)
    made = replace(program, buffers=buffers, body=(*rewriter.head, *body), kinds=tuple(rewriter.kinds))
    loops = sum(isinstance(x, Loop) for x in walk(program.body))
    return Packed(made, rewriter.widths, len(rewriter.tables) == loops) if rewriter.tables else Packed(program, {})


class Rewriter:
    """Writes loops anew."""

    def __init__(self, program: Program) -> None:
        self.kinds: list[Kind] = list(program.kinds)
        self.widths: dict[int, int] = {}
        self.head: list[Instruction] = []
        self.tables: list[Buffer] = []
        self._known = {x.result: x.value for x in program.body if isinstance(x, Const)}
        self._data = {b.name: b.data for b in program.of_role("table")}
        self._constants: dict[int, int] = {}

    def loop(self, x: Loop, widest: int, way: type[Lanes] | None = None) -> list[Instruction] | None:
        """A loop with several turns in one, in vectors unless told another way; None where it has to stay as it is."""
        if x.count not in self._known or x.carried or x.done is not None:
            return None
        count = int(self._known[x.count])
        if count * len(x.body) > MOST_LOOKED_AT:
            return None
        width = next((w for w in (8, 4, 2) if w <= min(widest, count)), 1)
        indices = Indices(x, count, {**self._known}, self._data)
        if width == 1 or not indices.independent(repeated=count % width > 0):
            return None
        starts = np.array([*range(0, count - width, width), count - width], dtype=np.int64)
        name = f"{FIRST_TURNS}{len(self.tables)}"
        self.tables.append(Buffer(name, "table", "int", len(starts), starts))
        turn, counter = self.new("int"), self.new("int")
        lanes = (way or Lanes)(self, x.counter, turn, starts[:, None] + np.arange(width), indices)
        for y in x.body:
            lanes.write(y)
        body = (Load(turn, name, counter), *lanes.body)
        return [Loop(self.constant(len(starts)), counter, False, (), (), body, (), ())]

    def constant(self, value: int) -> int:
        """An index that is known."""
        if value not in self._constants:
            self._constants[value] = self.new("int")
            self.head.append(Const(self._constants[value], value))
        return self._constants[value]

    def new(self, kind: Kind, width: int = 1) -> int:
        """A value that is not yet made."""
        self.kinds.append(kind)
        if width > 1:
            self.widths[len(self.kinds) - 1] = width
        return len(self.kinds) - 1


class Indices:
    """What the indices of a loop are in each turn, and whether turns know of each other."""

    def __init__(self, x: Loop, count: int, known: dict[int, Any], tables: Mapping[str, Any]) -> None:
        self.of: dict[int, Any] = {x.counter: np.arange(count)}  # turns may be taken in any order, or it stays a loop
        self._body, self._count, self._plain = x.body, count, True
        for y in x.body:
            if isinstance(y, Const):
                known[y.result] = y.value
            elif isinstance(y, Apply) and y.op in ("iadd", "imul"):
                a, b = (self.of.get(v, known.get(v)) for v in y.arguments)  # type: Any, Any
                self._plain = self._plain and a is not None and b is not None
                if self._plain:
                    self.of[y.result] = np.broadcast_to(a + b if y.op == "iadd" else a * b, count)
            elif isinstance(y, Load) and tables.get(y.buffer) is not None and tables[y.buffer].dtype.kind == "i":
                at = self.at(y.index, known)
                self._plain = self._plain and at is not None
                if self._plain:
                    self.of[y.result] = tables[y.buffer][at]
            else:
                self._plain = self._plain and (
                    (isinstance(y, Apply) and y.op in LANE_BY_LANE)
                    or (isinstance(y, Load | Store) and self.at(y.index, known) is not None)
                )
        self._known = known

    def at(self, index: int, known: Mapping[int, Any]) -> Any:
        """An index in each turn; None where that is not known."""
        found = self.of.get(index, known.get(index))
        return found if found is None or isinstance(found, float) else np.broadcast_to(found, self._count)

    def independent(self, repeated: bool) -> bool:
        """Whether no turn writes what another one reads or writes; nor, if some are `repeated`, what it read before."""
        if not self._plain:
            return False
        writer: dict[tuple[str, int], int] = {}
        for y in self._body:
            if isinstance(y, Store):
                for turn, place in enumerate(self.at(y.index, self._known).tolist()):
                    if writer.setdefault((y.buffer, place), turn) != turn:
                        return False
        written: set[tuple[str, int]] = set()
        for y in self._body:
            places = self.at(y.index, self._known).tolist() if isinstance(y, Load | Store) else ()
            for turn, place in enumerate(places):
                entry = y.buffer, place  # type: ignore[union-attr]
                if isinstance(y, Store):
                    written.add(entry)
                elif writer.get(entry, turn) != turn or (repeated and entry in writer and entry not in written):
                    return False
        return True


class Lanes:
    """The body of a loop, with a vector for each value that differs from turn to turn."""

    def __init__(self, owner: Rewriter, counter: int, turn: int, together: Any, indices: Indices) -> None:
        self.body: list[Instruction] = []
        self._owner, self._together, self._indices = owner, together, indices
        self._width = width = together.shape[1]
        self._split: dict[int, list[int]] = {}  # what is an index in each lane
        self._vector: dict[int, int] = {}
        self._packed: dict[int, int] = {}
        self._split[counter] = [turn, *(self._index("iadd", turn, owner.constant(k)) for k in range(1, width))]

    def write(self, x: Instruction) -> None:
        """An instruction of the loop, for all lanes."""
        if isinstance(x, Const):
            self.body.append(x)
        elif isinstance(x, Apply):
            self._apply(x)
        elif isinstance(x, Load):
            self._load(x)
        elif isinstance(x, Store):
            self._store(x)

    def _apply(self, x: Apply) -> None:
        if any(v in self._split for v in x.arguments):
            lanes = [[self._split.get(v, [v] * self._width)[k] for v in x.arguments] for k in range(self._width)]
            self._split[x.result] = [self._index(x.op, *values) for values in lanes]
        elif any(v in self._vector for v in x.arguments):
            arguments = tuple(self._whole(v) for v in x.arguments)
            self._vector[x.result] = self._made(x.op, arguments, self._width)
        else:
            self.body.append(x)

    def _load(self, x: Load) -> None:
        if x.index not in self._split:
            self.body.append(x)
            return
        places, kind = self._split[x.index], self._owner.kinds[x.result]
        if kind == "float" and self._in_a_row(x.index):
            self._vector[x.result] = vector = self._owner.new("float", self._width)
            self.body.append(Load(vector, x.buffer, places[0]))
            return
        loaded = [self._owner.new(kind) for _ in places]
        self.body += [Load(value, x.buffer, place) for value, place in zip(loaded, places, strict=True)]
        if kind == "float":
            self._vector[x.result] = self._made("pack", tuple(loaded), self._width)
        else:
            self._split[x.result] = loaded

    def _store(self, x: Store) -> None:
        places = self._split.get(x.index, [x.index] * self._width)
        if x.value not in self._vector:
            self.body += [Store(x.buffer, place, x.value) for place in places]
            return
        vector = self._vector[x.value]
        if self._in_a_row(x.index):
            self.body.append(Store(x.buffer, places[0], vector))
            return
        for k, place in enumerate(places):
            self.body.append(Store(x.buffer, place, self._made("lane", (vector, self._owner.constant(k)))))

    def _in_a_row(self, index: int) -> bool:
        """Whether turns that run together are side by side."""
        return bool(np.all(np.diff(self._indices.of[index][self._together]) == 1))

    def _whole(self, value: int) -> int:
        """The vector of a value that may be the same in all turns."""
        if value in self._vector:
            return self._vector[value]
        if value not in self._packed:
            self._packed[value] = self._made("pack", (value,) * self._width, self._width)
        return self._packed[value]

    def _index(self, op: str, *arguments: int) -> int:
        value = self._owner.new("int")
        self.body.append(Apply(value, op, arguments))
        return value

    def _made(self, op: str, arguments: tuple[int, ...], width: int = 1) -> int:
        value = self._owner.new("float", width)
        self.body.append(Apply(value, op, arguments))
        return value
