"""Blocks that stay: while a block of threads computes some states, the next ones are on their way to shared memory.

Processors from Hopper on copy whole pieces of memory by themselves. One thread of a block asks for the inputs of its
next states before all compute the present ones, and hands over what came of those; nobody waits for memory, and no
thread spends instructions on it. States that do not fill a block, and arrays that do not begin at multiples of 16
bytes, are moved thread by thread.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["FIRST_MACHINE", "PIPELINED_ENTRY", "moved_at_once"]

FIRST_MACHINE = 90
"""The first kind of processor that can do this."""

MOVES = """\
static DEVICE INLINE unsigned in_shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
static DEVICE INLINE void prepare(unsigned long long *arrived) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(in_shared(arrived)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static DEVICE INLINE void expect(unsigned long long *arrived, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(in_shared(arrived)), "r"(bytes) : "memory");
}
static DEVICE INLINE void wait_for(unsigned long long *arrived, int round) {
    unsigned is_there;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(is_there) : "r"(in_shared(arrived)), "r"(round) : "memory");
    } while (!is_there);
}
static DEVICE INLINE void start(real *to, const real *from, int count, unsigned long long *arrived) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(in_shared(to)), "l"(from), "r"(count * (int)sizeof(real)), "r"(in_shared(arrived)) : "memory");
}
static DEVICE INLINE void hand_over(real *to, const real *from, int count) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(to), "r"(in_shared(from)), "r"(count * (int)sizeof(real)) : "memory");
}
static DEVICE INLINE void handed_over() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }"""
"""What a thread asks for; `arrived` counts what has come, round after round."""

PIPELINED_ENTRY = """\
extern "C" __global__ void __launch_bounds__(BOUNDS) bough(PARAMETERS) {
    __shared__ __align__(128) real tiles[2][TILE_SIZE];
    __shared__ __align__(8) unsigned long long arrived[2];
    const Arguments a = {PASSED};
    const long long stride = gridDim.x * (long long)BLOCK;
    const long long whole = can_move_at_once(a) ? a.states / BLOCK * BLOCK : 0;
    long long first = blockIdx.x * (long long)BLOCK;
    if (threadIdx.x == 0) {
        for (int k = 0; k < 2; ++k) prepare(arrived + k);
        if (first < whole) start_all(a, tiles[0], first, arrived);
    }
    __syncthreads();
    for (int turn = 0; first < whole; first += stride, ++turn) {
        real *const tile = tiles[turn & 1];
        if (threadIdx.x == 0 && first + stride < whole) {
            handed_over();
            start_all(a, tiles[turn + 1 & 1], first + stride, arrived + (turn + 1 & 1));
        }
        wait_for(arrived + (turn & 1), turn >> 1 & 1);
        compute_one(a, tile, tile, threadIdx.x, first);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) hand_over_all(a, tile, first);
    }
    handed_over();
    for (first = whole + blockIdx.x * (long long)BLOCK; first < a.states; first += stride) {
        __syncthreads();
        fetch_all(a, tiles[0], threadIdx.x, first);
        fetched();
        __syncthreads();
        compute_one(a, tiles[0], tiles[0], threadIdx.x, first);
        __syncthreads();
        deliver_all(a, tiles[0], threadIdx.x, first);
    }
}"""
"""The kernel. A tile is filled anew when all have computed with it, and written when what was there is handed over."""


def moved_at_once(fetched: Sequence[tuple[str, int, int]], delivered: Sequence[tuple[str, int, int]]) -> list[str]:
    """The lines that move arrays of a block: names, sizes, and places in the tile."""
    pieces = " | ".join(f"(unsigned long long)a.{name}" for name, *_ in (*fetched, *delivered))
    total = sum(size for _, size, _ in fetched)
    lines = [
        MOVES,
        "static DEVICE INLINE bool can_move_at_once(const Arguments &a) {",
        f"    return !(({pieces}) & 15);",
    ]
    lines += ["}", "static DEVICE INLINE void start_all("]
    lines[-1] += "const Arguments &a, real *tile, long long first, unsigned long long *arrived) {"
    lines.append(f"    expect(arrived, {total} * BLOCK * (int)sizeof(real));")
    for name, size, offset in fetched:
        lines.append(f"    start(tile + {offset}, a.{name} + first * {size}, {size} * BLOCK, arrived);")
    lines += ["}", "static DEVICE INLINE void hand_over_all(const Arguments &a, const real *tile, long long first) {"]
    for name, size, offset in delivered:
        lines.append(f"    hand_over(a.{name} + first * {size}, tile + {offset}, {size} * BLOCK);")
    lines += ['    asm volatile("cp.async.bulk.commit_group;" ::: "memory");', "}"]
    return lines
