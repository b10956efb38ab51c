"""Functions of models some of whose numbers are inputs: payloads, randomised models, identification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.backends import Argument
from bough.errors import ModelError, UnknownNameError
from bough.kernel.arguments import DOUBLE, SINGLE, FloatArray, are_single, as_floats, broadcast, require_finite
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.functions import (
    digest_of,
    inputs_of,
    layout,
    manifolds_of,
    naming_the_massless,
    outputs_of,
    owners_of,
    require_independent,
    require_known_bodies,
    require_regular,
)
from bough.kernel.loops.careful import CAREFUL, Run, mending
from bough.kernel.specs import Options, spec
from bough.kernel.tensors import foreign_packed
from bough.model import Mechanism, Model, Parameter, Parameters
from bough.model.inertia import negative_moment
from bough.scalar import Array, Part
from bough.scalar.lazy import cached_property

__all__ = ["Packing", "ParametricFunction", "with_parameters"]


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
    def packed(self) -> Packing:
        """Gives values of parameters in one array (..., size), those of the model where none are given."""
        return Packing(self.parameters, "function")


class Packing:
    """Parameters one after the other in one array (..., size), as in the model where none are given; `of` what."""

    def __init__(self, parameters: Iterable[Parameter], of: str) -> None:
        self._known, self._kind = {p.name: p for p in parameters}, f"parameter of this {of}"
        ends = np.cumsum([0, *(p.size for p in self._known.values())]).tolist()
        self.size, self.starts = ends[-1], dict(zip(self._known, ends, strict=False))
        self._defaults = np.concatenate([np.zeros(0), *(np.ravel(p.values) for p in self._known.values())])
        self._defaults.setflags(write=False)

    def __call__(self, values: Mapping[str, ArrayLike] | ArrayLike | None = None) -> FloatArray:
        """Some values by name, or all of them in one array."""
        if values is None:
            return self._defaults
        elsewhere = foreign_packed(self._known, values, self._kind)
        if elsewhere is not None:
            return elsewhere  # type: ignore[no-any-return]
        if not isinstance(values, Mapping):
            return as_floats("parameters", values, (self.size,), self._meaning)
        parts = {name: self._part(name, value) for name, value in values.items()}
        batch = broadcast(((name, a.shape[:-1]) for name, a in parts.items()), " of parameters")
        single = len(parts) == len(self._known) and are_single(parts.values())
        whole: FloatArray = np.empty((*batch, self.size), SINGLE if single else DOUBLE)
        whole[...] = self._defaults
        for name, a in parts.items():
            whole[..., self.starts[name] : self.starts[name] + a.shape[-1]] = a
        return whole

    def _part(self, name: str, value: Any) -> FloatArray:
        """The value (..., size) of one parameter."""
        p = self._known.get(name)
        if p is None:
            raise UnknownNameError(self._kind, name, self._known)
        if type(value) is float and not p.shape:
            return np.array([value])
        a = as_floats(name, value, p.shape, p.meaning)
        return a.reshape(*a.shape[: a.ndim - len(p.shape)], p.size)

    @property
    def _meaning(self) -> str:
        return f"{', '.join(self._known)}, one after the other"

    @property
    def argument(self) -> Argument:
        """The input (size,) that they are, and what is asked of it."""
        asked: dict[str, Any] = {"quaternions": (), "not_negative": (), "inertias": ()}
        for p, start in zip(self._known.values(), self.starts.values(), strict=True):
            asked["quaternions"] += tuple(start + k for k in p.quaternions)
            asked["not_negative"] += tuple(start + k for k in p.not_negative)
            asked["inertias"] += tuple(tuple(start + k for k in places) for places in p.inertias)
        return Argument("parameters", (self.size,), self._meaning, **asked)

    def require_physical(self, values: FloatArray) -> None:
        """Raise, naming the parameter, if one of the packed values (..., size) cannot be that of a mechanism."""
        for p, start in zip(self._known.values(), self.starts.values(), strict=True):
            part = values[..., start : start + p.size]
            require_finite(p.name, part.reshape((*part.shape[:-1], *p.shape)))
            least = part[..., [*p.not_negative]].min(initial=0.0)
            if least < 0.0:
                raise ModelError(f"{p.name} is {least:g}, expected a number that is not negative: {p.meaning}")
            for places in p.inertias:
                moment = negative_moment(part[..., [*places]])
                if moment is not None:
                    got = f"{p.name} has the negative principal moment {moment:g} kg m²"
                    raise ModelError(f"{got}, expected none: {p.meaning}")


def with_parameters(model: Model, key: tuple[Any, ...]) -> ParametricFunction:
    """An algorithm on a model, with parameters: the key has its name, options and parameters, and what it is called."""
    name, options, parameters, *called = key
    require_known_bodies(model, name)
    row, mechanism = spec(name), Mechanism(model, parameters)
    packing = Packing(parameters, "function")

    def rule(**x: Array) -> Mapping[str, Any]:
        values = x.pop("parameters")
        return row.run(mechanism.taking({p: Part(values, start) for p, start in packing.starts.items()}), options, x)

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        def rows(some: Any, q: FloatArray) -> FloatArray:
            values = np.broadcast_to(arrays["parameters"], (*verdicts.shape, packing.size))[some]
            matrix = with_parameters(model, ("crba_packed", Options(), parameters))
            return matrix(q, parameters=values, check=False)  # type: ignore[no-any-return]

        require_regular(model, verdicts, arrays["q"], rows)
        require_independent(options, verdicts)
        return results

    def run(some: dict[str, FloatArray]) -> Run:
        """On the model with the parameters of some states."""
        return lambda name, arrays: with_parameters(model, (name, Options(), parameters)).entry(
            *map(arrays.get, spec(name).inputs), some["parameters"], None, True
        )

    owners: dict[Any, str] = {**owners_of(model)}
    for p in parameters:
        owners |= {("parameters", packing.starts[p.name] + k): f"parameter {p.name!r}: " for k in p.quaternions}
    made = ParametricFunction(
        name,
        [*inputs_of(model, name, options), packing.argument],
        outputs_of(model, name, options),
        rule,
        size=model.nv,
        digest=lambda: digest_of(mechanism, name, options),
        explain=mending(model, name, options, run) if name in CAREFUL else explain,
        tracing=lambda: naming_the_massless(model),
        owners=owners,
        of=model.name,
        layout=layout(model, parameters),
        manifolds=manifolds_of(model),
        mends=name in CAREFUL,
    )
    made.parameters, made.in_double = parameters, name in CAREFUL
    made.called = called[0] if called else made.called
    made.look_closer = lambda arrays: packing.require_physical(arrays["parameters"])
    return made
