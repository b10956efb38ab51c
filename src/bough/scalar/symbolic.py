"""Symbolic scalars: the operators every non-float scalar shares, with the folding rules that make constants vanish.

An algorithm is written with `+ - * /` and the functions of `bough.scalar`. When one operand is symbolic, `fold` first
applies the rules below (they are also the papers' counting rule: what folds away costs nothing) and only then hands the
operation to the scalar's own `record`. Constants are plain Python floats throughout.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeAlias, Union

from bough.errors import ProgramError
from bough.scalar.ops import OPS, Op

__all__ = ["Bool", "Index", "Scalar", "Symbolic", "SymbolicIndex", "fold"]


class Symbolic(ABC):
    """A scalar that is not a number: it records what is done to it."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy scalars must leave mixed arithmetic to us

    @abstractmethod
    def record(self, op: Op, arguments: tuple[Scalar | Bool, ...]) -> Symbolic:
        """Note that `op` is applied to `arguments` (at least one symbolic) and return the result."""

    @property
    def negated(self) -> Symbolic | None:
        """The scalar of which this one is the negative, if it is one."""
        return None

    def __add__(self, other: Scalar) -> Scalar:
        return fold(ADD, self, other)

    def __radd__(self, other: Scalar) -> Scalar:
        return fold(ADD, other, self)

    def __sub__(self, other: Scalar) -> Scalar:
        return fold(SUB, self, other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return fold(SUB, other, self)

    def __mul__(self, other: Scalar) -> Scalar:
        return fold(MUL, self, other)

    def __rmul__(self, other: Scalar) -> Scalar:
        return fold(MUL, other, self)

    def __truediv__(self, other: Scalar) -> Scalar:
        return fold(DIV, self, other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return fold(DIV, other, self)

    def __neg__(self) -> Scalar:
        return fold(NEG, self)

    def __pos__(self) -> Scalar:
        return self

    def __lt__(self, other: Scalar) -> Bool:
        return self.record(OPS["lt"], (self, other))

    def __le__(self, other: Scalar) -> Bool:
        return self.record(OPS["le"], (self, other))

    def __gt__(self, other: Scalar) -> Bool:
        return self.record(OPS["lt"], (other, self))

    def __ge__(self, other: Scalar) -> Bool:
        return self.record(OPS["le"], (other, self))

    def __bool__(self) -> bool:
        raise ProgramError("a symbolic scalar has no truth value: use bough.scalar.select instead of `if`, `and`, `or`")

    def __float__(self) -> float:
        raise ProgramError("a symbolic scalar is not a number: use the functions of bough.scalar, not math or numpy")


class SymbolicIndex(ABC):
    """An index that is only known when the program runs: a loop counter, a table entry, or a sum of such."""

    __slots__ = ()
    __array_ufunc__ = None

    @abstractmethod
    def __add__(self, other: Index) -> SymbolicIndex: ...

    @abstractmethod
    def __radd__(self, other: int) -> SymbolicIndex: ...

    @abstractmethod
    def __mul__(self, other: Index) -> SymbolicIndex: ...

    def __bool__(self) -> bool:
        raise ProgramError("a symbolic index has no truth value: decide by kind, before the program is traced")

    def __index__(self) -> int:
        raise ProgramError("a symbolic index cannot address a Python list: use bough.scalar.gather, array or rows")


Scalar: TypeAlias = Union[float, "Symbolic"]
Bool: TypeAlias = Union[bool, "Symbolic"]
Index: TypeAlias = Union[int, "SymbolicIndex"]

NEG, ADD, SUB, MUL, DIV = (OPS[name] for name in ("neg", "add", "sub", "mul", "div"))


def fold(op: Op, *args: Scalar) -> Scalar:
    """Apply an arithmetic operation, at no cost where the papers' counting rule says so."""
    if op is MUL:
        return _fold_mul(*args)
    if op is ADD:
        return _fold_add(*args)
    if op is SUB:
        return _fold_add(args[0], -args[1])
    if op is DIV:
        return _fold_div(*args)
    (a,) = args
    if not isinstance(a, Symbolic):
        return float(op.meaning(a))
    if op is NEG and a.negated is not None:
        return a.negated
    return a.record(op, (a,))


def _fold_add(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(a, Symbolic):
        if not isinstance(b, Symbolic):
            return a + b
        a, b = b, a
    if not isinstance(b, Symbolic):
        if b == 0.0:
            return a
        if b < 0.0:
            return a.record(SUB, (a, -b))
        if a.negated is not None:
            return a.record(SUB, (b, a.negated))
        return a.record(ADD, (a, b))
    # signs are pulled out, so that equal sums meet whatever their signs were: a + (-b) = a - b
    if b.negated is not None:
        if a.negated is not None:
            return -a.record(ADD, (a.negated, b.negated))
        return a.record(SUB, (a, b.negated))
    if a.negated is not None:
        return a.record(SUB, (b, a.negated))
    return a.record(ADD, (a, b))


def _fold_mul(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(a, Symbolic):
        if not isinstance(b, Symbolic):
            return a * b
        a, b = b, a
    if not isinstance(b, Symbolic):
        if b == 0.0:
            return 0.0
        if b == 1.0:
            return a
        if b < 0.0:
            return -_fold_mul(a, -b)
        if a.negated is not None:
            return -a.record(MUL, (a.negated, b))
        return a.record(MUL, (a, b))
    if a.negated is not None or b.negated is not None:
        negative = (a.negated is None) != (b.negated is None)
        product = a.record(MUL, (_positive(a), _positive(b)))
        return -product if negative else product
    return a.record(MUL, (a, b))


def _fold_div(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(b, Symbolic):
        if not isinstance(a, Symbolic):
            return a / b
        return _fold_mul(a, 1.0) if b == 1.0 else -a if b == -1.0 else a.record(DIV, (a, b))
    if not isinstance(a, Symbolic):
        return 0.0 if a == 0.0 else b.record(DIV, (a, b))
    negative = (a.negated is None) != (b.negated is None)
    quotient = a.record(DIV, (_positive(a), _positive(b)))
    return -quotient if negative else quotient


def _positive(a: Symbolic) -> Symbolic:
    return a if a.negated is None else a.negated
