"""CUDA C++ from a program: one state per thread, and what moves arrays between memory and threads.

A block of threads copies the inputs of its states to a tile in shared memory, in the order in which they lie, whatever
the layout; each thread then runs the program on its own state. Without CUDA the same text compiles as C++ and runs
block by block on the CPU, which is how it is tested where there is no GPU.

Nothing of a model but numbers reaches the text: arrays and tables are called by number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bough.backends.cuda.elementary import turn_source
from bough.backends.cuda.pipeline import PIPELINED_ENTRY, moved_at_once
from bough.backends.cuda.preamble import DEVICE_ENTRY, HOST_ENTRY, PREAMBLE
from bough.backends.cuda.shared import Placement, place_shared
from bough.backends.cuda.windows import WINDOW_TYPE, Window, pitch_of, room_of, together, windows_of
from bough.backends.cuda.writer import CudaWriter, brought, searches
from bough.export.c import C
from bough.program import VERDICT, Apply, Buffer, Program, most_alive, walk

__all__ = [
    "ENTRY", "MOST_SHARED", "STRAIGHT_BLOCK", "Layout", "block_of", "blocks_that_stay", "cuda_source", "shared_bytes",
]  # fmt: skip

ENTRY = "bough"
"""Name of the kernel."""

STRAIGHT_BLOCK, SEARCH_BLOCK = 64, 256
"""Threads, and so states, of a block: of programs that run straight through, and of those that search.

The latter use all registers and are longer than the caches of instructions: the larger block is all that runs on a
multiprocessor at a time, and its threads are kept at the same place of the program.
"""

FAR_ANGLE = 8
"""What the verdict says of a state with an angle beyond the reduction: it is in doubt."""

CONSTANT_BYTES = 48 * 1024
"""Tables of at most this size together are constant memory; larger ones are read through the caches."""

TILE_BYTES = 48 * 1024
"""The most shared memory of a block: arrays that do not fit are read and written where they lie."""

MOST_SHARED = 227 * 1024
"""Bytes of shared memory that a block may have on the largest GPUs."""

LARGE_MEMORY, SHARED_PART = 2500, 0.72
"""Where a thread has more numbers in arrays, no more than this part is shared: the rest is a cache for what is left."""

MOST_IN_ROWS = 64
"""Numbers of a result that each thread writes by itself where the tile has no room for them."""

LONG_PROGRAM = 16_000
"""Operations, times bytes of a number, beyond which shared memory is better left to values that fit in no register.

Twice as many in float64 do not get all registers unless the compiler is told that few blocks run at a time.
"""

ALL_REGISTERS, MOST_REGISTERS = 65_536, 255
"""Registers of a processor, and of a thread at most."""

FURTHER_REGISTERS = 16
"""Registers of a thread beside those of the numbers of a program that are alive at once."""

ORDER = ("const int *order", "int *costs")
"""Further arguments of programs that search: the states in the order in which they are run, and what each cost."""

WIDTHS = {"float": 4, "double": 8}
"""Bytes of a number."""

ROLES = {"input": "in", "output": "out", "scratch": "scratch", "table": "table"}
"""How arrays are called, with a number; values of the program are called x, b and i."""

Layout: TypeAlias = Literal["rows", "components", "shared", "blocks"]
"""How an array lies in memory: state after state, entry after entry, one row for all states, or warp after warp, entry
after entry of each."""


@dataclass(frozen=True)
class _Moved:
    """An array of the program at the border of a kernel."""

    name: str  # in the text
    size: int
    layout: Layout
    is_input: bool
    pitch: int = 0  # numbers from one state to the next in the tile, or 1 if from one entry to the next there are many
    offset: int | None = None  # where it begins in the tile, if it is there
    windows: dict[int, Window] | None = None  # if only some entries at a time are there, by entry
    wide: int = 1  # entries that are put there at once
    room: int = 0  # for how many there is room


def block_of(program: Program) -> int:
    """Threads of a block."""
    return SEARCH_BLOCK if searches(program) else STRAIGHT_BLOCK


def _kept(program: Program, real: str, most: int) -> Placement:
    """The arrays of a program that lie in shared memory: none of one that runs straight through."""
    if not searches(program):
        return Placement({}, 0, frozenset(b.name for b in program.of_role("scratch")))
    if sum(b.size for b in program.of_role("scratch")) > LARGE_MEMORY:
        most = int(SHARED_PART * most)
    return place_shared(program, most // (SEARCH_BLOCK * WIDTHS[real]))


def shared_bytes(program: Program, real: str, most: int) -> int:
    """Bytes of shared memory that a block is launched with."""
    return _kept(program, real, most).size * SEARCH_BLOCK * WIDTHS[real]


def blocks_that_stay(program: Program, real: str, layouts: Sequence[Layout]) -> int:
    """How many blocks of a processor take one piece of the states after the other; zero if blocks come and go.

    They do where a block has room for two pieces, of which one comes while the other is computed with. In float64, and
    by components, that was slower.
    """
    if searches(program) or real == "double" or {"components", "blocks"} & set(layouts):
        return 0
    width = WIDTHS[real]
    arrays, tile = _placed(
        program, C(program, real), layouts, width, _length(program, width) > LONG_PROGRAM, STRAIGHT_BLOCK
    )
    in_tile = [x for x in arrays if x.offset is not None]
    room = 2 * tile * width
    pieces = any(x.pitch != x.size or x.windows for x in in_tile)
    if room > TILE_BYTES or not any(x.is_input for x in in_tile) or pieces:
        return 0
    registers = min(-(-(most_alive(program) + FURTHER_REGISTERS) // 8) * 8, MOST_REGISTERS)  # handed out by eights
    return min(MOST_SHARED // (room + 1024), ALL_REGISTERS // (STRAIGHT_BLOCK * registers))


def _length(program: Program, width: int) -> int:
    return sum(1 for x in walk(program.body) if isinstance(x, Apply)) * width


def cuda_source(
    program: Program,
    real: str,
    layouts: Sequence[Layout],
    most_shared: int = MOST_SHARED,
    follows: bool = False,
    staying: int = 0,
) -> str:
    """The text of a kernel; `layouts` are those of the inputs and of the outputs but the verdict, in order.

    A block may have at most so many bytes of shared memory; what it has is `shared_bytes`. A kernel
    that follows another adds to the verdicts which that one told. `staying` is what `blocks_that_stay` says.
    """
    kept, width, block = _kept(program, real, most_shared), WIDTHS[real], block_of(program)
    language = _Cuda(program, real, kept)
    length = _length(program, width)
    arrays, tile = _placed(program, language, layouts, width, length > LONG_PROGRAM, block)
    windows = {x.name: x for x in arrays if x.windows}
    found = {b: windows[name] for b, name in language.names.items() if name in windows}
    handed = {x.name: x.size for x in arrays if x.layout == "blocks" and x.is_input}
    windowed = {b: (x.windows or {}, x.wide, x.room) for b, x in found.items()}
    writer = CudaWriter(program, language, bool(handed), windowed)
    writer.block(program.body)
    tables = program.of_role("table")
    small = sum(b.size * 8 for b in tables) <= CONSTANT_BYTES
    lines = [f"typedef {real} real;", f"#define BLOCK {block}", f"#define KEPT {kept.size}", PREAMBLE]
    lines += [turn_source(real), *([WINDOW_TYPE] if windows else ())]
    lines += [f"#define TABLE {'CONSTANT' if small else 'static DEVICE'}"]
    for b in tables:
        lines += language.table(b)
    without_state = "return" if block == STRAIGHT_BLOCK and not windows else "TAKE_THE_LAST_STATE"
    lines += [*_compute(program, language, arrays, [*writer.marks, *brought(writer.lines, handed)])]
    lines += _moves(arrays, follows, without_state, block == SEARCH_BLOCK)
    least = 1 if block == SEARCH_BLOCK else 4 if length > 2 * LONG_PROGRAM and real == "double" else staying or None
    bounds = "BLOCK" if least is None else f"BLOCK, {least}"
    lines.append(_entry(arrays, tile, bounds, ORDER if block == SEARCH_BLOCK else (), bool(staying)))
    return "\n".join(lines) + "\n"


# ---- the program -----------------------------------------------------------------------------------------------------


class _Cuda(C):
    """The language: C with arrays that know where a state's numbers lie, some of them in shared memory."""

    def __init__(self, program: Program, real: str, kept: Placement) -> None:
        super().__init__(program, real)
        self.kept, self.work = kept, 0
        for b in program.of_role("scratch"):
            if b.name not in kept.offsets:
                self.offsets[b.name], self.work = self.work, self.work + b.size
        self.rules = {**self.rules, "div": "divided({0}, {1})"}
        self.names = {b.name: f"{ROLES[b.role]}{k}" for k, b in enumerate(program.buffers)}
        if VERDICT in self.names:
            self.names[VERDICT] = "verdict"

    def entry(self, buffer: str, index: str) -> str:
        if buffer not in self.kept.offsets:
            return super().entry(buffer, index)
        place = self.slot(self.kept.offsets[buffer], index)  # work[...]
        return f"kept[({place.partition('[')[2][:-1]}) * BLOCK]"

    def table(self, b: Buffer) -> list[str]:
        first, *rest = super().table(b)
        return [first.replace("static const", "TABLE const"), *rest]


def _compute(program: Program, language: _Cuda, arrays: Sequence[_Moved], body: Sequence[str]) -> list[str]:
    """The program on one state; returns the verdict."""
    taken = [f"const {_type(x)} {x.name}" for x in arrays]
    lines = [
        f"static DEVICE INLINE int compute({', '.join(('real *const kept', *taken, 'int &cost'))}) {{",
        "    int far = 0;",
        "    real verdict[1] = {0};",
    ]
    if language.work:
        cleared = any(b.cleared and b.name in language.kept.unset for b in program.of_role("scratch"))
        lines.append(f"    real work[{language.work}]{' = {0}' if cleared else ''};")
    for b in program.of_role("output"):
        if b.cleared and b.name != VERDICT:
            lines.append(f"    for (int k = 0; k < {b.size}; ++k) {language.names[b.name]}[k] = (real)0;")
    return [*lines, *body, f"    return (int)verdict[0] | (far ? {FAR_ANGLE} : 0);", "}"]


# ---- its arrays ------------------------------------------------------------------------------------------------------


def _placed(
    program: Program, language: C, layouts: Sequence[Layout], width: int, is_long: bool, block: int
) -> tuple[list[_Moved], int]:
    """The arrays at the border, as many as fit in the tile, and how many numbers it has.

    What searches reads its arrays once and its memory often, for which caches are better.
    """
    inputs = program.of_role("input")
    buffers = (*inputs, *(b for b in program.of_role("output") if b.name != VERDICT))
    moved = []
    for k, (b, layout) in enumerate(zip(buffers, layouts, strict=True)):
        pitch = 1 if layout == "components" else b.size + (math.gcd(b.size, 32) > 4)  # else few banks would be read
        moved.append(_Moved(language.names[b.name], b.size, layout, k < len(inputs), pitch))
    tile, room = 0, TILE_BYTES if block == STRAIGHT_BLOCK else 0
    rows = sum(block * x.pitch * width for x in moved if x.layout == "rows")
    for k, (b, x) in enumerate(zip(buffers, moved, strict=True)):
        if rows > room and not x.is_input and x.layout == "rows" and x.size > MOST_IN_ROWS:
            found = windows_of(program, b.name, width)
            if found:
                wide, own = together(found.values(), x.size, width), room_of(found.values(), width)
                pitch = pitch_of(own, wide)
                moved[k] = _Moved(x.name, x.size, x.layout, False, pitch, tile, found, wide, own)
                tile += -(-block * pitch // 4) * 4
    for k in sorted(range(len(moved)), key=lambda k: (not moved[k].is_input, moved[k].size)):
        x = moved[k]
        if x.windows:
            continue
        needed = block * (x.size if x.pitch == 1 else x.pitch)
        wanted = (x.layout == "rows" and x.size > 1) or (x.layout == "components" and x.is_input and not is_long)
        if wanted and (tile + needed) * width <= room:
            moved[k] = _Moved(x.name, x.size, x.layout, x.is_input, x.pitch, tile)
            tile += -(-needed // 4) * 4
    return moved, tile


def _moves(arrays: Sequence[_Moved], follows: bool, without_state: str, ordered: bool) -> list[str]:
    """What fills the tile, runs a state, and empties the tile; and what threads do that have no state.

    Where it is `ordered`, states may be run in another order than that in which they lie, and tell what they cost.
    """
    pointers = [f"    {'const ' * x.is_input}real *{x.name};" for x in arrays]
    lines = ["struct Arguments {", "    long long states;", "    int *wrong;", *pointers, "    int *verdicts;"]
    lines += [*(f"    {x};" for x in ORDER if ordered), "};"]
    head = "const Arguments &a, real *tile, int thread, long long first"
    lines.append(f"static DEVICE INLINE void fetch_all({head}) {{")
    for x in arrays:
        if x.is_input and x.offset is not None:
            form = "components" if x.layout == "components" else "rows"
            sizes = f"{x.size}" if form == "components" else f"{x.size}, {x.pitch}"
            lines.append(f"    fetch_{form}<{sizes}>(tile + {x.offset}, a.{x.name}, thread, first, a.states);")
    lines += ["}", f"static DEVICE INLINE void compute_one({head.replace('int thread', 'real *kept, int thread')}) {{"]
    place = "a.order ? a.order[first + thread] : first + thread" if ordered else "first + thread"
    lines += [f"    if (first + thread >= a.states) {without_state};", f"    const long long state = {place};"]
    lines[-2:-2] = ["    const int self = thread;"] if any(x.windows for x in arrays) else []
    lines += [
        "    int cost = 0;",
        f"    const int verdict = compute({', '.join(('kept', *map(_place, arrays), 'cost'))});",
    ]
    lines += ["    if (a.costs) a.costs[state] = cost;"] * ordered
    lines += [
        "    if (verdict && a.wrong) raise(a.wrong, verdict);",
        f"    if (a.verdicts) a.verdicts[state] {'|' * follows}= verdict;",
        "}",
    ]
    lines.append(f"static DEVICE INLINE void deliver_all({head}) {{")
    for x in arrays:
        if not x.is_input and x.offset is not None and not x.windows:
            given = f"a.{x.name}, tile + {x.offset}, thread, first, a.states"
            lines.append(f"    deliver_rows<{x.size}, {x.pitch}>({given});")
    return [*lines, "}"]


def _type(x: _Moved) -> str:
    """What a program reads or writes an array through."""
    if x.layout == "blocks":
        return "Handed"
    return f"Window<{_sizes(x)}>" if x.windows else "In" if x.is_input else "Out"


def _sizes(x: _Moved) -> str:
    return f"{x.size}, {x.room}, {x.pitch}, {x.wide}"


def _place(x: _Moved) -> str:
    """Where the numbers of a state lie: a pointer, and how far apart they are."""
    if x.windows:
        return f"window<{_sizes(x)}>(tile + {x.offset}, a.{x.name}, self, first, a.states)"
    if x.layout == "blocks":
        return f"handed((real *)a.{x.name}, {x.size}, thread, first)"
    kind = "In" if x.is_input else "Out"
    if x.offset is not None:
        return f"{kind}{{tile + {x.offset} + thread * {x.pitch}, {'BLOCK' if x.layout == 'components' else '1'}}}"
    if x.layout == "components":
        return f"{kind}{{a.{x.name} + state, a.states}}"
    return f"{kind}{{a.{x.name}, 1}}" if x.layout == "shared" else f"{kind}{{a.{x.name} + state * {x.size}, 1}}"


def _entry(arrays: Sequence[_Moved], tile: int, bounds: str, order: Sequence[str], staying: bool) -> str:
    """The kernel, and the loop over blocks that stands for it on a CPU.

    `bounds` with few blocks make the compiler use all registers: it gives up on long programs otherwise.
    """
    parameters = ["long long states", "int *wrong", *(f"{'const ' * x.is_input}real *{x.name}" for x in arrays)]
    parameters += ["int *verdicts", *order]
    passed = ", ".join(p.rpartition(" ")[2].lstrip("*") for p in parameters)
    moves = _moved_at_once(arrays) if staying else []
    text = "\n".join(
        ["#ifdef __CUDACC__", *moves, PIPELINED_ENTRY if staying else DEVICE_ENTRY, "#else", HOST_ENTRY, "#endif"]
    )
    text = text.replace("PARAMETERS", ", ".join(parameters)).replace("PASSED", passed).replace("BOUNDS", bounds)
    return text.replace("TILE_SIZE", str(max(tile, 1)))


def _moved_at_once(arrays: Sequence[_Moved]) -> list[str]:
    """What moves a block's arrays without its threads."""
    in_tile = [x for x in arrays if x.offset is not None]
    fetched, delivered = (
        [(x.name, x.size, x.offset or 0) for x in in_tile if x.is_input == way] for way in (True, False)
    )
    return moved_at_once(fetched, delivered)
