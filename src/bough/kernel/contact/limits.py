"""How far joints are from their limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.touching import limited_joints, limited_loops
from bough.kernel.run import run
from bough.model import JointEntry, Loop, Model

__all__ = ["LimitSides", "limit_sides", "limited_coordinates"]

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class LimitSides:
    """The finite limits of a model: one-sided conditions, gap ≥ 0 with gap = sign × (q - bound).

    Those of joints that close loops follow those of the tree; their coordinates come behind q. Rows are those of
    `bough.algorithms.touching`.
    """

    rows: NDArray[np.intp]  # the row of each among the coordinates with limits
    signs: Floats  # 1 for a lower limit, -1 for an upper one
    coordinates: NDArray[np.intp]  # where each is among the coordinates
    bounds: Floats
    velocities: NDArray[np.intp]  # for each row of the tree, where its velocity is in v
    loop_velocities: NDArray[np.intp]  # for each row of a loop, where its velocity is among those of loop joints
    names: tuple[str, ...]

    def gaps(self, coordinates: Floats) -> Floats:
        """How far each limit is away (rad or m); negative where it is passed."""
        return np.asarray(self.signs * (coordinates[..., self.coordinates] - self.bounds))


def limited_coordinates(model: Model, q: Floats) -> Floats:
    """Q, with the coordinates of joints that close loops behind it where some have limits."""
    if not limit_sides(model).loop_velocities.size:
        return q
    return np.concatenate([q, run(model, "loop_configurations", {"q": q})["x"]], axis=-1)


@lru_cache(maxsize=128)
def limit_sides(model: Model) -> LimitSides:
    """The finite limits of all joints with one degree of freedom."""
    sides: list[tuple[int, float, int, float, str]] = []
    joints, loops = [model.joints[k] for k in limited_joints(model)], limited_loops(model)
    entries: list[JointEntry | Loop] = [*joints, *(model.loops[k] for k in loops)]
    places = [model.q_slice(entry.name).start for entry in joints]
    places += [model.nq + sum(loop.joint.nq for loop in model.loops[:k]) for k in loops]
    for row, (entry, place) in enumerate(zip(entries, places, strict=True)):
        for sign, (bound,), which in ((1.0, entry.lower, "lower"), (-1.0, entry.upper, "upper")):
            if np.isfinite(bound):
                sides.append((row, sign, place, bound, f"{which} limit of {entry.name}"))
    rows, signs, coordinates, bounds, names = zip(*sides, strict=True) if sides else ((), (), (), (), ())
    return LimitSides(
        np.array(rows, np.intp),
        np.array(signs, np.float64),
        np.array(coordinates, np.intp),
        np.array(bounds, np.float64),
        np.array([model.v_slice(entry.name).start for entry in joints], np.intp),
        np.array([sum(loop.joint.nv for loop in model.loops[:k]) for k in loops], np.intp),
        names,
    )
