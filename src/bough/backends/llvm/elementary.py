"""Sine and cosine as LLVM code, for one number or a vector of lanes, the same bits in both.

How the argument is reduced, and by which numbers, is told in `sines`; lanes with angles beyond that are handed to the C
library one by one.
"""

from __future__ import annotations

from bough.backends.llvm.types import Lines, Real
from bough.backends.sines import CONSTANTS, TWO_OVER_PI

__all__ = ["sincos_name", "sincos_source"]


class _Arithmetic(Lines):
    """Straight-line code on one type."""

    def __init__(self, real: Real) -> None:
        super().__init__()
        self.real = real

    def op(self, op: str, a: str, b: str) -> str:
        return self.new(f"{op} {self.real.type} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        t = self.real.type
        return self.new(f"call {t} @llvm.fma.{self.real.suffix}({t} {a}, {t} {b}, {t} {c})")

    def unary(self, name: str, a: str) -> str:
        t = self.real.type
        return self.new(f"call {t} @llvm.{name}.{self.real.suffix}({t} {a})")

    def neg(self, a: str) -> str:
        return self.new(f"fneg {self.real.type} {a}")

    def compare(self, predicate: str, a: str, b: str) -> str:
        return self.new(f"fcmp {predicate} {self.real.type} {a}, {b}")

    def either(self, a: str, b: str) -> str:
        return self.new(f"or {self.real.mask} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        t = self.real.type
        return self.new(f"select {self.real.mask} {condition}, {t} {a}, {t} {b}")

    def polynomial(self, z: str, coefficients: tuple[float, ...]) -> str:
        total = self.real.constant(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = self.fma(total, z, self.real.constant(c))
        return total


def sincos_name(real: Real) -> str:
    """Name of the function on one type; it returns the pair (sine, cosine)."""
    return f"sincos_{real.suffix}"


def sincos_source(real: Real) -> str:
    """The function on one type, and the way round for angles beyond the reduction."""
    t, e, pair = real.type, real.element, f"{{{real.type}, {real.type}}}"
    f = _Arithmetic(real)
    sine, cosine = _reduced(f)
    lines = [
        f"define internal fastcc {pair} @{sincos_name(real)}({t} %x) {{",
        *f.lines,
        f"  %q0 = insertvalue {pair} undef, {t} {sine}, 0",
        f"  %quick = insertvalue {pair} %q0, {t} {cosine}, 1",
        f"  %size = call {t} @llvm.fabs.{real.suffix}({t} %x)",
        f"  %far = fcmp ogt {t} %size, {real.constant(CONSTANTS[e].far)}",
        f"  %any = {real.over_lanes('or', '%far')}",
        "  br i1 %any, label %slow, label %done",
        "done:",
        f"  ret {pair} %quick",
        "slow:",
    ]
    names = {"sin": "undef", "cos": "undef"}
    for k in range(real.lanes):
        lines.append(
            f"  %x{k} = "
            + (f"extractelement {t} %x, i64 {k}" if real.lanes > 1 else f"fadd {t} %x, {real.constant(-0.0)}")
        )
        for name, before in names.items():
            lines.append(f"  %{name}{k} = call {e} @{name}{real.c}({e} %x{k})")
            if real.lanes > 1:
                lines.append(f"  %{name}v{k} = insertelement {t} {before}, {e} %{name}{k}, i64 {k}")
            names[name] = f"%{name}v{k}" if real.lanes > 1 else f"%{name}{k}"
    lines += [
        f"  %sf = select {real.mask} %far, {t} {names['sin']}, {t} {sine}",
        f"  %cf = select {real.mask} %far, {t} {names['cos']}, {t} {cosine}",
        f"  %p0 = insertvalue {pair} undef, {t} %sf, 0",
        f"  %p1 = insertvalue {pair} %p0, {t} %cf, 1",
        f"  ret {pair} %p1",
        "}",
    ]
    return "\n".join(lines)


def _reduced(f: _Arithmetic) -> tuple[str, str]:
    """Sine and cosine of %x by reduction and polynomials."""
    k, c = CONSTANTS[f.real.element], f.real.constant
    n = f.unary("rint", f.op("fmul", "%x", c(TWO_OVER_PI)))
    r1 = f.fma(f.neg(n), c(k.A), "%x")
    if k.carries_remainder:
        sine, cosine = _of_sum(f, n, r1)
    else:  # x = n π/2 + r
        r = f.fma(f.neg(n), c(k.C), f.fma(f.neg(n), c(k.B), r1))
        z = f.op("fmul", r, r)
        sine = f.fma(f.op("fmul", r, z), f.polynomial(z, k.sine), r)
        cosine = f.fma(z, f.polynomial(z, (-0.5, *k.cosine)), c(1.0))
    # turn by n quarter turns: n - 4 floor(n / 4) is 0, 1, 2 or 3
    quarter = f.fma(f.unary("floor", f.op("fmul", n, c(0.25))), c(-4.0), n)
    is_one, is_two = f.compare("oeq", quarter, c(1.0)), f.compare("oeq", quarter, c(2.0))
    is_three = f.compare("oeq", quarter, c(3.0))
    swap = f.either(is_one, is_three)
    s, q = f.select(swap, cosine, sine), f.select(swap, sine, cosine)
    s = f.select(f.either(is_two, is_three), f.neg(s), s)
    q = f.select(f.either(is_one, is_two), f.neg(q), q)
    return s, q


def _of_sum(f: _Arithmetic, n: str, r1: str) -> tuple[str, str]:
    """Sine and cosine of r₁ - n (B + C), which is carried as a sum hi + lo."""
    k, c = CONSTANTS[f.real.element], f.real.constant
    w = f.op("fmul", n, c(k.B))
    e = f.fma(n, c(k.B), f.neg(w))
    r = f.op("fsub", r1, w)
    rest = f.op("fsub", f.op("fsub", f.op("fsub", r1, r), w), e)
    rest = f.fma(f.neg(n), c(k.C), rest)
    hi = f.op("fadd", r, rest)
    lo = f.op("fadd", f.op("fsub", r, hi), rest)
    z = f.op("fmul", hi, hi)
    # sin(hi + lo) = hi + (hi z P(z) + lo (1 - z/2))
    half = f.op("fmul", z, c(0.5))
    one_less = f.op("fsub", c(1.0), half)
    cubic = f.op("fmul", f.op("fmul", hi, z), f.polynomial(z, k.sine))
    sine = f.op("fadd", hi, f.fma(lo, one_less, cubic))
    # cos(hi + lo) = (1 - z/2) + (what that lost + z² Q(z) - hi lo)
    lost = f.op("fsub", f.op("fsub", c(1.0), one_less), half)
    quartic = f.fma(f.op("fmul", z, z), f.polynomial(z, k.cosine), lost)
    cosine = f.op("fadd", one_less, f.fma(f.neg(hi), lo, quartic))
    return sine, cosine
