"""A run of so many steps whose end, and all between, can be differentiated backwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ShapeError
from bough.kernel.arguments import FloatArray, as_floats
from bough.reading import shown, whole_number
from bough.simulation.arguments import ACTING, read_acting, read_start
from bough.simulation.state import State

if TYPE_CHECKING:
    from bough.simulation.derivatives import Differentiated

__all__ = ["Rollout", "rollout_of"]

VARYING = ("tau", "control", "target")
"""What may act otherwise from each sample on."""


@dataclass(frozen=True, repr=False)
class Rollout:
    """States and inputs of a run of K samples after the first. `bough.Simulation.rollout` returns it.

    Attributes
    ----------
    q, v
        Configurations (K + 1, ..., nq) and velocities (K + 1, ..., nv).
    status
        Status of each state (...), as in `bough.simulation.State`: 0 if it reached the end.
    """

    q: FloatArray
    v: FloatArray
    status: FloatArray
    _a: FloatArray
    _going: FloatArray  # (K + 1, ...) whether a state had not stopped at a sample
    _sim: Differentiated
    _acting: Mapping[str, Any]
    _hold: int

    def __repr__(self) -> str:
        batch = self.q.shape[1:-1]
        return f"<Rollout of {self._sim.model.name!r}: {len(self.q) - 1} samples{f' of {batch}' if batch else ''}>"

    def gradient(
        self, q_bar: ArrayLike, v_bar: ArrayLike, *, wrt: str | Sequence[str] | None = None
    ) -> dict[str, FloatArray]:
        """Return the gradient of a cost of the motion with respect to the initial state, the inputs and the parameters.

        Parameters
        ----------
        q_bar, v_bar
            Derivatives of the cost with respect to each configuration, along motions (K + 1, ..., nv), and each
            velocity (K + 1, ..., nv).
        wrt
            Names of the variables, as for `bough.Simulation.jacobian`. Default: q, v, and those of tau, control and
            target that were given.

        A state that stopped early (see `status`) is constant from its next sample on: these samples have no part in the
        gradient, and the others have that of the motion that led to them.

        Returns
        -------
        dict
            Gradients by name. "q" and "v" are with respect to the initial state (..., nv). "tau", "control" and
            "target" have one entry per sample except the last (K, ...). All others have one entry for the whole run.

        Examples
        --------
        >>> import bough
        >>> pendulum = bough.trees.topologies.chain(1)
        >>> run = bough.Simulation(pendulum).rollout([0.2], steps=2)
        >>> by = run.gradient(0.0 * run.v, run.v)  # of half the sum of all squares of velocities
        >>> by["q"].shape
        (1,)
        """
        sim, shape = self._sim, self.v.shape
        bars = []
        for name, given in (("q_bar", q_bar), ("v_bar", v_bar)):
            weights = as_floats(name, given, shape[-1:])
            if weights.shape != shape:
                raise ShapeError(f"{name} has shape {weights.shape}, expected {shape}: as the velocities of the run")
            bars.append(weights)
        bars = [np.where(self._going[..., np.newaxis], weights, 0.0) for weights in bars]
        asked = sim._asked(wrt, self._acting)
        wanted = list(dict.fromkeys(("q", "v", *asked)))
        found: dict[str, Any] = {}
        at_q, at_v = bars[0][-1], bars[1][-1]
        for k in reversed(range(len(self.q) - 1)):
            acting = _at(self._acting, k)
            if np.any(self.status):  # by what is not finite, perhaps
                acting = {name: _finite(x) for name, x in acting.items()}
            for q, v, a in reversed(self._between(k, acting)):
                back = sim.vjp(q, v, at_q, at_v, wrt=wanted, a=a, **acting)
                at_q, at_v = back["q"], back["v"]
                for name in back.keys() - {"q", "v"}:
                    key = (name, k) if name in VARYING else (name, 0)
                    found[key] = back[name] + found.get(key, 0.0)  # type: ignore[call-overload,index]
            at_q, at_v = at_q + bars[0][k], at_v + bars[1][k]
        results: dict[str, FloatArray] = {"q": at_q, "v": at_v}
        for name in wanted[2:]:
            if len(self.q) == 1:  # nothing acted
                results[name] = np.zeros_like(np.asarray(self._acting.get(name, 0.0), at_q.dtype))
                continue
            parts = [found[name, k] for k in range(len(self.q) - 1 if name in VARYING else 1)]  # type: ignore[index]
            results[name] = np.array(parts) if name in VARYING else parts[0]
        return {name: results[name] for name in asked}

    def _between(self, k: int, acting: Mapping[str, Any]) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """The states from a sample to before the next, made again."""
        states = [(self.q[k], self.v[k], self._a[k])]
        for _ in range(self._hold - 1):
            q, v, a = states[-1]
            states.append(self._sim.step(q, v, a=a, **acting)[:3])
        return states


def rollout_of(sim: Differentiated, q: Any, v: Any, steps: Any, hold: Any, acting: Mapping[str, Any]) -> Rollout:
    """Make the steps."""
    read_acting(acting, "argument of rollout", ACTING)
    often, given = whole_number(hold, "hold", least=1), dict(acting)
    counts = {}
    for name in VARYING:
        if given.get(name) is not None:
            given[name] = as_floats(name, given[name], ())
            if given[name].ndim < 2:
                raise ShapeError(f"{name} has shape {given[name].shape}, expected (K, ..., n) for K samples")
            counts[name] = len(given[name])
    if steps is not None:
        counts["steps"] = whole_number(steps, "steps", least=0)
    if len(set(counts.values())) != 1:
        said = ", ".join(f"{n} by {name}" for name, n in counts.items()) or shown(steps)
        raise ShapeError(f"the number of samples is {said}, expected one number, by what acts or by steps")
    start, velocity = read_start(sim.model, q, v)
    shapes = {"q": start.shape[:-1], **{name: given[name].shape[1:-1] for name in counts if name != "steps"}}
    try:
        batch = np.broadcast_shapes(*shapes.values())
    except ValueError:
        told = ", ".join(f"{shape} of {name}" for name, shape in shapes.items())
        raise ShapeError(f"the batches are {told}, expected batch axes that broadcast") from None
    start, velocity = (np.broadcast_to(x, (*batch, x.shape[-1])).astype(float) for x in (start, velocity))
    states = [State(start, velocity, np.zeros_like(velocity), np.zeros(batch), np.zeros(batch))]
    status = np.zeros(batch)
    going = [status == 0]
    for k in range(next(iter(counts.values()))):
        last = states[-1]
        made = np.where(status == 0, float(often), 0.0) if status.any() else often
        states.append(sim.step(last.q, last.v, a=last.a, steps=made, **_at(given, k)))
        status = np.maximum(status, states[-1].status)
        going.append(status == 0)
    whole = states[-1].q.shape[:-1]  # of what holds for all of it, too
    q, v, a = (np.array([np.broadcast_to(s[i], (*whole, s[i].shape[-1])) for s in states]) for i in range(3))
    return Rollout(q, v, status, a, np.array([np.broadcast_to(x, whole) for x in going]), sim, given, often)


def _finite(x: Any) -> Any:
    """What acts, without what is not finite: what acts on states that go on is finite."""
    return x if x is None or isinstance(x, Mapping) else np.where(np.isfinite(x), x, 0.0)


def _at(acting: Mapping[str, Any], k: int) -> dict[str, Any]:
    """What acts from a sample on."""
    return {name: x[k] if name in VARYING and x is not None else x for name, x in acting.items()}
