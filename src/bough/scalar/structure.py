"""Structures of scalars: tuples and frozen dataclasses, nested at will, taken apart into leaves and put together again.

Loops carry them, rows store them, switches return them. None is a structure without leaves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, cast

from bough.errors import ProgramError

__all__ = ["leaves", "map_leaves", "rebuild", "shape"]

T = TypeVar("T")


def leaves(structure: object) -> list[Any]:
    """All scalars of a structure, in order."""
    result: list[Any] = []
    _collect((structure,), result)
    return result


def _collect(parts: Iterable[object], result: list[Any]) -> None:
    for part in parts:
        if isinstance(part, tuple):
            _collect(part, result)
        elif part is not None:
            names = _fields(type(part))
            if names is None:
                result.append(part)
            else:
                _collect([getattr(part, name) for name in names], result)


def rebuild(like: T, values: Iterator[Any]) -> T:
    """A structure of the same shape as `like` with its leaves taken from `values`."""
    if like is None:
        return like
    if isinstance(like, tuple):
        return cast(T, tuple([rebuild(part, values) for part in like]))
    names = _fields(type(like))
    if names is not None:
        return type(like)(*[rebuild(getattr(like, name), values) for name in names])
    return cast(T, next(values))


def shape(structure: object) -> object:
    """A value that is equal for structures of one shape, whatever their scalars are."""
    if structure is None:
        return None
    if isinstance(structure, tuple):
        return (tuple, *[shape(part) for part in structure])
    names = _fields(type(structure))
    if names is not None:
        return (type(structure), *[shape(getattr(structure, name)) for name in names])
    return "scalar"


def map_leaves(function: Callable[..., Any], first: T, *others: T) -> T:
    """Apply `function` leaf by leaf to structures of one shape."""
    parts = [leaves(first), *(leaves(other) for other in others)]
    if len({len(part) for part in parts}) != 1:
        raise ProgramError(f"structures with {', '.join(str(len(part)) for part in parts)} scalars, expected one shape")
    return rebuild(first, iter([function(*column) for column in zip(*parts, strict=True)]))


_FIELDS: dict[type, tuple[str, ...] | None] = {}


def _fields(cls: type) -> tuple[str, ...] | None:
    try:
        return _FIELDS[cls]
    except KeyError:
        names = tuple(f.name for f in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else None
        return _FIELDS.setdefault(cls, names)
