"""Every public name, found by walking the facade and the modules that it shows."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import bough

__all__ = ["methods", "public"]


def public(module: ModuleType = bough) -> dict[str, Any]:
    """What is public in a module and in those that it shows, by dotted name; an object of two names under the first."""
    found: dict[str, Any] = {}
    seen: set[int] = {id(module)}
    waiting = [(module.__name__, module)]
    while waiting:
        prefix, shown = waiting.pop(0)
        for name in _names(shown):
            thing = getattr(shown, name)
            if id(thing) in seen:
                continue
            if isinstance(thing, ModuleType):
                if thing.__name__.startswith("bough"):
                    seen.add(id(thing))
                    waiting.append((f"{prefix}.{name}", thing))
            elif callable(thing):
                seen.add(id(thing))
                found[f"{prefix}.{name}"] = thing
    return found


def methods(kind: type) -> dict[str, Any]:
    """The public methods and properties of a class, by name."""
    return {
        name: inspect.getattr_static(kind, name)
        for name in dir(kind)
        if not name.startswith("_") or (name == "__call__" and not issubclass(kind, type))
    }


def _names(module: ModuleType) -> list[str]:
    if hasattr(module, "__all__"):
        return list(module.__all__)
    own = ("bough",)
    return [
        name
        for name in dir(module)
        if not name.startswith("_") and str(getattr(getattr(module, name), "__module__", "")).startswith(own)
    ]
