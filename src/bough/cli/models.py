"""The MODEL argument: a named mechanism of the papers, or a model file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import bough
from bough.errors import ModelError

__all__ = ["HELP", "read_model"]


def _named() -> dict[str, Callable[..., bough.Model]]:
    return {name: getattr(bough.topologies, name) for name in bough.topologies.__all__ if name != "on_tree"}


def _numbers(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that can be given as numbers."""
    parameters = inspect.signature(function).parameters.values()
    return [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


def _form(name: str, function: Callable[..., Any]) -> str:
    forms = [p.name.upper() if p.default is p.empty else f"[{p.name.upper()}]" for p in _numbers(function)]
    return ":".join([name, *forms])


ACCEPTED = ", ".join(_form(name, function) for name, function in _named().items())
HELP = f"a model file, or one of {ACCEPTED} (for example chain:30)"


def read_model(text: str) -> bough.Model:
    """The model that a MODEL argument means.

    Raises `ModelError`, saying what is accepted, for a name that is unknown, parameters that do not fit it, and a file
    that cannot be read.
    """
    name, *given = text.split(":")
    named = _named()
    if name in named:
        return _made(text, name, named[name], given)
    if text and (Path(text).exists() or Path(text).suffix):
        return bough.load(text)
    near = get_close_matches(name, named, n=1)
    hint = f"; did you mean {_form(near[0], named[near[0]])}?" if near else ""
    raise ModelError(f"MODEL is {text!r}, expected a model file or one of {ACCEPTED}{hint}")


def _made(text: str, name: str, function: Callable[..., bough.Model], given: list[str]) -> bough.Model:
    parameters = _numbers(function)
    least = sum(p.default is p.empty for p in parameters)
    if not least <= len(given) <= len(parameters) or not all(x.isdecimal() and x.isascii() for x in given):
        raise ModelError(f"MODEL is {text!r}, expected {_form(name, function)} with whole numbers")
    return function(*(int(x) for x in given))
