"""Numbers as users give them, made floats or refused by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ModelError
from bough.reading import library_within

__all__ = ["read_floats"]

PLAIN = {"torch": ".detach() gives it", "jax": "what is differentiated, mapped or traced is none"}
AS_INPUT = "functions take numbers of a model as inputs, with derivatives: bough.function(..., parameters=[...])"
"""What to do with arrays of other libraries, of which a model keeps only numbers."""


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
    except (TypeError, ValueError, OverflowError, RuntimeError):  # the last of tensors with gradients
        pass
    library = library_within(value)
    hint = "" if library is None else f": {PLAIN[library]}; {AS_INPUT}"
    raise ModelError(f"{what} is {value!r}, expected {expected}{hint}")


def _number(x: object) -> float:
    if isinstance(x, str | bytes | bool):
        raise TypeError
    return float(x)  # type: ignore[arg-type]
