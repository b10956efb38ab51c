"""How far joints are from their limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.touching import limited_joints, limited_loops
from bough.kernel.run import run
from bough.model import Model

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
    slopes: tuple[NDArray[np.intp], NDArray[np.intp]]  # row and velocity of each slope; loop joints' come behind v
    names: tuple[str, ...]

    def gaps(self, coordinates: Floats) -> Floats:
        """How far each limit is away (rad or m); negative where it is passed."""
        return np.asarray(self.signs * (coordinates[..., self.coordinates] - self.bounds))

    def joint_forces(self, forces: Floats, slopes: Floats, size: int) -> Floats:
        """The forces on joints (states, size) of forces along coordinates (states, rows)."""
        rows, velocities = self.slopes
        result = np.zeros((size, len(forces)))
        np.add.at(result, velocities, (slopes * forces[:, rows]).T)
        return result.T

    def along(self, joint_forces: Floats, slopes: Floats, count: int) -> Floats:
        """Forces along coordinates (states, rows) that make about these forces on joints: just these, if orthogonal."""
        rows, velocities = self.slopes
        result, squares = np.zeros((2, count, len(slopes)))
        np.add.at(result, rows, (slopes * joint_forces[:, velocities]).T)
        np.add.at(squares, rows, (slopes * slopes).T)
        return np.asarray((result / np.where(squares > 0.0, squares, 1.0)).T)


def limited_coordinates(model: Model, q: Floats) -> Floats:
    """Q, with the coordinates of joints that close loops behind it where some have limits."""
    if not limited_loops(model):
        return q
    return np.concatenate([q, run(model, "loop_configurations", {"q": q})["x"]], axis=-1)


@lru_cache(maxsize=128)
def limit_sides(model: Model) -> LimitSides:
    """The finite limits of all joints."""
    sides: list[tuple[int, float, int, float, str]] = []
    slopes: list[tuple[int, int]] = []
    tree = limited_joints(model)
    for row, c in enumerate([*tree, *limited_loops(model)]):
        entry, k = c.entry, c.number
        q_start, v_start = (0, 0) if row < len(tree) else (model.nq, model.nv)
        name = entry.name if entry.joint.nq == 1 else f"{entry.name}[{k}]"
        for sign, bounds, which in ((1.0, entry.lower, "lower"), (-1.0, entry.upper, "upper")):
            if np.isfinite(bounds[k]):
                sides.append((row, sign, q_start + c.q_start + k, bounds[k], f"{which} limit of {name}"))
        slopes += [(row, v_start + c.v_start + j) for j in range(entry.joint.nv)]
    rows, signs, coordinates, bounds, names = zip(*sides, strict=True) if sides else ((), (), (), (), ())
    slope_rows, velocities = np.array(slopes, np.intp).reshape(-1, 2).T
    return LimitSides(
        np.array(rows, np.intp),
        np.array(signs, np.float64),
        np.array(coordinates, np.intp),
        np.array(bounds, np.float64),
        (slope_rows, velocities),
        names,
    )
