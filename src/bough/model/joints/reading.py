"""Numbers as users give them, made floats or refused by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ModelError

__all__ = ["read_floats"]


def read_floats(value: ArrayLike, what: str, expected: str) -> NDArray[np.float64]:
    """An array of floats; the message for anything else says what it is of and what was expected."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {value!r}, expected {expected}") from None
