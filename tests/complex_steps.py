"""Derivatives by complex steps: a program is run on numbers with a tiny imaginary part, and nothing cancels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import bough
from bough.program import Evaluator, Program

__all__ = ["STEP", "jacobian", "moved", "rates", "run"]

STEP = 1e-40


def _atan2(y: Any, x: Any) -> Any:
    a, b = np.real(y), np.real(x)
    return np.arctan2(a, b) + 1j * (b * np.imag(y) - a * np.imag(x)) / (a * a + b * b)


RULES: dict[str, Callable[..., Any]] = {
    "neg": np.negative, "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "fma": lambda a, b, c: a * b + c, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "atan2": _atan2,
    "lt": lambda a, b: np.real(a) < np.real(b), "le": lambda a, b: np.real(a) <= np.real(b),
    "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "select": np.where,
}  # fmt: skip


def run(program: Program, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of a program on complex numbers: one state (size,), or one in each row (states, size)."""
    memory = {name: list(np.asarray(x, dtype=complex).T) for name, x in inputs.items()}
    for b in program.of_role("output") + program.of_role("scratch"):
        memory[b.name] = [0.0 + 0.0j] * b.size
    Evaluator(program, RULES, all_done=bool).run(memory)
    outputs = {b.name: np.broadcast_arrays(*memory[b.name]) for b in program.of_role("output") if b.size}
    return {name: np.array(values).T for name, values in outputs.items()}


def rates(model: bough.Model, program: Program, inputs: Mapping[str, Any], motions: Mapping[str, Any]) -> Any:
    """The rates of all outputs, one after the other, as each input moves along the motion that is called d-input."""
    changed = {name: moved(model, name, x, motions[f"d{name}"]) for name, x in inputs.items()}
    return np.concatenate([y.imag / STEP for y in run(program, changed).values()])


def moved(model: bough.Model, name: str, x: Any, motion: Any) -> Any:
    """An input, a tiny imaginary step along a motion from where it was."""
    return _moved(model, name, np.ravel(x), STEP * 1j * np.ravel(motion))


def _moved(model: bough.Model, name: str, x: Any, step: Any) -> Any:
    if name not in ("q", "q0", "q1"):
        return x + step
    return run(bough.function("integrate", model).program(), {"q": x, "v": step})["result"]


def jacobian(model: bough.Model, program: Program, inputs: Mapping[str, Any], name: str) -> Any:
    """The rates of all outputs, one after the other in rows, as an input moves along each direction."""
    size = model.nv if name in ("q", "q0", "q1") else np.size(inputs[name])
    step, flat = STEP * 1j * np.eye(size), {key: np.ravel(x) for key, x in inputs.items()}
    found = run(program, {**flat, name: _moved(model, name, flat[name], step)}).values()
    return np.concatenate([np.broadcast_to(y.imag / STEP, (size, y.shape[-1])).T for y in found])
