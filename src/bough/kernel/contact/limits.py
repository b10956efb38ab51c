"""How far joints are from their limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.levels import TOUCHING
from bough.algorithms.limits import limit_sides, limited_loops
from bough.kernel.arguments import FloatArray
from bough.kernel.functions import read, require_model, run
from bough.model import Model

__all__ = ["limited_coordinates", "near_limits"]


def limited_coordinates(model: Model, q: FloatArray) -> FloatArray:
    """Q, with the coordinates of joints that close loops behind it where some have limits."""
    if not limited_loops(model):
        return q
    return np.concatenate([q, run(model, "loop_configurations", {"q": q})["x"]], axis=-1)


def near_limits(model: Model, q: ArrayLike) -> bool:
    """Whether some joint is at a limit, in some state."""
    require_model(model)
    sides = limit_sides(model)
    if not sides.rows.size:
        return False
    plain = type(q) is np.ndarray and q.dtype == np.float64 and q.shape == (model.nq,)
    coordinates = limited_coordinates(model, np.asarray(q) if plain else read(model, "q", q))
    return bool((sides.gaps(coordinates) <= TOUCHING).any())
