"""The text that is written for GPUs, compiled as C++ and run on the CPU: what tests can look at without a GPU."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bough.backends.cuda import Layout, cuda_source
from bough.backends.cuda.source import ORDER
from bough.program import VERDICT, Program

COMPILER = shutil.which("g++") or shutil.which("c++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


class OnHost:
    """A kernel, run block by block by the CPU."""

    def __init__(self, program: Program, folder: Path, dtype: Any, layouts: Sequence[Layout] | None = None) -> None:
        self.inputs = program.of_role("input")
        self.outputs = [b for b in program.of_role("output") if b.name != VERDICT]
        self.layouts = list(layouts or ["rows"] * (len(self.inputs) + len(self.outputs)))
        self.dtype = np.dtype(dtype)
        self.text = cuda_source(program, "double" if self.dtype == np.float64 else "float", self.layouts)
        source, library = folder / "kernel.cc", folder / "kernel.so"
        source.write_text(self.text)
        assert COMPILER is not None
        command = [COMPILER, "-std=c++17", "-O0", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, source]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:2000]
        self._run = ctypes.CDLL(str(library)).bough

    def __call__(self, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], Any, int]:
        """Outputs (states, size), verdicts, and what is wrong with any."""
        states = max(len(x) for x in inputs.values())
        wrong, verdicts = np.zeros(1, np.int32), np.full(states, -1, np.int32)
        given = []
        for b, layout in zip(self.inputs, self.layouts, strict=False):
            x = np.asarray(inputs[b.name], self.dtype)
            given.append(np.ascontiguousarray(x.T if layout == "components" else x))
        made, arrays = {}, []
        for b, layout in zip(self.outputs, self.layouts[len(self.inputs) :], strict=True):
            shape = (b.size, states) if layout == "components" else (states, b.size)
            arrays.append(np.full(shape, np.nan, self.dtype))
            made[b.name] = arrays[-1].T if layout == "components" else arrays[-1]
        pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (wrong, *given, *arrays, verdicts)]
        nowhere = [ctypes.c_void_p(0)] * len(ORDER)  # which only programs that search ask for
        self._run(ctypes.c_longlong(states), *pointers, *nowhere)
        return made, verdicts, int(wrong[0])
