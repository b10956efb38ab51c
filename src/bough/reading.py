"""Small arguments as users give them: numbers, counts, names and choices, read or refused by name.

What is wrong raises an error that says which argument it is, what was got and what was expected, never one of Python's.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from bough.errors import BoughError, ModelError, ShapeError, UnknownNameError

__all__ = [
    "instance",
    "kind_of",
    "known_name",
    "library_within",
    "listed",
    "names",
    "names_in_order",
    "number",
    "shown",
    "truth",
    "whole_number",
]

T = TypeVar("T")


def number(
    value: object,
    name: str,
    expected: str,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    infinite: bool = False,
    error: type[BoughError] = ShapeError,
) -> float:
    """A real number at or above `least`, and above `above`; infinity only if `infinite`. Truth values are none."""
    if type(value) is float and least <= value < math.inf and value > above:  # most often
        return value
    try:
        plain = value.item() if isinstance(value, np.generic | np.ndarray) and value.ndim == 0 else value
        if not isinstance(plain, bool) and isinstance(plain, int | float):
            x = float(plain)
            if x >= least and (x > above or above == -math.inf) and (infinite or math.isfinite(x)):
                return x
    except OverflowError:  # an integer beyond all floats
        pass
    raise error(f"{name} is {shown(value)}, expected {expected}")


def whole_number(
    value: object, name: str, *, least: int = 0, most: int = 2**31 - 1, error: type[BoughError] = ShapeError
) -> int:
    """A whole number between two; neither a truth value nor a float."""
    if not isinstance(value, bool) and hasattr(value, "__index__"):
        try:
            k = int(value.__index__())
        except TypeError:  # of an array that has several
            k = least - 1
        if least <= k <= most:
            return k
    raise error(f"{name} is {shown(value)}, expected a whole number from {least} to {most}")


def truth(value: object, name: str, error: type[BoughError] = ShapeError) -> bool:
    """True or False, or what is equal to one of them."""
    if isinstance(value, bool | np.bool_ | int) and value in (0, 1):
        return bool(value)
    raise error(f"{name} is {shown(value)}, expected True or False")


def kind_of(value: object) -> str:
    """What sort of thing an argument is, with its article: "an int", "a str", "None"."""
    name = type(value).__name__
    if value is None:
        return "None"
    return f"{'an' if name[0] in 'aeioAEIO' or name == 'ndarray' else 'a'} {name}"


def instance(value: object, name: str, kind: type[T], error: type[BoughError] = ModelError) -> T:
    """An object of a class of bough's."""
    if not isinstance(value, kind):
        raise error(f"{name} is {shown(value)}, expected a bough.{kind.__name__}")
    return value


def known_name(value: object, kind: str, valid: Collection[str], hint: str = "") -> str:
    """One of several names; `kind` says of what, and `hint` what else helps, for errors."""
    if not isinstance(value, str) or value not in valid:
        raise UnknownNameError(kind, value, tuple(valid), hint)
    return value


def data_type(value: object) -> str:
    """The name of a data type, "float64" or "float32", from the name or from what NumPy has for it."""
    if isinstance(value, type | np.dtype):
        with suppress(TypeError):
            value = np.dtype(value).name
    return known_name(value, "data type", ("float64", "float32"))


def counted(count: int, one: str, many: str = "") -> str:
    """A number of things in words: "1 body", "2 bodies"; `many` is `one` with an s unless it is told."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def names(value: object, name: str, error: type[BoughError] = ModelError) -> tuple[str, ...]:
    """Names from one name or several; whether there are such is for the caller to see."""
    if isinstance(value, str):
        return (value,)
    return listed(value, name, "a name or several", error)


def names_in_order(value: object, name: str, error: type[BoughError] = ModelError) -> tuple[str, ...]:
    """Names whose order is that of results: a set, which has none, is refused."""
    if isinstance(value, set | frozenset):
        raise error(f"{name} is {shown(value)}, a set, which has no order; expected a list of names")
    return names(value, name, error)


def listed(value: Any, name: str, expected: str, error: type[BoughError] = ModelError) -> tuple[Any, ...]:
    """The entries of a sequence, or of whatever can be gone through; text and tables are not meant."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | dict):
        try:
            return tuple(value)
        except TypeError:  # an array without axes
            pass
    raise error(f"{name} is {shown(value)}, expected {expected}")


def library_within(value: object) -> str | None:
    """The library, "torch" or "jax", of an array or of the first one in lists; None where there is none."""
    if isinstance(value, list | tuple):
        return next((found for x in value if (found := library_within(x)) is not None), None)
    library = type(value).__module__.partition(".")[0]
    return "torch" if library == "torch" else "jax" if library in ("jax", "jaxlib") else None


def shown(value: object) -> str:
    """A value in an error, cut where it is long; an integer of thousands of digits has no text at all."""
    try:
        text = repr(value)
    except ValueError:
        text = f"a {type(value).__name__} of very many digits"
    return text if len(text) <= 80 else text[:77] + "..."
