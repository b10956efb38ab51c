"""Derivatives of steps: of one step along directions, backwards and in full, and of a whole run backwards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.soft.scene import IMPLICIT
from bough.errors import ModelError, ShapeError
from bough.kernel.arguments import FloatArray, as_floats
from bough.kernel.function import Function
from bough.kernel.tensors import is_tensor, joined
from bough.reading import known_name, names, whole_number
from bough.scalar.lazy import cached_property
from bough.simulation.arguments import ACTING, read_acting, read_servo, read_values
from bough.simulation.measurable import Measurable
from bough.simulation.program import step_function
from bough.simulation.state import State

if TYPE_CHECKING:
    from bough.simulation.rollout import Rollout

__all__ = ["Differentiated", "is_traced_by_jax", "wants_gradients"]


class Differentiated(Measurable):
    """The derivatives of a step of a simulation."""

    @cached_property
    def _step(self) -> Function:
        """From a state to the one after a step, with derivatives."""
        return self._differentiated(accelerations=False)

    def _differentiated(self, accelerations: bool) -> Function:
        self._require_derivatives()
        return step_function(self.model, self._soft, self.parameters, accelerations)

    def _require_derivatives(self) -> None:
        """Raise where steps have no derivatives."""
        if self.law != "soft":
            raise ModelError(f"steps under the law {self.law!r} have no derivatives, expected law='soft'")
        if self.integrator not in (*IMPLICIT, "rk4"):
            told = "have no derivatives, expected 'euler', 'implicitfast' or 'rk4'"
            raise ModelError(f"steps of the integrator {self.integrator!r} {told}")

    def jacobian(
        self, q: ArrayLike, v: ArrayLike, *, wrt: str | Sequence[str] | None = None, **acting: Any
    ) -> dict[str, FloatArray]:
        """Return the derivatives of the state after one step with respect to the state before it, the inputs and the
        parameters.

        The derivatives are those of the soft contact law at its solution, with active and sticking contacts held fixed.
        Where these change within a step, they are one-sided derivatives.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv), with any batch axes.
        wrt
            Variables: "q", "v", "tau", "control", "target", "kp", "kd", "f_ext", "dt" (the time step), and names of
            parameters of the simulation. Default: q, v, and those of tau, control and target that are given.
        acting
            a, tau, control, target, kp, kd, f_ext and parameters as in `step`.

        Returns
        -------
        dict
            Arrays (..., 2 nv, k) by name, with one column per number (for q per motion, nv columns). The first nv rows
            are the motion of the configuration, the others the change of the velocity. For f_ext the shape is (..., 2
            nv, N, 6).

        Examples
        --------
        >>> import numpy as np
        >>> import bough
        >>> pendulum = bough.robots.load("pendulum")
        >>> sim = bough.Simulation(pendulum, dt=0.01)
        >>> by = sim.jacobian([0.5], [0.0], tau=[0.0])
        >>> {name: x.shape for name, x in by.items()}
        {'q': (2, 1), 'v': (2, 1), 'tau': (2, 1)}
        >>> A = np.concatenate([by["q"], by["v"]], axis=-1)
        >>> bool(abs(np.linalg.det(A) - 1.0) < 1e-12)  # semi-implicit steps without damping keep volumes
        True
        """
        asked = self._asked(wrt, acting)
        given = self._given(q, v, acting, "argument of jacobian")
        inside = _inside(asked, self._places)
        found = self._step.jacobian(inside)(**given)
        both, columns = (found[: len(inside)], found[len(inside) :]), {}
        sizes = {a.name: len(a.shape) for a in self._step.inputs}
        for name, after, speed in zip(inside, *both, strict=True):
            both_parts = joined([after, speed], -1 - sizes[name])
            columns[name] = both_parts if sizes[name] else both_parts[..., np.newaxis]
        return self._by_name(asked, columns)

    def jvp(
        self, q: ArrayLike, v: ArrayLike, rates: Mapping[str, ArrayLike], **acting: Any
    ) -> tuple[FloatArray, FloatArray]:
        """Return the rate of the state after one step, for given rates of the state before it and of the inputs.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv).
        rates
            Rates by the names of `jacobian`: a motion (..., nv) for q, and arrays of the same shape for the others.
            Variables that are left out are constant.
        acting
            a, tau, control, target, kp, kd, f_ext and parameters as in `step`.

        Returns
        -------
        tuple
            The motion of the configuration after the step (..., nv), and the change of the velocity (..., nv).

        Examples
        --------
        >>> import bough
        >>> pendulum = bough.robots.load("pendulum")
        >>> sim = bough.Simulation(pendulum, dt=0.01)
        >>> dq, dv = sim.jvp([0.5], [0.0], {"v": [1.0]})
        >>> float(dv[0]), round(float(dq[0]), 6)
        (1.0, 0.01)
        """
        asked = self._asked(list(rates), acting)
        given = self._given(q, v, acting, "argument of jvp")
        inside = _inside(asked, self._places)
        for name in inside:
            given[f"d{name}"] = self._packed(rates) if name == "parameters" else rates[name]
        motion, change = self._step.jvp(inside)(**given)
        return motion, change

    def vjp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        q_bar: ArrayLike,
        v_bar: ArrayLike,
        *,
        wrt: str | Sequence[str] | None = None,
        **acting: Any,
    ) -> dict[str, FloatArray]:
        """Return the gradient of a weighted sum of the state after one step, with respect to all variables at once.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv).
        q_bar, v_bar
            Weights (..., nv) of the motion of the configuration after the step, and of its velocity.
        wrt
            As for `jacobian`.
        acting
            a, tau, control, target, kp, kd, f_ext and parameters as in `step`.

        Returns
        -------
        dict
            Derivatives of the sum by name, with the shapes of the variables (for q (..., nv)).

        Examples
        --------
        >>> import bough
        >>> pendulum = bough.robots.load("pendulum")
        >>> sim = bough.Simulation(pendulum, dt=0.01)
        >>> back = sim.vjp([0.5], [0.0], [1.0], [0.0])
        >>> float(back["v"][0])
        0.01
        """
        asked = self._asked(wrt, acting)
        given = self._given(q, v, acting, "argument of vjp")
        inside = _inside(asked, self._places)
        found = self._step.vjp(inside)(**given, q_after_bar=q_bar, v_after_bar=v_bar)
        results = found if isinstance(found, tuple) else (found,)
        gradients = self._by_name(asked, dict(zip(inside, results, strict=True)))
        for name in gradients.keys() & self._places.keys():
            gradients[name] = gradients[name].reshape((*gradients[name].shape[:-1], *self._places[name][1]))
        return gradients

    def rollout(
        self, q: ArrayLike, v: ArrayLike | None = None, *, steps: int | None = None, hold: int = 1, **acting: Any
    ) -> Rollout:
        """Make steps with inputs for each sample, and store what the gradient of a cost of the motion needs.

        Parameters
        ----------
        q, v
            Initial configuration (..., nq) and velocity (..., nv) (default: at rest).
        steps
            Number of samples after the first; not needed if inputs are given.
        hold
            Number of time steps between samples.
        acting
            As in `step`, but tau (K, ..., nv), control (K, ..., nu) and target (K, ..., nv) have a first axis for K
            samples, each constant until the next. kp, kd, f_ext and parameters are constant.

        Returns
        -------
        Rollout
            The states and the method ``gradient``. Only the K + 1 states are stored; the backward pass recomputes the
            rest.

        Examples
        --------
        >>> import numpy as np
        >>> import bough
        >>> pendulum = bough.robots.load("pendulum")
        >>> run = bough.Simulation(pendulum, dt=0.01).rollout([0.5], tau=np.zeros((20, 1)))
        >>> run.q.shape
        (21, 1)
        >>> weights = np.zeros((21, 1))
        >>> weights[-1] = 1.0  # of the last angle
        >>> by = run.gradient(weights, np.zeros((21, 1)))
        >>> by["tau"].shape, bool(by["tau"][0, 0] > by["tau"][-1, 0] > 0.0)
        ((20, 1), True)
        """
        from bough.simulation.rollout import rollout_of

        self._require_derivatives()
        return rollout_of(self, q, v, steps, hold, acting)

    step: Any  # of `Simulation`
    _made: Callable[..., State]

    # ---- tensors ---------------------------------------------------------------------------------------------------

    @cached_property
    def _followed(self) -> Function:
        return self._differentiated(accelerations=True)

    def _tensor_steps(self, given: Sequence[Any], steps: Any, out: object) -> State:
        """Steps on tensors of PyTorch with gradients: one node of autograd for each; `given` as in `_made`."""
        count = whole_number(steps, "steps of tensors with gradients", least=0)
        _refuse_out(out, "tensors that autograd follows")
        q, v, a, dt, _, *acting = given
        rest = (dt, *acting)
        like = next(x for x in (q, v, *rest) if is_tensor(x))
        taken = status = like.new_zeros(np.shape(q)[:-1])
        for _ in range(count):  # a state that has stopped stops again
            q, v, a, status = self._followed(q, v, a, *rest)
            status = status.detach()
            taken = taken + (status == 0.0)
        return State(q, v, a, taken, status)

    @cached_property
    def _jax_steps(self) -> dict[tuple[Any, ...], Callable[..., State]]:
        """Steps within transformations of JAX, by what is given and how many they are: JAX knows functions again."""
        return {}

    def _steps_in_jax(self, given: Sequence[Any], steps: Any, out: object) -> State:
        """Steps within a transformation of JAX, which may differentiate them."""
        from bough.simulation.jax_steps import steps_in_jax

        count = whole_number(steps, "steps within a transformation of JAX", least=0)
        given = (*given[:4], *given[5:])
        _refuse_out(out, "arrays that JAX traces")
        present = tuple(x is not None for x in given)
        found = self._jax_steps.get((present, count))
        if found is None:
            outside = None if self._roomier is None else self._made
            found = steps_in_jax(self._steps, outside, lambda *x: self._followed(*x), present, count)
            self._jax_steps[present, count] = found
        return found(given)

    # ---- names -----------------------------------------------------------------------------------------------------

    @cached_property
    def _places(self) -> dict[str, tuple[slice, tuple[int, ...]]]:
        """Where the numbers of each parameter are among all, and their shape."""
        places, start = {}, 0
        for p in self.parameters:
            places[p.name] = slice(start, start + p.size), p.shape
            start += p.size
        return places

    def _asked(self, wrt: str | Sequence[str] | None, acting: Mapping[str, Any]) -> list[str]:
        """By what derivatives are wanted."""
        if wrt is None:
            return ["q", "v", *(name for name in ("tau", "control", "target") if acting.get(name) is not None)]
        known = ["q", "v", *ACTING[:-1], "dt", *self._places]
        asked = [known_name(name, "quantity that a step depends on", known) for name in names(wrt, "wrt")]
        for name in asked:
            if name in ACTING and acting.get(name) is None:
                raise ModelError(
                    f"derivatives with respect to {name} are requested and {name} is None, expected its value"
                )
        return asked

    def _given(self, q: ArrayLike, v: ArrayLike, acting: Mapping[str, Any], kind: str) -> dict[str, Any]:
        """The inputs of a step by name."""
        a, tau, control, target, kp, kd, f_ext, numbers = read_acting(acting, kind, ("a", *ACTING))
        if target is not None or kp is not None or kd is not None:
            target, kp, kd = read_servo(target, kp, kd, self._drawn)
        given = {
            "q": q, "v": v, "a": self._zeros if a is None else a, "dt": self._dt, "tau": tau, "control": control,
            "target": target, "kp": kp, "kd": kd, "f_ext": f_ext,
        }  # fmt: skip
        if self.parameters or numbers is not None:
            given["parameters"] = read_values(self.parameters, numbers)
        return {name: x for name, x in given.items() if x is not None}

    def _packed(self, rates: Mapping[str, ArrayLike]) -> FloatArray:
        """Rates of all parameters in one array; of those that are not given, zero."""
        given = {
            name: as_floats(f"the rate of {name}", rates[name], shape)
            for name, (_, shape) in self._places.items()
            if name in rates
        }
        flat = {name: x.reshape((*x.shape[: x.ndim - len(self._places[name][1])], -1)) for name, x in given.items()}
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in flat.values()))
        packed = np.zeros((*batch, sum(p.size for p in self.parameters)))
        for name, x in flat.items():
            packed[..., self._places[name][0]] = x
        return packed

    def _by_name(self, asked: Sequence[str], found: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Derivatives as they were asked for, those by parameters each by itself."""
        places = self._places
        return {name: found["parameters"][..., places[name][0]] if name in places else found[name] for name in asked}


def _inside(asked: Sequence[str], parameters: Mapping[str, Any]) -> list[str]:
    """The inputs of the function behind what was asked for, in its order."""
    wanted = {"parameters" if name in parameters else name for name in asked}
    return [name for name in ("q", "v", *ACTING, "dt") if name in wanted]


def _refuse_out(out: object, given: str) -> None:
    if out is not None:
        raise ShapeError(f"out is given with {given}, expected none: results with derivatives are new arrays")


def wants_gradients(given: Sequence[Any]) -> bool:
    """Whether there are tensors of PyTorch among arguments whose derivatives autograd asks for, in either mode."""
    if "torch" not in sys.modules or not any(map(is_tensor, given)):
        return False
    import torch
    from torch.autograd import forward_ad

    if forward_ad._current_level >= 0:
        return True
    return torch.is_grad_enabled() and any(is_tensor(x) and x.requires_grad for x in given)


def is_traced_by_jax(given: Sequence[Any]) -> bool:
    """Whether JAX traces a function, to compile, map or differentiate it, that makes steps with these arguments."""
    if "jax" not in sys.modules:
        return False
    from jax.core import Tracer

    return any(isinstance(x, Tracer) for x in given)
