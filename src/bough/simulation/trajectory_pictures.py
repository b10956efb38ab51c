"""Trajectories as pictures: films, and poses beside each other."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import SaveError
from bough.pictures.files import STILL, save, target_of
from bough.reading import number

if TYPE_CHECKING:
    from bough.simulation.trajectory import Trajectory

__all__ = ["save_pictures"]

POSES = 5
"""Poses of a PNG file, unless times are given."""

MOST_PICTURES = 100_000
"""Of a film: more of them is a mistake of units."""


def save_pictures(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    at: ArrayLike | None = None,
    speed: float = 1.0,
    rate: float = 30.0,
    **view: Any,
) -> None:
    """Write a film, or a PNG file with poses; `view` are options of `bough.pictures.save`."""
    target = target_of(path, (".png", ".gif", ".mp4"))
    first, last = trajectory.time[0], trajectory.time[-1]
    if target.suffix.lower() in STILL:
        q = trajectory.at(np.unique(np.linspace(first, last, POSES) if at is None else np.asarray(at))).q
        wide = min(POSES, math.prod(q.shape[:-1]))
        save(trajectory.model, target, q, **{"size": (max(640, 320 * wide), 480)} | view)
        return
    if at is not None:
        raise SaveError(
            f"{str(target)!r}: at is for PNG files; between(start, end) is the part of a trajectory to show"
        )
    faster = number(speed, "speed", "a positive number, 1 for the true speed", above=0.0)
    per_second = number(rate, "rate", "pictures in a second, more than 0", above=0.0)
    count = (last - first) / faster * per_second
    if not count < MOST_PICTURES:
        raise SaveError(f"{str(target)!r}: {last - first:g} s at {per_second:g} pictures in a second are too many")
    times = np.minimum(first + np.arange(int(count + 1e-9) + 1) * faster / per_second, last)
    save(trajectory.model, target, trajectory.at(times).q, rate=per_second, **view)
