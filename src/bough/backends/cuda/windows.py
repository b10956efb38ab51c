"""Long results in rows: some entries at a time go through shared memory, where the threads of a warp turn them.

A row of a state that is written by its own thread would be written number by number, far from those of its neighbours.
Entries that follow each other wait in a window of shared memory instead, until it is full; then all threads of a warp
write those of one state after the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from bough.program import Const, Load, Loop, Program, Store, Switch

__all__ = ["WINDOW_BYTES", "WINDOW_TYPE", "Window", "pitch_of", "room_of", "together", "windows_of"]

WINDOW_BYTES = 512
"""Of a state, at most, in a window."""

LINE_BYTES = 128
"""Of memory that are written together: of a part, the rest has to be read."""

WIDE_BYTES = 16
"""What a thread moves at once."""


@dataclass(frozen=True)
class Window:
    """Entries that follow each other: the first, and how many; where those begin that come without a gap, and whether
    these end here.
    """

    start: int
    count: int
    begin: int
    is_last: bool


def windows_of(program: Program, buffer: str, width: int) -> dict[int, Window] | None:
    """By entry, the window in which it is written; None unless straight-line code stores entries in their order.

    `width` is that of a number, in bytes.
    """
    constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
    touched = [x for x in program.body if isinstance(x, Load | Store) and x.buffer == buffer]
    places = [int(constants.get(x.index, -1)) if isinstance(x, Store) else -1 for x in touched]
    kept_loops = any(isinstance(x, Loop | Switch) for x in program.body)
    if kept_loops or -1 in places or any(a >= b for a, b in pairwise(places)):
        return None
    found: dict[int, Window] = {}
    ends = [k + 1 for k, place in enumerate(places) if place + 1 not in places[k + 1 : k + 2]]
    most = WINDOW_BYTES // width
    for first, end in zip([0, *ends], ends, strict=False):
        for k in range(first, end, most):
            count = min(most, end - k)
            window = Window(places[k], count, places[first], k + count == end)
            found |= dict.fromkeys(places[k : k + count], window)
    return found


def together(windows: Iterable[Window], size: int, width: int) -> int:
    """How many numbers of a result of so many are written at once: several where windows begin and end with them."""
    wide = WIDE_BYTES // width
    return wide if not any(k % wide for x in windows for k in (x.start, x.count, size)) else 1


def room_of(windows: Iterable[Window], width: int) -> int:
    """Numbers of a state for which there is room: those of a window, and what is left of a line of the one before."""
    return max(x.count for x in windows) + LINE_BYTES // width


def pitch_of(room: int, wide: int) -> int:
    """Numbers from one state to the next in shared memory: an odd number of those that are written at once."""
    return (-(-room // wide) | 1) * wide


WINDOW_TYPE = (
    f"#define LINE_BYTES {LINE_BYTES}\n"
    + """\
template <int SIZE, int ROOM, int PITCH, int WIDE>
struct Window {  // of the state of a thread; `rows` and `left` are those of the warp
    struct alignas(WIDE * sizeof(real)) Numbers { real x[WIDE]; };
    real *own, *rows;
    long long left;
    template <class... T>
    DEVICE INLINE void put(int k, T... x) const { *(Numbers *)(own + k) = Numbers{{x...}}; }
    template <int BEGIN, int START, int COUNT, bool LAST, int EACH>
    DEVICE INLINE void turn() const {
#ifdef __CUDACC__
        constexpr int LINE = LINE_BYTES / sizeof(real), STEP = 32 * EACH, END = START + COUNT;
        constexpr bool EVEN = START - BEGIN >= LINE && !LAST && COUNT % LINE == 0;
        const int at = (threadIdx.x & 31) * EACH, count = left < 32 ? (int)left : 32;
        const int before = (int)((unsigned long long)rows / sizeof(real));
        const real *from = own - (threadIdx.x & 31) * PITCH;
        struct alignas(EACH * sizeof(real)) Piece { real x[EACH]; };
#pragma unroll 4
        for (int s = 0; s < count; ++s) {
            int first = START - BEGIN, end = END - BEGIN;  // whole lines, and what is left at both ends
            if (START > BEGIN) first = max(first - (before + s * SIZE + START & LINE - 1), 0);
            if (!LAST) end = max(end - (before + s * SIZE + END & LINE - 1), 0);
            const int pieces = EVEN ? COUNT : end - first;
            const int place = first - (START - BEGIN) + (START - BEGIN) % ROOM + at;
            const real *tile = from + s * PITCH;
            real *to = rows + BEGIN + s * SIZE + first + at;
#pragma unroll
            for (int k = 0; k < (EVEN ? COUNT : COUNT + LINE); k += STEP) {
                const int p = place + k, q = p < 0 ? p + ROOM : p >= ROOM ? p - ROOM : p;
                if (at + k < pieces) *(Piece *)(to + k) = *(const Piece *)(tile + q);
            }
        }
#else
        for (int k = START; k < START + COUNT; ++k) rows[k] = own[(k - BEGIN) % ROOM];
#endif
    }
    template <int BEGIN, int START, int COUNT, bool LAST>
    DEVICE INLINE void deliver() const {
        in_turn();
        const bool is_even = !((unsigned long long)rows & (WIDE * sizeof(real) - 1));
        if (WIDE > 1 && is_even) turn<BEGIN, START, COUNT, LAST, WIDE>();
        else turn<BEGIN, START, COUNT, LAST, 1>();
        in_turn();
    }
};
template <int SIZE, int ROOM, int PITCH, int WIDE>
static DEVICE INLINE Window<SIZE, ROOM, PITCH, WIDE> window(
    real *tile, real *rows, int thread, long long first, long long states) {
#ifdef __CUDACC__
    const long long warp = first + (thread & ~31);
#else
    const long long warp = first + thread;
#endif
    const Window<SIZE, ROOM, PITCH, WIDE> made = {tile + thread * PITCH, rows + warp * SIZE, states - warp};
    return made;
}"""
)
"""In the text. Lanes read neighbouring numbers of a window, whose pitch is odd so that threads fill it side by side.

Only whole lines of memory are written, but for the first and the last: what is left waits for the next window.
"""
