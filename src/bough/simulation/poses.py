"""Where shapes end: the lowest point of a model, so that it can be put on a floor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.algorithms.soft.world import world_tree
from bough.errors import ModelError
from bough.kernel.arguments import as_floats
from bough.kernel.functions import mechanism, require_model
from bough.model import Free, Geometry, Model
from bough.reading import number
from bough.spatial import Transform

__all__ = ["lowest_point", "on_the_floor"]


def lowest_point(model: Model, q: ArrayLike) -> Any:
    """Height (...) in m of the lowest point of the moving shapes for collision, meshes left out; infinite without any.

    Parameters
    ----------
    model
        The model.
    q
        Configuration (..., nq).

    Examples
    --------
    >>> import bough
    >>> robot = bough.robots.load("quadruped")
    >>> bool(bough.simulation.lowest_point(robot, bough.neutral(robot)) < 0)
    True
    """
    require_model(model)
    states = as_floats("q", q, (model.nq,))
    heights = [_lowest_of(model, x) for x in states.reshape(-1, model.nq).tolist()]
    return np.array(heights, dtype=np.float64).reshape(states.shape[:-1])[()]


def on_the_floor(model: Model, q: ArrayLike, gap: float = 0.0) -> NDArray[np.float64]:
    """The configuration with its floating base lifted or lowered until the lowest shape is `gap` (m) above z = 0.

    Parameters
    ----------
    model
        A model whose first joint is free.
    q
        Configuration (..., nq).
    gap
        How far above the floor (m).

    Examples
    --------
    >>> import bough
    >>> robot = bough.robots.load("quadruped")
    >>> q = bough.simulation.on_the_floor(robot, bough.neutral(robot), gap=0.1)
    >>> round(float(bough.simulation.lowest_point(robot, q)), 6)
    0.1
    """
    require_model(model)
    if not model.joints or not isinstance(model.joints[0].joint, Free):
        raise ModelError(f"model {model.name!r} does not float, expected a free joint first (`floating_base=True`)")
    above = number(gap, "gap", "a finite number (m)")
    moved = np.array(as_floats("q", q, (model.nq,)), dtype=np.float64)
    low = lowest_point(model, moved)
    moved[..., 2] += np.where(np.isfinite(low), above - low, 0.0)
    return moved


def _lowest_of(model: Model, q: list[float]) -> float:
    m = mechanism(model)
    world = world_tree(m, q)
    heights = [
        _lowest(g, world.bodies[g.body].placement.then(m.border(g.body)))
        for g in model.geometries
        if g.body and g.purpose == "collision" and g.shape != "mesh"
    ]
    return min(heights, default=np.inf)


def _lowest(g: Geometry, X: Transform) -> float:
    turn = np.array([[float(c.parts[i]) for c in X.rotation.columns] for i in range(3)])
    height = float(X.translation.z) + float(turn[2] @ g.placement.vector)
    up, size = turn[2] @ g.placement.matrix, g.size
    if g.shape == "sphere":
        reach = size[0]
    elif g.shape == "capsule":
        reach = size[0] + 0.5 * size[1] * abs(up[2])
    elif g.shape == "cylinder":
        reach = size[0] * float(np.hypot(up[0], up[1])) + 0.5 * size[1] * abs(up[2])
    elif g.shape == "ellipsoid":
        reach = float(np.linalg.norm(up * np.array(size)))
    elif g.shape == "box":
        reach = float(0.5 * np.abs(up) @ np.array(size))
    else:
        reach = 0.0
    return height - reach
