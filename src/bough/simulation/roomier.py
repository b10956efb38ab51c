"""Steps of hard contact in states where more touches than a program has room for: by others with more room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bough.algorithms.hard.scene import HardScene
from bough.algorithms.hard.step import OVERFULL
from bough.errors import SimulationWarning, warn
from bough.kernel.arguments import FloatArray
from bough.kernel.function import Function
from bough.kernel.tensors import fetched_numbers
from bough.model import Model, Parameter
from bough.reading import counted
from bough.scalar.lazy import cached_property
from bough.simulation.program import measure_function, start_size, steps_function
from bough.simulation.settled import BEFORE, MORE, settled, some_states
from bough.simulation.state import State

__all__ = ["Roomier"]

SIZES = (1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 2, 1)
"""Axes beyond those of the batch of the arguments of steps: q, v, a, dt, steps, tau, control, target, kp, kd, f_ext,
parameters."""

STEPS = 4
"""The place of the number of steps among them."""

PLAIN = (np.ndarray, type(None), list, tuple, float, int)
"""Arguments that are of no other library."""

UNTOLD = 10
"""So many steps without room are too few to tell of."""

FACTOR = 4
"""So many times the room is what is tried before room for all: that takes memory with the square of contacts."""


class Roomier:
    """Makes the steps for which there is no room, with more of it, and where that is too little with room for all."""

    def __init__(self, model: Model, scene: HardScene, given: Sequence[Parameter]) -> None:
        self._model, self._given, self._scene, self._made = model, given, scene, 0
        rooms = dict.fromkeys((min(FACTOR * scene.room, scene.contacts), scene.contacts))
        self._scenes = [replace(scene, room=room) for room in rooms]

    @cached_property
    def _steps(self) -> list[Function]:
        return [steps_function(self._model, scene, self._given) for scene in self._scenes]

    @cached_property
    def _measures(self) -> list[Function]:
        return [measure_function(self._model, scene, self._given) for scene in self._scenes]

    @cached_property
    def _settling(self) -> list[Callable[..., list[FloatArray]]]:
        """The same under impulses that hold: all contacts are kept from one solution to the next."""
        scenes = [replace(scene, kept=scene.room) for scene in self._scenes]
        return [
            partial(_settled, measure_function(self._model, x, self._given), start_size(self._model, x)) for x in scenes
        ]

    def steps(self, given: Sequence[Any], state: State, go_on: Callable[..., Any]) -> State:
        """Make the step that waits for more room, and go on by the usual program; until nothing waits."""
        if not (state.status == OVERFULL).any():
            return state
        whole = [np.array(x) for x in state]
        waiting = np.asarray(whole[4] == OVERFULL)
        wanted = np.broadcast_to(given[STEPS], waiting.shape)
        while waiting.any():
            some = some_states(given, waiting, SIZES)
            some[:3] = [x[waiting] for x in whole[:3]]
            some[STEPS] = np.ones_like(whole[3][waiting])
            *now, taken, status = _first_that_has_room(self._steps, some)
            self._tell()
            taken = taken + whole[3][waiting]
            left = np.where(status == 0.0, wanted[waiting] - taken, 0.0)
            *now, more, later = go_on(*now, some[3], left, *some[STEPS + 1 :], None, True)
            for x, y in zip(whole, (*now, taken + more, np.where(status > 0.0, status, later)), strict=True):
                x[waiting] = y
            waiting = np.asarray(whole[4] == OVERFULL)
        return State(*whole)

    def _tell(self) -> None:
        """Count a step that was made here, and warn when there have been many."""
        self._made += 1
        if self._made == UNTOLD + 1:
            room, most = self._scene.room, self._scene.contacts
            told = f"more than {counted(room, 'contact')} at a time in {self._model.name!r}"
            slow = "such steps are made one by one, several times slower"
            more = f"Simulation(..., max_contacts={min(2 * room, most)}) has room for more, of {most} that could touch"
            warn(f"{told}: {slow}; {more}", SimulationWarning)

    def measured(self, given: Sequence[Any], usual: Function, settles: bool) -> tuple[FloatArray, ...]:
        """What is measured in states, in some of which there is no room; under impulses that hold if it `settles`."""
        found = usual(*given)
        if settles:
            found = _held(given, usual, found)
        waiting, results = np.asarray(found[-1] > 0.0), tuple(found[:-MORE])
        if waiting.any():
            results = tuple(np.array(x) for x in results)
            functions = self._settling if settles else [partial(_told, measure) for measure in self._measures]
            found = _first_that_has_room(functions, some_states(given, waiting))
            for x, y in zip(results, found[:-1], strict=True):
                x[waiting] = y
        return results


def _held(given: Sequence[Any], measure: Function, found: Sequence[Any]) -> Sequence[Any]:
    """What is measured under impulses that hold, from the first solution, in the library that arguments are from."""
    plain, first = ([None if x is None else fetched_numbers(x) for x in some] for some in (given, found))
    if any(x is not None and y is None for x, y in zip((*given, *found), (*plain, *first), strict=True)):
        return found
    results = settled(measure, plain, first)
    if all(type(x) in PLAIN for x in given):
        return results
    return measure(*given[:BEFORE], results[-MORE], *given[BEFORE + 1 :])  # type: ignore[no-any-return]


def _told(measure: Callable[..., Sequence[Any]], *given: Any) -> list[FloatArray]:
    """What is measured, without the impulses."""
    found = measure(*given)
    return [*found[:-MORE], found[-1]]


def _settled(measure: Function, size: int, *given: Any) -> list[FloatArray]:
    """What is measured under impulses that hold, to begin with none: `size` numbers."""
    q = given[0]
    begin = np.zeros((*np.shape(q)[:-1], size))
    given = (*given[:BEFORE], begin, *given[BEFORE + 1 :])
    found = settled(measure, given, measure(*given))
    return [*found[:-MORE], found[-1]]


def _first_that_has_room(functions: Sequence[Callable[..., Any]], given: Sequence[Any]) -> list[FloatArray]:
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
