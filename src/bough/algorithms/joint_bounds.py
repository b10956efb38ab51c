"""Bounds on the velocities of joints, on the forces of their drives and of their dry friction, for each velocity.

A joint that follows another counts for the one it follows: that may go no faster than both allow, and is held by the
friction of both.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bough.model import Model
from bough.scalar import Array, Index, Scalar, Table, absolute, filled, gather, maximum, minimum, select

__all__ = ["Bounds", "bounded_force", "dry_frictions", "slipping", "speed_limits", "with_slipping"]

Bounds = tuple[tuple[int, float], ...]
"""Velocities, by their places in v, and the bound of each."""


@lru_cache(maxsize=128)
def speed_limits(model: Model) -> Bounds:
    """The velocities of joints of the tree that have a limit, and it (rad/s or m/s)."""
    most = np.full(model.nv, math.inf)
    for place, ratio, limit in _entries(model, "velocity"):
        if ratio:
            most[place] = min(most[place], limit / abs(ratio))
    return _finite(most)


@lru_cache(maxsize=128)
def dry_frictions(model: Model) -> Bounds:
    """The velocities of joints of the tree with dry friction, and the most that it holds (N m or N)."""
    most = np.zeros(model.nv)
    for place, ratio, force in _entries(model, "friction"):
        most[place] += abs(ratio) * force
    return tuple((k, force) for k, force in _finite(most) if force > 0.0)


def bounded_force(forces: Array, efforts: tuple[float, ...]) -> Array:
    """Forces of drives that are no larger than the efforts of their joints."""
    if not any(map(math.isfinite, efforts)):
        return forces
    table = Table("efforts", np.minimum(efforts, np.finfo(np.float64).max))

    def bounded(k: Index) -> Scalar:
        most = gather(table, k)
        return maximum(minimum(forces[k], most), -most)

    return filled(len(efforts), bounded)


def slipping(dry: Bounds, v: Array, still: Scalar) -> list[Scalar]:
    """The known forces of dry friction on joints that move: against them; zero on those that are still."""
    found: list[Scalar] = []
    for k, force in dry:
        against = select(v[k] > 0.0, -force, force)
        found.append(select(absolute(v[k]) > still, against, 0.0))
    return found


def with_slipping(n: int, force: Array, dry: Bounds, known: list[Scalar]) -> Array:
    """Joint forces (n), with known ones of dry friction added."""
    whole = filled(n, lambda k: force[k])
    for (k, _), more in zip(dry, known, strict=True):
        whole[k] = whole[k] + more
    return whole


def _entries(model: Model, what: str) -> list[tuple[int, float, float]]:
    """For each velocity of each joint, followers among them: its place in v, the ratio to that, and its number."""
    own = [x for entry in model.joints for x in getattr(entry, what)]
    source, ratio = model.coupling.v_source.tolist(), model.coupling.v_ratio.tolist()
    return list(zip(source, ratio, own, strict=True))


def _finite(values: NDArray[np.float64]) -> Bounds:
    return tuple((k, float(x)) for k, x in enumerate(values.tolist()) if math.isfinite(x))
