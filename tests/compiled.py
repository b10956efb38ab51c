"""Programs as machine code, run on rows of numbers: what the tests of back-ends compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bough.backends import Limbs
from bough.backends.llvm import Loaded, Real, compile_program, host
from bough.program import Program


class Compiled:
    """A program that is compiled when it is first run for a data type, and for one state or many."""

    def __init__(self, program: Program, limbs: Limbs | None = None) -> None:
        self._program, self._limbs = program, limbs
        self._loaded: dict[Real, Loaded] = {}

    def __call__(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Read each input (batch, size) and fill each output (batch, size)."""
        first = next(iter(outputs.values()))
        lanes = host().vector_bytes // first.itemsize if len(first) > 1 else 1
        real = Real("double" if first.itemsize == 8 else "float", lanes)
        if real not in self._loaded:
            self._loaded[real] = Loaded(compile_program(self._program, real, self._limbs))
        self._loaded[real](inputs, outputs)
