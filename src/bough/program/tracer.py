"""The tracer: runs an algorithm on scalars that write down what is done to them, and returns the program.

Equal operations meet (hash-consing, within what is visible from the current block) and constants fold on the way in.
Unrolled, the control primitives stay plain Python and the trace is straight-line. Rolled, they become loops, switches,
table reads and scratch memory; the algorithm cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bough.errors import ProgramError
from bough.program.check import check
from bough.program.ir import Apply, Block, Buffer, Const, Instruction, Load, Loop, Program, Store, Switch
from bough.program.rows import TracedRows
from bough.program.values import Traced, TracedArray, TracedIndex
from bough.scalar import Array, Bool, Control, Index, Kind, Op, Rows, Scalar, Symbolic, Table, activate, leaves, rebuild
from bough.scalar.control import freeze
from bough.scalar.ops import INDEX_OPS

__all__ = ["Tracer", "trace"]


def trace(
    name: str,
    function: Callable[..., Mapping[str, Any]],
    inputs: Mapping[str, int],
    *,
    rolled: bool = False,
) -> Program:
    """Trace `function`, called with one array per input, and return the checked program.

    Parameters
    ----------
    name
        Name of the program, for people.
    function
        Takes the inputs as keyword arguments (arrays of scalars) and returns a mapping from output names to arrays.
    inputs
        Name and length of each input.
    rolled
        Whether loops stay loops.
    """
    tracer = Tracer(rolled)
    arrays = {key: tracer.input(key, size) for key, size in inputs.items()}
    with activate(tracer):
        outputs = function(**arrays)
    for key, values in outputs.items():
        tracer.output(key, values)
    program = tracer.finish(name)
    check(program)
    return program


class Tracer(Control):
    """Records instructions block by block."""

    def __init__(self, rolled: bool) -> None:
        self.rolled = rolled
        self._kinds: list[Kind] = []
        self._blocks: list[list[Instruction]] = [[]]
        self._known: list[dict[Hashable, int]] = [{}]
        self._buffers: dict[str, Buffer] = {}
        self._tables: dict[int, tuple[Table, str]] = {}
        self._pending: list[TracedRows] = []

    # -- values ----------------------------------------------------------------------------------------------------

    def new_value(self, kind: Kind) -> int:
        """A fresh value number."""
        self._kinds.append(kind)
        return len(self._kinds) - 1

    def emit(self, instruction: Instruction) -> None:
        """Append an instruction to the current block."""
        self._blocks[-1].append(instruction)

    def shared(self, key: Hashable, kind: Kind, make: Callable[[int], Instruction]) -> int:
        """The value known under `key` in the current or an enclosing block, made on first use."""
        for known in reversed(self._known):
            value = known.get(key)
            if value is not None:
                return value
        value = self.new_value(kind)
        self.emit(make(value))
        self._known[-1][key] = value
        return value

    def value_of(self, x: Scalar | Bool | Index, kind: Kind = "float") -> int:
        """The value number of a scalar, truth value or index, constants included."""
        if isinstance(x, Traced | TracedIndex):
            if x.tracer is not self:
                raise ProgramError("a value of one trace was used in another")
            return x.value
        if isinstance(x, Symbolic):
            raise ProgramError(f"cannot trace a {type(x).__name__}")
        constant = {"float": float, "bool": bool, "int": int}[kind](x)
        key = ("const", kind, repr(constant))  # repr tells 0.0 from -0.0
        return self.shared(key, kind, lambda value: Const(value, constant))

    def apply(self, op: Op, arguments: tuple[Scalar | Bool, ...]) -> Traced:
        """Record an operation on numbers or truth values."""
        values = tuple(self.value_of(a, kind) for a, kind in zip(arguments, op.arguments, strict=True))
        if op.commutes:
            values = tuple(sorted(values))
        value = self.shared((op.name, values), op.result, lambda v: Apply(v, op.name, values))
        negated = arguments[0] if op.name == "neg" else None
        return Traced(self, value, negated if isinstance(negated, Traced) else None)

    def apply_index(self, name: str, a: int, b: int, constant: bool = False) -> int:
        """Record an operation on two index values; with `constant`, the second is a number."""
        second = self.value_of(b, "int") if constant else b
        values = tuple(sorted((a, second)))
        return self.shared((name, values), "int", lambda v: Apply(v, INDEX_OPS[name].name, values))

    def offset_index(self, value: int, offset: int) -> int:
        """An index value with a constant added to it."""
        return self.apply_index("iadd", value, offset, constant=True) if offset else value

    def load(self, buffer: Buffer, index: Index) -> Any:
        """Record a read; reads of inputs and tables are shared."""
        place = self.value_of(index, "int")
        if buffer.role in ("input", "table"):
            value = self.shared(("load", buffer.name, place), buffer.kind, lambda v: Load(v, buffer.name, place))
        else:
            value = self.new_value(buffer.kind)
            self.emit(Load(value, buffer.name, place))
        return TracedIndex(self, value) if buffer.kind == "int" else Traced(self, value)

    def store(self, buffer: Buffer, index: Index, x: Scalar) -> None:
        """Record a write."""
        self.emit(Store(buffer.name, self.value_of(index, "int"), self.value_of(x)))

    # -- buffers ---------------------------------------------------------------------------------------------------

    def declare(self, name: str, role: Any, kind: Kind, size: int, data: Any = None) -> Buffer:
        """Add a buffer under a name that is made unique."""
        unique, k = name, 1
        while unique in self._buffers:
            k += 1
            unique = f"{name}_{k}"
        self._buffers[unique] = Buffer(unique, role, kind, size, data)
        return self._buffers[unique]

    def replace(self, buffer: Buffer) -> None:
        """Put a buffer in the place of the one with the same name."""
        self._buffers[buffer.name] = buffer

    def input(self, name: str, size: int) -> Array:
        """An input of the program, as the array the algorithm sees."""
        array = TracedArray(self, self.declare(name, "input", "float", size))
        return array if self.rolled else [array[k] for k in range(size)]

    def output(self, name: str, values: Any) -> None:
        """Make an array an output of the program."""
        if isinstance(values, TracedArray) and values.buffer.role == "scratch" and name not in self._buffers:
            self._rename(values.buffer, name)
            return
        buffer = self.declare(name, "output", "float", len(values))
        if buffer.name != name:
            raise ProgramError(f"the output {name!r} has the name of another buffer")
        if isinstance(values, TracedArray):

            def copy(k: Index, carry: tuple[()]) -> tuple[()]:
                self.store(buffer, k, values[k])
                return carry

            self.loop(buffer.size, copy, ())
            return
        for k, x in enumerate(values):
            self.store(buffer, k, x)

    def _rename(self, buffer: Buffer, name: str) -> None:
        """Turn a scratch buffer into an output: its loads and stores are rewritten when the program is finished."""
        self._buffers[buffer.name] = Buffer(name, "output", buffer.kind, buffer.size)

    def finish(self, name: str) -> Program:
        """The program recorded so far."""
        for pending in self._pending:
            pending.settle()
        names = {old: buffer.name for old, buffer in self._buffers.items()}
        body = _renamed(tuple(self._blocks[0]), names)
        return Program(name, tuple(self._buffers.values()), body, tuple(self._kinds))

    # -- control ---------------------------------------------------------------------------------------------------

    def loop(
        self,
        count: Index,
        body: Callable[[Any, Any], Any],
        carry: Any,
        reverse: bool = False,
        until: Callable[[Any], Bool] | None = None,
    ) -> Any:
        if not self.rolled:
            return super().loop(count, body, carry, reverse, until)
        number = self.value_of(count, "int")
        initial = tuple(self._leaf_value(x) for x in leaves(carry))
        kinds = [self._kinds[v] for v in initial]
        self._open()
        counter = self.new_value("int")
        carried = tuple(self.new_value(kind) for kind in kinds)
        state = rebuild(carry, iter([self._wrap(v) for v in carried]))
        done = until(state) if until is not None else None
        following = body(TracedIndex(self, counter), state)
        if done is not None:
            following = freeze(done, state, following)
        values = tuple(self.value_of(x, kind) for x, kind in zip(leaves(following), kinds, strict=True))
        stop = None if done is None else self.value_of(done, "bool")
        block = self._close()
        results = tuple(self.new_value(kind) for kind in kinds)
        self.emit(Loop(number, counter, reverse, initial, carried, block, values, results, stop))
        return rebuild(carry, iter([self._wrap(v) for v in results]))

    def switch(self, selector: Index, branches: Sequence[Callable[[], Any]]) -> Any:
        if isinstance(selector, int):
            return super().switch(selector, branches)
        if len(branches) == 1:
            return branches[0]()
        blocks, yields, shape = [], [], None
        for branch in branches:
            self._open()
            result = branch()
            shape = result if shape is None else shape
            yields.append(tuple(self._leaf_value(x) for x in leaves(result)))
            blocks.append(self._close())
        if len({len(values) for values in yields}) != 1:
            raise ProgramError("the branches of a switch return structures of different shapes")
        results = tuple(self.new_value(self._kinds[v]) for v in yields[0])
        self.emit(Switch(self.value_of(selector, "int"), tuple(blocks), tuple(yields), results))
        return rebuild(shape, iter([self._wrap(v) for v in results]))

    def gather(self, table: Table, index: Index) -> Any:
        if isinstance(index, int):
            return super().gather(table, index)
        if id(table) not in self._tables:
            kind: Kind = "int" if np.issubdtype(table.data.dtype, np.integer) else "float"
            buffer = self.declare(table.name, "table", kind, table.data.size, table.data)
            self._tables[id(table)] = (table, buffer.name)  # holding the table keeps its id taken
        return self.load(self._buffers[self._tables[id(table)][1]], index)

    def array(self, size: int) -> Array:
        if not self.rolled:
            return super().array(size)
        return TracedArray(self, self.declare("array", "scratch", "float", size))

    def rows(self, count: int, kinds: Sequence[int] | None = None) -> Rows:
        if not self.rolled:
            return super().rows(count, kinds)
        self._pending.append(TracedRows(self, count, kinds))
        return self._pending[-1]

    def _open(self) -> None:
        self._blocks.append([])
        self._known.append({})

    def _close(self) -> Block:
        self._known.pop()
        return tuple(self._blocks.pop())

    def _leaf_value(self, x: Any) -> int:
        kind: Kind = "bool" if isinstance(x, bool) else "int" if isinstance(x, int) else "float"
        return self.value_of(x, kind)

    def _wrap(self, value: int) -> Traced | TracedIndex:
        return TracedIndex(self, value) if self._kinds[value] == "int" else Traced(self, value)


def _renamed(block: Block, names: dict[str, str]) -> Block:
    """The block with buffers called by their final names."""
    result: list[Instruction] = []
    for x in block:
        if isinstance(x, Load):
            x = Load(x.result, names[x.buffer], x.index)
        elif isinstance(x, Store):
            x = Store(names[x.buffer], x.index, x.value)
        elif isinstance(x, Loop):
            x = replace(x, body=_renamed(x.body, names))
        elif isinstance(x, Switch):
            x = replace(x, branches=tuple(_renamed(b, names) for b in x.branches))
        result.append(x)
    return tuple(result)
