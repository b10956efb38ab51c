"""Long results in rows: some entries at a time go through shared memory, where the threads of a warp turn them.

A row of a state that is written by its own thread would be written number by number, far from those of its neighbours.
Entries that follow each other wait in a window of shared memory instead, until it is full; then all threads of a warp
write those of one state after the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bough.program import Const, Load, Loop, Program, Store, Switch

__all__ = ["WINDOW_BYTES", "WINDOW_TYPE", "Window", "pitch_of", "together", "windows_of"]

WINDOW_BYTES = 512
"""Of a state, at most, in a window."""

WIDE_BYTES = 16
"""What a thread moves at once."""


@dataclass(frozen=True)
class Window:
    """Entries that follow each other: the first, and how many."""

    start: int
    count: int


def windows_of(program: Program, buffer: str, width: int) -> dict[int, Window] | None:
    """By entry, the window in which it is written; None unless straight-line code stores entries in their order.

    `width` is that of a number, in bytes.
    """
    constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
    touched = [x for x in program.body if isinstance(x, Load | Store) and x.buffer == buffer]
    places = [int(constants.get(x.index, -1)) if isinstance(x, Store) else -1 for x in touched]
    kept_loops = any(isinstance(x, Loop | Switch) for x in program.body)
    if kept_loops or -1 in places or any(a >= b for a, b in zip(places, places[1:], strict=False)):
        return None
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1 and len(runs[-1]) < WINDOW_BYTES // width:
            runs[-1].append(place)
        else:
            runs.append([place])
    return {place: Window(run[0], len(run)) for run in runs for place in run}


def together(windows: Iterable[Window], size: int, width: int) -> int:
    """How many numbers of a result of so many are written at once: several where all windows begin and end with them."""
    wide = WIDE_BYTES // width
    return wide if not any(k % wide for x in windows for k in (x.start, x.count, size)) else 1


def pitch_of(windows: Iterable[Window], wide: int) -> int:
    """Numbers from one state to the next in a window: an odd number of those that are written at once."""
    return (max(x.count for x in windows) // wide | 1) * wide


WINDOW_TYPE = """\
template <int SIZE, int PITCH, int WIDE>
struct Window {  // of the state of a thread; `rows` and `left` are those of the warp
    struct alignas(WIDE * sizeof(real)) Numbers { real x[WIDE]; };
    real *own, *rows;
    long long left;
    template <class... T>
    DEVICE INLINE void put(int k, T... x) const { *(Numbers *)(own + k) = Numbers{{x...}}; }
    template <int START, int COUNT, int EACH>
    DEVICE INLINE void turn() const {
#ifdef __CUDACC__
        constexpr int STEP = 32 * EACH;
        const int at = (threadIdx.x & 31) * EACH, count = left < 32 ? (int)left : 32;
        const real *from = own - (threadIdx.x & 31) * PITCH + at;
        real *to = rows + START + at;
        struct alignas(EACH * sizeof(real)) Piece { real x[EACH]; };
#pragma unroll 4
        for (int s = 0; s < count; ++s) {
#pragma unroll
            for (int k = 0; k < COUNT; k += STEP)
                if (COUNT - k >= STEP || at < COUNT - k) *(Piece *)(to + s * SIZE + k) = *(const Piece *)(from + s * PITCH + k);
        }
#else
        for (int k = 0; k < COUNT; ++k) rows[START + k] = own[k];
#endif
    }
    template <int START, int COUNT>
    DEVICE INLINE void deliver() const {
        in_turn();
        if (WIDE > 1 && !((unsigned long long)rows & (WIDE * sizeof(real) - 1))) turn<START, COUNT, WIDE>();
        else turn<START, COUNT, 1>();
        in_turn();
    }
};
template <int SIZE, int PITCH, int WIDE>
static DEVICE INLINE Window<SIZE, PITCH, WIDE> window(real *tile, real *rows, int thread, long long first, long long states) {
#ifdef __CUDACC__
    const long long warp = first + (thread & ~31);
#else
    const long long warp = first + thread;
#endif
    const Window<SIZE, PITCH, WIDE> made = {tile + thread * PITCH, rows + warp * SIZE, states - warp};
    return made;
}"""
"""In the text. Lanes read neighbouring numbers of a window, whose pitch is odd so that threads fill it side by side."""
