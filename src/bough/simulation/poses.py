"""Where shapes end: the lowest point of a model, so that it can be put on a floor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.algorithms.narrow_phase import GROUNDS
from bough.algorithms.soft.world import world_tree
from bough.errors import ModelError
from bough.kernel.arguments import require_plain
from bough.kernel.functions import mechanism, read, require_model
from bough.model import Free, Geometry, Model
from bough.reading import number
from bough.simulation.hulls import Hull, find_hulls
from bough.simulation.prepared import Prepared
from bough.simulation.scene import Scene
from bough.spatial import Transform

__all__ = ["lowest_point", "on_the_floor"]

UP = np.array([0.0, 0.0, 1.0])
STEEPEST = 1e-3
"""Height of the normal (1) below which a plane is a wall, on which nothing can be put."""


def lowest_point(model: Model, q: ArrayLike) -> Any:
    """Return the height (...) in m of the lowest point of the moving collision shapes; infinite if there are none.

    Meshes count as their convex hulls (`bough.Scene.hulls`). Meshes whose files cannot be read are ignored.

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
    require_plain("simulation.lowest_point", q=q)
    states = read(model, "q", q)
    heights = [_nearest(model, x, UP) for x in states.reshape(math.prod(states.shape[:-1]), model.nq).tolist()]
    return np.array(heights, dtype=np.float64).reshape(states.shape[:-1])[()]


def on_the_floor(model: Model | Scene | Prepared, q: ArrayLike, gap: float = 0.0) -> NDArray[np.float64]:
    """Return the configuration with the floating base lifted or lowered until the nearest shape is `gap` (m) above the
    floor.

    The floor consists of all planes of the world whose normals point up, in the model and in the scene if one is given,
    and of planes through the highest points of height fields. If there are none, it is the plane z = 0.

    Parameters
    ----------
    model
        A model whose first joint is free, or a scene or simulation of such a model, with its floor.
    q
        Configuration (..., nq).
    gap
        Distance of the lowest shape from the floor (m).

    Examples
    --------
    >>> import bough
    >>> robot = bough.robots.load("quadruped")
    >>> q = bough.simulation.on_the_floor(robot, bough.neutral(robot), gap=0.1)
    >>> round(float(bough.simulation.lowest_point(robot, q)), 6)
    0.1
    """
    scene = model.scene if isinstance(model, Prepared) else model if isinstance(model, Scene) else None
    model = model.model if isinstance(model, Prepared | Scene) else model
    require_model(model)
    if not model.joints or not isinstance(model.joints[0].joint, Free):
        raise ModelError(f"model {model.name!r} does not float, expected a free joint first (`floating_base=True`)")
    require_plain("simulation.on_the_floor", q=q)
    above = number(gap, "gap", "a finite number (m)")
    moved = np.array(read(model, "q", q), dtype=np.float64)
    planes = list(_floors(model, () if scene is None else scene.shapes))
    for state in moved.reshape(-1, model.nq):
        lifts = [(above - _nearest(model, state.tolist(), n) + offset) / n[2] for n, offset in planes]
        state[2] += max((x for x in lifts if np.isfinite(x)), default=0.0)
    return moved


def _floors(model: Model, shapes: Iterable[Geometry]) -> Iterator[tuple[NDArray[np.float64], float]]:
    """Normals of the planes that carry what falls, and how far along them they lie; z = 0 where there are none."""
    found = [g for g in (*model.geometries, *shapes) if g.shape in GROUNDS and not g.body]
    tops = [(g.placement, float(np.max(g.heights)) if g.heights else 0.0) for g in found]
    planes = [(X.matrix[:, 2], float(X.matrix[:, 2] @ X.vector) + top) for X, top in tops if X.matrix[2, 2] > STEEPEST]
    yield from planes or [(UP, 0.0)]


def _nearest(model: Model, q: list[float], normal: NDArray[np.float64]) -> float:
    """How far along a normal the shapes of a model begin."""
    m = mechanism(model)
    world = world_tree(m, q)
    moving = [g for g in model.geometries if g.body and g.purpose == "collision"]
    hulls = find_hulls(moving)
    heights = [
        _begin(g, hulls.get((g.source, g.size)), world.bodies[g.body].placement.then(m.border(g.body)), normal)
        for g in moving
        if not isinstance(hulls.get((g.source, g.size)), str)
    ]
    return min(heights, default=np.inf)


def _begin(g: Geometry, hull: Hull | str | None, X: Transform, normal: NDArray[np.float64]) -> float:
    turn = np.array([[float(c.parts[i]) for c in X.rotation.columns] for i in range(3)])
    along = normal @ turn
    height = float(normal @ [float(x) for x in X.translation.parts]) + float(along @ g.placement.vector)
    up, size = along @ g.placement.matrix, g.size
    if g.shape == "sphere":
        reach = size[0]
    elif g.shape == "capsule":
        reach = size[0] + 0.5 * size[1] * abs(up[2])
    elif g.shape == "cylinder":
        reach = size[0] * float(np.hypot(up[0], up[1])) + 0.5 * size[1] * abs(up[2])
    elif g.shape == "ellipsoid":
        reach = float(np.linalg.norm(up * np.array(size)))
    elif isinstance(hull, Hull):
        reach = -float((hull.corners @ up).min())
    elif g.shape == "box":
        reach = float(0.5 * np.abs(up) @ np.array(size))
    else:
        reach = 0.0
    return height - reach
