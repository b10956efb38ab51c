"""Loading machine code: wherever the system finds room for it, and as often as it is loaded and let go."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bough.backends.llvm.target import host

SOURCE = """
declare double @sin(double)
define double @kernel(double %x) {
  %y = fmul double %x, 3.125
  %z = call double @sin(double %y)
  ret double %z
}
"""
# Fills every hole of the address space above a large reservation, so that what is mapped next lies far from the rest.
CROWDED = """
import ctypes
import numpy as np
import bough

bough.set_backend("llvm")
model = bough.robots.load("quadruped")
q, v = bough.neutral(model), np.zeros(model.nv)
before = bough.rnea(model, q, v, v)
reserve = ctypes.CDLL(None).mmap
reserve.restype = ctypes.c_void_p
reserve.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
PRIVATE_ANONYMOUS_WITHOUT_MEMORY = 0x4022
take = lambda size: reserve(None, size, 0, PRIVATE_ANONYMOUS_WITHOUT_MEMORY, -1, 0)
far = take(3 << 30)
for size in (1 << 30, 1 << 26, 1 << 24, 1 << 22, 1 << 20, 1 << 18, 1 << 16, 1 << 14):
    while take(size) > far:
        pass
bough.crba(model, q)
print(np.abs(bough.aba(model, q, v, before)).max() < 1e-12)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reserves memory as Linux does")
def test_code_is_loaded_into_a_crowded_address_space() -> None:
    ended = subprocess.run([sys.executable, "-c", CROWDED], capture_output=True, text=True, timeout=300, check=False)
    assert (ended.returncode, ended.stdout.strip()) == (0, "True"), ended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_code_that_nobody_holds_gives_its_memory_to_the_next() -> None:
    code = host().object_code(SOURCE)
    maps = Path("/proc/self/maps")

    def regions() -> int:
        return len(maps.read_text().splitlines())

    host().load(code, ["kernel"])
    before = regions()
    held = [host().load(code, ["kernel"]) for _ in range(30)]
    assert len({loaded["kernel"] for loaded in held}) == 30
    assert regions() > before + 30
    del held
    host().load(code, ["kernel"])
    assert regions() < before + 10
