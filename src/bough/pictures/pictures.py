"""Pictures of a model: one pose, several beside each other, or a motion, all seen by one camera."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.backends.threads import get_num_threads
from bough.errors import ModelError, ShapeError
from bough.kernel.arguments import as_floats
from bough.kernel.configuration import neutral
from bough.kernel.functions import require_model
from bough.model import Geometry, Model
from bough.pictures.camera import Camera, camera_around
from bough.pictures.floor import square_side
from bough.pictures.render import render
from bough.pictures.surfaces import Surfaces, surfaces
from bough.pictures.triangles import Floats, Triangles
from bough.reading import instance, listed, number, shown, whole_number
from bough.viewer.drawables import tell_missing

__all__ = ["Image", "View", "image", "images", "read_view"]

Image = NDArray[np.uint8]
Floor = float | None | Literal["auto"]

LARGEST_SIDE = 4096  # pixels
FINEST = 8  # samples in a row of a pixel
ONE_ROW, MOST_BESIDE = 8, 64
"""States that are drawn in one row, and beside each other at all."""

ELBOW_ROOM = 0.15
"""Room between two states in a row, in parts of the widest."""

WANDERING = 1.6
"""The camera follows a motion that takes more room than this many times its largest pose."""

LOOKED_AT = 48
"""Poses of a motion that decide where the camera is."""


@dataclass(frozen=True)
class View:
    """How something is looked at: the size in pixels, the angles of the camera in rad, the floor, and fineness."""

    width: int
    height: int
    azimuth: float
    elevation: float
    floor: Floor
    fineness: int


def read_view(size: tuple[int, int], azimuth: float, elevation: float, floor: Floor, fineness: int) -> View:
    """A view, checked."""
    two = listed(size, "size", "width and height in pixels", ShapeError)
    if len(two) != 2:
        raise ShapeError(f"size is {shown(size)}, expected width and height in pixels")
    width, height = (
        whole_number(x, f"the {name} of a picture", least=1, most=LARGEST_SIDE)
        for x, name in zip(two, ("width", "height"), strict=True)
    )
    angles = [number(x, name, "an angle in rad") for x, name in ((azimuth, "azimuth"), (elevation, "elevation"))]
    if not abs(angles[1]) <= 1.57:
        raise ShapeError(f"elevation is {shown(elevation)}, expected an angle from -1.57 to 1.57 rad")
    if isinstance(floor, str):
        if floor != "auto":
            raise ShapeError(f"floor is {shown(floor)}, expected a height in m, None or 'auto'")
    elif floor is not None:
        floor = number(floor, "floor", "a height in m, None or 'auto'")
    return View(width, height, angles[0], angles[1], floor, whole_number(fineness, "fineness", least=1, most=FINEST))


def image(
    model: Model,
    q: ArrayLike | None = None,
    *,
    size: tuple[int, int] = (640, 480),
    azimuth: float = 0.7,
    elevation: float = 0.25,
    floor: Floor = "auto",
    fineness: int = 3,
    world: Iterable[Geometry] = (),
) -> Image:
    """Draw a picture of a model without a screen: (height, width, 3), red, green and blue from 0 to 255.

    The picture shows visual shapes, or else collision shapes, or else the inertia ellipsoids of the bodies. Shapes
    without a colour get a colour for each part of the tree between branches. Meshes need the extra ``pictures``.

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (nq,) (default: neutral). Up to 64 configurations (..., nq) are drawn side by side.
    size
        Width and height of the picture in pixels.
    azimuth, elevation
        Direction of the camera, seen from the robot (rad): the angle about z, from x to y, and the angle above the
        horizon. The distance is such that the robot fills the picture.
    floor
        Height (m) of the floor; None: no floor. "auto": the height of a plane of the model or the world; no floor on
        uneven ground; otherwise 0, or lower if the robot is lower.
    fineness
        Number of samples per pixel in each direction. More samples give smoother edges and take longer.
    world
        Additional fixed shapes, such as those of a scene (``scene.shapes``).

    Returns
    -------
    ndarray
        The picture, rows from top to bottom. `save` writes pictures to files.

    Raises
    ------
    ModelError
        If there is nothing to draw: no shape, no readable mesh, no inertia.

    Examples
    --------
    >>> import bough
    >>> bough.pictures.image(bough.robots.load("arm"), size=(160, 120)).shape
    (120, 160, 3)
    """
    require_model(model)
    pose = neutral(model) if q is None else as_floats("q", q, (model.nq,))
    states = np.asarray(pose, dtype=np.float64).reshape(1, math.prod(pose.shape[:-1]), model.nq)
    (drawn,) = images(model, states, read_view(size, azimuth, elevation, floor, fineness), world)
    return drawn


def images(model: Model, q: Floats, view: View, world: Iterable[Geometry] = ()) -> Iterator[Image]:
    """The pictures of a motion (T, states, nq), by one camera that stands still or, if it must, goes with it.

    States are drawn beside each other; those that are not finite are left out of a picture.
    """
    shapes = listed(world, "world", "shapes, such as those of a scene")
    for g in shapes:
        instance(g, "a shape of the world", Geometry)
    found = surfaces(model, shapes)
    if not len(found.body):
        told = f": {'; '.join(found.missing[:3])}" if found.missing else ", no shape and no inertia"
        raise ModelError(f"there is nothing to draw for model {model.name!r}{told}")
    tell_missing(found.missing)
    if not 0 < q.shape[1] <= MOST_BESIDE:
        raise ShapeError(f"there are {q.shape[1]} states to draw side by side, expected 1 to {MOST_BESIDE}")
    stage = _stage(found, q, view)
    workers = get_num_threads()
    if len(q) == 1 or workers == 1:
        yield from (stage.picture(k) for k in range(len(q)))
        return
    with ThreadPoolExecutor(workers) as pool:
        for start in range(0, len(q), 4 * workers):  # a few ahead: pictures wait for who takes them
            yield from pool.map(stage.picture, range(start, min(start + 4 * workers, len(q))))


@dataclass(frozen=True)
class _Stage:
    """A motion (T, states, nq) before a camera, which is moved by `path` (T, 3) in m."""

    found: Surfaces
    q: Floats
    beside: Floats
    camera: Camera
    path: Floats
    floor: float | None
    size: float
    side: float
    fineness: int

    def picture(self, k: int) -> Image:
        camera = self.camera.moved(self.path[k])
        seen = _posed(self.found, self.q[k], self.beside)
        return render(seen, camera, floor=self.floor, size=self.size, side=self.side, fineness=self.fineness)


def _stage(found: Surfaces, q: Floats, view: View) -> _Stage:
    some = np.unique(np.linspace(0, len(q) - 1, min(len(q), LOOKED_AT)).astype(np.intp))
    points = np.array([[_points(found, state) for state in q[k]] for k in some])  # (some, states, points, 3)
    if not np.isfinite(points).any():
        raise ShapeError("there is no pose to draw: q is not finite anywhere")
    low, high = points.min(axis=2), points.max(axis=2)
    largest = float(np.nanmax(high - low))
    extent = np.fmax.reduce(high) - np.fmin.reduce(low)  # of each state in all of the time
    path = np.zeros((len(q), 3))
    if q.shape[1] == 1 and np.max(extent) > WANDERING * largest:
        middles = points[:, 0].mean(axis=1).T
        path = np.stack([np.interp(np.arange(len(q)), some, _smooth(x)) for x in middles], axis=-1)
        path -= path[0]
    beside = _beside(points, 1.15 * float(np.nanmax(extent[:, :2])), view.azimuth)
    lowest = float(np.nanmin(points[..., 2]))
    points = points + beside[:, np.newaxis] - path[some, np.newaxis, np.newaxis]
    points = points[np.isfinite(points).all(axis=-1)]
    camera = camera_around(points, view.width, view.height, view.azimuth, view.elevation)
    floor = _floor_height(found, lowest) if view.floor == "auto" else view.floor
    room = float(np.linalg.norm(np.ptp(points, axis=0)))
    side = square_side(1.4 * max(largest, 1e-6))
    return _Stage(found, q, beside, camera, path, floor, max(room, 1e-6), side, view.fineness)


def _points(found: Surfaces, q: Floats) -> Floats:
    """Some points of the surfaces, all around; NaN where the state is not finite."""
    if not np.isfinite(q).all():
        return np.full_like(found.outline.triangles.corners[:, 0], np.nan)
    return found.outline.posed(q).corners[:, 0]


def _posed(found: Surfaces, states: Floats, beside: Floats) -> Triangles:
    """The triangles of all states that are finite, each moved to its place."""
    parts = [replace(p, corners=p.corners + at) for q, at in zip(states, beside, strict=True)
             if np.isfinite(q).all() and (p := found.posed(q))]  # fmt: skip
    if len(parts) == 1:
        return parts[0]
    none = np.zeros(0, dtype=np.intp)
    given = found.triangles
    parts = parts or [Triangles(given.corners[none], given.normals[none], given.colours[none], given.solid[none])]
    return Triangles(*(np.concatenate([getattr(part, name) for part in parts]) for name in vars(given)))


def _beside(points: Floats, apart: float, azimuth: float) -> Floats:
    """Where to move states (states, 3) so that they stand from left to right as the camera sees it.

    In one row each gets as much room as its `points` (T, states, n, 3) need; many stand in rows behind each other, all
    as far `apart`.
    """
    count = points.shape[1]
    sine, cosine = np.sin(azimuth), np.cos(azimuth)
    right, away = np.array([-sine, cosine, 0.0]), np.array([-cosine, -sine, 0.0])
    if count <= ONE_ROW:
        x = points @ right
        low, high = np.fmin.reduce(x, axis=(0, 2)), np.fmax.reduce(x, axis=(0, 2))
        width = np.nan_to_num(high - low) + ELBOW_ROOM * float(np.nanmax(high - low))
        return np.asarray(
            (np.cumsum(width) - 0.5 * (width + width.sum()) - np.nan_to_num(low + high) / 2)[:, None] * right
        )
    columns = int(np.ceil(np.sqrt(count)))
    back, across = np.divmod(np.arange(count)[:, np.newaxis], columns)
    return np.asarray(apart * ((across - 0.5 * (columns - 1)) * right + back * away))


def _smooth(x: Floats) -> Floats:
    """Without shaking: a moving mean over a sixth of all, ends held."""
    known = np.flatnonzero(np.isfinite(x))
    filled = np.interp(np.arange(len(x)), known, x[known])
    reach = max(1, len(x) // 12)
    padded = np.pad(filled, reach, mode="edge")
    return np.asarray(np.convolve(padded, np.ones(2 * reach + 1) / (2 * reach + 1), mode="valid"))


def _floor_height(found: Surfaces, lowest: float) -> float | None:
    """Of a level plane, if there is one, none on uneven ground; else 0, or lower for what hangs or stands below."""
    if found.level:
        return max(found.level)
    if found.ground.any():
        return None
    height = float(np.ptp(found.triangles.corners[..., 2]))
    return 0.0 if lowest > -0.05 * height else lowest
