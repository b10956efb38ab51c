"""A GPU made of the CPU: what of CuPy bough uses, with kernels compiled from the text that is written for GPUs.

Arrays are not NumPy's and refuse to become so unasked, as those of CuPy do. Kernels run block by block through the form
of their text for the CPU (`on_host`); the two that only move or multiply numbers are written here again.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bough
from on_host import COMPILER

__all__ = ["REAL", "emulated_gpu", "needs_some_gpu", "some_gpu"]

REAL = bough.cuda.is_available()
"""Whether there is a GPU."""

needs_some_gpu = pytest.mark.skipif(not REAL and COMPILER is None, reason="no GPU, and no C++ compiler")


def _inside(x: Any) -> Any:
    """What NumPy computes with."""
    if isinstance(x, ndarray):
        return x._inside
    if isinstance(x, tuple | list):
        return type(x)(map(_inside, x))
    return x


def _outside(x: Any) -> Any:
    """What a caller gets: arrays stay on the GPU, and so do lone numbers."""
    if isinstance(x, np.ndarray | np.generic):
        return ndarray(np.asarray(x))
    if isinstance(x, tuple | list):
        return type(x)(map(_outside, x))
    return x


class ndarray:
    """An array on the GPU, called as CuPy calls it."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, inside: Any) -> None:
        self._inside = inside

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self._inside.__array_interface__, "version": 3}

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self._inside.ctypes.data)

    def __array__(self, *given: Any, **named: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **named: Any) -> Any:
        return _outside(getattr(ufunc, method)(*map(_inside, given), **{k: _inside(x) for k, x in named.items()}))

    def __array_function__(self, function: Any, types: Any, given: Any, named: Any) -> Any:
        return _outside(function(*_inside(given), **{k: _inside(x) for k, x in named.items()}))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._inside, name)
        if not callable(found):
            return _outside(found) if name == "T" else found
        return lambda *given, **named: _outside(found(*_inside(given), **named))

    def get(self) -> Any:
        """A copy in the memory of the CPU."""
        return self._inside.copy()

    def __getitem__(self, key: Any) -> Any:
        found = self._inside[_inside(key)]
        return ndarray(found if isinstance(found, np.ndarray) else np.asarray(found))

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        self._inside[_inside(key)] = _inside(value)

    def __len__(self) -> int:
        return len(self._inside)

    def __bool__(self) -> bool:
        return bool(self._inside)

    def __int__(self) -> int:
        return int(self._inside)

    def __float__(self) -> float:
        return float(self._inside)


def _operator(name: str) -> Any:
    def run(self: ndarray, *given: Any) -> Any:
        if any(isinstance(x, np.ndarray) and x.ndim for x in given):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        return _outside(getattr(self._inside, name)(*map(_inside, given)))

    return run


for _name in ("add", "sub", "mul", "truediv", "pow", "matmul", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs",
              "radd", "rsub", "rmul", "rtruediv", "and", "or", "invert"):  # fmt: skip
    setattr(ndarray, f"__{_name}__", _operator(f"__{_name}__"))


# ---- kernels ---------------------------------------------------------------------------------------------------------


def _turned(grid: Any, block: Any, given: Any) -> None:
    components, rows, _, size = given
    rows._inside.reshape(-1, int(size))[...] = components._inside.reshape(int(size), -1).T


def _multiply_adds(grid: Any, block: Any, given: Any) -> None:
    out, x, _ = given
    out._inside[...] = out._inside * x + x


BY_HAND = {"turned": _turned, "multiply_adds": _multiply_adds}


class _Kernel:
    ptr = 0

    def __init__(self, run: Any) -> None:
        self._run = run

    def __call__(self, grid: Any, block: Any, given: Any, shared_mem: int = 0) -> None:
        pointers = [ctypes.c_void_p(x._inside.ctypes.data if isinstance(x, ndarray) else int(x)) for x in given[1:]]
        self._run(ctypes.c_longlong(int(given[0])), *pointers)


class _Module:
    def load(self, code: bytes) -> None:
        self._code = code

    def get_function(self, name: str) -> Any:
        if name in BY_HAND:
            return BY_HAND[name]
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(self._code)
            file.flush()
            return _Kernel(getattr(ctypes.CDLL(file.name), name))


class _NVRTCError(Exception):
    pass


class _Nvrtc:
    NVRTCError = _NVRTCError

    def __init__(self) -> None:
        self.compiled = 0

    def getVersion(self) -> tuple[int, int]:
        return (0, 0)

    def createProgram(self, text: str, *_: Any) -> dict[str, Any]:
        return {"text": text, "log": ""}

    def compileProgram(self, program: dict[str, Any], options: Any) -> None:
        self.compiled += 1
        if any(f" {name}(" in program["text"] for name in BY_HAND):
            program["code"] = b"by hand"
            return
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "kernel.cc"), Path(folder, "kernel.so")
            source.write_text(program["text"])
            assert COMPILER is not None
            command = [COMPILER, "-std=c++17", "-O0", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, source]
            done = subprocess.run(command, capture_output=True, text=True)
            program["log"] = done.stderr
            if done.returncode:
                raise _NVRTCError(done.stderr[:500])
            program["code"] = library.read_bytes()

    def getCUBIN(self, program: dict[str, Any]) -> bytes:
        code: bytes = program["code"]
        return code

    def getProgramLog(self, program: dict[str, Any]) -> str:
        log: str = program["log"]
        return log

    def destroyProgram(self, program: dict[str, Any]) -> None:
        program.clear()


class _Device:
    id, compute_capability = 0, "00"
    attributes = {"MultiProcessorCount": 1}  # noqa: RUF012

    def __init__(self, number: int = 0) -> None:
        pass

    def synchronize(self) -> None:
        pass


class _Event:
    def record(self) -> None:
        self.time = time.perf_counter()

    def synchronize(self) -> None:
        pass


# ---- the module ------------------------------------------------------------------------------------------------------


def _asarray(x: Any, dtype: Any = None, order: Any = None) -> ndarray:
    return (
        x
        if isinstance(x, ndarray) and dtype is None and order is None
        else ndarray(np.array(_inside(x), dtype, order=order))
    )


def _cupy() -> ModuleType:
    made: Any = ModuleType("cupy")
    for name in ("zeros", "empty", "ones", "empty_like", "zeros_like", "broadcast_to", "ascontiguousarray", "copyto",
                 "flatnonzero", "argsort", "unravel_index", "stack", "concatenate"):  # fmt: skip
        function = getattr(np, name)
        setattr(made, name, lambda *x, _f=function, **n: _outside(_f(*_inside(x), **n)))
    made.ndarray, made.asarray = ndarray, _asarray
    made.may_share_memory = lambda a, b: np.may_share_memory(_inside(a), _inside(b))
    ndarray.__module__ = "cupy"
    made.cuda = SimpleNamespace(
        Device=_Device, Event=_Event, nvrtc=_Nvrtc(), function=SimpleNamespace(Module=_Module),
        get_elapsed_time=lambda start, end: 1e3 * (end.time - start.time) + 1e-6,
        driver=SimpleNamespace(
            funcGetAttribute=lambda attribute, kernel: 0, funcSetAttribute=lambda kernel, attribute, value: None
        ),
        runtime=SimpleNamespace(
            getDeviceCount=lambda: 1, getDeviceProperties=lambda number: {"name": b"a GPU made of the CPU"},
            memGetInfo=lambda: (1 << 22, 1 << 22), runtimeGetVersion=lambda: 0,
        ),
    )  # fmt: skip
    return made


@contextmanager
def emulated_gpu() -> Iterator[Any]:
    """For a while there is a GPU, and `import cupy` finds what stands for CuPy."""
    before, sys.modules["cupy"] = sys.modules.get("cupy"), _cupy()
    try:
        yield sys.modules["cupy"]
    finally:
        del sys.modules["cupy"]
        if before is not None:
            sys.modules["cupy"] = before


@contextmanager
def some_gpu() -> Iterator[Any]:
    """CuPy where there is a GPU, else what stands for it."""
    if REAL:
        import cupy

        yield cupy
        return
    with emulated_gpu() as found:
        yield found
