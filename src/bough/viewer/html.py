"""A motion as one HTML file that needs nothing else: no network, no server, no library."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import ShapeError
from bough.model import BASE, Geometry, Model
from bough.viewer.drawables import PLANE_SIDE, Drawable, Floats, drawables, square_triangles, tell_missing
from bough.viewer.instances import Instances, arranged, extent, quaternions, world_placements
from bough.viewer.simplify import simplified

__all__ = ["motion_html"]

MOST_POSES = 600_000
"""Poses of bodies in a file, 20 bytes each before they are compressed; samples are left out to keep to it."""

MOST_FACES, MOST_DRAWN_FACES, FEWEST_FACES = 120_000, 200_000, 60
"""Triangles of all surfaces in a file, and of all that is drawn, above which they are made coarser, and as few as a
surface keeps."""

GROUND = 16.0
"""Length of the sides of a ground without end, in sizes of what stands on it."""

MOST_COPIES = 64
"""States of a batch in a file."""


def motion_html(model: Model, time: Floats, q: Floats, world: Sequence[Geometry] = ()) -> str:
    """A page with a motion that plays, to be scrubbed and looked at from all sides.

    Parameters
    ----------
    model
        The mechanism.
    time
        Times (T,) in s.
    q
        Configurations (T, nq), or of a batch (T, ..., nq), the first 64 of which stand side by side.
    world
        Further shapes on the base, such as those of a scene.

    Returns
    -------
    str
        The page. Motions of many bodies keep fewer samples, between which the page interpolates; meshes of very many
        triangles are made coarser.
    """
    if not np.size(q):
        raise ShapeError(f"there are no states to show: q has shape {np.shape(q)}")
    states = np.asarray(q, np.float64).reshape(len(time), -1, model.nq)[:, :MOST_COPIES]
    drawn = drawables(model, world)
    shapes = drawn.shapes
    tell_missing(drawn.missing)
    moving = sorted({d.body for d in shapes} | {0})
    every = max(1, -(-len(time) * states.shape[1] * len(moving) // MOST_POSES))
    kept = np.unique([*range(0, len(time), every), len(time) - 1])
    places = world_placements(model, states[kept])[:, :, moving]
    places = _held(places)
    some = states[kept[[0, len(kept) // 2, -1]], 0]
    low, high = _extent(model, shapes, some, places, moving)
    spacing = 1.1 * float(max(high[0] - low[0], high[1] - low[1], 0.2))
    offsets = _square(states.shape[1], spacing)
    size = float(np.linalg.norm(high - low) + np.linalg.norm(offsets.max(axis=0)))
    surfaces = arranged(_far_planes(shapes, size))
    packed = _Packed()
    packed.add(np.asarray(time, np.float64)[kept], "f4")
    packed.add(places[..., :3, 3] + offsets[:, None], "f4")
    packed.add(np.round(32767 * quaternions(places[..., :3, :3])), "i2")
    stored = sum(len(s.triangles.faces) for s in surfaces)
    drawn_faces = states.shape[1] * sum(len(s.triangles.faces) * len(s.bodies) for s in surfaces)
    share = min(1.0, MOST_FACES / max(stored, 1), MOST_DRAWN_FACES / max(drawn_faces, 1))
    head: dict[str, Any] = {
        "samples": len(kept),
        "copies": states.shape[1],
        "bodies": len(moving),
        "names": [BASE, *(model.bodies[i - 1].name for i in moving if i)],
        "middle": (0.5 * (low + high) + 0.5 * offsets.max(axis=0)).tolist(),
        "size": size,
        "shadow": _shadow_height(surfaces),
        "surfaces": [packed.surface(s, moving, share) for s in surfaces],
    }
    parts = {
        "TITLE": escape(model.name or "bough"),
        "HEAD": json.dumps(head).replace("<", "\\u003c"),  # names end no script
        "DATA": base64.b64encode(zlib.compress(packed.bytes, 9)).decode("ascii"),
    }
    page = resources.files("bough.viewer").joinpath("page.html").read_text(encoding="utf-8")
    return re.sub("@(TITLE|HEAD|DATA)@", lambda place: parts[place[1]], page)


def _held(places: Floats) -> Floats:
    """Placements (T, s, …) in which states that are not finite any more stay where they were."""
    sound = np.asarray(np.isfinite(places).all(axis=(2, 3, 4)))
    if not sound[0].all():
        k = int(np.argmin(sound[0]))
        raise ShapeError(f"the first sample of state {k} is not finite: there is nothing to draw")
    last = np.maximum.accumulate(np.where(sound, np.arange(len(sound))[:, None], 0))
    return np.asarray(places[last, np.arange(sound.shape[1])])


class _Packed:
    """Arrays one after the other, each padded to four bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    @property
    def bytes(self) -> bytes:
        return b"".join(self._parts)

    def add(self, values: NDArray[Any], kind: str) -> None:
        data = np.ascontiguousarray(values).astype(f"<{kind}").tobytes()
        self._parts.append(data + b"\0" * (-len(data) % 4))

    def surface(self, s: Instances, moving: list[int], share: float) -> dict[str, Any]:
        """Add a surface with its instances, with a share of its triangles; what the head says of it."""
        surface = simplified(s.triangles, max(FEWEST_FACES, int(share * len(s.triangles.faces))))
        low, high = surface.corners.min(axis=0), surface.corners.max(axis=0)
        self.add(np.round(65535 * (surface.corners - low) / np.where(high > low, high - low, 1.0)), "u2")
        self.add(surface.faces, "u2" if len(surface.corners) < 65536 else "u4")
        self.add(np.array([moving.index(i) for i in s.bodies]), "i4")
        stretched = s.local.copy()
        stretched[:, :3, :3] *= s.scales[:, None, :]
        self.add(np.swapaxes(stretched, 1, 2), "f4")
        self.add(s.colours, "f4")
        return {
            "corners": len(surface.corners),
            "faces": len(surface.faces),
            "instances": len(s.bodies),
            "low": low.tolist(),
            "high": high.tolist(),
            "smooth": surface.smooth,
            "plane": surface is square_triangles(),
        }


def _extent(
    model: Model, shapes: Sequence[Drawable], q: Floats, places: Floats, moving: list[int]
) -> tuple[Floats, Floats]:
    """The box around a mechanism in some configurations q (k, nq), and where its bodies go in the first state."""
    boxes = [extent(shapes, world) for world in world_placements(model, q)]
    low, high = boxes[0]
    if len(moving) == 1:
        return low, high
    paths, reach = places[:, 0, 1:, :3, 3], high - low
    lowest = np.min([paths.min(axis=(0, 1)), *(box[0] for box in boxes)], axis=0)
    highest = np.max([paths.max(axis=(0, 1)), *(box[1] for box in boxes)], axis=0)
    return np.maximum(lowest, low - 2 * reach), np.minimum(highest, high + 2 * reach)


def _square(count: int, spacing: float) -> Floats:
    """Where copies stand: rows of a square."""
    side = int(np.ceil(np.sqrt(count)))
    k = np.arange(count)
    return np.asarray(spacing * np.column_stack([k % side, k // side, np.zeros(count)]), np.float64)


def _far_planes(shapes: Sequence[Drawable], size: float) -> list[Drawable]:
    """The shapes; planes without end reach as far as is seen."""
    side = max(PLANE_SIDE, GROUND * size)
    endless = (PLANE_SIDE, PLANE_SIDE, 1.0)
    return [replace(d, scale=(side, side, 1.0)) if d.sort == "plane" and d.scale == endless else d for d in shapes]


def _shadow_height(surfaces: Sequence[Instances]) -> float | None:
    """The height of the first level plane of the world."""
    for s in surfaces:
        for body, X in zip(s.bodies, s.local, strict=True):
            if s.triangles is square_triangles() and body == 0 and X[2, 2] > 1.0 - 1e-9:
                return float(X[2, 3])
    return None
