"""Numbers that grow beyond all bounds on the way: refused, where NumPy and programs would go on with infinity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bough.errors import FiniteError
from bough.kernel.arguments import FloatArray
from bough.kernel.verdict import is_finite
from bough.scalar import Scalar, either, select

__all__ = ["BEYOND", "finite_status", "refusing_overflow", "require_finite_results"]

BEYOND = -4.0
"""The status of a state that counts as solved, but with numbers that are not finite, or nearly so."""


def finite_status(status: Scalar, values: Any, size: int) -> Scalar:
    """The status of a problem, in a program: `BEYOND` where it is solved and the values of the solution overflow."""
    return select(either(status < 0.0, is_finite(values, size)), status, BEYOND)


@contextmanager
def refusing_overflow(what: str) -> Iterator[None]:
    """Raise `FiniteError` where NumPy's arithmetic overflows within."""
    try:
        with np.errstate(over="raise", invalid="ignore"):
            yield
    except FloatingPointError:
        raise too_large(what) from None


def require_finite_results(what: str, *results: FloatArray | None) -> None:
    """Raise unless all results are finite."""
    if not all(np.isfinite(result).all() for result in results if result is not None):
        raise too_large(what)


def too_large(what: str) -> FiniteError:
    """The error for results that are no numbers though all arguments are."""
    return FiniteError(f"{what}: the result is not finite; the arguments are too large, or too small, for float64")
