"""Reading integers given by a user, and the order in which parents come before children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, TypeGuard

import numpy as np

from bough.errors import TreeError
from bough.reading import kind_of

__all__ = ["is_whole", "parents_first", "read_integers", "refuse"]


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is an integer, Python's or NumPy's, and not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def read_integers(values: object, name: str, item: str, expected: str) -> list[int]:
    """Read a sequence or one-dimensional array of integers.

    Errors name the argument, and the item by its number, counted from 1; `expected` may hold "{}", which becomes
    that number less one.
    """
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise TreeError(f"{name} has shape {values.shape}, expected one dimension")
        if values.dtype.kind in "iu":
            return [int(value) for value in values.tolist()]
    elif not isinstance(values, Sequence) or isinstance(values, str | bytes | bytearray):
        raise TreeError(f"{name} is {kind_of(values)}, expected a sequence of integers")
    for number, value in enumerate(values, 1):
        if not is_whole(value):
            got = f"{item} {number} has {value!r}, {kind_of(value)}"
            raise TreeError(f"{name}: {got}; expected {expected.format(number - 1)}")
    return [int(value) for value in values]


def parents_first(parents: list[int]) -> list[int]:
    """Order of bodies with parents before children, found by walking from each body to the nearest one placed."""
    count = len(parents)
    for body, parent in enumerate(parents, 1):
        if not 0 <= parent <= count:
            raise TreeError(f"body {body} has parent {parent}, expected 0..{count}")
    new, walking, placed = 0, 1, 2
    state = bytearray(count + 1)
    state[0] = placed
    order: list[int] = []
    for start in range(1, count + 1):
        walk: list[int] = []
        body = start
        while state[body] == new:
            state[body] = walking
            walk.append(body)
            body = parents[body - 1]
        if state[body] == walking:
            cycle = [*walk[walk.index(body) :], body]
            shown = [str(b) for b in cycle] if len(cycle) <= 16 else [*map(str, cycle[:12]), "…", str(body)]
            got = f"body {body} has parent {cycle[1]} and is its own ancestor"
            raise TreeError(f"{got}: {' -> '.join(shown)}; expected every path of parents to end at 0")
        for body in reversed(walk):
            state[body] = placed
            order.append(body)
    return order


def refuse(parents: list[int], body: int) -> NoReturn:
    """Say why the first body that breaks 0 <= parent < body cannot stand."""
    got = f"body {body} has parent {parents[body - 1]}, expected 0..{body - 1}"
    if not 0 <= parents[body - 1] <= len(parents):
        raise TreeError(got)
    parents_first(parents)
    raise TreeError(f"{got}; the tree is valid but not regularly numbered: Tree.regular(parents) renumbers it")
