"""What an algorithm sees while it is traced: numbers, indices and arrays that record."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bough.errors import ProgramError
from bough.program.ir import Buffer
from bough.scalar import Bool, Index, Kind, Op, Scalar, Symbolic, SymbolicIndex

if TYPE_CHECKING:
    from bough.program.recorder import Recorder
    from bough.program.tracer import Tracer

__all__ = ["Cells", "Given", "Traced", "TracedArray", "TracedIndex", "constant_of"]


class Traced(Symbolic):
    """A number or truth value of a program."""

    __slots__ = ("negative_of", "tracer", "value")

    negative_of: Traced | None

    def __init__(self, tracer: Recorder, value: int, negative_of: Traced | None = None) -> None:
        self.tracer = tracer
        self.value = value
        self.negative_of = negative_of

    def record(self, op: Op, arguments: tuple[Scalar | Bool, ...]) -> Traced:
        return self.tracer.apply(op, arguments)

    # The folding rules of `Symbolic`, in place where operands are of one trace or plain: tracing does little else.

    def __neg__(self) -> Traced:
        if self.negative_of is not None:
            return self.negative_of
        return Traced(self.tracer, self.tracer.operation("neg", (self.value,)), self)

    def __mul__(self, other: Scalar) -> Scalar:
        tracer, positive = self.tracer, self.negative_of
        negative = positive is not None
        first = self.value if positive is None else positive.value
        if type(other) is Traced and other.tracer is tracer:
            second = other.value
            if other.negative_of is not None:
                negative, second = not negative, other.negative_of.value
        elif type(other) is float:
            if other == 0.0:
                return 0.0
            if other < 0.0:
                negative, other = not negative, -other
            if other == 1.0:
                plain = self if positive is None else positive
                return -plain if negative else plain
            second = tracer.constant(other)
        else:
            return super().__mul__(other)
        product = Traced(tracer, tracer.operation("mul", (first, second) if first <= second else (second, first)))
        return -product if negative else product

    def __rmul__(self, other: Scalar) -> Scalar:
        return self * other if type(other) is float else super().__rmul__(other)

    def __add__(self, other: Scalar) -> Scalar:
        return self._plus(other, False, False) if type(other) in PLAIN else super().__add__(other)

    def __radd__(self, other: Scalar) -> Scalar:
        return self._plus(other, False, False) if type(other) in PLAIN else super().__radd__(other)

    def __sub__(self, other: Scalar) -> Scalar:
        return self._plus(other, False, True) if type(other) in PLAIN else super().__sub__(other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return self._plus(other, True, False) if type(other) in PLAIN else super().__rsub__(other)

    def _plus(self, other: Any, negative: bool, other_negative: bool) -> Traced:
        """The sum of two numbers, each with its sign turned or not."""
        tracer, first = self.tracer, self.value
        if self.negative_of is not None:
            negative, first = not negative, self.negative_of.value
        if type(other) is Traced:
            if other.tracer is not tracer:
                raise ProgramError("a value of one trace was used in another")
            second = other.value
            if other.negative_of is not None:
                other_negative, second = not other_negative, other.negative_of.value
        elif other == 0.0:
            return self if negative == (self.negative_of is not None) else -self
        else:
            if other < 0.0:
                other_negative, other = not other_negative, -other
            second = tracer.constant(other)
        if negative != other_negative:
            return tracer.difference(first, second) if other_negative else tracer.difference(second, first)
        total = Traced(tracer, tracer.operation("add", (first, second) if first <= second else (second, first)))
        return -total if negative else total


PLAIN = frozenset((Traced, float))
"""Types of operands that are added up in place."""


class TracedIndex(SymbolicIndex):
    """An index of a program: a value and a constant that is added to it only where the sum is used."""

    __slots__ = ("_value", "offset", "tracer")

    def __init__(self, tracer: Recorder, value: int, offset: int = 0) -> None:
        self.tracer = tracer
        self._value = value
        self.offset = offset

    @property
    def value(self) -> int:
        """The number of the value, constant included."""
        return self.tracer.offset_index(self._value, self.offset)

    def __add__(self, other: Index) -> TracedIndex:
        if not isinstance(other, TracedIndex):
            return TracedIndex(self.tracer, self._value, self.offset + operator.index(other))
        self._same_trace(other)
        value = self.tracer.apply_index("iadd", self._value, other._value)
        return TracedIndex(self.tracer, value, self.offset + other.offset)

    def __radd__(self, other: int) -> TracedIndex:
        return self + other

    def __mul__(self, other: Index) -> TracedIndex:
        if not isinstance(other, TracedIndex):
            factor = operator.index(other)
            scaled = self._value if factor == 1 else self.tracer.apply_index("imul", self._value, factor, constant=True)
            return TracedIndex(self.tracer, scaled, self.offset * factor)
        self._same_trace(other)
        return TracedIndex(self.tracer, self.tracer.apply_index("imul", self.value, other.value))

    def _same_trace(self, other: TracedIndex) -> None:
        if other.tracer is not self.tracer:
            raise ProgramError("a value of one trace was used in another")


class Given(list[Any]):
    """An input of an unrolled trace."""

    def __init__(self, name: str, values: list[Any]) -> None:
        super().__init__(values)
        self._name = name

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise ProgramError(f"the input {self._name!r} cannot be written: copy it to an array first")


class Cells(list[Any]):
    """An array of an unrolled trace."""

    def __init__(self, tracer: Tracer, size: int) -> None:
        super().__init__([0.0] * size)
        self._tracer = tracer
        self.level = tracer.level

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, self._tracer.value_to_store(self.level, lambda: self[index], value))


class TracedArray:
    """An input, or an array in scratch memory that may become an output."""

    def __init__(self, tracer: Tracer, buffer: Buffer) -> None:
        self.tracer = tracer
        self.buffer = buffer
        self.level = tracer.level

    def __len__(self) -> int:
        return self.buffer.size

    def __getitem__(self, index: Index) -> Any:
        self._check(index)
        return self.tracer.load(self.buffer, index)

    def __setitem__(self, index: Index, value: Scalar) -> None:
        self._check(index)
        if self.buffer.role != "scratch":
            raise ProgramError(f"the input {self.buffer.name!r} cannot be written: copy it to an array first")
        self.tracer.store(self.buffer, index, self.tracer.value_to_store(self.level, lambda: self[index], value))

    def _check(self, index: Index) -> None:
        if isinstance(index, int) and not 0 <= index < self.buffer.size:
            raise IndexError(f"{self.buffer.name}[{index}] is outside 0 … {self.buffer.size - 1}")


def constant_of(x: object, kind: Kind) -> float | bool | int:
    """A number as the constant of a program."""
    if isinstance(x, (bool, np.bool_)):
        if kind == "bool":
            return bool(x)
    elif isinstance(x, (int, np.integer)) and kind == "int":
        return int(x)
    elif isinstance(x, (float, int, np.integer, np.floating)) and kind == "float":
        return float(x)
    raise ProgramError(f"{x!r} is a {type(x).__name__}, expected a constant of kind {kind}")
