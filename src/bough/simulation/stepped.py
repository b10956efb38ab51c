"""What steps of a simulation are made by: machine code for arrays of float64, and a longer way for all else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bough.backends import Variant
from bough.simulation.arguments import MOST_SINGLE_STEPS, in_single, read_steps, written
from bough.simulation.derivatives import Differentiated, is_traced_by_jax, wants_gradients
from bough.simulation.state import State

__all__ = ["Stepped"]

LEFT_OUT = (5, 6, 7, 10)
"""Places of what may be left out among the arguments of steps: tau, control, target with its gains, f_ext."""


class Stepped(Differentiated):
    """From the arguments of a step, in order, to the state after it."""

    def _entry(self, given: Sequence[Any]) -> Callable[..., Any]:
        """What makes steps of arrays of float64, and gives None for all else."""
        entry = self._steps.form(given).variant(Variant(named=State), lambda *given: None)
        return self._entries.setdefault(tuple(given[k] is None for k in LEFT_OUT), entry)

    def _longer(self, given: Sequence[Any], single: bool, steps: Any, out: Any) -> State:
        """Steps of what is no array of float64: lists, float32, tensors, and what JAX traces."""
        if single:
            read_steps(steps, MOST_SINGLE_STEPS)
        if wants_gradients(given):
            return self._tensor_steps(in_single(given) if single else given, steps, out)
        if is_traced_by_jax(given):
            return self._steps_in_jax(given, steps, out)
        state = self._made(given, single)
        return state if out is None else written(out, state)

    def _made(self, given: Sequence[Any], single: bool) -> State:
        """Steps in one call: given q, v, a, dt, the number of steps and what acts."""
        if single and self.law == "soft":
            given = in_single(given)
        entry = self._steps.form(given).entry
        state = State._make(entry(*given, None, True))
        if self._roomier is not None:
            state = self._roomier.steps(given, state, entry)
            if single:  # impulses are found in float64
                state = State._make(in_single(state))
        return state
