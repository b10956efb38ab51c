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
from bough.backends.cuda.writer import CudaWriter, searches
from bough.export.c import C
from bough.program import CARRIED, VERDICT, Apply, Buffer, Program, walk

__all__ = [
    "ENTRY", "SQUARE", "STRAIGHT_BLOCK", "TURNED_TOGETHER", "Layout", "block_of", "cuda_source", "turning_source",
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

LONG_PROGRAM = 16_000
"""Operations, times bytes of a number, beyond which shared memory is better left to values that fit in no register."""

ROLES = {"input": "in", "output": "out", "scratch": "scratch", "table": "table"}
"""How arrays are called, with a number; values of the program are called x, b and i."""

Layout: TypeAlias = Literal["rows", "components", "shared"]
"""How an array lies in memory: state after state, entry after entry, or one row for all states."""


@dataclass(frozen=True)
class _Moved:
    """An array of the program at the border of a kernel."""

    name: str  # in the text
    size: int
    layout: Layout
    is_input: bool
    pitch: int = 0  # numbers from one state to the next in the tile, or 1 if from one entry to the next there are many
    offset: int | None = None  # where it begins in the tile, if it is there


def block_of(program: Program) -> int:
    """Threads of a block."""
    return SEARCH_BLOCK if searches(program) else STRAIGHT_BLOCK


def cuda_source(program: Program, real: str, layouts: Sequence[Layout]) -> str:
    """The text of a kernel; `layouts` are those of the inputs and of the outputs but the verdict, in order."""
    language, width, block = _Cuda(program, real), 8 if real == "double" else 4, block_of(program)
    is_long = sum(1 for x in walk(program.body) if isinstance(x, Apply)) * width > LONG_PROGRAM
    arrays, tile = _placed(program, language, layouts, width, is_long, block)
    follows = any(b.name == CARRIED for b in program.of_role("input"))  # another part, which told its verdicts
    writer = CudaWriter(program, language)
    writer.block(program.body)
    tables = program.of_role("table")
    small = sum(b.size * 8 for b in tables) <= CONSTANT_BYTES
    lines = [f"typedef {real} real;", f"#define BLOCK {block}", PREAMBLE, turn_source(real)]
    lines += [f"#define TABLE {'CONSTANT' if small else 'static DEVICE'}"]
    for b in tables:
        lines += language.table(b)
    without_state = "return" if block == STRAIGHT_BLOCK else "TAKE_THE_LAST_STATE"
    lines += [*_compute(program, language, arrays, writer.lines), *_moves(arrays, follows, without_state)]
    least = 1 if block == SEARCH_BLOCK else 4 if is_long and real == "double" else None
    lines.append(_entry(arrays, tile, "BLOCK" if least is None else f"BLOCK, {least}"))
    return "\n".join(lines) + "\n"


# ---- the program -----------------------------------------------------------------------------------------------------


class _Cuda(C):
    """The language: C with arrays that know where a state's numbers lie."""

    def __init__(self, program: Program, real: str) -> None:
        super().__init__(program, real)
        self.rules = {**self.rules, "div": "divided({0}, {1})"}
        self.names = {b.name: f"{ROLES[b.role]}{k}" for k, b in enumerate(program.buffers)}
        if VERDICT in self.names:
            self.names[VERDICT] = "verdict"

    def table(self, b: Buffer) -> list[str]:
        first, *rest = super().table(b)
        return [first.replace("static const", "TABLE const"), *rest]


def _compute(program: Program, language: C, arrays: Sequence[_Moved], body: Sequence[str]) -> list[str]:
    """The program on one state; returns the verdict."""
    taken = [f"const {'In' if x.is_input else 'Out'} {x.name}" for x in arrays]
    lines = [
        f"static DEVICE INLINE int compute({', '.join(taken)}) {{",
        "    int far = 0;",
        "    real verdict[1] = {0};",
    ]
    if language.work:
        cleared = any(b.cleared for b in program.of_role("scratch"))
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
    for k in sorted(range(len(moved)), key=lambda k: (not moved[k].is_input, moved[k].size)):
        x = moved[k]
        needed = block * (x.size if x.pitch == 1 else x.pitch)
        wanted = (x.layout == "rows" and x.size > 1) or (x.layout == "components" and x.is_input and not is_long)
        if wanted and (tile + needed) * width <= room:
            moved[k] = _Moved(x.name, x.size, x.layout, x.is_input, x.pitch, tile)
            tile += -(-needed // 4) * 4
    return moved, tile


def _moves(arrays: Sequence[_Moved], follows: bool, without_state: str) -> list[str]:
    """What fills the tile, runs a state, and empties the tile; and what threads do that have no state."""
    pointers = [f"    {'const ' * x.is_input}real *{x.name};" for x in arrays]
    lines = ["struct Arguments {", "    long long states;", "    int *wrong;", *pointers, "    int *verdicts;", "};"]
    head = "const Arguments &a, real *tile, int thread, long long first"
    lines.append(f"static DEVICE INLINE void fetch_all({head}) {{")
    for x in arrays:
        if x.is_input and x.offset is not None:
            form = "components" if x.layout == "components" else "rows"
            sizes = f"{x.size}" if form == "components" else f"{x.size}, {x.pitch}"
            lines.append(f"    fetch_{form}<{sizes}>(tile + {x.offset}, a.{x.name}, thread, first, a.states);")
    lines += ["}", f"static DEVICE INLINE void compute_one({head}) {{"]
    lines += [f"    if (first + thread >= a.states) {without_state};", "    const long long state = first + thread;"]
    lines += [f"    const int verdict = compute({', '.join(map(_place, arrays))});"]
    lines += [
        "    if (verdict && a.wrong) raise(a.wrong, verdict);",
        f"    if (a.verdicts) a.verdicts[state] {'|' * follows}= verdict;",
        "}",
    ]
    lines.append(f"static DEVICE INLINE void deliver_all({head}) {{")
    for x in arrays:
        if not x.is_input and x.offset is not None:
            given = f"a.{x.name}, tile + {x.offset}, thread, first, a.states"
            lines.append(f"    deliver_rows<{x.size}, {x.pitch}>({given});")
    return [*lines, "}"]


def _place(x: _Moved) -> str:
    """Where the numbers of a state lie: a pointer, and how far apart they are."""
    kind = "In" if x.is_input else "Out"
    if x.offset is not None:
        return f"{kind}{{tile + {x.offset} + thread * {x.pitch}, {'BLOCK' if x.layout == 'components' else '1'}}}"
    if x.layout == "components":
        return f"{kind}{{a.{x.name} + state, a.states}}"
    return f"{kind}{{a.{x.name}, 1}}" if x.layout == "shared" else f"{kind}{{a.{x.name} + state * {x.size}, 1}}"


def _entry(arrays: Sequence[_Moved], tile: int, bounds: str) -> str:
    """The kernel, or the loop over blocks that stands for it on a CPU.

    `bounds` with few blocks make the compiler use all registers: it gives up on long programs otherwise.
    """
    parameters = ["long long states", "int *wrong", *(f"{'const ' * x.is_input}real *{x.name}" for x in arrays)]
    parameters.append("int *verdicts")
    passed = ", ".join(p.rpartition(" ")[2].lstrip("*") for p in parameters)
    text = ENTRIES.replace("PARAMETERS", ", ".join(parameters)).replace("PASSED", passed).replace("BOUNDS", bounds)
    return text.replace("TILE_SIZE", str(max(tile, 1)))


PREAMBLE = """\
#ifdef __CUDACC__
#define DEVICE __device__
#define INLINE __forceinline__
#define CONSTANT static __constant__
#define TAKE_THE_LAST_STATE thread = (int)(a.states - 1 - first)  // for threads of a block wait for each other
#else
#include <cmath>
#define DEVICE
#define INLINE inline
#define CONSTANT static
#define TAKE_THE_LAST_STATE return
#endif
#ifndef INFINITY
#define INFINITY ((real)1e308 * (real)10)
#define NAN (INFINITY - INFINITY)
#endif
struct In {
    const real *p;
    long long step;
    DEVICE INLINE real operator[](long long k) const { return p[k * step]; }
};
struct Out {
    real *p;
    long long step;
    DEVICE INLINE real &operator[](long long k) const { return p[k * step]; }
};
struct alignas(16) Wide { int parts[4]; };
static DEVICE INLINE real divided(real a, real b) {  // as `a / b` rounds it, without a branch for numbers too small
#ifdef __CUDACC__
    real y, e;
    if (sizeof(real) == 4) asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(*(float *)&y) : "f"((float)b));
    else asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(*(double *)&y) : "d"((double)b));
    const real first = y;
    for (int k = 0; k < (sizeof(real) == 4 ? 1 : 2); ++k) {
        e = fma(-b, y, (real)1);
        y = fma(y, e, y);
    }
    const real q = a * y, exact = fma(fma(-b, q, a), y, q);
    return exact - exact == (real)0 ? exact : a * first;
#else
    return a / b;
#endif
}
static DEVICE INLINE unsigned running_lanes() {
#ifdef __CUDACC__
    return __activemask();
#else
    return 1;
#endif
}
static DEVICE INLINE bool some_lane(unsigned lanes, bool is_so) {  // which then run together
#ifdef __CUDACC__
    return __any_sync(lanes, is_so);
#else
    return is_so;
#endif
}
static DEVICE INLINE bool some_thread(bool is_so) {  // of a block, all of which then run together
#ifdef __CUDACC__
    return __syncthreads_or(is_so);
#else
    return is_so;
#endif
}
static DEVICE INLINE void raise(int *wrong, int verdict) {
#ifdef __CUDACC__
    atomicOr(wrong, verdict);
#else
    *wrong |= verdict;
#endif
}
template <class T>
static DEVICE INLINE void start_copy(T *tile, const T *from) {  // done when `fetched` returns
#ifdef __CUDACC__
    const unsigned to = (unsigned)__cvta_generic_to_shared(tile);
    if (sizeof(T) == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(sizeof(T)));
#else
    *tile = *from;
#endif
}
static DEVICE INLINE void fetched() {
#ifdef __CUDACC__
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
template <int SIZE>
static DEVICE INLINE void fetch_components(real *tile, const real *all, int thread, long long first, long long states) {
    const long long state = first + thread < states ? first + thread : states - 1;
#pragma unroll
    for (int k = 0; k < SIZE; ++k) start_copy(tile + k * BLOCK + thread, all + k * states + state);
}
template <int SIZE, int PITCH>
static DEVICE INLINE void fetch_rows(real *tile, const real *rows, int thread, long long first, long long states) {
    const real *from = rows + first * SIZE;
    if (SIZE == PITCH && states - first >= BLOCK && !((unsigned long long)from & 15)) {
        constexpr int WHOLE = BLOCK * SIZE * sizeof(real) / 16;
#pragma unroll
        for (int k = 0; k < WHOLE; k += BLOCK) {
            const int place = k + thread;
            if (WHOLE - k >= BLOCK || place < WHOLE) start_copy((Wide *)tile + place, (const Wide *)from + place);
        }
        return;
    }
    const int count = (int)(states - first < BLOCK ? states - first : BLOCK) * SIZE;
    for (int k = thread; k < count; k += BLOCK) start_copy(tile + k / SIZE * PITCH + k % SIZE, from + k);
}
template <int SIZE, int PITCH>
static DEVICE INLINE void deliver_rows(real *rows, const real *tile, int thread, long long first, long long states) {
    real *to = rows + first * SIZE;
    if (SIZE == PITCH && states - first >= BLOCK && !((unsigned long long)to & 15)) {
        constexpr int WHOLE = BLOCK * SIZE * sizeof(real) / 16;
#pragma unroll
        for (int k = 0; k < WHOLE; k += BLOCK) {
            const int place = k + thread;
            if (WHOLE - k >= BLOCK || place < WHOLE) ((Wide *)to)[place] = ((const Wide *)tile)[place];
        }
        return;
    }
    const int count = (int)(states - first < BLOCK ? states - first : BLOCK) * SIZE;
    for (int k = thread; k < count; k += BLOCK) to[k] = tile[k / SIZE * PITCH + k % SIZE];
}"""

ENTRIES = """\
#ifdef __CUDACC__
extern "C" __global__ void __launch_bounds__(BOUNDS) bough(PARAMETERS) {
    __shared__ __align__(16) real tile[TILE_SIZE];
    asm volatile(".pragma \\"enable_smem_spilling\\";");  // what fits in no register, before it goes to memory
    const Arguments a = {PASSED};
    const long long first = (long long)blockIdx.x * blockDim.x;
    fetch_all(a, tile, threadIdx.x, first);
    fetched();
    __syncthreads();
    compute_one(a, tile, threadIdx.x, first);
    __syncthreads();
    deliver_all(a, tile, threadIdx.x, first);
}
#else
extern "C" void bough(PARAMETERS) {
    alignas(16) static real tile[TILE_SIZE];
    const Arguments a = {PASSED};
    for (long long first = 0; first < states; first += BLOCK) {
        for (int t = 0; t < BLOCK; ++t) fetch_all(a, tile, t, first);
        for (int t = 0; t < BLOCK; ++t) compute_one(a, tile, t, first);
        for (int t = 0; t < BLOCK; ++t) deliver_all(a, tile, t, first);
    }
}
#endif"""

SQUARE, TURNED_TOGETHER = 32, 8
"""States, and entries, of the squares in which `turning_source` turns arrays, and how many rows of one at a time."""


def turning_source(real: str) -> str:
    """A kernel that turns an array of components into rows, square by square in shared memory."""
    return f"""\
extern "C" __global__ void turned(const {real} *from, {real} *to, long long states, int size) {{
    __shared__ {real} square[{SQUARE}][{SQUARE + 1}];
    const int across = (size + {SQUARE - 1}) / {SQUARE};  // squares beside each other are turned at the same time
    const long long first = blockIdx.x / across * (long long){SQUARE};
    const int entry = blockIdx.x % across * {SQUARE}, x = threadIdx.x;
#pragma unroll
    for (int y = threadIdx.y; y < {SQUARE}; y += {TURNED_TOGETHER})
        if (entry + y < size && first + x < states) square[y][x] = from[(entry + y) * states + first + x];
    __syncthreads();
#pragma unroll
    for (int y = threadIdx.y; y < {SQUARE}; y += {TURNED_TOGETHER})
        if (first + y < states && entry + x < size) to[(first + y) * size + entry + x] = square[x][y];
}}
"""
