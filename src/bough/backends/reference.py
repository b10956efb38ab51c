"""The reference back-end: the evaluator over NumPy arrays, a lane per state.

Slow per operation and right by construction; every other back-end is tested against it. Long batches are cut into
pieces so that the live values of a program stay small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bough.backends.protocol import FloatArray, require_size
from bough.program import Evaluator, Program
from bough.scalar import OPS

__all__ = ["ARRAY_RULES", "ReferenceKernel"]

ARRAY_RULES: dict[str, Callable[..., Any]] = {
    "neg": np.negative,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "fma": np.vectorize(OPS["fma"].meaning, otypes=[float]),
    "div": np.divide,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "atan2": np.arctan2,
    "lt": np.less,
    "le": np.less_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "select": np.where,
}


def _look_up(table: list[float], places: Any) -> Any:
    held = np.where(np.greater(places, 0.0), np.minimum(places, len(table) - 1.0), 0.0)
    return np.array(table)[held.astype(np.int64)]


LANES = 1024  # states per piece: a few thousand live values of this length fit the caches' outer level


class ReferenceKernel:
    """Runs one program on batches of states."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._evaluator = Evaluator(program, ARRAY_RULES, all_done=np.all, look_up=_look_up)

    def __call__(self, inputs: Mapping[str, FloatArray], outputs: Mapping[str, FloatArray]) -> None:
        """Read each input (batch, size) and fill each output (batch, size)."""
        for b in self.program.of_role("input") + self.program.of_role("output"):
            require_size(b.name, (inputs if b.role == "input" else outputs)[b.name].shape[1], b.size)
        batch = next((a.shape[0] for a in (*inputs.values(), *outputs.values())), 0)
        with np.errstate(all="ignore"):  # what is not finite is found and named at the border
            for first in range(0, batch, LANES):
                piece = slice(first, min(first + LANES, batch))
                self._run({k: a[piece] for k, a in inputs.items()}, {k: a[piece] for k, a in outputs.items()})

    def _run(self, inputs: Mapping[str, FloatArray], outputs: Mapping[str, FloatArray]) -> None:
        dtype = next(iter(outputs.values())).dtype
        memory: dict[str, Any] = {name: list(np.ascontiguousarray(a.T, dtype)) for name, a in inputs.items()}
        for b in self.program.of_role("output") + self.program.of_role("scratch"):
            memory[b.name] = [0.0] * b.size
        self._evaluator.run(memory)
        for name, a in outputs.items():
            for k, column in enumerate(memory[name]):
                a[:, k] = column
