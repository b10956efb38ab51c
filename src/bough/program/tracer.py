"""The tracer: runs an algorithm on scalars that write down what is done to them, and returns the program.

Equal operations meet (hash-consing, within what is visible from the current block) and constants fold on the way in.
Unrolled, the control primitives stay plain Python and the trace is straight-line. Rolled, they become loops, switches,
table reads and scratch memory; the algorithm cannot tell.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

import numpy as np

from bough.errors import ProgramError
from bough.program.ir import Buffer, Load, Loop, Program, Store, Switch
from bough.program.naming import unique as unique_name
from bough.program.naming import with_names
from bough.program.recorder import Recorder
from bough.program.rows import TracedRows, UnrolledRows
from bough.program.shown import shown_inputs
from bough.program.values import Cells, Given, Traced, TracedArray, TracedIndex
from bough.scalar import (
    Array,
    Bool,
    Control,
    Index,
    Kind,
    Rows,
    Scalar,
    Symbolic,
    SymbolicIndex,
    Table,
    either,
    leaves,
    rebuild,
    shape,
)
from bough.scalar.control import freeze, within

__all__ = ["Tracer"]

C = TypeVar("C")

Turn: TypeAlias = Callable[[Any, Any], Any]
Until: TypeAlias = Callable[[Any], Bool] | None


class Tracer(Recorder, Control):
    """Answers the control primitives, and knows the buffers of the program.

    If it is `straight`, no loop is kept, and what is handed on goes through scratch memory.
    """

    def __init__(self, rolled: bool, longest: int | None = None, straight: bool = False) -> None:
        super().__init__(longest)
        self.rolled, self._straight = rolled, straight
        self._buffers: dict[str, Buffer] = {}  # by the names used while tracing
        self._outputs: dict[str, str] = {}  # from such a name to the name of an output
        self._tables: dict[Hashable, Buffer] = {}
        self._pending: list[TracedRows] = []
        self._turns: list[int] = []  # where those of unrolled loops begin and end
        self._turning = False
        self._done: list[Bool] = []  # which states the loops being traced leave alone

    # -- buffers ---------------------------------------------------------------------------------------------------

    def declare(self, name: str, role: Any, kind: Kind, size: int, data: Any = None) -> Buffer:
        """Add a buffer under a name that is made unique."""
        unique = unique_name(name, self._buffers)
        self._buffers[unique] = Buffer(unique, role, kind, size, data)
        return self._buffers[unique]

    def replace(self, buffer: Buffer) -> None:
        """Put a buffer in the place of the one with the same name."""
        self._buffers[buffer.name] = buffer

    def load(self, buffer: Buffer, index: Index | Traced) -> Any:
        """Record a read; reads of inputs and tables are shared."""
        place = self.value_of(index, "int")
        if buffer.role in ("input", "table"):
            value = self.shared_value(("load", buffer.name, place), buffer.kind, lambda v: Load(v, buffer.name, place))
        else:
            value = self.new_value(buffer.kind)
            self.emit(Load(value, buffer.name, place))
        return TracedIndex(self, value) if buffer.kind == "int" else Traced(self, value)

    def store(self, buffer: Buffer, index: Index, x: Scalar) -> None:
        """Record a write."""
        self.emit(Store(buffer.name, self.value_of(index, "int"), self.value_of(x)))

    def input(self, name: str, size: int) -> Array:
        """An input of the program, as the array the algorithm sees."""
        array = TracedArray(self, self.declare(name, "input", "float", size))
        return array if self.rolled else Given(name, [array[k] for k in range(size)])

    def output(self, name: str, values: Any) -> None:
        """Make an array an output of the program."""
        if name in self._buffers and self._buffers[name].role == "input":
            raise ProgramError(f"the output {name!r} has the name of an input")
        if not isinstance(values, TracedArray):
            buffer = replace(self.declare(name, "output", "float", len(values)), cleared=False)
            self.replace(buffer)
            for k, x in enumerate(values):
                self.store(buffer, k, x)
        elif values.tracer is not self:
            raise ProgramError(f"the output {name!r} is an array of another trace")
        elif self._buffers[values.buffer.name].role == "scratch":
            buffer = replace(values.buffer, role="output")
            self.replace(buffer)
        else:  # an input, or what is an output already
            buffer = self.declare(name, "output", "float", len(values))
            self._fill(buffer, lambda k: values[k])
        self._outputs[buffer.name] = name

    def _fill(self, buffer: Buffer, entry: Callable[[Index], Scalar]) -> None:
        def fill(k: Index, carry: tuple[()]) -> tuple[()]:
            self.store(buffer, k, entry(k))
            return carry

        self.loop(buffer.size, fill, ())

    def finish(self, name: str) -> Program:
        """The program recorded so far."""
        for pending in self._pending:
            pending.settle()
        # inputs and outputs are called as the caller says; everything else yields
        names = {key: self._outputs.get(key, key) for key, b in self._buffers.items() if b.role in ("input", "output")}
        for key in self._buffers:
            names.setdefault(key, unique_name(key, names.values()))
        inputs = [key for key, b in self._buffers.items() if b.role == "input"]
        order = dict.fromkeys((*inputs, *self._outputs, *self._buffers))  # outputs as the caller returned them
        buffers = tuple(replace(self._buffers[key], name=names[key]) for key in order)
        body, kinds = with_names(tuple(self._blocks[0]), names), tuple(self._kinds)
        return Program(name, buffers, body, kinds, tuple(dict.fromkeys(self._turns)), len(kinds))

    def inputs_shown(self, outputs: Mapping[str, Any]) -> Collection[tuple[str, int]]:
        """Entries of inputs (buffer, place) that make outputs not finite if they are not; none are known with loops."""
        if self.rolled:
            return ()
        entries = (x for array in outputs.values() if not isinstance(array, TracedArray) for x in array)
        values = (x.value for x in entries if isinstance(x, Traced))
        return shown_inputs(self._blocks[0], values)

    # -- control ---------------------------------------------------------------------------------------------------

    def loop(self, count: Index, body: Turn, carry: Any, reverse: bool = False, until: Until = None) -> Any:
        turn = body if self.rolled or self._turning else self._noted(body)
        return (self._recorded_loop if self.rolled else super().loop)(count, turn, carry, reverse, until)

    def _noted(self, body: Turn) -> Turn:
        def turn(k: Any, carry: Any) -> Any:
            self._turns.append(len(self._kinds))
            self._turning = True
            following = body(k, carry)
            self._turning = False
            self._turns.append(len(self._kinds))
            return following

        return turn

    def repeat(self, count: Index, body: Turn, carry: Any, until: Until = None) -> Any:
        if self._straight:
            return self.loop(count, body, carry, until=until)
        return self._recorded_loop(count, body, carry, False, until)

    def _recorded_loop(self, count: Index, body: Turn, carry: Any, reverse: bool, until: Until) -> Any:
        """A loop of the program, whose body is straight-line or not as what surrounds it."""
        if not isinstance(count, SymbolicIndex) and count <= 0:
            return carry
        number = self.value_of(count, "int")
        initial = tuple(self._leaf_value(x) for x in leaves(carry))
        kinds = [self._kinds[v] for v in initial]
        self._open()
        counter = self.new_value("int")
        carried = tuple(self.new_value(kind) for kind in kinds)
        state = rebuild(carry, iter([self._wrap(v) for v in carried]))
        done = until(state) if until is not None else None
        if done is not None:  # what is done with a loop around this one is not waited for
            done = functools.reduce(either, self._done, done)
        following = self.unless(done, TracedIndex(self, counter), body, state)
        values = tuple(self.value_of(x, kind) for x, kind in zip(leaves(following), kinds, strict=True))
        stop = None if done is None else self.value_of(done, "bool")
        block = self._close()
        results = tuple(self.new_value(kind) for kind in kinds)
        self.emit(Loop(number, counter, reverse, initial, carried, block, values, results, stop))
        return rebuild(carry, iter([self._wrap(v) for v in results]))

    def indexable(self, size: int, values: Any) -> Array:
        if isinstance(values, TracedArray):
            return values
        made = self.blank(size)
        for k in range(size):
            made[k] = values[k]
        return made

    def handed_on(self, size: int, values: Array) -> Array:
        if not self._straight:
            return values
        entries = [values[k] for k in range(size)]
        traced = [k for k, x in enumerate(entries) if isinstance(x, Traced)]
        buffer = replace(self.declare("handed on", "scratch", "float", len(traced)), cleared=False)
        self.replace(buffer)
        for place, k in enumerate(traced):
            self.store(buffer, place, entries[k])
        for place, k in enumerate(traced):
            entries[k] = self.load(buffer, place)
        return entries

    def keeping_loops(self) -> AbstractContextManager[None]:
        return self._with_loops(True)

    def unrolling(self) -> AbstractContextManager[None]:
        return self._with_loops(False)

    @contextmanager
    def _with_loops(self, kept: bool) -> Iterator[None]:
        before, self.rolled = self.rolled, kept and not self._straight
        try:
            yield
        finally:
            self.rolled = before

    def unless(self, done: Bool | None, k: Any, body: Callable[[Any, C], C], carry: C) -> C:
        """One turn of a loop for the states that are not done."""
        if isinstance(done, Symbolic):
            self._done.append(done)
            following = body(k, carry)
            self._done.pop()
        else:
            following = carry if done else body(k, carry)
        if shape(following) != shape(carry):
            raise ProgramError("the body of a loop returns a structure of another shape than the one it is given")
        return following if done is None else freeze(done, carry, following)

    @property
    def level(self) -> int:
        """How many loops with an early exit enclose what is being traced."""
        return len(self._done)

    def value_to_store(self, level: int, old: Callable[[], C], new: C) -> C:
        """What to store in memory made at `level`: the old value in states that are done with a loop begun since."""
        done = self._done[level:]
        return freeze(functools.reduce(either, done), old(), new) if done else new

    def switch(self, selector: Index, branches: Sequence[Callable[[], Any]]) -> Any:
        if not isinstance(selector, SymbolicIndex):
            return super().switch(selector, branches)
        if len(branches) == 1:
            return branches[0]()
        blocks, yields, returned = [], [], []
        for branch in branches:
            self._open()
            returned.append(branch())
            yields.append(tuple(self._leaf_value(x) for x in leaves(returned[-1])))
            blocks.append(self._close())
        if len({shape(result) for result in returned}) != 1:
            raise ProgramError("the branches of a switch return structures of different shapes")
        results = tuple(self.new_value(self._kinds[v]) for v in yields[0])
        self.emit(Switch(self.value_of(selector, "int"), tuple(blocks), tuple(yields), results))
        return rebuild(returned[0], iter([self._wrap(v) for v in results]))

    def gather(self, table: Table, index: Index) -> Any:
        if isinstance(index, SymbolicIndex):
            return self.load(self._table(table), index)
        return table.entry(within(index, table.data.size, table.name))

    def lookup(self, table: Table, place: Scalar) -> Any:
        if not isinstance(place, Traced):
            return super().lookup(table, place)
        return self.load(self._table(table), place)

    def _table(self, table: Table) -> Buffer:
        if table.contents not in self._tables:
            kind: Kind = "int" if np.issubdtype(table.data.dtype, np.integer) else "float"
            self._tables[table.contents] = self.declare(table.name, "table", kind, table.data.size, table.data)
        return self._tables[table.contents]

    def array(self, size: int) -> Array:
        if not self.rolled:
            return Cells(self, size)
        made = TracedArray(self, self.declare("array", "scratch", "float", size))
        if len(self._blocks) > 1:  # scratch is zero when the program starts, not at every turn of a loop
            self._fill(made.buffer, lambda k: 0.0)
        return made

    def blank(self, size: int) -> Array:
        if not self.rolled:
            return Cells(self, size)
        made = replace(self.declare("array", "scratch", "float", size), cleared=False)
        self.replace(made)
        return TracedArray(self, made)

    def unguarded(self, size: int, zeros: bool) -> Array:
        made = self.array(size) if zeros else self.blank(size)
        made.level = sys.maxsize  # type: ignore[attr-defined]
        return made

    @property
    def keeps_loops(self) -> bool:
        return self.rolled

    def rows(self, count: int, kinds: Sequence[int] | None = None, order: Sequence[int] | None = None) -> Rows:
        if not self.rolled:
            return UnrolledRows(self, count)
        self._pending.append(TracedRows(self, count, kinds, order))
        return self._pending[-1]
