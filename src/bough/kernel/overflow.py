"""Numbers that grow beyond all bounds on the way: refused, where NumPy would go on with infinity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from bough.errors import FiniteError
from bough.kernel.border import FloatArray

__all__ = ["refusing_overflow", "require_finite_results"]


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
