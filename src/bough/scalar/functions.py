"""Functions of scalars, for floats and symbolic scalars alike; roots and selections also of arrays of numbers."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

from bough.scalar.ops import OPS
from bough.scalar.symbolic import Bool, Scalar, Symbolic, recorder

__all__ = [
    "absolute",
    "atan2",
    "both",
    "cos",
    "either",
    "maximum",
    "minimum",
    "multiply_add",
    "negation",
    "select",
    "sin",
    "sqrt",
]

MANY: Any = np.ndarray
"""Arrays of numbers, for which the meaning of a rule over scalars is the same element by element."""

_root_of_many: Any = np.sqrt
_where: Any = np.where


def sqrt(x: Scalar) -> Scalar:
    """Square root."""
    if isinstance(x, Symbolic):
        return x.record(OPS["sqrt"], (x,))
    return _root_of_many(x) if isinstance(x, MANY) else math.sqrt(x)


def sin(x: Scalar) -> Scalar:
    """Sine of an angle in radians."""
    if not isinstance(x, Symbolic):
        return math.sin(x)
    if x.negative_of is not None:
        return -x.negative_of.record(OPS["sin"], (x.negative_of,))
    return x.record(OPS["sin"], (x,))


def cos(x: Scalar) -> Scalar:
    """Cosine of an angle in radians."""
    if not isinstance(x, Symbolic):
        return math.cos(x)
    if x.negative_of is not None:
        x = x.negative_of
    return x.record(OPS["cos"], (x,))


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Angle of the point (x, y) in radians, in [-pi, pi]."""
    if isinstance(y, Symbolic) or isinstance(x, Symbolic):
        return recorder(y, x).record(OPS["atan2"], (y, x))
    return math.atan2(y, x)


def multiply_add(a: Scalar, b: Scalar, c: Scalar) -> Scalar:
    """a b + c, rounded once."""
    symbolic = [x for x in (a, b, c) if isinstance(x, Symbolic)]
    if symbolic:
        return reduce(recorder, symbolic).record(OPS["fma"], (a, b, c))
    return float(OPS["fma"].meaning(a, b, c))


def select(condition: Bool, a: Scalar, b: Scalar) -> Scalar:
    """`a` where the condition holds, `b` elsewhere; both are computed."""
    if isinstance(condition, Symbolic):
        same = a is b or (type(a) is type(b) is float and a == b and math.copysign(1.0, a) == math.copysign(1.0, b))
        return a if same else recorder(recorder(condition, a), b).record(OPS["select"], (condition, a, b))
    return _where(condition, a, b) if isinstance(condition, MANY) else a if condition else b


def both(a: Bool, b: Bool) -> Bool:
    """Logical and."""
    if not isinstance(a, Symbolic):
        return b if a else False
    if not isinstance(b, Symbolic):
        return a if b else False
    return a.record(OPS["and"], (a, b))


def either(a: Bool, b: Bool) -> Bool:
    """Logical or."""
    if not isinstance(a, Symbolic):
        return True if a else b
    if not isinstance(b, Symbolic):
        return True if b else a
    return a.record(OPS["or"], (a, b))


def negation(a: Bool) -> Bool:
    """Logical not."""
    return a.record(OPS["not"], (a,)) if isinstance(a, Symbolic) else not a


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two scalars."""
    return select(a < b, a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two scalars."""
    return select(a < b, b, a)


def absolute(a: Scalar) -> Scalar:
    """Magnitude of a scalar."""
    return select(a < 0.0, -a, a)
