"""Arrays of other libraries: tensors of PyTorch and arrays of JAX go in, and come out with gradients.

Neither library is imported unless one of its arrays is passed. Arguments are looked at here only where machine code did
not take them as they are, so calls with NumPy arrays cost what they did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.kernel.arguments import FloatArray, Shape, as_floats, broadcast, is_on_device, leading_axes
from bough.kernel.dynamo import keep_out_of_graphs
from bough.reading import known_name

if TYPE_CHECKING:
    from bough.kernel.function import Function

__all__ = [
    "Foreign", "fetched_numbers", "floats_in", "foreign", "foreign_packed", "is_tensor", "joined", "known_numbers",
    "library_of", "spread",
]  # fmt: skip

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


def foreign_packed(known: Mapping[str, Any], values: Any, kind: str) -> Any:
    """Parameters as one array of another library, where some are arrays of it; None if none are.

    `known` are the parameters by name, with their numbers; `values` are some by name, or all in one array; `kind` is
    what they are called in errors.
    """
    if not isinstance(values, Mapping):
        return values if foreign((values,)) is not None else None
    library: Any = next((m for x in values.values() if (m := _module(x)) is not None), None)
    if library is None:
        return None
    as_array = getattr(library, "as_tensor", library.asarray)
    like, parts = next(x for x in values.values() if _module(x) is library), {}
    for name in values:
        known_name(name, kind, known)
    for name, p in known.items():
        value = values.get(name, p.values)
        numbers = value if _module(value) is library else np.array(as_floats(name, value, p.shape, p.meaning))
        own = as_array(numbers, dtype=like.dtype)
        parts[name] = own.reshape((*leading_axes(name, tuple(own.shape), p.shape, p.meaning), p.size))
    batch = broadcast(((name, part.shape[:-1]) for name, part in parts.items()), " of parameters")
    return library.concatenate([library.broadcast_to(part, (*batch, part.shape[-1])) for part in parts.values()], -1)


def is_tensor(x: Any) -> bool:
    """Whether something is a tensor of PyTorch."""
    return type(x) not in OF_PYTHON and type(x).__module__.partition(".")[0] == "torch"


def joined(arrays: Sequence[Any], axis: int) -> Any:
    """Arrays of one library behind each other along an axis, in that library."""
    library: Any = _module(arrays[0]) or np
    return library.concatenate(arrays, axis)


def spread(x: Any, size: int) -> Any:
    """A lone number in an array of another library as an array (size,) of it, gradients and all; None for all else."""
    library = _module(x)
    return None if library is None else library.broadcast_to(x, (size,))


def known_numbers(x: Any) -> FloatArray | None:
    """The numbers of an array of any library, to be looked at; None while a transformation or a GPU has them."""
    library = type(x).__module__.partition(".")[0]
    if is_on_device(x):
        return None
    if library == "torch":
        import torch

        return None if torch._C._are_functorch_transforms_active() else x.detach().resolve_neg().numpy()
    if library in ("jax", "jaxlib"):
        import jax

        return None if isinstance(x, jax.core.Tracer) else np.asarray(x)
    return np.asarray(x)


def fetched_numbers(x: Any) -> FloatArray | None:
    """The numbers of an array of any library, wherever they are; None while a transformation has them."""
    if is_tensor(x) and x.is_cuda:
        x = x.detach().cpu()
    elif is_on_device(x):
        return x.get() if hasattr(x, "get") else np.asarray(x)
    return known_numbers(x)


def library_of(*values: Any) -> Any:
    """What computes with some arguments: PyTorch or JAX's NumPy, if one is an array of theirs, else NumPy."""
    return next((m for x in values if type(x) not in OF_PYTHON and (m := _module(x)) is not None), np)


def floats_in(
    library: Any, name: str, value: Any, trailing: Shape, meaning: str, like: Any = None
) -> tuple[Any, FloatArray | None]:
    """An argument as an array of floats of a library, and its numbers, to be looked at.

    There are no numbers while a transformation has them. `like` is an array beside which this one is to lie.
    """
    if library is np:
        a = as_floats(name, value, trailing, meaning)
        return a, a
    if _module(value) is None:
        value = np.array(as_floats(name, value, trailing, meaning))
    if library.__name__ == "torch":
        from bough.kernel.torch_tensors import as_floating
    else:
        from bough.kernel.jax_arrays import as_floating
    x = as_floating(name, value, like)
    leading_axes(name, tuple(x.shape), trailing, meaning)
    return x, fetched_numbers(x)


def _module(x: Any) -> Any:
    """The library of an array that has functions as NumPy has them; None for arrays of NumPy and all else."""
    library = type(x).__module__.partition(".")[0]
    if library in ("jax", "jaxlib"):
        return import_module("jax.numpy")
    return import_module("torch") if library == "torch" else None


keep_out_of_graphs()
