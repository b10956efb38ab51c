"""Reading inputs of many states where they lie: a few neighbouring components of all rows, turned into lanes.

Most inputs are brought into lanes before the program runs. A program with loops that reads whole blocks of an input, a
body's matrix say, has them turned over when they are needed instead: large inputs are then read once and not copied.
Rows of many states are more streams than processors foresee, so what the next turn of a loop reads is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from bough.backends.llvm.lanes import columns
from bough.backends.llvm.types import Real
from bough.program import Apply, Block, Const, Instruction, Load, Loop, Program, walk
from bough.program.ir import inside

if TYPE_CHECKING:
    from bough.backends.llvm.writer import ChunkWriter

__all__ = ["Next", "Places", "Run", "fetch_next", "places_in_loops", "places_of", "read_rows", "rows_read", "runs_of"]

LINE = 64  # bytes that memory is read in

Places = dict[int, tuple[int, int]]
"""Values that are another value and a constant: which and how much."""


@dataclass(eq=False)
class Run:
    """Neighbouring components of an input that one block reads, from an offset to an offset, and those read by now."""

    first: int
    last: int
    count: int = 0
    read: dict[int, str] = field(default_factory=dict)


class Next(NamedTuple):
    """An index that a loop reads from a table: which one, at which place, and how far that moves in a turn, mostly."""

    table: str
    place: int
    step: int


def places_of(program: Program) -> Places:
    """The indices that are a sum with a constant."""
    constants = {x.result: x.value for x in walk(program.body) if isinstance(x, Const) and type(x.value) is int}
    places: Places = {}
    for x in walk(program.body):
        if isinstance(x, Apply) and x.op == "iadd":
            a, b = x.arguments
            if (a in constants) != (b in constants):
                places[x.result] = (b, constants[a]) if a in constants else (a, constants[b])
    return places


def runs_of(body: Iterable[Instruction], places: Places) -> dict[tuple[str, int], Run]:
    """The runs of all buffers that a block reads itself, by buffer and by the index they count from."""
    runs: dict[tuple[str, int], Run] = {}
    for x in body:
        if isinstance(x, Load):
            base, offset = places.get(x.index, (x.index, 0))
            run = runs.setdefault((x.buffer, base), Run(offset, offset))
            run.first, run.last, run.count = min(run.first, offset), max(run.last, offset), run.count + 1
    return runs


def rows_read(program: Program, real: Real) -> frozenset[str]:
    """The inputs that are read in runs alone, long enough to be worth turning over where they are needed."""
    if real.lanes == 1:
        return frozenset()
    constants = {x.result for x in walk(program.body) if isinstance(x, Const)}
    places, half = places_of(program), real.lanes // 2
    read = {b.name: 0 for b in program.of_role("input")}
    turned = dict(read)
    for block in _blocks(program.body):
        for (buffer, base), run in runs_of(block, places).items():
            if buffer in read:
                read[buffer] += run.count
                turned[buffer] += sys.maxsize if base in constants else -(-(run.last - run.first + 1) // half) * half
    return frozenset(name for name in read if 0 < turned[name] < 2 * read[name])


def read_rows(real: Real, new: Callable[[str], str], rows: list[str], index: str, offset: int, run: Run) -> str:
    """The component at an index, which is an offset of a run; its neighbours are read along, and remembered."""
    if offset not in run.read:
        half = real.lanes // 2
        first = offset - (offset - run.first) % half
        place = new(f"add i64 {index}, {first - offset}")
        starts = [new(f"getelementptr {real.element}, ptr {row}, i64 {place}") for row in rows]
        found = columns(real, new, starts, min(half, run.last - first + 1))
        run.read.update({first + k: name for k, name in enumerate(found)})
    return run.read[offset]


def places_in_loops(program: Program) -> dict[int, Next]:
    """Where indices that a loop reads from tables are read from in its next turn."""
    found: dict[int, Next] = {}

    def visit(body: Block, step: int) -> None:
        for x in body:
            if isinstance(x, Load) and step and program.kinds[x.result] == "int":
                found[x.result] = Next(x.buffer, x.index, step)
            for block in inside(x):
                visit(block, step if not isinstance(x, Loop) else -1 if x.reverse else 1)

    visit(program.body, 0)
    return found


def fetch_next(w: ChunkWriter, rows: list[str], base: int, run: Run) -> None:
    """Ask for what the next turn of a loop will most likely read of rows."""
    following = w.names.next_places[base]
    k, table = w.names.buffers[following.table]
    now = w.operand(following.place)
    there = w.new(f"add i64 {now}, {following.step}")
    inside = w.new(f"icmp ult i64 {there}, {table.size}")
    kept = w.new(f"select i1 {inside}, i64 {there}, i64 {now}")
    start = w.new(f"load i64, ptr {w.new(f'getelementptr i64, ptr {w.pointer(k)}, i64 {kept}')}")
    line = LINE // w.real.size  # from the far end: what is near shares a line with what is read now, mostly
    ends = (run.first, run.last + 1, line) if following.step < 0 else (run.last, run.first - 1, -line)
    for offset in range(*ends):
        component = w.new(f"add i64 {start}, {offset}")
        for row in rows:
            place = w.new(f"getelementptr {w.real.element}, ptr {row}, i64 {component}")
            w.line(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 3, i32 1)")


def _blocks(body: Block) -> list[Block]:
    return [body, *(block for x in walk(body) for block in inside(x))]
