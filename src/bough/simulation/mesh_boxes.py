"""Boxes that stand for meshes, so that robots whose shapes are meshes can touch the world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bough.kernel.functions import require_model
from bough.model import Geometry, Model, Placement
from bough.viewer.drawables import shapes_of

__all__ = ["with_boxes"]

THINNEST = 1e-3
"""Least length (m) of a side of a box: of a plate too."""


def with_boxes(model: Model) -> Model:
    """The model with boxes around its meshes, which cannot touch by themselves: it can fall on a floor then.

    Each mesh for collision of a moving body becomes the box around it, along its own axes or its principal ones,
    whichever is smaller; of bodies without shapes for collision the meshes for viewing do. Boxes are too large to tell
    whether neighbours touch, so they touch the world and other shapes, but not each other. Meshes whose files are not
    there stay as they are. Needs the extra ``view``.

    Parameters
    ----------
    model
        The model.

    Examples
    --------
    >>> import bough
    >>> robot = bough.robots.load("quadruped")  # which has no meshes
    >>> bough.simulation.with_boxes(robot) == robot
    True
    """
    require_model(model)
    shaped = {g.body for g in model.geometries if g.purpose == "collision"}
    kept: list[Geometry] = []
    for g in model.geometries:
        box = _box(g) if g.body and g.shape == "mesh" and (g.purpose == "collision" or g.body not in shaped) else None
        kept += [g] if box is None else [box] if g.purpose == "collision" else [g, box]
    return model if tuple(kept) == model.geometries else model.with_checked(geometries=tuple(kept))


def _box(g: Geometry) -> Geometry | None:
    """The box around a mesh; None if its file cannot be read."""
    parts = shapes_of(g, {})
    if not parts:
        return None
    points = np.concatenate([part.triangles.corners * np.array(part.scale) for part in parts])
    own, turned = (_around(points, R) for R in (np.eye(3), _principal(points)))
    R, middle, lengths = min(own, turned, key=lambda found: float(np.prod(found[2])))
    placement = g.placement @ Placement.of(R, R @ middle, "a box")
    size = tuple(float(x) for x in lengths)
    surface = replace(g.surface, contype=0)
    return replace(g, placement=placement, shape="box", size=size, purpose="collision", file="", surface=surface)


def _principal(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rotation whose columns are the principal axes of points (n, 3)."""
    axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2].T
    return np.asarray(axes * [1.0, 1.0, np.linalg.det(axes)])


def _around(
    points: NDArray[np.float64], R: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The axes, the middle along them and the lengths of the box along the columns of R around points (n, 3)."""
    low, high = (points @ R).min(axis=0), (points @ R).max(axis=0)
    return R, 0.5 * (low + high), np.maximum(high - low, THINNEST)
