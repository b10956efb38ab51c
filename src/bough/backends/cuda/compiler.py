"""CuPy, the compiler NVRTC, and a kernel that turns arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bough.backends.cuda.preamble import SQUARE, TURNED_TOGETHER, turning_source
from bough.errors import BoughError, ProgramError

__all__ = ["architecture", "compile_cuda", "cupy", "turn"]

OPTIONS = ("--fmad=false", "--std=c++17")
"""Nothing is fused besides what the program says: the same bits as on a CPU."""


def cupy() -> Any:
    """CuPy, or an error that says what to install."""
    try:
        import cupy as found
    except ImportError as error:
        raise BoughError(f'arrays on a GPU need CuPy (pip install "bough[cuda]"): {error}') from None
    return found


@lru_cache
def architecture(device: int) -> str:
    """What a GPU understands, such as sm_90, and the version of the compiler: what code depends on."""
    found = cupy().cuda.Device(device).compute_capability
    return f"sm_{found} {'.'.join(map(str, cupy().cuda.nvrtc.getVersion()))}"


def compile_cuda(text: str, machine: str) -> bytes:
    """Machine code of a GPU from CUDA C++."""
    nvrtc = cupy().cuda.nvrtc
    program = nvrtc.createProgram(text, "kernel.cu", (), ())
    try:
        nvrtc.compileProgram(program, (f"--gpu-architecture={machine.split()[0]}", *OPTIONS))
        code: bytes = nvrtc.getCUBIN(program)
    except nvrtc.NVRTCError as error:
        raise ProgramError(f"NVRTC did not compile a kernel: {nvrtc.getProgramLog(program)[:2000]}") from error
    finally:
        nvrtc.destroyProgram(program)
    return code


def turn(components: Any, rows: Any) -> None:
    """Fill an array (states, size) from one (size, states)."""
    size, states = components.shape
    kernel = _turning(cupy().cuda.Device().id, "double" if components.dtype == np.float64 else "float")
    squares = -(-states // SQUARE) * -(-size // SQUARE)
    kernel((squares,), (SQUARE, TURNED_TOGETHER), (components, rows, np.int64(states), np.int32(size)))


@lru_cache
def _turning(device: int, real: str) -> Any:
    module = cupy().cuda.function.Module()
    module.load(compile_cuda(turning_source(real), architecture(device)))
    return module.get_function("turned")
