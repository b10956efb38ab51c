"""What the machine can do at most: independent vector multiply-adds per second, and bytes copied per second."""

from __future__ import annotations

import ctypes
import re
from functools import lru_cache

import numpy as np
from measure import Sampler, python

from bough.backends.llvm.elementary import sincos_source
from bough.backends.llvm.target import host
from bough.backends.llvm.types import Real

__all__ = ["Copy", "Peak", "flops_per_sine"]

CHAINS = 14  # independent accumulators: enough to hide the latency of two units, few enough for the registers
TURNS = 4096


class Peak:
    """A loop of nothing but independent multiply-adds on full vectors, in one data type."""

    def __init__(self, dtype: type) -> None:
        element = "double" if dtype is np.float64 else "float"
        self.real = Real(element, host().vector_bytes // np.dtype(dtype).itemsize)
        self._code = host().load(host().object_code(self._source()), ["peak"])
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
        self._run = function(self._code["peak"])
        self._values = np.ones((CHAINS + 2) * host().vector_bytes, np.uint8).view(dtype) * 0 + dtype(0.5)
        self.flops = 2 * CHAINS * TURNS * self.real.lanes

    def sampler(self) -> Sampler:
        """Microseconds of one run, which makes `flops` operations."""
        address = self._values.ctypes.data
        return python(lambda: self._run(address, TURNS))

    def _source(self) -> str:
        t, s = self.real.type, self.real.suffix
        at = [f"  %p{k} = getelementptr {t}, ptr %values, i64 {k}" for k in range(CHAINS + 2)]
        loads = [f"  %v{k} = load {t}, ptr %p{k}, align {self.real.size}" for k in range(CHAINS + 2)]
        phis = [f"  %a{k} = phi {t} [ %v{k}, %start ], [ %b{k}, %turn ]" for k in range(CHAINS)]
        a, b = f"{t} %v{CHAINS}", f"{t} %v{CHAINS + 1}"
        fmas = [f"  %b{k} = call {t} @llvm.fma.{s}({t} %a{k}, {a}, {b})" for k in range(CHAINS)]
        stores = [f"  store {t} %b{k}, ptr %p{k}, align {self.real.size}" for k in range(CHAINS)]
        return "\n".join([
            f"declare {t} @llvm.fma.{s}({t}, {t}, {t})",
            "define void @peak(ptr %values, i64 %turns) {", "start:", *at, *loads, "  br label %turn", "turn:",
            "  %k = phi i64 [ 0, %start ], [ %next, %turn ]", *phis, *fmas, "  %next = add i64 %k, 1",
            "  %more = icmp slt i64 %next, %turns", "  br i1 %more, label %turn, label %end", "end:", *stores,
            "  ret void", "}",
        ])  # fmt: skip


class Copy:
    """NumPy copying an array much larger than the caches: what memory gives one core."""

    def __init__(self, size: int = 1 << 27) -> None:
        self._from, self._to = np.ones(size // 8), np.empty(size // 8)
        self.bytes = 2 * size  # read and written

    def sampler(self) -> Sampler:
        """Microseconds of one copy."""
        return python(lambda: np.copyto(self._to, self._from))


@lru_cache(maxsize=4)
def flops_per_sine(real: Real) -> float:
    """Multiplications and additions of the emitted polynomials, per sine or cosine of the pair they make."""
    body = sincos_source(real).split("\n}")[0]
    return (len(re.findall(r"= f(?:mul|add|sub) ", body)) + 2 * body.count("@llvm.fma.")) / 2
