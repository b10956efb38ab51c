"""Surfaces and where each of them is drawn: many bodies and many states as instances of few surfaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.kernel.kinematics import placements
from bough.model import Model
from bough.viewer.drawables import Drawable, Floats, Triangles

__all__ = ["Instances", "arranged", "extent", "poses", "quaternions", "world_placements"]


@dataclass(frozen=True, eq=False)
class Instances:
    """One surface, drawn k times on bodies of a mechanism.

    Attributes
    ----------
    triangles
        The surface.
    bodies
        Numbers of the bodies (k,); 0 is the base.
    local
        Where it is in the frames of the bodies (k, 4, 4).
    scales
        By how much it is stretched along its own axes (k, 3).
    colours
        Red, green, blue, opacity (k, 4), each 0 to 1.
    names
        What each is called.
    """

    triangles: Triangles
    bodies: NDArray[np.int64]
    local: Floats
    scales: Floats
    colours: Floats
    names: tuple[str, ...]


def poses(groups: Sequence[Instances], world: Floats, offsets: Floats) -> list[tuple[Floats, Floats]]:
    """For each group positions (s k, 3) and quaternions w x y z (s k, 4) of its k instances in s states.

    The bodies of the states are at `world` (s, N+1, 4, 4); `offsets` (s, 3) are added to the positions of each state,
    so that states can be seen side by side.
    """
    if not groups:
        return []
    X = world[:, np.concatenate([g.bodies for g in groups])] @ np.concatenate([g.local for g in groups])
    positions, turns = X[..., :3, 3] + offsets[:, None], quaternions(X[..., :3, :3])
    ends = np.cumsum([len(g.bodies) for g in groups])
    parts = [slice(end - len(g.bodies), end) for g, end in zip(groups, ends.tolist(), strict=True)]
    return [(positions[:, part].reshape(-1, 3), turns[:, part].reshape(-1, 4)) for part in parts]


def arranged(shapes: Iterable[Drawable]) -> tuple[Instances, ...]:
    """Drawables as instances of as few surfaces as possible; what has one colour on one body becomes one surface."""
    groups: dict[int, list[Drawable]] = {}
    for shape in shapes:
        groups.setdefault(id(shape.triangles), []).append(shape)
    shared = [group for group in groups.values() if len(group) > 1]
    alone: dict[tuple[object, ...], list[Drawable]] = {}
    for shape, *others in groups.values():
        if not others:
            alone.setdefault((shape.body, shape.rgba, shape.sort, shape.triangles.smooth), []).append(shape)
    return tuple(_instances(group) for group in (*shared, *(_joined(parts) for parts in alone.values())))


def _joined(parts: Sequence[Drawable]) -> list[Drawable]:
    """Surfaces on one body as one of them."""
    first = parts[0]
    if len(parts) == 1:
        return [first]
    starts = np.cumsum([0, *(len(p.triangles.corners) for p in parts)])
    faces = [_outward(p) + start for p, start in zip(parts, starts, strict=False)]
    joined = Triangles(
        np.concatenate([p.corners for p in parts]), np.concatenate(faces).astype(np.int32), first.triangles.smooth
    )
    here = type(first.placement)()
    return [Drawable(first.body, here, (1.0, 1.0, 1.0), joined, first.rgba, first.sort, first.name)]


def _outward(shape: Drawable) -> NDArray[np.int32]:
    """Its triangles, turned round where a negative scale shows them from inside."""
    return shape.triangles.faces[:, ::-1] if np.prod(shape.scale) < 0 else shape.triangles.faces


def _instances(group: Sequence[Drawable]) -> Instances:
    return Instances(
        group[0].triangles,
        np.array([d.body for d in group]),
        np.array([d.placement.homogeneous for d in group]),
        np.array([d.scale for d in group]),
        np.array([d.rgba for d in group]),
        tuple(d.name for d in group),
    )


def world_placements(model: Model, q: ArrayLike) -> Floats:
    """Where the base and all bodies are: (..., N+1, 4, 4); NaN where a state is not finite."""
    states = np.asarray(q, np.float64)
    result = np.empty((*states.shape[:-1], model.nbodies + 1, 4, 4))
    result[..., 0, :, :] = np.eye(4)
    if model.nbodies:
        with np.errstate(all="ignore"):
            result[..., 1:, :, :] = placements(model, states, check=False)
    return result


@np.errstate(all="ignore")  # a mechanism that is nowhere
def extent(shapes: Iterable[Drawable], world: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest coordinates (3,) of what is drawn on a mechanism at `world` (N+1, 4, 4).

    Planes and uneven ground do not count. Without any shape it is a box of half a metre around the origin.
    """
    corners = [np.array([[-0.25] * 3, [0.25] * 3])]
    found = [
        world[d.body, :3, :3] @ np.array([[x, y, z] for x in ends[:, 0] for y in ends[:, 1] for z in ends[:, 2]]).T
        + world[d.body, :3, 3:]
        for d in shapes
        if d.sort not in ("plane", "ground")
        for ends in (np.array([d.corners.min(axis=0), d.corners.max(axis=0)]),)
    ]
    points = np.concatenate([x.T for x in found] if found else corners)
    points = points[np.isfinite(points).all(axis=1)]
    return (points.min(axis=0), points.max(axis=0)) if len(points) else (corners[0][0], corners[0][1])


@np.errstate(all="ignore")
def quaternions(R: Floats) -> Floats:
    """Unit quaternions (..., 4), scalar first, of rotations (..., 3, 3); the scalar is not negative."""
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=-1)
    wx, wy, wz = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    xy, xz, yz = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    w, x, y, z = np.moveaxis(squares, -1, 0)
    rows = np.stack(
        [
            np.stack([w, wx, wy, wz], axis=-1),
            np.stack([wx, x, xy, xz], axis=-1),
            np.stack([wy, xy, y, yz], axis=-1),
            np.stack([wz, xz, yz, z], axis=-1),
        ],
        axis=-2,
    )
    largest = np.argmax(squares, axis=-1)[..., None, None]
    q = np.take_along_axis(rows, np.broadcast_to(largest, (*largest.shape[:-2], 1, 4)), axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.asarray(np.where(q[..., :1] < 0, -q, q))
