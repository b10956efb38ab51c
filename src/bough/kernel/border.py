"""The array border: shapes, data types, finiteness and broadcasting of what users pass, and `out=`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.backends import Kernel
from bough.errors import FiniteError, ShapeError

__all__ = ["FloatArray", "Shape", "as_floats", "batch_shape", "call", "many", "require_finite", "write_out"]

FloatArray: TypeAlias = NDArray[np.floating[Any]]
Shape: TypeAlias = tuple[int, ...]


def as_floats(name: str, value: ArrayLike, trailing: Shape, meaning: str = "") -> FloatArray:
    """An array of float64 or float32 whose last axes have the shape `trailing`."""
    try:
        a = np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"{name} is not a rectangular array: {error}") from None
    if a.dtype not in (np.float64, np.float32):
        if not np.can_cast(a.dtype, np.float64) or a.dtype == np.bool_:
            raise ShapeError(f"{name} has data type {a.dtype}, expected real numbers (float64 or float32)")
        a = a.astype(np.float64)
    if a.ndim < len(trailing) or a.shape[a.ndim - len(trailing) :] != trailing:
        expected = "(" + ", ".join(["...", *map(str, trailing)]) + ")"
        raise ShapeError(f"{name} has shape {a.shape}, expected {expected}" + (f": {meaning}" if meaning else ""))
    return a


def require_finite(name: str, a: FloatArray) -> None:
    """Raise unless every entry is finite."""
    finite = np.isfinite(a)
    if not finite.all():
        place = tuple(int(k) for k in np.argwhere(~finite)[0])
        raise FiniteError(f"{name}{list(place)} is {a[place]}, expected finite numbers")


def many(
    kernel: Kernel, inputs: tuple[object, ...], shape: Shape, out: object = None, check: bool = True
) -> FloatArray | None:
    """The first output of a kernel straight from machine code, if there is some and the arrays are plain; else None."""
    straight = getattr(kernel, "many", None)
    result: FloatArray | None = None if straight is None else straight(inputs, shape, out, check)
    return result


def call(
    kernel: Kernel,
    inputs: Mapping[str, tuple[FloatArray, int]],
    outputs: Mapping[str, Shape],
    out: FloatArray | None = None,
) -> dict[str, FloatArray]:
    """Run a kernel on arrays with any leading batch axes.

    Parameters
    ----------
    inputs
        For each input the array and the number of its trailing axes that belong to one state.
    outputs
        For each output the shape for one state.
    out
        Where to write the first output; must have exactly the right shape and data type.
    """
    batch = batch_shape(inputs)
    dtype = np.result_type(*(a.dtype for a, _ in inputs.values()))
    states = math.prod(batch)
    flat = {name: _flat(a, axes, batch, states) for name, (a, axes) in inputs.items()}
    sizes = {name: math.prod(shape) for name, shape in outputs.items()}
    results = {name: np.empty((states, size), dtype) for name, size in sizes.items()}
    kernel(flat, results)
    shaped = {name: a.reshape(batch + outputs[name]) for name, a in results.items()}
    if out is not None:
        first = next(iter(outputs))
        shaped[first] = write_out(out, shaped[first])
    return shaped


def batch_shape(inputs: Mapping[str, tuple[FloatArray, int]]) -> Shape:
    """The batch axes of arrays, broadcast; with each array the number of its trailing axes that belong to one state."""
    leading = {name: a.shape[: a.ndim - axes] for name, (a, axes) in inputs.items()}
    try:
        return np.broadcast_shapes(*leading.values())
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in leading.items() if shape)
        raise ShapeError(f"the batch axes do not broadcast: {shapes}") from None


def write_out(out: object, result: FloatArray) -> FloatArray:
    """Copy a result to the array the caller gave for it."""
    if not isinstance(out, np.ndarray) or out.shape != result.shape or out.dtype != result.dtype:
        got = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ShapeError(f"out is {got}, expected an array of {result.dtype} {result.shape}")
    if not out.flags.writeable:
        raise ShapeError("out is read-only, expected an array that can be written")
    out[...] = result
    return out


def _flat(a: FloatArray, axes: int, batch: Sequence[int], states: int) -> FloatArray:
    trailing = a.shape[a.ndim - axes :]
    return np.broadcast_to(a, (*batch, *trailing)).reshape(states, math.prod(trailing))
