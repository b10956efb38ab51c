"""What the reader of docstrings gets wrong about signatures, mended before the reference is made."""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Iterator
from typing import Any

import griffe

KEPT = "bough.scalar.lazy.cached_property"
"""What makes a property of a method, which the reader knows under the name of the standard library alone."""


class Signatures(griffe.Extension):
    """Properties, methods that classes take from modules, and parameters that are told of together."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        """Called once, when all modules of a package are known."""
        for thing in _inside(pkg):
            if thing.docstring:
                thing.docstring.value = _as_markdown(thing.docstring.value)
            if isinstance(thing, griffe.Class):
                _attach(thing, loader)
                _tell_properties(thing)
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


def _tell_properties(cls: griffe.Class) -> None:
    """In the place of methods that are computed once and then kept, attributes: nobody calls them."""
    for name, member in list(cls.members.items()):
        if member.is_function and any(found.callable_path == KEPT for found in member.decorators):
            told = griffe.Attribute(
                name, lineno=member.lineno, endlineno=member.endlineno, annotation=member.returns, parent=cls
            )
            told.docstring, told.labels = member.docstring, {"property"}
            cls.members[name] = told


def _as_markdown(text: str) -> str:
    """Stars of shapes, as in (*batch, n), are no emphasis, and two colons before an example are one."""
    lines = [
        line if line.lstrip().startswith((">>>", "...")) else re.sub(r"(`[^`]*`)|\(\*(?=\w)", _escaped, line)
        for line in text.split("\n")
    ]
    return "\n".join(line.removesuffix("::") + ":" * line.endswith("::") for line in lines)


def _escaped(found: re.Match[str]) -> str:
    return found[1] or r"(\*"


def _tell_each(thing: griffe.Class | griffe.Function) -> None:
    """Of parameters that share a description, as ``at, rpy``, each has the type and the default that are its own.

    Those with the same type stand in one line; of others the description is not repeated.
    """
    sections = thing.docstring.parsed if thing.docstring else []
    for section in (s for s in sections if s.kind is griffe.DocstringSectionKind.parameters):
        for told in section.value:
            with contextlib.suppress(KeyError):
                own = thing.parameters[told.name.lstrip("*")]
                told.annotation, told.value = own.annotation, own.default
        section.value = _joined(section.value)


def _joined(parameters: list[griffe.DocstringParameter]) -> list[griffe.DocstringParameter]:
    lines: list[griffe.DocstringParameter] = []
    first, description = "", ""
    for told in parameters:
        if not lines or told.description != description:
            first, description = told.name, told.description
        elif str(told.annotation) == str(lines[-1].annotation):
            lines[-1].value = lines[-1].value if str(lines[-1].value) == str(told.value) else None
            lines[-1].name += f", {told.name}"
            continue
        else:
            told.description = f"See `{first}`."
        lines.append(told)
    return lines
