"""Sine and cosine in CUDA C++: the same operations, in the same order, as on the CPU, so the same bits.

Angles beyond the reduction (1e9 in float64, 1e5 in float32) are `far`: what comes out is not right, and the state is
in doubt. A branch to a library function would cost every state.
"""

from __future__ import annotations

from bough.backends.sines import CONSTANTS, TWO_OVER_PI

__all__ = ["turn_source"]

ROUNDED = {
    "float": "const real moved = turns + 12582912.0f, back = 12582912.0f - moved; const int quarter = low_bits(moved);",
    "double": "const real back = -rint(turns); const int quarter = -(int)back;",
}
"""How many quarters of a turn there are, to the next whole number: less that many, and the last bits of that many.

What is added to 1.5 2²³ is rounded in float32, and the last bits of the sum tell to what. In float64 it is additions
that hold a GPU up, so a slower unit does it.
"""


def turn_source(real: str) -> str:
    """The function `turn`, which gives sine and cosine of an angle, and says if it is far."""
    k, f = CONSTANTS[real], "f" if real == "float" else ""

    def c(value: float) -> str:
        return f"(real){value!r}"

    def polynomial(coefficients: tuple[float, ...]) -> str:
        total = c(coefficients[-1])
        for x in reversed(coefficients[:-1]):
            total = f"fma{f}({total}, z, {c(x)})"
        return total

    reduced = f"""\
const real r = fma{f}(back, {c(k.C)}, fma{f}(back, {c(k.B)}, fma{f}(back, {c(k.A)}, x)));
    const real z = r * r;
    const real s = fma{f}(r * z, {polynomial(k.sine)}, r), c = fma{f}(z, {polynomial((-0.5, *k.cosine))}, (real)1);"""
    if k.carries_remainder:
        reduced = f"""\
const real r1 = fma{f}(back, {c(k.A)}, x);
    const real w = back * {c(k.B)};
    const real e = fma{f}(back, {c(k.B)}, -w);
    const real r = r1 + w;
    const real rest = fma{f}(back, {c(k.C)}, ((r1 - r) + w) + e);
    const real hi = r + rest;
    const real lo = (r - hi) + rest;
    const real z = hi * hi;
    const real one_less = fma{f}(z, (real)-0.5, (real)1);
    const real cubic = hi * z * ({polynomial(k.sine)});
    const real lost = fma{f}(z, (real)-0.5, (real)1 - one_less);
    const real quartic = fma{f}(z * z, {polynomial(k.cosine)}, lost);
    const real s = hi + fma{f}(lo, one_less, cubic), c = one_less + fma{f}(-hi, lo, quartic);"""
    return f"""\
struct Turn {{ real s, c; }};
static DEVICE INLINE Turn turn(real x, int &far) {{
    far |= !(fabs{f}(x) <= {c(k.far)});
    const real turns = x * {c(TWO_OVER_PI)};
    {ROUNDED[real]}
    {reduced}
    const real sine = quarter & 1 ? c : s, cosine = quarter & 1 ? s : c;
    const Turn t = {{flipped(sine, quarter), flipped(cosine, quarter + 1)}};
    return t;
}}"""
