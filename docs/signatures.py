"""What the reader of docstrings gets wrong about signatures, mended before the reference is made."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import griffe


class Signatures(griffe.Extension):
    """Methods that classes take from modules, and types and defaults of parameters that are told of together."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        """Called once, when all modules of a package are known."""
        for thing in _inside(pkg):
            if isinstance(thing, griffe.Class):
                _attach(thing, loader)
            if isinstance(thing, griffe.Class | griffe.Function):
                _tell_each(thing)


def _inside(thing: Any) -> Iterator[Any]:
    """Everything in a module or class that is defined there."""
    for member in list(thing.members.values()):
        if not member.is_alias:
            yield member
            yield from _inside(member)


def _attach(cls: griffe.Class, loader: griffe.GriffeLoader) -> None:
    """In the place of ``with_body = editing.with_body``, the function, less its first parameter."""
    for name, member in list(cls.members.items()):
        found = _function(member, loader) if member.is_attribute and not name.startswith("_") else None
        if found is not None:
            method = copy.copy(found)
            method.name, method.parent = name, cls
            method.parameters = griffe.Parameters(*list(found.parameters)[1:])
            cls.members[name] = method


def _function(member: Any, loader: griffe.GriffeLoader) -> griffe.Function | None:
    path = str(getattr(member.value, "canonical_path", ""))
    if path == member.path:  # ``add = add``: the name of the module, which the class hides
        path = f"{member.module.path}.{member.name}"
    try:
        found = loader.modules_collection[path] if path.startswith("bough.") else member
    except KeyError:
        return None
    found = found.final_target if found.is_alias else found
    return found if isinstance(found, griffe.Function) else None


def _tell_each(thing: griffe.Class | griffe.Function) -> None:
    """Of parameters that share a description, as ``at, rpy``, each has the type and the default that are its own."""
    sections = thing.docstring.parsed if thing.docstring else []
    for told in (p for s in sections if s.kind is griffe.DocstringSectionKind.parameters for p in s.value):
        with contextlib.suppress(KeyError):
            own = thing.parameters[told.name.lstrip("*")]
            told.annotation, told.value = own.annotation, own.default
