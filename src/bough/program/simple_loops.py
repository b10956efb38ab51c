"""Loops that do nothing but copy entries of a buffer, or fill one with a number: back-ends have shorter ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bough.program.ir import VERDICT, Apply, Const, Load, Loop, Program, Store, walk

__all__ = ["Copy", "Fill", "copied_by", "copied_outputs", "filled_by"]


class Copy(NamedTuple):
    """What a loop does that copies entries of one buffer to neighbouring ones of another.

    They are neighbours as well, from the first one on, unless a table says where each is.
    """

    source: str
    first: int
    table: str | None
    target: str
    start: int
    size: int


def copied_by(x: Loop, constants: Mapping[int, float | bool | int]) -> Copy | None:
    """What a loop copies; None if it does else."""
    if x.carried or x.done is not None or x.count not in constants:
        return None
    known = {**constants, **{y.result: y.value for y in x.body if isinstance(y, Const)}}
    places: dict[int, tuple[str | None, int]] = {x.counter: (None, 0)}  # of indices: a table, what is added
    loaded: dict[int, tuple[str, int, str | None]] = {}
    stored: list[tuple[str, int, str | None, str, int]] = []
    for y in x.body:
        if isinstance(y, Apply) and y.op == "iadd" and len({*y.arguments} & known.keys()) == 1:
            offset, index = sorted(y.arguments, key=lambda v: v not in known)
            if index not in places:
                return None
            table, before = places[index]
            places[y.result] = table, before + int(known[offset])
        elif isinstance(y, Load) and y.index == x.counter:
            places[y.result], loaded[y.result] = (y.buffer, 0), (y.buffer, 0, None)
        elif isinstance(y, Load) and y.index in places:
            table, first = places[y.index]
            loaded[y.result] = y.buffer, first, table
        elif isinstance(y, Store) and y.value in loaded and places.get(y.index, ("", 0))[0] is None:
            stored.append((*loaded[y.value], y.buffer, places[y.index][1]))
        elif not isinstance(y, Const):
            return None
    return Copy(*stored[0], int(known[x.count])) if len(stored) == 1 else None


def copied_outputs(program: Program) -> frozenset[str]:
    """The outputs that loops copy from scratch memory, piece by piece perhaps, and nothing else writes or reads."""
    constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
    scratch = {b.name for b in program.of_role("scratch")}
    copies = [copy for x in program.body if isinstance(x, Loop) and (copy := copied_by(x, constants))]
    times = {b.name: 0 for b in program.of_role("output") if b.name != VERDICT and not b.cleared}
    for copy in copies:
        if copy.source in scratch and copy.target in times:
            times[copy.target] += 1
    for x in walk(program.body):
        if isinstance(x, Load | Store) and x.buffer in times:
            times[x.buffer] -= 1
    written = {copy.target for copy in copies}
    return frozenset(name for name, count in times.items() if count == 0 and name in written)


class Fill(NamedTuple):
    """What a loop does that writes one number to the first entries of a buffer."""

    target: str
    value: float | bool | int
    size: int


def filled_by(x: Loop, constants: Mapping[int, float | bool | int]) -> Fill | None:
    """What a loop fills; None if it does else."""
    body = [y for y in x.body if not isinstance(y, Const)]
    if x.carried or x.done is not None or x.count not in constants or len(body) != 1:
        return None
    (store,) = body
    if not isinstance(store, Store) or store.index != x.counter or store.value not in constants:
        return None
    return Fill(store.buffer, constants[store.value], int(constants[x.count]))
