"""Functions on tensors of PyTorch: memory is shared both ways, and gradients are functions of bough again.

A call becomes a node of autograd whose backward pass is the vjp of the function, called in the same way, so it can be
differentiated in turn; forward mode is its jvp. Axes that `torch.vmap` adds become batch axes. Derivatives by q are by
its nq numbers here: times the rate of q along any motion they give the rate of the result, and they have no part along
a quaternion. With quaternions that are normalised, the chain rule of autograd is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.autograd import forward_ad

from bough.backends import Argument
from bough.errors import ShapeError
from bough.kernel.arguments import REAL, as_floats
from bough.kernel.derived import derived, origin_of

if TYPE_CHECKING:
    from bough.kernel.function import Function

__all__ = ["as_floating", "axis_first", "results_of", "run"]

FLOATS = (torch.float64, torch.float32)


def run(function: Function, values: Sequence[Any], out: Any, check: bool) -> Any:
    """Run a function on tensors, and other arguments."""
    if out is not None:
        raise ShapeError(f"{function.called} was given out= and tensors, expected arrays of NumPy: tensors are results")
    like = next(x for x in values if isinstance(x, torch.Tensor))
    present = tuple(a.name for a, x in zip(function.inputs, values, strict=True) if x is not None)
    dtype = _common_type(values)
    tensors = [_tensor(a, x, like, dtype) for a, x in zip(function.inputs, values, strict=True) if x is not None]
    return _called(function, present, bool(check), *tensors)


def results_of(function: Function, present: tuple[str, ...], check: bool, *tensors: torch.Tensor) -> Any:
    """The results as tensors, without gradients."""
    tensors = tuple(x.detach().resolve_neg() for x in tensors)
    if tensors and tensors[0].is_cuda:
        given = dict(zip(present, tensors, strict=True))
        values = [given.get(a.name) for a in function.inputs]
        return function.on_device().form(values).device([x for x in values if x is not None], None, check)
    given = dict(zip(present, (x.numpy() for x in tensors), strict=True))
    results = function.entry(*(given.get(a.name) for a in function.inputs), None, check)
    return tuple(map(_from_array, results)) if isinstance(results, tuple) else _from_array(results)


def _called(function: Function, present: tuple[str, ...], check: bool, *tensors: torch.Tensor) -> Any:
    """The results of a function, as autograd or a transformation of functions wants them; straight if nobody asks."""
    if torch._C._are_functorch_transforms_active():
        return _Transformed.apply(function, present, check, *tensors)
    if forward_ad._current_level >= 0 or (torch.is_grad_enabled() and any(x.requires_grad for x in tensors)):
        return _Call.apply(function, present, check, *tensors)
    return results_of(function, present, check, *tensors)


def as_floating(name: str, x: Any, like: Any) -> torch.Tensor:
    """A tensor, or an array of NumPy, as a tensor of floats on the CPU or a GPU, beside another one if there is one."""
    tensor = torch.from_numpy(x) if isinstance(x, np.ndarray) else x
    if like is not None and not isinstance(x, torch.Tensor):
        tensor = tensor.to(like.device)
    _require_numbers(name, tensor, tensor if like is None else like)
    return tensor if tensor.dtype in FLOATS else tensor.to(torch.float64)


def _common_type(values: Sequence[Any]) -> torch.dtype:
    """float32 if some array is of it and none of float64; lists and integers take the type of the others."""
    types = {getattr(x, "dtype", None) for x in values}
    if types & {torch.float64, np.dtype(np.float64)} or not types & {torch.float32, np.dtype(np.float32)}:
        return torch.float64
    return torch.float32


def _tensor(a: Argument, x: Any, like: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    if not isinstance(x, torch.Tensor):
        native = np.float64 if dtype == torch.float64 else np.float32
        own = np.array(as_floats(a.name, x, a.shape, a.meaning), native)  # PyTorch takes no gaps, nor what is read-only
        return torch.from_numpy(own).to(like.device)
    _require_numbers(a.name, x, like)
    return x if x.dtype == dtype else x.to(dtype)


def _require_numbers(name: str, x: torch.Tensor, like: torch.Tensor) -> None:
    """Raise, naming it, unless a tensor has real numbers on the CPU or a GPU, where another one lies."""
    if x.device.type not in ("cpu", "cuda"):
        raise ShapeError(f"{name} is a tensor on {x.device}, expected one on the CPU or on a GPU of CUDA")
    if x.device != like.device:
        raise ShapeError(f"{name} is a tensor on {x.device}, and other arguments are on {like.device}")
    if x.layout != torch.strided:
        raise ShapeError(f"{name} is a tensor of layout {x.layout}, expected torch.strided, as `to_dense()` makes it")
    if x.dtype.is_complex or x.dtype == torch.bool:
        raise ShapeError(f"{name} has data type {x.dtype}, expected {REAL}")


class _Call(torch.autograd.Function):  # type: ignore[misc]
    """One call of a function: takes it, the names of the inputs that are given, `check`, and a tensor for each."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> Any:
        """The results as tensors, and what both modes need."""
        _keep(ctx, given)
        return results_of(*given)

    @staticmethod
    def backward(ctx: Any, *weights: torch.Tensor) -> Any:
        """The gradient by each tensor that needs one."""
        tensors, first = ctx.saved_tensors, 3
        wanted = [n for n, needed in zip(ctx.present, ctx.needs_input_grad[first:], strict=True) if needed]
        gradients = _derived(ctx, "vjp", wanted, tensors, [a.name for a in ctx.function.outputs], weights)
        found = dict(zip(wanted, gradients, strict=True))
        given = zip(ctx.present, tensors, strict=True)
        return (None,) * first + tuple(
            found[name].sum_to_size(x.shape).to(x.dtype) if name in found else None for name, x in given
        )

    @staticmethod
    def jvp(ctx: Any, *rates: Any) -> Any:
        """The rates of the results, where some tensors have rates."""
        tensors = ctx.saved_tensors
        moving = {name: rate for name, rate in zip(ctx.present, rates[3:], strict=True) if rate is not None}
        found = _derived(ctx, "jvp", list(moving), tensors, list(moving), list(moving.values()))
        return found[0] if len(ctx.function.outputs) == 1 else found


class _Transformed(torch.autograd.Function):  # type: ignore[misc]
    """The same within transformations of `torch.func`, which want to see what is kept apart from what is computed."""

    backward, jvp = _Call.backward, _Call.jvp

    @staticmethod
    def forward(*given: Any) -> Any:
        """The results as tensors."""
        return results_of(*given)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """What both modes need."""
        _keep(ctx, inputs)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[Any, ...], function: Function, present: tuple[str, ...], check: bool, *tensors: Any
    ) -> Any:
        """The axis of vmap as the first batch axis."""
        results = _called(function, present, check, *axis_first(function, present, tensors, in_dims[3:]))
        return results, (0,) * len(results) if isinstance(results, tuple) else 0


def axis_first(
    function: Function, present: Sequence[str], tensors: Sequence[torch.Tensor], axes: Sequence[int | None]
) -> list[torch.Tensor]:
    """Tensors whose axis of vmap, where they have one, is in front of all batch axes, those that others have too."""
    ranks = {a.name: len(a.shape) for a in function.inputs}
    own = [x.ndim - ranks[name] - (at is not None) for name, x, at in zip(present, tensors, axes, strict=True)]
    moved = []
    for x, at, batch in zip(tensors, axes, own, strict=True):
        if at is not None:
            x = x.movedim(at, 0)
            x = x.reshape(x.shape[:1] + (1,) * (max(own) - batch) + x.shape[1:])
        moved.append(x)
    return moved


def _keep(ctx: Any, given: tuple[Any, ...]) -> None:
    ctx.function, ctx.present, ctx.check, *tensors = given
    ctx.save_for_backward(*tensors)
    ctx.save_for_forward(*tensors)


def _derived(
    ctx: Any, kind: Any, wrt: list[str], tensors: Sequence[Any], names: Sequence[str], more: Sequence[Any]
) -> tuple[Any, ...]:
    """The results of a derivative of the function of a call, at the tensors of the call."""
    function = derived(ctx.function, kind, wrt, ambient=True)
    given = dict(zip(ctx.present, tensors, strict=True))
    given |= {origin_of(function).taken[name]: x for name, x in zip(names, more, strict=True)}
    present = tuple(a.name for a in function.inputs if a.name in given)
    results = _called(function, present, ctx.check, *(given[name] for name in present))
    return results if isinstance(results, tuple) else (results,)


def _from_array(a: Any) -> torch.Tensor:
    """A tensor on the memory of an array; on its own if that is read-only."""
    return torch.from_numpy(a if a.flags.writeable else a.copy())
