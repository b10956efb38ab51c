"""What acts in a run, read once: arrays that fit the inputs of a step, and batch axes that fit those of the states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.backends import Argument
from bough.errors import ShapeError
from bough.kernel.arguments import FloatArray, as_floats, broadcast
from bough.kernel.tensors import is_tensor
from bough.model import Parameter
from bough.reading import shown
from bough.simulation.arguments import read_acting, read_values, require_gains

__all__ = ["Acting", "Controller"]

Controller = Callable[[float, FloatArray, FloatArray], "ArrayLike | Mapping[str, ArrayLike]"]
"""From time (s), q and v to joint forces, or to any of tau, control, target, kp, kd, f_ext by name."""


class Acting:
    """What may act in a run, by name: the inputs of a step, and the parameters that come with every state.

    `tell` is called where there are targets: it warns of joints that they do not move.
    """

    def __init__(self, inputs: Sequence[Argument], parameters: Sequence[Parameter], tell: Callable[[], Any]) -> None:
        self._inputs, self._parameters, self._tell = {a.name: a for a in inputs}, parameters, tell

    def read(self, given: Mapping[str, Any], kind: str, of: str = "") -> dict[str, Any]:
        """Arrays of its own; lone numbers and what is None as they are. `kind` and `of` what are for errors."""
        read_acting(given, kind)
        if given.get("target") is not None:
            self._tell()
        return {name: None if x is None else self._value(name, x, of) for name, x in given.items()}

    def _value(self, name: str, x: Any, of: str) -> Any:
        if name == "parameters":
            x = read_values(self._parameters, x)
        elif name in ("kp", "kd") and not isinstance(x, list | tuple) and np.ndim(x) == 0:
            return as_floats(of + name, x, ()).item() if is_tensor(x) else x
        a = self._inputs[name]
        value = np.array(as_floats(of + name, x, a.shape, a.meaning))
        if name in ("kp", "kd"):
            require_gains(of + name, value)
        return value

    def of_one_state(self, given: Mapping[str, Any], kind: str) -> dict[str, Any]:
        """What was given of what acts on all runs of a sweep, which are batches already."""
        found = {name: x for name, x in self.read(given, kind).items() if x is not None}
        for name, x in found.items():
            if self._leading(name, x):
                more = f"grid={{{name!r}: ...}} or table= have one for each run"
                raise ShapeError(f"{name} has shape {np.shape(x)}, expected {self._inputs[name].shape}; {more}")
        return found

    def begin(
        self, q: FloatArray, v: FloatArray, given: Mapping[str, Any], resumes: bool
    ) -> tuple[FloatArray, FloatArray]:
        """The states to begin with, a batch of what acts as well; a run that goes on has those it had."""
        leading = [("q", q.shape[:-1]), *((name, self._leading(name, x)) for name, x in given.items())]
        batch = broadcast(leading)
        if resumes:
            self._require_fit(given, q.shape[:-1])
        q, v = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v))
        return np.array(q), np.array(v)

    def asked(self, controller: Controller) -> Callable[[float, FloatArray, FloatArray], dict[str, Any]]:
        """A controller whose results are looked at; it has a state of its own to work with, and so has who keeps it."""

        def orders(time: float, q: FloatArray, v: FloatArray) -> dict[str, Any]:
            given: Any = controller(time, np.array(q), np.array(v))
            if given is None:
                raise ShapeError(
                    f"the controller returned {shown(given)} at {time:.6g} s, expected joint forces (..., nv), or a "
                    "dictionary with any of tau, control, target, kp, kd and f_ext ({} to leave all as it is)"
                )
            if not isinstance(given, Mapping):
                given = {"tau": given}
            found = self.read(given, "thing that a controller could return", "the controller's ")
            self._require_fit(found, q.shape[:-1], "the controller's ")
            return found

        return orders

    def _leading(self, name: str, x: Any) -> tuple[int, ...]:
        """The batch axes of something that was read."""
        shape: tuple[int, ...] = np.shape(x)
        return shape[: max(0, len(shape) - len(self._inputs[name].shape))]

    def _require_fit(self, given: Mapping[str, Any], batch: tuple[int, ...], of: str = "") -> None:
        for name, x in given.items():
            leading = self._leading(name, x)
            own = zip(reversed(leading), reversed(batch), strict=False)
            if len(leading) > len(batch) or any(n not in (1, whole) for n, whole in own):
                tail = self._inputs[name].shape
                expected = f"{(*batch, *tail)}, or {tail} for all states" if batch else f"{tail}: there is one state"
                raise ShapeError(f"{of}{name} has shape {np.shape(x)}, expected {expected}")
