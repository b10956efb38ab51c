"""Functions of models some of whose numbers are inputs: payloads, randomised models, identification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.backends import Argument
from bough.errors import ShapeError, UnknownNameError
from bough.kernel.arguments import FloatArray, as_floats
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.functions import (
    inputs_of,
    layout,
    manifolds_of,
    naming_the_massless,
    outputs_of,
    owners_of,
    require_known_bodies,
    require_regular,
)
from bough.kernel.loops.careful import CAREFUL, Run, mending
from bough.kernel.specs import Options, spec
from bough.kernel.tensors import foreign_packed
from bough.model import Mechanism, Model, Parameter, Parameters
from bough.scalar import Array, Part
from bough.scalar.lazy import cached_property

__all__ = ["ParametricFunction", "packed_values", "with_parameters"]


class ParametricFunction(Function):
    """A function that takes numbers of its model as well: all else is as in `Function`.

    ``function(q, v, tau, parameters={"mass of hand": m})`` computes with these numbers in place of the model's. Each
    may have batch axes; what is left out is as in the model. Without a mapping, `parameters` is an array (..., size)
    of all of them in the order of `parameters`, each flattened.
    """

    parameters: Parameters

    def __call__(
        self,
        *arrays: ArrayLike | None,
        parameters: Mapping[str, ArrayLike] | ArrayLike | None = None,
        out: FloatArray | None = None,
        check: bool = True,
        **named: Any,
    ) -> Any:
        """Run it on arrays and parameters, which may also come last, by place."""
        if parameters is None and len(arrays) == len(self.inputs):
            *arrays, parameters = arrays  # type: ignore[assignment]
        values = self.packed(parameters)
        given = (*arrays, *named.values())
        if all(isinstance(x, np.ndarray) and x.dtype == np.float32 for x in given if x is not None):
            values = values.astype(np.float32)
        missing = len(self.inputs) - 1 - len(arrays)
        if named or missing < 0:
            return super().__call__(*arrays, out=out, check=check, parameters=values, **named)
        return self.entry(*arrays, *(None,) * missing, values, out, check)

    @cached_property
    def _defaults(self) -> FloatArray:
        """All parameters as they are in the model."""
        values = np.concatenate([np.zeros(0), *(np.ravel(p.values) for p in self.parameters)])
        values.setflags(write=False)
        return values

    @cached_property
    def _known(self) -> dict[str, Parameter]:
        return {p.name: p for p in self.parameters}

    def packed(self, values: Mapping[str, ArrayLike] | ArrayLike | None = None) -> FloatArray:
        """Values of parameters in one array (..., size), those of the model where none are given."""
        elsewhere = foreign_packed(self._known, values, "parameter of this function")
        if elsewhere is not None:
            return elsewhere  # type: ignore[no-any-return]
        return self._defaults if values is None else packed_values(self._known, values, "parameter of this function")


def packed_values(known: Mapping[str, Parameter], values: Mapping[str, ArrayLike] | ArrayLike, kind: str) -> FloatArray:
    """Values of parameters in one array (..., size), those of the model where none are given; `kind` is for errors."""
    if not isinstance(values, Mapping):
        size = sum(p.size for p in known.values())
        return as_floats("parameters", values, (size,), f"{', '.join(known)}, one after the other")
    parts: dict[str, FloatArray] = {name: np.ravel(p.values) for name, p in known.items()}
    for name, value in values.items():
        if name not in known:
            raise UnknownNameError(kind, name, known)
        p = known[name]
        a = as_floats(name, value, p.shape, p.meaning)
        parts[name] = a.reshape(*a.shape[: a.ndim - len(p.shape)], p.size)
    try:
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in parts.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape[:-1]}" for name, a in parts.items() if a.ndim > 1)
        raise ShapeError(f"the batch axes of parameters do not broadcast: {shapes}") from None
    return np.concatenate([np.broadcast_to(a, (*batch, a.shape[-1])) for a in parts.values()], axis=-1)


def with_parameters(model: Model, key: tuple[str, Options, Parameters]) -> ParametricFunction:
    """An algorithm on a model, with parameters."""
    name, options, parameters = key
    require_known_bodies(model, name)
    row, mechanism = spec(name), Mechanism(model, parameters)
    starts = np.cumsum([0, *(p.size for p in parameters)]).tolist()
    places = dict(zip((p.name for p in parameters), starts, strict=False))
    quaternions = tuple(places[p.name] + k for p in parameters for k in p.quaternions)
    free = Argument("parameters", (starts[-1],), f"{', '.join(places)}, one after the other", quaternions=quaternions)

    def rule(**x: Array) -> Mapping[str, Any]:
        values = x.pop("parameters")
        return row.run(mechanism.taking({p: Part(values, start) for p, start in places.items()}), options, x)

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        def rows(some: Any) -> FloatArray:
            matrix = with_parameters(model, ("crba_packed", Options(), parameters))
            values = np.broadcast_to(arrays["parameters"], (*verdicts.shape, starts[-1]))[some]
            q = np.broadcast_to(arrays["q"], (*verdicts.shape, model.nq))[some]
            found: FloatArray = matrix(q, parameters=values, check=False)
            return found

        require_regular(model, verdicts, rows)
        return results

    def run(some: dict[str, FloatArray]) -> Run:
        """On the model with the parameters of some states."""
        return lambda name, arrays: with_parameters(model, (name, Options(), parameters)).entry(
            *map(arrays.get, spec(name).inputs), some["parameters"], None, True
        )

    owners: dict[Any, str] = {**owners_of(model)}
    for p in parameters:
        owners |= {("parameters", places[p.name] + k): f"parameter {p.name!r}: " for k in p.quaternions}
    made = ParametricFunction(
        name,
        [*inputs_of(model, name, options), free],
        outputs_of(model, name, options),
        rule,
        size=model.nv,
        digest=lambda: None if mechanism.digest is None else "\0".join((mechanism.digest, name, repr(options))),
        explain=mending(model, name, options, run) if name in CAREFUL else explain,
        tracing=lambda: naming_the_massless(model),
        owners=owners,
        of=model.name,
        layout=layout(model, parameters),
        manifolds=manifolds_of(model),
        mends=name in CAREFUL,
    )
    made.parameters = parameters
    return made
