"""Numbers by which back-ends compute sines and cosines, so that all get the same bits.

The argument is reduced by multiples of π/2 in three steps. π/2 = A + B + C, where A has so few bits that n A is
subtracted exactly (by a fused multiply-add). In float64 the remainders are carried as a sum of two numbers; float32,
which is for speed, rounds after each step. What is left lies within ±π/4, where a polynomial with the least largest
error does the rest. Right to 2 units in the last place for |x| ≤ 1e9 (float64) and 1e5 (float32).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CONSTANTS", "TWO_OVER_PI", "SineConstants"]


@dataclass(frozen=True)
class SineConstants:
    """How π/2 is cut, and the coefficients of the polynomials, for one type."""

    A: float
    B: float
    C: float
    sine: tuple[float, ...]  # sin r = r + r³ (s₀ + s₁ r² + …)
    cosine: tuple[float, ...]  # cos r = 1 - r²/2 + r⁴ (c₀ + c₁ r² + …)
    far: float  # beyond which a library is asked
    carries_remainder: bool


CONSTANTS = {
    "double": SineConstants(
        float.fromhex("0x1.921fb54442d00p+0"),
        float.fromhex("0x1.8469898cc5000p-48"),
        float.fromhex("0x1.701b839a25205p-92"),
        (
            -0.16666666666666632, 0.008333333333322413, -0.00019841269829807819, 2.755731369192182e-06,
            -2.505075811583096e-08, 1.589679568403766e-10,
        ),
        (
            0.0416666666666666, -0.0013888888888874125, 2.4801587289482184e-05, -2.755731435233285e-07,
            2.0875723273259016e-09, -1.1359647805788475e-11,
        ),
        1e9,
        True,
    ),
    "float": SineConstants(
        1.570796251296997,
        7.549789415861596e-08,
        5.390302953474238e-15,
        (-0.16666654936695643, 0.00833217768649494, -0.00019517234694762741),
        (0.04166664685460454, -0.0013887366910037004, 2.4438379476887754e-05),
        1e5,
        False,
    ),
}  # fmt: skip

TWO_OVER_PI = 0.6366197723675814
