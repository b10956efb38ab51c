"""Partial derivatives of operations as derivatives of programs use them: those of the table, and a rule for corners.

Where a function has no derivative one of its one-sided ones is taken, that of the branch that is run: a selection hands
on the derivative of what it selects, so |x| has the derivative 1 at 0, and of two equal numbers the minimum and the
maximum follow the one that `bough.scalar` takes. The root of 0 and the angle of (0, 0), which have none at all, count
as constant. Truth values, indices and the number of turns of a loop have no derivatives.
"""

from __future__ import annotations

from typing import Any

from bough.scalar import OPS, select

__all__ = ["is_zero", "partials"]


def partials(op: str, arguments: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
    """One partial derivative for each argument of an operation; None for what is constant."""
    if op == "sqrt":
        positive = result > 0.0
        return (select(positive, 0.5 / select(positive, result, 1.0), 0.0),)
    if op == "atan2":
        y, x = arguments
        square = x * x + y * y
        safe = select(square > 0.0, square, 1.0)
        return (x / safe, -y / safe)
    rule = OPS[op].partials
    if rule is None:
        raise TypeError(f"the operation {op} has no derivative")
    return rule(arguments, result)


def is_zero(x: Any) -> bool:
    """Whether a scalar is the constant zero."""
    return isinstance(x, float | int) and x == 0.0
