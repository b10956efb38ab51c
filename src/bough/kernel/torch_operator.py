"""Functions as operators of PyTorch: what `torch.compile` takes as a whole, without looking inside.

An operator has a schema, says which shapes it gives without computing, and its gradient is the operator of the vjp.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from bough.kernel.derived import derived, origin_of
from bough.kernel.torch_tensors import axis_first, results_of

if TYPE_CHECKING:
    from bough.kernel.function import Function

__all__ = ["operator"]

_numbers = itertools.count()


def operator(function: Function, present: tuple[str, ...]) -> Callable[..., Any]:
    """The operator of a function that is given some of its inputs, in this order."""
    key = ("operator", present)
    if key not in function.operators:
        function.operators[key] = _registered(function, present)
    made: Callable[..., Any] = function.operators[key]
    return made


def _registered(function: Function, present: tuple[str, ...]) -> Callable[..., Any]:
    inputs = {a.name: a for a in function.inputs}
    plain = re.sub(r"\W+", "_", function.name)
    taken = ", ".join(f"Tensor {re.sub(r'[^0-9a-zA-Z_]', '_', name)}" for name in present)
    given = ", ".join(["Tensor"] * len(function.outputs))
    schema = f"({taken}) -> {given if len(function.outputs) == 1 else f'({given})'}"

    def compute(*tensors: torch.Tensor) -> Any:
        return results_of(function, present, True, *tensors)

    def shapes(*tensors: torch.Tensor) -> Any:
        leading = (x.shape[: x.ndim - len(inputs[name].shape)] for name, x in zip(present, tensors, strict=True))
        batch = torch.broadcast_shapes(*leading)
        single = all(x.dtype == torch.float32 for x in tensors)
        dtype = torch.float32 if single else torch.float64
        made = tuple(torch.empty((*batch, *a.shape), dtype=dtype) for a in function.outputs)
        return made[0] if len(made) == 1 else made

    def keep(ctx: Any, inputs: Sequence[torch.Tensor], output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def backward(ctx: Any, *weights: torch.Tensor) -> Any:
        wanted = tuple(name for name, needed in zip(present, ctx.needs_input_grad, strict=True) if needed)
        vjp = derived(function, "vjp", wanted, ambient=True)
        known = dict(zip(present, ctx.saved_tensors, strict=True))
        known |= dict(zip(origin_of(vjp).taken.values(), weights, strict=True))
        order = tuple(a.name for a in vjp.inputs if a.name in known)
        found = operator(vjp, order)(*(known[name].contiguous() for name in order))
        gradients = dict(zip(wanted, found if isinstance(found, tuple) else (found,), strict=True))
        tensors = zip(present, ctx.saved_tensors, strict=True)
        return tuple(gradients[n].sum_to_size(x.shape).to(x.dtype) if n in gradients else None for n, x in tensors)

    def mapped(info: Any, axes: tuple[Any, ...], *tensors: torch.Tensor) -> Any:
        results = made(*axis_first(function, present, tensors, axes))
        return results, (0,) * len(results) if isinstance(results, tuple) else 0

    made = torch.library.custom_op(f"bough::{plain}_{next(_numbers)}", compute, mutates_args=(), schema=schema)
    made.register_fake(shapes)
    made.register_autograd(backward, setup_context=keep)
    made.register_vmap(mapped)
    result: Callable[..., Any] = made
    return result
