"""Arrays of other libraries: tensors of PyTorch and arrays of JAX go in, and come out with gradients.

Neither library is imported unless one of its arrays is passed. Arguments are looked at here only where machine code did
not take them as they are, so calls with NumPy arrays cost what they did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import ShapeError
from bough.kernel.arguments import is_on_device
from bough.reading import known_name

if TYPE_CHECKING:
    from bough.kernel.function import Function

__all__ = ["Foreign", "foreign", "foreign_packed"]

Foreign = Callable[["Function", Sequence[Any], Any, bool], Any]
"""What runs a function on arrays of another library: takes all inputs, `out` and `check`."""

OF_PYTHON = frozenset({np.ndarray, type(None), list, tuple, float, int})
"""What arguments are mostly, and of no other library."""


def foreign(values: Sequence[Any]) -> Foreign | None:
    """What runs functions on such arguments, if there are arrays of another library among them."""
    for x in values:
        if type(x) in OF_PYTHON:
            continue
        library = type(x).__module__.partition(".")[0]
        if library == "torch":
            from bough.kernel.torch_tensors import run as run_torch

            return run_torch
        if library in ("jax", "jaxlib") and not is_on_device(x):  # which goes straight to the GPU, if all do
            from bough.kernel.jax_arrays import run as run_jax

            return run_jax
    return None


def foreign_packed(known: Mapping[str, Any], defaults: Any, values: Any) -> Any:
    """Parameters as one array of another library, where some are arrays of it; None if none are.

    `known` are the parameters by name, `defaults` all their numbers; `values` are some by name, or all in one array.
    """
    if not isinstance(values, Mapping):
        return values if foreign((values,)) is not None else None
    library: Any = next((m for x in values.values() if (m := _module(x)) is not None), None)
    if library is None:
        return None
    as_array = getattr(library, "as_tensor", library.asarray)
    like, parts, start = next(x for x in values.values() if _module(x) is library), [], 0
    for name in values:
        known_name(name, "parameter of this function", known)
    for name, p in known.items():
        given = values[name] if name in values else defaults[start : start + p.size].tolist()
        own = as_array(given, dtype=like.dtype)
        axes = own.ndim - (len(p.shape) if name in values else 1)
        if name in values and tuple(own.shape[axes:]) != p.shape:
            raise ShapeError(f"{name} has shape {tuple(own.shape)}, expected (..., {str(p.shape)[1:]}: {p.meaning}")
        parts.append(own.reshape((*own.shape[:axes], p.size)))
        start += p.size
    batch = library.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return library.concatenate([library.broadcast_to(part, (*batch, part.shape[-1])) for part in parts], -1)


def _module(x: Any) -> Any:
    """The library of an array that has functions as NumPy has them; None for arrays of NumPy and all else."""
    library = type(x).__module__.partition(".")[0]
    if library in ("jax", "jaxlib"):
        return import_module("jax.numpy")
    return import_module("torch") if library == "torch" else None
