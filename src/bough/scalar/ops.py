"""The one table of operations: name, arity, meaning, cost and derivative, a row each.

Everything that computes in bough is built from these rows. A new operation is one row here and one rule in each
back-end. Costs follow the papers' convention: a subtraction is an addition, a negation is free, comparisons and
selections are counted apart as `other`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

__all__ = ["INDEX_OPS", "OPS", "Kind", "Op"]

CostKind = Literal["mul", "add", "div", "sqrt", "trig", "other"]

Kind = Literal["float", "bool", "int"]
"""What a value is: a number, a truth value, or an index."""

# Partial derivatives get (arguments, result) and give one entry per argument. They are written with operators only, so
# they hold for floats and for symbolic scalars alike; None stands for "not differentiable, treat as constant".
Partials = Callable[[tuple[Any, ...], Any], tuple[Any, ...]]


@dataclass(frozen=True)
class Op:
    """An operation: one row of the table."""

    name: str
    arguments: tuple[Kind, ...]
    result: Kind
    meaning: Callable[..., Any]
    cost: tuple[CostKind, ...]
    partials: Partials | None
    commutes: bool = False


F: Kind = "float"
B: Kind = "bool"


def _fma(a: float, b: float, c: float) -> float:
    """A product and a sum with one rounding, a b + c."""
    plain = a * b + c
    if not math.isfinite(plain):
        return plain
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else plain  # which knows the sign of a zero


def _select(condition: bool, a: float, b: float) -> float:
    return a if condition else b


def _sin_partials(args: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
    from bough.scalar.functions import cos

    return (cos(args[0]),)


def _cos_partials(args: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
    from bough.scalar.functions import sin

    return (-sin(args[0]),)


def _select_partials(args: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
    from bough.scalar.functions import select

    return (None, select(args[0], 1.0, 0.0), select(args[0], 0.0, 1.0))


def _atan2_partials(args: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
    y, x = args
    square = x * x + y * y
    return (x / square, -y / square)


_TABLE = (
    Op("neg", (F,), F, operator.neg, (), lambda a, r: (-1.0,)),
    Op("add", (F, F), F, operator.add, ("add",), lambda a, r: (1.0, 1.0), commutes=True),
    Op("sub", (F, F), F, operator.sub, ("add",), lambda a, r: (1.0, -1.0)),
    Op("mul", (F, F), F, operator.mul, ("mul",), lambda a, r: (a[1], a[0]), commutes=True),
    Op("fma", (F, F, F), F, _fma, ("mul", "add"), lambda a, r: (a[1], a[0], 1.0)),
    Op("div", (F, F), F, operator.truediv, ("div",), lambda a, r: (1.0 / a[1], -r / a[1])),
    Op("sqrt", (F,), F, math.sqrt, ("sqrt",), lambda a, r: (0.5 / r,)),
    Op("sin", (F,), F, math.sin, ("trig",), _sin_partials),
    Op("cos", (F,), F, math.cos, ("trig",), _cos_partials),
    Op("atan2", (F, F), F, math.atan2, ("trig",), _atan2_partials),
    Op("lt", (F, F), B, operator.lt, ("other",), None),
    Op("le", (F, F), B, operator.le, ("other",), None),
    Op("and", (B, B), B, operator.and_, ("other",), None, commutes=True),
    Op("or", (B, B), B, operator.or_, ("other",), None, commutes=True),
    Op("not", (B,), B, operator.not_, ("other",), None),
    Op("select", (B, F, F), F, _select, ("other",), _select_partials),
)

OPS: dict[str, Op] = {op.name: op for op in _TABLE}
"""Operations on numbers and truth values."""

INDEX_OPS: dict[str, Op] = {
    op.name: op
    for op in (
        Op("iadd", ("int", "int"), "int", operator.add, (), None, commutes=True),
        Op("imul", ("int", "int"), "int", operator.mul, (), None, commutes=True),
    )
}
"""Operations on indices: enough to form an address from a loop counter and a table entry."""
