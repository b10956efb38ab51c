"""Functions on arrays of JAX: a primitive that calls a function of bough, and knows its derivatives and its batch axes.

The rate of a call is a call of the jvp of its function. Such a call is linear in the rates, and its transpose is a call
of the vjp. So `grad`, `jacfwd`, `jacrev` and all they are made of work, to any order, within `jit` and without; axes of
`vmap` become batch axes. Derivatives by q are by its nq numbers, without a part along quaternions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from bough.errors import ProgramError, ShapeError
from bough.kernel.arguments import as_floats, broadcast, leading_axes
from bough.kernel.derived import derived, origin_of
from bough.kernel.jax_targets import target
from bough.reading import library_within

if TYPE_CHECKING:
    from bough.kernel.function import Function

__all__ = ["as_floating", "as_numbers", "run"]

CALL = Primitive("bough")
CALL.multiple_results = True


def run(function: Function, values: Sequence[Any], out: Any, check: bool) -> Any:
    """Run a function on arrays of JAX, and other arguments."""
    if out is not None:
        raise ShapeError(
            f"{function.called} was given out= and arrays of JAX, expected arrays of NumPy: these are fixed"
        )
    given = {a.name: x for a, x in zip(function.inputs, values, strict=True) if x is not None}
    dtype = _common_type(given)
    results = _bound(function, {name: as_numbers(name, x, dtype) for name, x in given.items()}, bool(check))
    return results[0] if len(results) == 1 else tuple(results)


def as_floating(name: str, x: Any, like: Any) -> Any:
    """An array of JAX, or of NumPy, as one of floats of JAX; all of them lie where JAX wants them."""
    return as_numbers(name, x, _common_type({name: x}))


def as_numbers(name: str, x: Any, dtype: Any) -> Any:
    """An argument as an array of JAX, of a data type; what is no array of real numbers is refused by name."""
    if library_within(x) is None:
        x = as_floats(name, x, ())
    elif hasattr(x, "dtype"):
        _require_real(name, x.dtype)
    return jnp.asarray(x, dtype)


def _common_type(given: dict[str, Any]) -> Any:
    """What all are computed in: float32 if some array has few digits and none has float64, else JAX's own float."""
    types = [x.dtype for x in given.values() if hasattr(x, "dtype")]
    floats = [x for x in types if jnp.issubdtype(x, jnp.floating)]
    return jnp.dtype(np.float32) if floats and all(x != np.float64 for x in floats) else jnp.result_type(float)


def _require_real(name: str, dtype: Any) -> None:
    """Raise for data types of which no real numbers are: truth values, complex numbers, keys of random numbers."""
    if not any(jnp.issubdtype(dtype, kind) for kind in (jnp.floating, jnp.integer)):
        raise ShapeError(f"{name} has data type {dtype}, expected real numbers (float64 or float32)")


def _bound(function: Function, given: dict[str, Any], check: bool) -> list[Any]:
    """A call, on inputs by name."""
    present = tuple(a.name for a in function.inputs if a.name in given)
    found: list[Any] = CALL.bind(*(given[name] for name in present), function=function, present=present, check=check)
    return found


def _shapes(*arrays: Any, function: Function, present: tuple[str, ...], check: bool) -> list[Any]:
    """The results of a call, without their values."""
    arguments = {a.name: a for a in function.inputs}
    given = [(arguments[name], tuple(x.shape)) for name, x in zip(present, arrays, strict=True)]
    batch = broadcast((a.name, leading_axes(a.name, shape, a.shape, a.meaning)) for a, shape in given)
    single = all(x.dtype == np.float32 for x in arrays)
    dtype = np.dtype(np.float32 if single else np.float64)
    return [jax.core.ShapedArray((*batch, *a.shape), dtype) for a in function.outputs]


def _computed(*arrays: Any, function: Function, present: tuple[str, ...], check: bool) -> tuple[Any, ...]:
    given = dict(zip(present, map(np.asarray, arrays), strict=True))
    results = function.entry(*(given.get(a.name) for a in function.inputs), None, check)
    return results if isinstance(results, tuple) else (results,)


def _called_back(*arrays: Any, **call: Any) -> Any:
    """A call within a program of XLA, which comes back to Python for it."""
    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in _shapes(*arrays, **call)]
    return jax.pure_callback(lambda *x: _computed(*x, **call), tuple(shapes), *arrays, vmap_method="sequential")


def _called_straight(*arrays: Any, **call: Any) -> Any:
    """A call within a program of XLA on the CPU: machine code calls machine code, where that can be."""
    function, present = call["function"], call["present"]
    ranks = {a.name: len(a.shape) for a in function.inputs}
    results = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in _shapes(*arrays, **call)]
    batch = results[0].shape[: len(results[0].shape) - len(function.outputs[0].shape)]
    whole = []
    for name, x in zip(present, arrays, strict=True):
        own = x.ndim - ranks[name]
        x = x if x.shape[:own] in ((), batch) else jnp.broadcast_to(x, (*batch, *x.shape[own:]))
        whole.append(x.astype(results[0].dtype))
    shapes = tuple(tuple(x.shape) for x in whole)
    found = target(function, present, shapes, batch, (str(results[0].dtype), call["check"]))
    return _called_back(*arrays, **call) if found is None else jax.ffi.ffi_call(found, results)(*whole)


def _moved(primals: Sequence[Any], tangents: Sequence[Any], **call: Any) -> tuple[list[Any], list[Any]]:
    """Forward mode: the results, and their rates by the jvp."""
    function, present, check = call["function"], call["present"], call["check"]
    given = dict(zip(present, primals, strict=True))
    rates = {name: x for name, x in zip(present, tangents, strict=True) if not isinstance(x, ad.Zero)}
    along = derived(function, "jvp", tuple(rates), ambient=True)
    moving = {origin_of(along).taken[name]: x for name, x in rates.items()}
    return CALL.bind(*primals, **call), _bound(along, {**given, **moving}, check)


def _transposed(weights: Sequence[Any], *arrays: Any, **call: Any) -> list[Any]:
    """Reverse mode: from weights of the rates that a jvp gives to weights of those that it takes, by the vjp."""
    function, present, check = call["function"], call["present"], call["check"]
    given = dict(zip(present, arrays, strict=True))
    linear = {name: x.aval for name, x in given.items() if ad.is_undefined_primal(x)}
    from_where = function.derived_from
    if from_where is None or from_where.kind != "jvp" or not linear.keys() <= set(from_where.taken.values()):
        raise ProgramError(
            f"{function.called} is transposed as if it were linear in {', '.join(linear)}, and is not known to be so; "
            "expected jax.vjp or jax.grad, or jax.linear_transpose of what jax.linearize returns"
        )
    origin, _, rates = from_where
    wrt = tuple(x for x, name in rates.items() if name in linear)
    back = derived(origin, "vjp", wrt, ambient=True)
    zeros = [jnp.zeros(w.aval.shape, w.aval.dtype) if isinstance(w, ad.Zero) else w for w in weights]
    bars = {origin_of(back).taken[a.name]: w for a, w in zip(origin.outputs, zeros, strict=True)}
    known = {a.name: given[a.name] for a in origin.inputs if a.name in given}
    by_name = dict(zip((rates[x] for x in wrt), _bound(back, {**known, **bars}, check), strict=True))
    return [_summed(by_name[name], linear[name]) if name in linear else None for name in present]


def _summed(x: Any, like: Any) -> Any:
    """Summed over the batch axes along which an argument was the same."""
    x = x.sum(axis=tuple(range(x.ndim - like.ndim)))
    same = tuple(k for k in range(like.ndim) if like.shape[k] == 1 and x.shape[k] != 1)
    return x.sum(axis=same, keepdims=True).astype(like.dtype)


def _mapped(arrays: Sequence[Any], axes: Sequence[Any], **call: Any) -> tuple[list[Any], list[int]]:
    """The axis of vmap in front of all batch axes, those that others have too."""
    ranks = {a.name: len(a.shape) for a in call["function"].inputs}
    named = zip(call["present"], arrays, axes, strict=True)
    own = [x.ndim - ranks[name] - (at is not None) for name, x, at in named]
    moved = []
    for x, at, batch in zip(arrays, axes, own, strict=True):
        if at is not None:
            x = jnp.moveaxis(x, at, 0)
            x = x.reshape(x.shape[:1] + (1,) * (max(own) - batch) + x.shape[1:])
        moved.append(x)
    results = CALL.bind(*moved, **call)
    return results, [0] * len(results)


CALL.def_abstract_eval(_shapes)
CALL.def_impl(lambda *arrays, **call: [jnp.asarray(x) for x in _computed(*arrays, **call)])
mlir.register_lowering(CALL, mlir.lower_fun(_called_back, multiple_results=True))
mlir.register_lowering(CALL, mlir.lower_fun(_called_straight, multiple_results=True), platform="cpu")
ad.primitive_jvps[CALL] = _moved
ad.primitive_transposes[CALL] = _transposed
batching.primitive_batchers[CALL] = _mapped
