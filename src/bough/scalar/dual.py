"""Dual numbers: a scalar that carries its derivative along a direction.

Running an algorithm over them gives its result and how fast that changes, by the partial derivatives of the table of
operations. What is inside may be floats, other symbolic scalars, or dual numbers along another direction: `derivative`
may be called within a function that is being differentiated, and each call has a level of its own.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from bough.scalar.functions import atan2, both, cos, either, multiply_add, negation, select, sin, sqrt
from bough.scalar.ops import Op
from bough.scalar.structure import leaves, map_leaves, rebuild
from bough.scalar.symbolic import Bool, Scalar, Symbolic

__all__ = ["APPLIED", "Dual", "derivative"]

S = TypeVar("S")
R = TypeVar("R")

# How each operation is applied to what is inside, whatever scalar that is.
APPLIED: dict[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "fma": multiply_add,
    "sqrt": sqrt,
    "sin": sin,
    "cos": cos,
    "atan2": atan2,
    "lt": operator.lt,
    "le": operator.le,
    "and": both,
    "or": either,
    "not": negation,
    "select": select,
}

_LEVEL: ContextVar[int] = ContextVar("bough_derivative_level", default=0)


class Dual(Symbolic):
    """A value and its rate along a direction; made by `derivative`, at the level of that call."""

    __slots__ = ("level", "rate", "value")

    def __init__(self, value: Scalar, rate: Scalar, level: int = 1) -> None:
        self.value = value
        self.rate = rate
        self.level = level

    def record(self, op: Op, arguments: tuple[Scalar | Bool, ...]) -> Any:
        """Apply an operation to the values, and its partial derivatives to the rates. Truth values have no rate."""
        values = tuple(self._split(a)[0] for a in arguments)
        rates = [self._split(a)[1] for a in arguments]
        result = APPLIED[op.name](*values)
        if op.result == "bool":
            return result
        if op.name == "select":  # the rate of what is not chosen need not even be finite
            return _dual_or_value(result, select(values[0], rates[1], rates[2]), self.level)
        if op.partials is None:
            raise TypeError(f"the operation {op.name} has no derivative")
        rate: Scalar = 0.0
        for partial, part in zip(op.partials(values, result), rates, strict=True):
            if partial is not None and not _is_zero(part):
                rate = rate + partial * part
        return _dual_or_value(result, rate, self.level)

    def _split(self, a: Any) -> tuple[Any, Any]:
        """Value and rate at this level; all that is not of this level is constant."""
        return (a.value, a.rate) if isinstance(a, Dual) and a.level == self.level else (a, 0.0)

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.rate!r}, level={self.level})"


def derivative(function: Callable[[S], R], at: S, along: S) -> tuple[R, R]:
    """The result of a function of scalars, and its rate when the argument moves along a direction.

    Parameters
    ----------
    function
        Takes and returns structures of scalars: tuples and frozen dataclasses, nested at will, or one scalar.
    at, along
        Where, and how fast each scalar of the argument changes.
    """
    level = _LEVEL.get() + 1
    token = _LEVEL.set(level)
    try:
        result = function(map_leaves(lambda a, b: _dual_or_value(a, b, level), at, along))
    finally:
        _LEVEL.reset(token)
    parts = [(x.value, x.rate) if isinstance(x, Dual) and x.level == level else (x, 0.0) for x in leaves(result)]
    return rebuild(result, iter([value for value, _ in parts])), rebuild(result, iter([rate for _, rate in parts]))


def _dual_or_value(value: Any, rate: Any, level: int) -> Any:
    """A dual number, or the value alone if it does not change."""
    return value if _is_zero(rate) else Dual(value, rate, level)


def _is_zero(rate: Any) -> bool:
    return not isinstance(rate, Symbolic) and rate == 0.0 and not math.isnan(rate)
