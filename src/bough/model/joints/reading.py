"""Numbers as users give them, made floats or refused by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ModelError

__all__ = ["read_floats"]


def read_floats(value: ArrayLike, what: str, expected: str) -> NDArray[np.float64]:
    """An array of floats; the message for anything else says what it is of and what was expected.

    Text, truth values, complex numbers and None are no numbers, though NumPy would make some of them floats.
    """
    try:
        a = np.asarray(value)
        if a.dtype.kind == "O":  # fractions and the like
            a = np.array([_number(x) for x in a.ravel()], dtype=np.float64).reshape(a.shape)
        if a.dtype.kind in "fiu":
            return a.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ModelError(f"{what} is {value!r}, expected {expected}")


def _number(x: object) -> float:
    if isinstance(x, str | bytes | bool):
        raise TypeError
    return float(x)  # type: ignore[arg-type]
