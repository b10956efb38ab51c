"""The surfaces of a model as triangles that can be put into any pose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError
from bough.kernel.kinematics import placements
from bough.model import Geometry, Model
from bough.pictures.triangles import Floats, Triangles
from bough.scalar.lazy import cached_property
from bough.viewer.drawables import drawables

__all__ = ["Surfaces", "surfaces"]

CREASE = 0.75
"""Cosine of the angle between two triangles above which the edge between them is round."""

FARTHEST = 1e9
"""Metres from the origin of its body beyond which a shape is not drawn."""

OUTLINE = 3000
"""Triangles that tell where a model is."""


@dataclass(frozen=True)
class Surfaces:
    """Triangles in the frames of the bodies that carry them, numbered by `body` (n,), 0 for the base.

    `missing` tells what could not be drawn, `level` the heights (m) of planes that are level, which are not among them,
    and `ground` which triangles (n,) are those of uneven ground.
    """

    model: Model
    triangles: Triangles
    body: NDArray[np.int64]
    ground: NDArray[np.bool_]
    missing: tuple[str, ...] = ()
    level: tuple[float, ...] = ()

    @cached_property
    def outline(self) -> Surfaces:
        """Of many triangles about as many as tell where the whole is; uneven ground is left out unless it is all."""
        (some,) = np.nonzero(~self.ground | self.ground.all())
        some = some[:: max(1, len(some) // OUTLINE)]
        given = self.triangles
        few = Triangles(given.corners[some], given.normals[some], given.colours[some], given.solid[some])
        return Surfaces(self.model, few, self.body[some], self.ground[some])

    def posed(self, q: Floats) -> Triangles:
        """The triangles where a configuration (nq,) puts them."""
        frames = np.eye(4)[np.newaxis]
        if self.model.nbodies:
            names = [body.name for body in self.model.bodies]
            frames = np.concatenate([frames, placements(self.model, q, names).reshape(-1, 4, 4)])
        given = self.triangles
        corners, normals = np.empty_like(given.corners), np.empty_like(given.normals)
        ends = np.flatnonzero(np.diff(self.body, append=-1)) + 1  # of stretches of triangles on one body
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            frame = frames[self.body[start]]
            corners[start:end] = given.corners[start:end] @ frame[:3, :3].T + frame[:3, 3]
            normals[start:end] = given.normals[start:end] @ frame[:3, :3].T
        return Triangles(corners, normals, given.colours, given.solid)


def surfaces(model: Model, world: Iterable[Geometry] = ()) -> Surfaces:
    """What there is to see of a model, and of further shapes on its base; planes are left to the floor."""
    found = drawables(model, world)
    shapes = [shape for shape in found.shapes if shape.sort != "plane" and len(shape.triangles.faces)]
    corners: list[Floats] = [np.zeros((0, 3, 3))]
    normals: list[Floats] = [np.zeros((0, 3, 3))]
    for shape in shapes:
        corners.append(shape.corners[shape.triangles.faces])
        if not (np.abs(corners[-1]) < FARTHEST).all():
            on = model.bodies[shape.body - 1].name if shape.body else "world"
            raise ModelError(f"a shape on {on!r} is more than {FARTHEST:g} m large or away, too far to be seen")
        if np.prod(np.sign(shape.scale)) < 0:  # mirrored: what was anticlockwise is not any more
            corners[-1] = corners[-1][:, ::-1]
        normals.append(_normals(corners[-1]))
    counts = [len(shape.triangles.faces) for shape in shapes]
    colours = np.array([shape.rgba[:3] for shape in shapes]).reshape(-1, 3)
    solid = np.array([shape.sort != "visual" or shape.triangles.smooth for shape in shapes], dtype=np.bool_)
    body = np.array([shape.body for shape in shapes], dtype=np.int64)
    triangles = Triangles(
        np.concatenate(corners), np.concatenate(normals), np.repeat(colours, counts, axis=0), np.repeat(solid, counts)
    )
    planes = [shape.placement for shape in found.shapes if shape.sort == "plane" and shape.body == 0]
    level = tuple(float(place.vector[2]) for place in planes if place.matrix[2, 2] > 1.0 - 1e-6)
    ground = np.array([shape.sort == "ground" for shape in shapes], dtype=np.bool_)
    return Surfaces(
        model, triangles, np.repeat(body, counts), np.repeat(ground, counts), missing=found.missing, level=level
    )


def _normals(corners: Floats) -> Floats:
    """Unit normals (n, 3, 3) at the corners of triangles: the mean of those that meet there and are nearly parallel."""
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])  # as long as twice the area
    flat = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    point = _numbered(corners.reshape(-1, 3))
    order = np.argsort(point, kind="stable")
    first = np.searchsorted(point[order], point, side="left")
    count = np.searchsorted(point[order], point, side="right") - first
    # Every corner beside every triangle that has a corner there.
    own = np.repeat(np.arange(len(point)), count)
    ends = np.cumsum(count)
    other = order[np.arange(len(own)) - np.repeat(ends - count, count) + np.repeat(first, count)] // 3
    alike = np.einsum("nd,nd->n", flat[own // 3], flat[other]) > CREASE
    own, other = own[alike], other[alike]
    summed = np.stack([np.bincount(own, across[other, k], minlength=len(point)) for k in range(3)], axis=-1)
    length = np.linalg.norm(summed, axis=1, keepdims=True)
    return np.where(length > 0, summed / np.maximum(length, 1e-300), np.repeat(flat, 3, axis=0)).reshape(-1, 3, 3)


def _numbered(points: Floats) -> NDArray[np.int64]:
    """A number for each point (n, 3), the same for those in the same place."""
    if not len(points):
        return np.zeros(0, dtype=np.int64)
    low, extent = points.min(axis=0), max(float(np.ptp(points, axis=0).max()), 1e-300)
    grid = np.round((points - low) / extent * (1 << 20)).astype(np.int64)
    keys = grid[:, 0] << 42 | grid[:, 1] << 21 | grid[:, 2]
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)
