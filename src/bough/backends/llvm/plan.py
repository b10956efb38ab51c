"""Cutting a program into functions of bounded size, so that compile time stays linear in its length.

A block becomes steps. Straight-line code, and loops and switches small enough, are gathered into chunks of bounded
length, one function each. A loop or switch that is too large stays a step of its own, with steps inside. Values that
leave the chunk they are made in live in slots of a scratch array.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from bough.program import Block, Const, Instruction, Loop, Program, Switch, walk
from bough.program.ir import Apply, Load, boundary

__all__ = ["Chunk", "LargeLoop", "LargeSwitch", "Plan", "Step", "make_plan"]

LONGEST = 1000  # instructions in one function; LLVM needs more than linear time beyond


@dataclass(eq=False)
class Chunk:
    """Instructions that become one function."""

    number: int
    body: list[Instruction] = field(default_factory=list)


@dataclass(eq=False)
class LargeLoop:
    """A loop whose body has steps of its own."""

    loop: Loop
    steps: list[Step]


@dataclass(eq=False)
class LargeSwitch:
    """A switch whose branches have steps of their own."""

    switch: Switch
    branches: list[list[Step]]


Step = Chunk | LargeLoop | LargeSwitch


@dataclass(eq=False)
class Plan:
    """The steps of a program, its constants, and the slot of each value that needs one."""

    steps: list[Step]
    constants: dict[int, float | bool | int]
    slots: dict[int, int]
    float_slots: int
    int_slots: int


def make_plan(program: Program) -> Plan:
    """Cut a program into steps and give slots to the values that cross between them."""
    constants = {x.result: x.value for x in walk(program.body) if isinstance(x, Const)}
    chunks: list[Chunk] = []
    steps = _steps(program.body, chunks)
    home: dict[int, int] = {}
    crossing: dict[int, None] = {}  # in order of first need
    last: dict[int, int] = {}

    def need(value: int, place: int) -> None:
        if value not in constants:
            if home.get(value) != place:
                crossing[value] = None
            last[value] = max(last.get(value, 0), place)

    for chunk in chunks:
        for x in _all(chunk.body):
            for value in defined(x):
                home[value] = chunk.number
    for chunk in chunks:
        for x in _all(chunk.body):
            for value in boundary(x):
                need(value, chunk.number)
    for step in _large(steps):
        for value in _touched(step):
            need(value, -1)
    straight = all(isinstance(step, Chunk) for step in steps)
    return _with_slots(program, steps, constants, list(crossing), home if straight else None, last)


def _with_slots(
    program: Program,
    steps: list[Step],
    constants: dict[int, float | bool | int],
    crossing: list[int],
    home: dict[int, int] | None,
    last: dict[int, int],
) -> Plan:
    """Number the slots; in straight-line programs a slot is used again once its value is dead."""
    slots: dict[int, int] = {}
    sizes = {"float": 0, "int": 0}
    free: list[int] = []
    ending: dict[int, list[int]] = {}
    order = sorted(crossing, key=lambda v: home[v]) if home is not None else crossing
    reached = -1
    for value in order:
        area = "int" if program.kinds[value] == "int" else "float"
        if home is not None and area == "float":
            while reached < home[value]:  # what was last used before this chunk is free in it
                free += ending.pop(reached, [])
                reached += 1
            slot = free.pop() if free else sizes["float"]
            sizes["float"] += slot == sizes["float"]
            ending.setdefault(last[value], []).append(slot)
        else:
            slot = sizes[area]
            sizes[area] += 1
        slots[value] = slot
    return Plan(steps, constants, slots, sizes["float"], sizes["int"])


def defined(x: Instruction) -> tuple[int, ...]:
    """The values an instruction defines, those inside its blocks not included."""
    if isinstance(x, Const | Apply | Load):
        return (x.result,)
    if isinstance(x, Loop):
        return (x.counter, *x.carried, *x.results)
    return x.results if isinstance(x, Switch) else ()


def _weight(x: Instruction) -> int:
    inner = (x.body,) if isinstance(x, Loop) else x.branches if isinstance(x, Switch) else ()
    return 1 + sum(1 for block in inner for _ in walk(block))


def _steps(block: Block, chunks: list[Chunk]) -> list[Step]:
    steps: list[Step] = []
    current: Chunk | None = None
    weight = 0
    for x in block:
        if isinstance(x, Const):
            continue
        own = _weight(x)
        if own > LONGEST:
            current = None
            if isinstance(x, Loop):
                steps.append(LargeLoop(x, _steps(x.body, chunks)))
            else:
                assert isinstance(x, Switch)
                steps.append(LargeSwitch(x, [_steps(branch, chunks) for branch in x.branches]))
            continue
        if current is None or weight + own > LONGEST:
            current, weight = Chunk(len(chunks)), 0
            chunks.append(current)
            steps.append(current)
        current.body.append(x)
        weight += own
    return steps


def _all(body: list[Instruction]) -> Iterator[Instruction]:
    for x in walk(tuple(body)):
        if not isinstance(x, Const):
            yield x


def _large(steps: list[Step]) -> Iterator[LargeLoop | LargeSwitch]:
    for step in steps:
        if isinstance(step, LargeLoop):
            yield step
            yield from _large(step.steps)
        elif isinstance(step, LargeSwitch):
            yield step
            for branch in step.branches:
                yield from _large(branch)


def _touched(step: LargeLoop | LargeSwitch) -> tuple[int, ...]:
    x = step.loop if isinstance(step, LargeLoop) else step.switch
    return (*boundary(x), *defined(x))
