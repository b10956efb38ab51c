"""How far joints are from their limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.touching import limited_joints
from bough.model import Model

__all__ = ["LimitSides", "limit_sides"]

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class LimitSides:
    """The finite limits of a model: one-sided conditions, gap ≥ 0 with gap = sign × (q - bound).

    Limits of loop joints would follow those of the joints of the tree, with the gaps of `loop_configurations`; the rows
    of both are those of `bough.algorithms.touching`.
    """

    rows: NDArray[np.intp]  # the row of each among the coordinates with limits
    signs: Floats  # 1 for a lower limit, -1 for an upper one
    coordinates: NDArray[np.intp]  # where each is in q
    bounds: Floats
    velocities: NDArray[np.intp]  # for each row, where its velocity is in v
    names: tuple[str, ...]

    def gaps(self, q: Floats) -> Floats:
        """How far each limit is away (rad or m), from (..., nq); negative where it is passed."""
        return np.asarray(self.signs * (q[..., self.coordinates] - self.bounds))


@lru_cache(maxsize=128)
def limit_sides(model: Model) -> LimitSides:
    """The finite limits of all joints with one degree of freedom."""
    sides: list[tuple[int, float, int, float, str]] = []
    velocities = []
    for row, k in enumerate(limited_joints(model)):
        entry = model.joints[k]
        place = model.q_slice(entry.name).start
        velocities.append(model.v_slice(entry.name).start)
        for sign, (bound,), which in ((1.0, entry.lower, "lower"), (-1.0, entry.upper, "upper")):
            if np.isfinite(bound):
                sides.append((row, sign, place, bound, f"{which} limit of {entry.name}"))
    rows, signs, places, bounds, names = zip(*sides, strict=True) if sides else ((), (), (), (), ())
    return LimitSides(
        np.array(rows, np.intp),
        np.array(signs, np.float64),
        np.array(places, np.intp),
        np.array(bounds, np.float64),
        np.array(velocities, np.intp),
        names,
    )
