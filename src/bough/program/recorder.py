"""The recorder: values and the instructions that make them, block by block. Equal operations meet (hash-consing)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable

from bough.errors import ProgramError
from bough.program.ir import Apply, Block, Const, Instruction
from bough.program.values import Traced, TracedIndex, constant_of
from bough.scalar import Bool, Index, Kind, Op, Scalar, Symbolic
from bough.scalar.ops import INDEX_OPS, OPS

__all__ = ["Recorder", "TooLong"]

NEG, SUB = OPS["neg"], OPS["sub"]


class TooLong(ProgramError):
    """A program grew beyond what was allowed."""


class Recorder:
    """Values and instructions of a program. What is visible from the current block is shared."""

    def __init__(self, longest: int | None) -> None:
        self._longest = sys.maxsize if longest is None else longest
        self._kinds: list[Kind] = []
        self._blocks: list[list[Instruction]] = [[]]
        self._known: dict[Hashable, int] = {}  # what is visible from the current block
        self._scopes: list[list[Hashable]] = []  # of that, what became known in each block that is open

    def new_value(self, kind: Kind) -> int:
        """A fresh value number."""
        value = len(self._kinds)
        if value >= self._longest:
            raise TooLong(f"the program has more than {self._longest} values")
        self._kinds.append(kind)
        return value

    def allow_any_length(self) -> None:
        """Let the program grow beyond the length given to `trace` from here on."""
        self._longest = sys.maxsize

    def emit(self, instruction: Instruction) -> None:
        """Append an instruction to the current block."""
        self._blocks[-1].append(instruction)

    def shared_value(self, key: Hashable, kind: Kind, make: Callable[[int], Instruction]) -> int:
        """The value known under `key` in the current or an enclosing block, made on first use."""
        value = self._known.get(key)
        if value is None:
            value = self._learnt(key, kind)
            self._blocks[-1].append(make(value))
        return value

    def _learnt(self, key: Hashable, kind: Kind) -> int:
        """A fresh value, known under `key` until the current block ends."""
        value = len(self._kinds)
        if value >= self._longest:
            raise TooLong(f"the program has more than {self._longest} values")
        self._kinds.append(kind)
        self._known[key] = value
        if self._scopes:
            self._scopes[-1].append(key)
        return value

    def constant(self, x: float) -> int:
        """The value number of a number."""
        if x == 0.0 or x != x:  # repr tells 0.0 from -0.0, and takes NaN for itself
            return self.shared_value(("const", "float", repr(x)), "float", lambda value: Const(value, x))
        value = self._known.get(x)
        if value is None:
            value = self._learnt(x, "float")
            self._blocks[-1].append(Const(value, x))
        return value

    def value_of(self, x: Scalar | Bool | Index, kind: Kind = "float") -> int:
        """The value number of a scalar, truth value or index, constants included."""
        if isinstance(x, (Traced, TracedIndex)):
            if x.tracer is not self:
                raise ProgramError("a value of one trace was used in another")
            return x.value
        if isinstance(x, Symbolic):
            raise ProgramError(f"cannot trace a {type(x).__name__}")
        constant = constant_of(x, kind)
        if type(constant) is float:
            return self.constant(constant)
        return self.shared_value(("const", kind, constant), kind, lambda value: Const(value, constant))

    # Nothing is done as often as the two that follow: little is left to others.

    def operation(self, name: str, values: tuple[int, ...]) -> int:
        """The number that an operation makes of values, which are in order if it commutes."""
        key = (name, values)
        value = self._known.get(key)
        if value is None:
            value = self._learnt(key, "float")
            self._blocks[-1].append(Apply(value, name, values))
        return value

    def difference(self, first: int, second: int) -> Traced:
        """One number less another; the negative of what is known if that is the other way round."""
        values = (first, second)
        value = self._known.get(("sub", values))
        if value is None:
            if first != second and (opposite := self._known.get(("sub", (second, first)))) is not None:
                return -Traced(self, opposite)
            value = self.operation("sub", values)
        return Traced(self, value)

    def apply(self, op: Op, arguments: tuple[Scalar | Bool, ...]) -> Traced:
        """Record an operation on numbers or truth values."""
        values = tuple([self.value_of(a, kind) for a, kind in zip(arguments, op.arguments, strict=True)])
        if op is SUB:
            return self.difference(*values)
        if op.commutes and values[0] > values[1]:
            values = values[::-1]
        value = self.shared_value((op.name, values), op.result, lambda v: Apply(v, op.name, values))
        return Traced(self, value, arguments[0] if op is NEG and isinstance(arguments[0], Traced) else None)

    def apply_index(self, name: str, a: int, b: int, constant: bool = False) -> int:
        """Record an operation on two index values; with `constant`, the second is a number."""
        second = self.value_of(b, "int") if constant else b
        values = tuple(sorted((a, second)))
        return self.shared_value((name, values), "int", lambda v: Apply(v, INDEX_OPS[name].name, values))

    def offset_index(self, value: int, offset: int) -> int:
        """An index value with a constant added to it."""
        return self.apply_index("iadd", value, offset, constant=True) if offset else value

    def _open(self) -> None:
        self._blocks.append([])
        self._scopes.append([])

    def _close(self) -> Block:
        for key in self._scopes.pop():
            del self._known[key]
        return tuple(self._blocks.pop())

    def _leaf_value(self, x: object) -> int:
        kind: Kind = "bool" if isinstance(x, bool) else "int" if isinstance(x, int) else "float"
        return self.value_of(x, kind)  # type: ignore[arg-type]

    def _wrap(self, value: int) -> Traced | TracedIndex:
        return TracedIndex(self, value) if self._kinds[value] == "int" else Traced(self, value)
