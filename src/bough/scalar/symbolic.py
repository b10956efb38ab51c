"""Symbolic scalars: the operators every non-float scalar shares, with the folding rules that make constants vanish.

An algorithm is written with `+ - * / **` and the functions of `bough.scalar`. When one operand is symbolic, the rules
below come first (they are also the papers' counting rule: what folds away costs nothing), and only then the operation
is handed to the scalar's own `record`. Signs are pulled out, so that equal sums, products and quotients meet whatever
their signs were: a + (-b) is recorded as a - b, (-a) b as the negation of a b. Constants are Python floats throughout.
"""

from __future__ import annotations

from numbers import Real
from typing import NoReturn, TypeAlias, Union

from bough.errors import ProgramError
from bough.scalar.ops import OPS, Op

__all__ = ["Bool", "Index", "Scalar", "Symbolic", "SymbolicIndex", "recorder"]


class Symbolic:
    """A scalar that is not a number: it records what is done to it."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy scalars must leave mixed arithmetic to us

    level: int = 0
    """Of the operands of an operation, one of the highest level records it: it knows those within it."""

    negative_of: Symbolic | None = None
    """The scalar of which this one is the negative, if it is one."""

    def record(self, op: Op, arguments: tuple[Scalar | Bool, ...]) -> Symbolic:
        """Note that `op` is applied to `arguments` (at least one symbolic) and return the result."""
        raise TypeError(f"a {type(self).__name__} does not say how it records {op.name}")

    def __add__(self, other: Scalar) -> Scalar:
        return _fold_add(self, other)

    def __radd__(self, other: Scalar) -> Scalar:
        return _fold_add(other, self)

    def __sub__(self, other: Scalar) -> Scalar:
        return _fold_sub(self, other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return _fold_sub(other, self)

    def __mul__(self, other: Scalar) -> Scalar:
        return _fold_mul(self, other)

    def __rmul__(self, other: Scalar) -> Scalar:
        return _fold_mul(other, self)

    def __truediv__(self, other: Scalar) -> Scalar:
        return _fold_div(self, other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return _fold_div(other, self)

    def __pow__(self, exponent: object) -> Scalar:
        return _power(self, exponent)

    def __rpow__(self, base: object) -> NoReturn:
        raise ProgramError(f"{base!r} to the power of a symbolic scalar: powers are integers that are known, or 0.5")

    def __neg__(self) -> Scalar:
        return _fold_neg(self)

    def __pos__(self) -> Scalar:
        return self

    def __lt__(self, other: Scalar) -> Bool:
        return recorder(self, other).record(OPS["lt"], (self, other))

    def __le__(self, other: Scalar) -> Bool:
        return recorder(self, other).record(OPS["le"], (self, other))

    def __gt__(self, other: Scalar) -> Bool:
        return recorder(self, other).record(OPS["lt"], (other, self))

    def __ge__(self, other: Scalar) -> Bool:
        return recorder(self, other).record(OPS["le"], (other, self))

    def __eq__(self, other: object) -> NoReturn:
        raise ProgramError("whether symbolic scalars are equal is not known: compare with < or <=, or decide by kind")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise ProgramError("a symbolic scalar has no truth value: use bough.scalar.select instead of `if`, `and`, `or`")

    def __float__(self) -> float:
        raise ProgramError("a symbolic scalar is not a number: use the functions of bough.scalar, not math or numpy")


class SymbolicIndex:
    """An index that is only known when the program runs: a loop counter, a table entry, or a sum of such."""

    __slots__ = ()
    __array_ufunc__ = None

    def __add__(self, other: Index) -> SymbolicIndex:
        raise NotImplementedError

    def __radd__(self, other: int) -> SymbolicIndex:
        raise NotImplementedError

    def __mul__(self, other: Index) -> SymbolicIndex:
        raise NotImplementedError

    def __eq__(self, other: object) -> NoReturn:
        raise ProgramError("whether symbolic indices are equal is not known: decide by kind, before tracing")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise ProgramError("a symbolic index has no truth value: decide by kind, before the program is traced")

    def __index__(self) -> int:
        raise ProgramError("a symbolic index cannot address a Python list: use bough.scalar.gather, array or rows")


Scalar: TypeAlias = Union[float, "Symbolic"]
Bool: TypeAlias = Union[bool, "Symbolic"]
Index: TypeAlias = Union[int, "SymbolicIndex"]

NEG, ADD, SUB, MUL, DIV, SQRT = (OPS[name] for name in ("neg", "add", "sub", "mul", "div", "sqrt"))


def _fold_neg(a: Scalar) -> Scalar:
    assert isinstance(a, Symbolic)
    return a.record(NEG, (a,)) if a.negative_of is None else a.negative_of


# Signs are split off in place: tracing does little else than what follows.


def _fold_add(a: Scalar, b: Scalar, subtract: bool = False) -> Scalar:
    a_negative, b_negative = False, subtract
    if isinstance(a, Symbolic):
        if a.negative_of is not None:
            a_negative, a = True, a.negative_of
    elif a == 0.0:
        b_negative, b = _split(b)
        return _signed(b_negative != subtract, b)
    elif a < 0.0:
        a_negative, a = True, -a
    if isinstance(b, Symbolic):
        if b.negative_of is not None:
            b_negative, b = not subtract, b.negative_of
    elif b == 0.0:
        return _signed(a_negative, a)
    elif b < 0.0:
        b_negative, b = not subtract, -b
    if a_negative == b_negative:
        return _signed(a_negative, _apply(ADD, a, b))
    return _apply(SUB, a, b) if b_negative else _apply(SUB, b, a)


def _fold_sub(a: Scalar, b: Scalar) -> Scalar:
    return _fold_add(a, b, True)


def _fold_mul(a: Scalar, b: Scalar) -> Scalar:
    negative = False
    if isinstance(a, Symbolic):
        if a.negative_of is not None:
            negative, a = True, a.negative_of
    elif a == 0.0:
        return 0.0
    elif a < 0.0:
        negative, a = True, -a
    if isinstance(b, Symbolic):
        if b.negative_of is not None:
            negative, b = not negative, b.negative_of
    elif b == 0.0:
        return 0.0
    elif b < 0.0:
        negative, b = not negative, -b
    if not isinstance(a, Symbolic) and a == 1.0:
        return _signed(negative, b)
    if not isinstance(b, Symbolic) and b == 1.0:
        return _signed(negative, a)
    return _signed(negative, _apply(MUL, a, b))


def _fold_div(a: Scalar, b: Scalar) -> Scalar:
    (a_negative, a), (b_negative, b) = _split(a), _split(b)
    if isinstance(b, Symbolic) and not isinstance(a, Symbolic) and a == 0.0:
        return 0.0
    unit = not isinstance(b, Symbolic) and b == 1.0
    return _signed(a_negative != b_negative, a if unit else _apply(DIV, a, b))


def _power(a: Symbolic, exponent: object) -> Scalar:
    """A power by squares and products: x³ is x² x, x⁻² is 1/x²."""
    if not isinstance(exponent, Real) or (exponent % 1 != 0 and exponent != 0.5):
        raise ProgramError(
            f"a symbolic scalar to the power of {exponent!r}: expected an integer that is known, or 0.5 for the root"
        )
    if exponent == 0.5:
        return a.record(SQRT, (a,))
    left = int(float(exponent))
    if left < 0:
        return _fold_div(1.0, _power(a, -left))
    result: Scalar = 1.0
    square: Scalar = a
    while left:
        if left % 2:
            result = result * square
        left //= 2
        square = square * square if left else square
    return result


def _split(a: Scalar) -> tuple[bool, Scalar]:
    """Whether there is a minus sign in front, and what it stands in front of."""
    if isinstance(a, Symbolic):
        positive = a.negative_of
        return (False, a) if positive is None else (True, positive)
    return (True, -a) if a < 0.0 else (False, a)


def _signed(negative: bool, a: Scalar) -> Scalar:
    return -a if negative else a


def recorder(a: Scalar | Bool, b: Scalar | Bool) -> Symbolic:
    """The one of two operands, at least one of them symbolic, that records what is done to both."""
    if isinstance(a, Symbolic) and not (isinstance(b, Symbolic) and b.level > a.level):
        return a
    assert isinstance(b, Symbolic)
    return b


def _apply(op: Op, a: Scalar, b: Scalar) -> Scalar:
    if isinstance(a, Symbolic) and not (isinstance(b, Symbolic) and b.level > a.level):  # as in `recorder`
        return a.record(op, (a, b))
    assert isinstance(b, Symbolic)
    return b.record(op, (a, b))
