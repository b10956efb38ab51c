"""Steps of hard contact in states where more touches than a program has room for: by others with more room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bough.algorithms.hard.scene import HardScene
from bough.algorithms.hard.step import OVERFULL
from bough.kernel.arguments import FloatArray
from bough.kernel.function import Function
from bough.model import Model, Parameter
from bough.scalar.lazy import cached_property
from bough.simulation.program import measure_function, steps_function
from bough.simulation.state import State

__all__ = ["Roomier"]

SIZES = (1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 2, 1)
"""Axes beyond those of the batch of the arguments of steps: q, v, a, dt, steps, tau, control, target, kp, kd, f_ext,
parameters."""

STEPS = 4
"""The place of the number of steps among them."""


FACTOR = 4
"""So many times the room is what is tried before room for all: that takes memory with the square of contacts."""


class Roomier:
    """Makes the steps for which there is no room, with more of it, and where that is too little with room for all."""

    def __init__(self, model: Model, scene: HardScene, given: Sequence[Parameter]) -> None:
        self._model, self._given = model, given
        rooms = dict.fromkeys((min(FACTOR * scene.room, scene.contacts), scene.contacts))
        self._scenes = [replace(scene, room=room) for room in rooms]

    @cached_property
    def _steps(self) -> list[Function]:
        return [steps_function(self._model, scene, self._given) for scene in self._scenes]

    @cached_property
    def _measures(self) -> list[Function]:
        return [measure_function(self._model, scene, self._given) for scene in self._scenes]

    def steps(self, given: Sequence[Any], state: State, go_on: Callable[..., Any]) -> State:
        """Make the step that waits for more room, and go on by the usual program; until nothing waits."""
        if not (state.status == OVERFULL).any():
            return state
        whole = [np.array(x) for x in state]
        waiting = np.asarray(whole[4] == OVERFULL)
        wanted = np.broadcast_to(given[STEPS], waiting.shape)
        while waiting.any():
            some = _states(given, waiting)
            some[:3] = [x[waiting] for x in whole[:3]]
            some[STEPS] = np.ones_like(whole[3][waiting])
            *now, taken, status = _first_that_has_room(self._steps, some)
            taken = taken + whole[3][waiting]
            left = np.where(status == 0.0, wanted[waiting] - taken, 0.0)
            *now, more, later = go_on(*now, some[3], left, *some[STEPS + 1 :], None, True)
            for x, y in zip(whole, (*now, taken + more, np.where(status > 0.0, status, later)), strict=True):
                x[waiting] = y
            waiting = np.asarray(whole[4] == OVERFULL)
        return State(*whole)

    def measured(self, given: Sequence[Any], found: Sequence[FloatArray]) -> tuple[FloatArray, ...]:
        """What is measured in states, in some of which there was no room."""
        waiting, results = np.asarray(found[-1] > 0.0), tuple(found[:-1])
        if waiting.any():
            results = tuple(np.array(x) for x in results)
            found = _first_that_has_room(self._measures, _states(given, waiting, steps=False))
            for x, y in zip(results, found, strict=False):
                x[waiting] = y
        return results


def _first_that_has_room(functions: Sequence[Function], given: Sequence[Any]) -> list[FloatArray]:
    """The results of states by the first function with room for each; the last result tells whether there was."""
    first, *others = functions
    results = [np.array(x) for x in first(*given)]
    for function in others:
        left = results[-1] == OVERFULL
        if not left.any():
            break
        for x, y in zip(results, function(*(None if x is None else x[left] for x in given)), strict=True):
            x[left] = y
    return results


def _states(given: Sequence[Any], some: Any, steps: bool = True) -> list[Any]:
    """The arguments of some states, one behind the other; None where there are none."""
    sizes = [size for k, size in enumerate(SIZES) if steps or k != STEPS]
    result = []
    for x, size in zip(given, sizes, strict=False):
        core = np.shape(x)[np.ndim(x) - size :] if x is not None else ()
        result.append(None if x is None else np.broadcast_to(x, (*some.shape, *core))[some])
    return result
