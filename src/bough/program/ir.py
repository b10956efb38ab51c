"""What a program is: buffers, and blocks of instructions with counted loops and switches. Nothing else.

Every value has a number and is defined once. Values are numbers, truth values or indices; a value defined inside a
loop or a branch is visible only there. A program computes one state; what a batch, a lane or a thread is belongs to the
back-end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar, dataclass_transform

from numpy.typing import NDArray

from bough.scalar import Kind

__all__ = [
    "VERDICT", "Apply", "Block", "Buffer", "Const", "Instruction", "Load", "Loop", "Program", "Store", "Switch",
    "boundary", "defined", "until_done", "uses", "walk",
]  # fmt: skip

T = TypeVar("T")

VERDICT = "verdict"
"""The output that says what is wrong with a state: a sum of powers of two, zero if nothing is."""


@dataclass(frozen=True, eq=False)
class Buffer:
    """A one-dimensional array. Inputs, outputs and scratch exist once per state; a table holds constants for all.

    Outputs and scratch hold zeros when the program starts, except where `cleared` is False: there every entry that is
    read has been written before. Indices come from tables alone, so they are the same for every state; only the
    place of an entry of a table may be a number, which each state has for itself.
    """

    name: str
    role: Literal["input", "output", "scratch", "table"]
    kind: Kind
    size: int
    data: NDArray[Any] | None = None
    cleared: bool = True


@dataclass_transform(frozen_default=True)
def _instruction(cls: type[T]) -> type[T]:
    """A record that type checkers hold to be frozen. At run time that would take longer than all else of a trace."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


@_instruction
class Const:
    """result = value."""

    result: int
    value: float | bool | int


@_instruction
class Apply:
    """result = op(arguments), with op a name of the table of operations."""

    result: int
    op: str
    arguments: tuple[int, ...]


@_instruction
class Load:
    """result = buffer[index].

    The index of a table of numbers may be a number: each state reads at its own place, see `bough.scalar.lookup`.
    """

    result: int
    buffer: str
    index: int


@_instruction
class Store:
    """buffer[index] = value."""

    buffer: str
    index: int
    value: int


@_instruction
class Loop:
    """Repeat `body` `count` times, with `counter` = 0 … count-1 or downwards.

    `carried` starts as `initial` and becomes `following` after each turn; `results` are its last values. When `done` is
    given and holds for every state of a batch, the loop ends with that turn or before it: it would change nothing.
    """

    count: int
    counter: int
    reverse: bool
    initial: tuple[int, ...]
    carried: tuple[int, ...]
    body: Block
    following: tuple[int, ...]
    results: tuple[int, ...]
    done: int | None = None


@_instruction
class Switch:
    """Run the branch numbered `selector` (the same for every state); `results` are what it yields."""

    selector: int
    branches: tuple[Block, ...]
    yields: tuple[tuple[int, ...], ...]
    results: tuple[int, ...]


Instruction: TypeAlias = "Const | Apply | Load | Store | Loop | Switch"
Block: TypeAlias = "tuple[Instruction, ...]"

_NESTING = frozenset((Loop, Switch))


@dataclass(frozen=True, eq=False)
class Program:
    """A computation on buffers. `kinds[v]` says what value v is.

    `turns` are the values with which turns of loops began that were unrolled, of the `traced` first values: a hint for
    who orders instructions anew.
    """

    name: str
    buffers: tuple[Buffer, ...]
    body: Block
    kinds: tuple[Kind, ...]
    turns: tuple[int, ...] = ()
    traced: int = 0

    def buffer(self, name: str) -> Buffer:
        """The buffer with a name."""
        return next(b for b in self.buffers if b.name == name)

    def of_role(self, role: str) -> tuple[Buffer, ...]:
        """The buffers with a role, in order of declaration."""
        return tuple(b for b in self.buffers if b.role == role)

    def __str__(self) -> str:
        from bough.program.printer import show

        return show(self)


def walk(block: Block) -> Iterator[Instruction]:
    """All instructions of a block and of the blocks inside it, outermost first."""
    return iter(block) if _NESTING.isdisjoint(map(type, block)) else iter(_listed(block, []))


def _listed(block: Block, result: list[Instruction]) -> list[Instruction]:
    if _NESTING.isdisjoint(map(type, block)):
        result += block
        return result
    for x in block:
        result.append(x)
        if type(x) in _NESTING:
            for inner in inside(x):
                _listed(inner, result)
    return result


def inside(x: Instruction) -> tuple[Block, ...]:
    """The blocks of an instruction."""
    if isinstance(x, Loop):
        return (x.body,)
    return x.branches if isinstance(x, Switch) else ()


def boundary(x: Instruction) -> tuple[int, ...]:
    """The values an instruction itself reads, without what happens inside its blocks."""
    if isinstance(x, Apply):
        return x.arguments
    if isinstance(x, Const):
        return ()
    if isinstance(x, Load):
        return (x.index,)
    if isinstance(x, Store):
        return (x.index, x.value)
    if isinstance(x, Loop):
        return (x.count, *x.initial, *x.following, *(() if x.done is None else (x.done,)))
    return (x.selector, *(v for values in x.yields for v in values))


def uses(x: Instruction) -> tuple[int, ...]:
    """The values an instruction reads, those of its blocks included."""
    if not isinstance(x, (Loop, Switch)):
        return boundary(x)
    inner = (x.body,) if isinstance(x, Loop) else x.branches
    return (*boundary(x), *(v for block in inner for y in block for v in uses(y)))


def defined(x: Instruction) -> tuple[int, ...]:
    """The values an instruction defines, those inside its blocks not included."""
    if isinstance(x, Store):
        return ()
    return x.results if isinstance(x, Loop | Switch) else (x.result,)


def until_done(x: Loop) -> tuple[Block, Block]:
    """The body of a loop, cut behind what tells whether a state is done."""
    place = next((k for k, y in enumerate(x.body) if x.done in defined(y)), -1)
    return x.body[: place + 1], x.body[place + 1 :]
