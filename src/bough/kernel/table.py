"""The functions of structures: each structure stores its own, and equal structures share them.

Every public function calls `entry` first. It must be as short as possible, because it is part of every call.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, NamedTuple, Protocol, TypeVar
from weakref import WeakValueDictionary

from bough.kernel.arguments import FloatArray
from bough.kernel.compile import when_backend_changes

__all__ = ["NO_STRUCTURE", "Enterable", "Entered", "entry", "function_of"]

REMEMBERED = 256
"""Functions that equal structures can share; the least recently made is forgotten first."""

MOST_ENTRIES = 512
"""Functions that one structure keeps: beyond, it begins anew."""


class Enterable(Protocol):
    """A function, or another thing with an entry."""

    @property
    def entry(self) -> Callable[..., Any]:
        """What is called, with all inputs, `out` and `check`."""


class Entered(NamedTuple):
    """An entry that is not that of a function itself, but of what calls one."""

    entry: Callable[..., Any]


Made = TypeVar("Made", bound=Enterable)

_shared: OrderedDict[Hashable, Any] = OrderedDict()
_with_entries: WeakValueDictionary[int, Any] = WeakValueDictionary()  # by identity: equal structures have their own


def entry(structure: Any, key: Hashable, make: Callable[[Any, Any], Enterable]) -> Callable[..., FloatArray]:
    """The entry of a function of a structure, made on first use by ``make(structure, key)``."""
    try:
        return structure._entries[key]  # type: ignore[no-any-return]
    except (AttributeError, KeyError, TypeError):  # never asked for, or a key that is no key: `make` says so
        plain = _with_plain_names(key)
        if plain is not key:
            return entry(structure, plain, make)
        return _remembered(structure, key, function_of(structure, key, make).entry)


def _with_plain_names(key: Hashable) -> Hashable:
    """The key with arrays of names (also those of pandas) as tuples, which the table can find; itself without any."""
    if not isinstance(key, tuple) or not any(getattr(part, "ndim", 0) == 1 for part in key):
        return key
    return tuple(tuple(part.tolist()) if getattr(part, "ndim", 0) == 1 else part for part in key)


def function_of(structure: Any, key: Hashable, make: Callable[[Any, Any], Made]) -> Made:
    """The function itself; equal structures have one."""
    known = (make, structure, key)
    try:
        found: Made | None = _shared.get(known)
    except TypeError:
        return make(structure, key)  # which says what is wrong
    if found is None:
        found = _shared.setdefault(known, make(structure, key))
        while len(_shared) > REMEMBERED:
            _shared.popitem(last=False)
    return found


def _remembered(structure: Any, key: Hashable, found: Callable[..., FloatArray]) -> Callable[..., FloatArray]:
    entries = vars(structure).setdefault("_entries", {})
    if len(entries) >= MOST_ENTRIES:
        entries.clear()
    with suppress(TypeError):  # a key that is no key: what it means is good all the same
        entries[key] = found
    _with_entries[id(structure)] = structure
    return found


class _NoStructure:
    """Stands where a structure would: its functions are of arrays alone."""


NO_STRUCTURE = _NoStructure()


def _forget() -> None:
    _shared.clear()
    for structure in list(_with_entries.values()):
        vars(structure).pop("_entries", None)


when_backend_changes(_forget)
