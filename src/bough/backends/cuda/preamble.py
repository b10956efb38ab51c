"""The fixed parts of the text of a kernel: what moves arrays, keeps threads together and divides; the kernel itself."""

from __future__ import annotations

__all__ = ["DEVICE_ENTRY", "HOST_ENTRY", "PREAMBLE", "SQUARE", "TURNED_TOGETHER", "turning_source"]

PREAMBLE = """\
#ifdef __CUDACC__
#define DEVICE __device__
#define INLINE __forceinline__
#define CONSTANT static __constant__
#define TAKE_THE_LAST_STATE thread = (int)(a.states - 1 - first)  // for threads of a block wait for each other
#else
#include <cmath>
#include <cstring>
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
struct Handed {  // from kernel to kernel: entry after entry of the states of a warp
    real *p;
    DEVICE INLINE real &operator[](int k) const { return p[k * 32]; }
};
static DEVICE INLINE void bring(Handed x, int first, int count) {  // entries to the second cache
#ifdef __CUDACC__
    const int lane = threadIdx.x & 31;
    if (lane < count) asm volatile("prefetch.global.L2 [%0];" ::"l"(x.p - lane + (first + lane) * 32));
#endif
}
static DEVICE INLINE Handed handed(real *all, int size, int thread, long long first) {
    const Handed made = {all + (first + (thread & ~31)) * size + (thread & 31)};
    return made;
}
struct alignas(16) Wide { int parts[4]; };
static DEVICE INLINE int low_bits(real x) {
#ifdef __CUDACC__
    return sizeof(real) == 4 ? __float_as_int((float)x) : __double2loint((double)x);
#else
    int bits;
    std::memcpy(&bits, &x, sizeof bits);  // the last ones come first
    return bits;
#endif
}
static DEVICE INLINE bool is_finite(real x) {  // float64 has few units, which are not needed for this
#ifdef __CUDACC__
    return sizeof(real) == 4 ? fabsf((float)x) < INFINITY : (__double2hiint((double)x) & 0x7ff00000) != 0x7ff00000;
#else
    return x - x == (real)0;
#endif
}
static DEVICE INLINE real flipped(real x, int quarter) {  // -x where the number's second bit is set
#ifdef __CUDACC__
    const int sign = quarter << 30 & 0x80000000;
    if (sizeof(real) == 4) return (real)__int_as_float(__float_as_int((float)x) ^ sign);
    return (real)__hiloint2double(__double2hiint((double)x) ^ sign, __double2loint((double)x));
#else
    return quarter & 2 ? -x : x;
#endif
}
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
    return is_finite(exact) ? exact : a * first;
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
template <int WORDS>
static DEVICE INLINE void mark(unsigned *marks, int k, bool is_so) {  // one word is a register
    unsigned &word = marks[WORDS == 1 ? 0 : k >> 5];
    word = is_so ? word | 1u << (k & 31) : word & ~(1u << (k & 31));
}
template <int WORDS>
static DEVICE INLINE int next_mark(const unsigned *marks, int k, int end) {  // from k on, or the end
    for (; k < end; k = (k | 31) + 1) {
        const unsigned rest = marks[WORDS == 1 ? 0 : k >> 5] >> (k & 31);
        if (!rest) continue;
#ifdef __CUDACC__
        return min(k + __ffs(rest) - 1, end);
#else
        for (; !(marks[WORDS == 1 ? 0 : k >> 5] >> (k & 31) & 1); ++k) {}
        return k < end ? k : end;
#endif
    }
    return end;
}
static DEVICE INLINE int marks_before(unsigned marks, int k) {
    marks &= ~(~0u << k);
#ifdef __CUDACC__
    return __popc(marks);
#else
    int count = 0;
    for (; marks; marks &= marks - 1) ++count;
    return count;
#endif
}
template <int WORDS, int BLOCK_WORDS, int SIZE>
static DEVICE INLINE int next_in_block(const unsigned *marks, const unsigned *blocks, int k, int end) {
    for (k = next_mark<WORDS>(marks, k, end); k < end; k = next_mark<WORDS>(marks, k + 1, end)) {
        const int b = k / SIZE;
        if (blocks[BLOCK_WORDS == 1 ? 0 : b >> 5] >> (b & 31) & 1) break;
    }
    return k;
}
static DEVICE INLINE void raise(int *wrong, int verdict) {
#ifdef __CUDACC__
    atomicOr(wrong, verdict);
#else
    *wrong |= verdict;
#endif
}
static DEVICE INLINE int running_threads(bool is_so) {  // of a block, all of which then run together
#ifdef __CUDACC__
    return __syncthreads_count(is_so);
#else
    return is_so;
#endif
}
static DEVICE INLINE void in_step(int running) {  // a block shares instructions, unless some of it waits elsewhere
#ifdef __CUDACC__
    if (running == blockDim.x) __syncthreads();
#endif
}
static DEVICE INLINE void in_turn() {  // what is read behind this is not read before it, to wait in registers
#ifdef __CUDACC__
    __syncwarp();
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

DEVICE_ENTRY = """\
extern "C" __global__ void __launch_bounds__(BOUNDS) bough(PARAMETERS) {
    __shared__ __align__(16) real tile[TILE_SIZE];
#if KEPT
    extern __shared__ __align__(16) real kept[];
#else
    real *const kept = tile;
    asm volatile(".pragma \\"enable_smem_spilling\\";");  // what fits in no register, before it goes to memory
#endif
    const Arguments a = {PASSED};
    const long long first = (long long)blockIdx.x * blockDim.x;
    fetch_all(a, tile, threadIdx.x, first);
    fetched();
    __syncthreads();
    compute_one(a, tile, kept + threadIdx.x, threadIdx.x, first);
    __syncthreads();
    deliver_all(a, tile, threadIdx.x, first);
}"""
"""The kernel."""

HOST_ENTRY = """\
extern "C" void bough(PARAMETERS) {
    alignas(16) static real tile[TILE_SIZE], kept[KEPT * BLOCK + 1];
    const Arguments a = {PASSED};
    for (long long first = 0; first < states; first += BLOCK) {
        for (int t = 0; t < BLOCK; ++t) fetch_all(a, tile, t, first);
        for (int t = 0; t < BLOCK; ++t) compute_one(a, tile, kept + t, t, first);
        for (int t = 0; t < BLOCK; ++t) deliver_all(a, tile, t, first);
    }
}"""
"""The loop over blocks that stands for it on a CPU."""

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
