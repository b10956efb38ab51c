"""Sine and cosine in CUDA C++: the same operations, in the same order, as on the CPU, so the same bits.

Angles beyond the reduction (1e9 in float64, 1e5 in float32) are `far`: what comes out is not right, and the state is
in doubt. A branch to a library function would cost every state.
"""

from __future__ import annotations

from bough.backends.sines import CONSTANTS, TWO_OVER_PI

__all__ = ["turn_source"]


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

    return f"""\
struct Turn {{ real s, c; }};
static DEVICE INLINE Turn turn(real x, int &far) {{
    far |= !(fabs{f}(x) <= {c(k.far)});
    const real n = rint{f}(x * {c(TWO_OVER_PI)});
    const real r1 = fma{f}(-n, {c(k.A)}, x);
    const real w = n * {c(k.B)};
    const real e = fma{f}(n, {c(k.B)}, -w);
    const real r = r1 - w;
    const real rest = fma{f}(-n, {c(k.C)}, ((r1 - r) - w) - e);
    const real hi = r + rest;
    const real lo = (r - hi) + rest;
    const real z = hi * hi;
    const real half = z * (real)0.5;
    const real one_less = (real)1 - half;
    const real cubic = hi * z * ({polynomial(k.sine)});
    const real lost = ((real)1 - one_less) - half;
    const real quartic = fma{f}(z * z, {polynomial(k.cosine)}, lost);
    const real s = hi + fma{f}(lo, one_less, cubic), c = one_less + fma{f}(-hi, lo, quartic);
    const int quarter = (int)n & 3;
    const real sine = quarter & 1 ? c : s, cosine = quarter & 1 ? s : c;
    const Turn t = {{quarter & 2 ? -sine : sine, (quarter + 1) & 2 ? -cosine : cosine}};
    return t;
}}"""
