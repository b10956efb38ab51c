"""Problems of contact with forces of the limits that are active: which rows of the whole problem they have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.complementarity import ContactRows
from bough.scalar.lazy import cached_property

__all__ = ["Chosen", "chosen", "name_numbers"]

Floats: TypeAlias = NDArray[np.floating[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]


def chosen(whole: ContactRows, active: Bools, slots: int) -> Chosen:
    """All contacts, so many limits, those that are active first, and all loops; state by state."""
    return _once(whole, active.tobytes(), slots) if len(active) == 1 else Chosen(whole, active, slots)


@lru_cache(maxsize=256)
def _once(whole: ContactRows, active: bytes, slots: int) -> Chosen:
    """The same for one state."""
    return Chosen(whole, np.frombuffer(active, np.bool_)[None], slots)


class Chosen:
    """Rows of a problem, state by state; with signs, since only one side of a limit can be active."""

    def __init__(self, whole: ContactRows, active: Bools, slots: int) -> None:
        k, slots = whole.contacts, min(slots, active.shape[1] - whole.contacts)
        sides = k + np.argsort(~active[:, k:], axis=1, kind="stable")[:, :slots]
        touch, loops = np.arange(whole.touch), np.arange(whole.count - whole.loops, whole.count)
        self.whole, self.rows, self._states = whole, whole.with_limits(slots), len(active)
        self._sides = self._joined(np.arange(k), sides)
        self._places = self._joined(touch, whole.places[sides], loops)
        self._signs = self._joined(np.ones(whole.touch), whole.signs[sides], np.ones(whole.loops))
        self._active = np.take_along_axis(active, self._sides, axis=1).astype(np.float64)

    def taken(self, given: Mapping[str, Floats]) -> dict[str, Floats]:
        """The problem in these rows, and where to start from, out of the whole."""
        whole, signs = self.whole, self._signs
        n, nv, states = whole.count, whole.nv, np.arange(self._states)[:, None]
        part = {name: given["whole"][:, place] for name, place in whole.parts.items()}
        pairs = states[:, :, None], self._places[:, :, None], self._places[:, None, :]
        part["A"] = part["A"].reshape(-1, n, n)[pairs] * (signs[:, :, None] * signs[:, None, :])
        part["response"] = part["response"].reshape(-1, n, nv)[states, self._places] * signs[:, :, None]
        part["base"] = part["base"][states, self._places] * signs
        part["offset"], part["active"] = part["offset"][states, self._sides], self._active
        del part["slopes"]
        result = {**given, "whole": self._joined(*part.values())}
        if "start" in given:
            result["start"] = given["start"][states, self._places] * signs
        return result

    def spread(self, results: Floats) -> Floats:
        """Motion, forces of the rows of the whole problem, and the worst failure."""
        motion, forces, worst = (results[:, self.rows.results[part]] for part in ("motion", "forces", "worst"))
        spread = np.zeros((len(results), self.whole.count))
        np.add.at(spread, (np.arange(len(results))[:, None], self._places), self._signs * forces)
        return np.concatenate([motion, spread, worst], axis=1)

    @cached_property
    def names(self) -> Places:
        """The number of the name of each row, (states, rows)."""
        return name_numbers(self.rows, self._sides)

    def _joined(self, *parts: NDArray[Any]) -> NDArray[Any]:
        """Parts of each state one behind the other; those with one axis are the same for all."""
        return np.concatenate([_of_each(part, self._states) for part in parts], axis=1)


def name_numbers(rows: ContactRows, sides: Places) -> Places:
    """The number of the name of each row that gets forces, from those of one-sided conditions; loops come last."""
    k, loops = rows.contacts, _of_each(np.arange(-rows.loops, 0), len(sides))
    return np.concatenate([np.repeat(sides[:, :k], rows.axes, axis=1), sides[:, k:], loops], axis=1)


def _of_each(part: NDArray[Any], states: int) -> NDArray[Any]:
    return (
        np.broadcast_to(part, (states, len(part)))
        if part.ndim == 1
        else part.reshape(states, math.prod(part.shape[1:]))
    )
