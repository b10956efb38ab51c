"""Long straight-line programs in two parts, cut where few values cross from one to the other.

Processors keep the instructions that they run in small memories of their own. Where a program does not fit, two that do
are faster, though what crosses has to be written and read again.
"""

from __future__ import annotations

from dataclasses import replace

from bough.program.check import check
from bough.program.ir import Buffer, Const, Instruction, Load, Loop, Program, Store, Switch, uses
from bough.scalar import Kind

__all__ = ["CARRIED", "in_two_parts"]

CARRIED = "carried"
"""The output of the first part that is an input of the second."""

SHARE = 0.25
"""Of the instructions, that each part has at least."""


def in_two_parts(program: Program) -> tuple[Program, ...]:
    """The parts of a program, one after the other; the program alone where it cannot be cut.

    The first part fills the array `CARRIED` and stores nothing else. Inputs that a part does not read are not among its
    arrays.
    """
    if any(isinstance(x, Loop | Switch) for x in program.body) or program.of_role("scratch"):
        return (program,)
    constants = {x.result for x in program.body if isinstance(x, Const)}
    inputs = {b.name for b in program.of_role("input")}
    again = {x.result for x in program.body if isinstance(x, Load) and x.buffer in inputs and x.index in constants}
    again |= constants  # what either part can read by itself
    code = [x for x in program.body if isinstance(x, Store) or x.result not in again]  # type: ignore[union-attr]
    place, crossing = _best_cut(program, code, again)
    if not place:
        return (program,)
    read = [x for x in program.body if not isinstance(x, Store) and x.result in again]  # type: ignore[union-attr]
    indices: list[Kind] = ["int"] * len(crossing)
    places = [Const(len(program.kinds) + k, k) for k in range(len(crossing))]
    carried = {role: Buffer(CARRIED, role, "float", len(crossing), cleared=False) for role in ("input", "output")}
    kept = [Store(CARRIED, index.result, value) for index, value in zip(places, crossing, strict=True)]
    taken = [Load(value, CARRIED, index.result) for index, value in zip(places, crossing, strict=True)]
    bodies = ([*code[:place], *kept], [*taken, *code[place:]])
    parts = []
    for body, role in zip(bodies, ("output", "input"), strict=True):
        used = {v for x in body for v in uses(x)}
        loads = [x for x in read if isinstance(x, Load) and x.result in used]
        used |= {x.index for x in loads}
        numbers = [x for x in (*read, *places) if isinstance(x, Const) and x.result in used]
        touched = {x.buffer for x in (*loads, *body) if isinstance(x, Load | Store)}
        own = [b for b in program.buffers if b.name in touched]
        buffers = [b for b in own if b.role == "input"] + [carried[role]] + [b for b in own if b.role != "input"]
        instructions = (*numbers, *loads, *body)
        part = replace(program, buffers=tuple(buffers), body=instructions, kinds=(*program.kinds, *indices))
        check(part)
        parts.append(part)
    return tuple(parts)


def _best_cut(program: Program, code: list[Instruction], again: set[int]) -> tuple[int, list[int]]:
    """Before which instruction the fewest values cross, and which; 0 if there is no place for a cut."""
    last: dict[int, int] = {}
    for k, x in enumerate(code):
        last |= dict.fromkeys((v for v in uses(x) if v not in again), k)
    first_store = next((k for k, x in enumerate(code) if isinstance(x, Store)), len(code))
    alive: dict[int, None] = {}
    best: tuple[int, list[int]] = (0, [])
    for k, x in enumerate(code[:first_store]):
        fits = SHARE * len(code) <= k <= (1 - SHARE) * len(code) and all(program.kinds[v] == "float" for v in alive)
        if fits and (not best[0] or len(alive) < len(best[1])):
            best = k, list(alive)
        for v in uses(x):
            if last.get(v) == k:
                alive.pop(v, None)
        result = getattr(x, "result", None)
        if result in last:
            alive[result] = None
    return best
