"""What steps of a simulation are made by: machine code for arrays of float64, and a longer way for all else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bough.backends import Variant
from bough.scalar.lazy import cached_property
from bough.simulation.arguments import MOST_SINGLE_STEPS, in_single, read_steps, written
from bough.simulation.derivatives import Differentiated, is_traced_by_jax, wants_gradients
from bough.simulation.state import State

__all__ = ["Stepped"]

_NEW_TUPLE: Any = tuple.__new__
"""Makes a named tuple in half the time."""


class Stepped(Differentiated):
    """From the arguments of a step, in order, to the state after it."""

    def _entry(self, given: Sequence[Any]) -> Callable[..., Any]:
        """What makes steps of arrays of float64, and gives None for all else."""
        entry = self._steps.form(given).variant(Variant(named=State), lambda *given: None)
        which = (given[5] is None, given[6] is None, given[7] is None, given[10] is None)
        return self._entries.setdefault(which, entry)

    @cached_property
    def _careful_entries(self) -> dict[tuple[bool, ...], Callable[..., Any]]:
        """What makes steps of arrays of any sort, by what of the arguments is left out."""
        return {}

    def _careful_entry(self, given: Sequence[Any]) -> Callable[..., Any]:
        which = (given[5] is None, given[6] is None, given[7] is None, given[10] is None)
        entry = self._careful_entries.get(which)
        if entry is None:
            entry = self._careful_entries[which] = self._steps.form(given).entry
        return entry

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
        entry = self._careful_entry(given)
        state: State = _NEW_TUPLE(State, entry(*given, None, True))
        if self._roomier is not None:
            state = self._roomier.steps(given, state, entry)
            if single:  # impulses are found in float64
                state = State._make(in_single(state))
        return state
