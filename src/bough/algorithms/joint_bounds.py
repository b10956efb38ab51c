"""Bounds on the velocities of joints, on the forces of their drives and of their dry friction, for each velocity.

A joint that follows another counts for the one it follows: that may go no faster than both allow, and is held by the
friction of both. Velocities of joints that close loops come behind those of the tree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.loops import loop_drives, loop_motions, loop_rates
from bough.algorithms.rnea import ZEROS
from bough.model import Mechanism, Model
from bough.scalar import Array, Index, Part, Scalar, Table, absolute, fill, filled, gather, maximum, minimum, select

__all__ = [
    "Bounds", "bounded_force", "bounded_names", "bounded_rows", "bounded_speeds", "dry_frictions", "slipping_forces",
    "speed_limits", "with_slipping",
]  # fmt: skip

Bounds = tuple[tuple[int, float], ...]
"""Velocities, by their places in v or behind it, and the bound of each."""


@lru_cache(maxsize=128)
def speed_limits(model: Model) -> Bounds:
    """The velocities of joints that have a limit, and it (rad/s or m/s)."""
    most = np.full(model.nv, math.inf)
    for place, ratio, limit in _entries(model, "velocity"):
        if ratio:
            most[place] = min(most[place], limit / abs(ratio))
    return _finite(np.concatenate([most, model.loop_limits("velocity")]))


@lru_cache(maxsize=128)
def dry_frictions(model: Model) -> Bounds:
    """The velocities of joints with dry friction, and the most that it holds (N m or N)."""
    most = np.zeros(model.nv)
    for place, ratio, force in _entries(model, "friction"):
        most[place] += abs(ratio) * force
    whole = np.concatenate([most, model.loop_limits("friction")])
    return tuple((k, force) for k, force in _finite(whole) if force > 0.0)


@lru_cache(maxsize=128)
def bounded_names(model: Model) -> tuple[str, ...]:
    """The names of all velocities that may have bounds."""
    closing = ((c.name, c.joint.nv, k) for c in model.loops for k in range(c.joint.nv))
    return (*model.dof_names, *(name if nv == 1 else f"{name}[{k}]" for name, nv, k in closing))


def bounded_speeds(m: Mechanism, bounds: Bounds, q: Array, v: Array) -> list[Scalar]:
    """All velocities that may have bounds; those of loop joints if some of them are in `bounds`."""
    own = [v[k] for k in range(m.model.nv)]
    return [*own, *loop_rates(m, q, v)[0]] if _has_loop_joints(m, bounds) else own


def bounded_rows(
    m: Mechanism, bounds: Sequence[tuple[int, float]], q: Array, v: Array | None, J: Array
) -> tuple[list[Scalar], list[Scalar]]:
    """Write the rows of some velocities; returns their rates and what these add to the accelerations."""
    n, rates, bias = m.model.nv, [], []  # type: int, list[Scalar], list[Scalar]
    B, speeds, bends = ZEROS, [], []  # type: Array, list[Scalar], list[Scalar]
    if _has_loop_joints(m, bounds):
        B = loop_motions(m, q)[1]
        speeds, bends = ([], []) if v is None else loop_rates(m, q, v)
    for row, (k, _) in enumerate(bounds):
        if k < n:
            J[row * n + k] = 1.0
        else:
            fill(Part(J, row * n), n, Part(B, (k - n) * n).__getitem__)
        rates.append(0.0 if v is None else v[k] if k < n else speeds[k - n])
        bias.append(0.0 if v is None or k < n else bends[k - n])
    return rates, bias


def bounded_force(forces: Array, efforts: tuple[float, ...]) -> Array:
    """Forces of drives that are no larger than the efforts of their joints."""
    if not any(map(math.isfinite, efforts)):
        return forces
    table = Table("efforts", np.minimum(efforts, np.finfo(np.float64).max))

    def bounded(k: Index) -> Scalar:
        most = gather(table, k)
        return maximum(minimum(forces[k], most), -most)

    return filled(len(efforts), bounded)


def slipping_forces(dry: Bounds, v: Sequence[Scalar], still: Scalar) -> list[Scalar]:
    """The known forces of dry friction on joints that move: against them; zero on those that are still."""
    found: list[Scalar] = []
    for k, force in dry:
        against = select(v[k] > 0.0, -force, force)
        found.append(select(absolute(v[k]) > still, against, 0.0))
    return found


def with_slipping(m: Mechanism, q: Array, force: Array, dry: Bounds, known: list[Scalar]) -> Array:
    """Joint forces (nv), with known ones of dry friction added."""
    n = m.model.nv
    whole = filled(n, lambda k: force[k])
    on_loops: list[Scalar] = [0.0] * len(m.model.loop_limits("friction"))
    for (k, _), more in zip(dry, known, strict=True):
        if k < n:
            whole[k] = whole[k] + more
        else:
            on_loops[k - n] = more
    if not _has_loop_joints(m, dry):
        return whole
    drives = loop_drives(m, loop_motions(m, q)[1], on_loops)
    return filled(n, lambda k: whole[k] + drives[k])


def _has_loop_joints(m: Mechanism, bounds: Sequence[tuple[int, float]]) -> bool:
    """Whether velocities of joints that close loops are among some."""
    return any(k >= m.model.nv for k, _ in bounds)


def _entries(model: Model, what: str) -> list[tuple[int, float, float]]:
    """For each velocity of each joint, followers among them: its place in v, the ratio to that, and its number."""
    own = [x for entry in model.joints for x in getattr(entry, what)]
    source, ratio = model.coupling.v_source.tolist(), model.coupling.v_ratio.tolist()
    return list(zip(source, ratio, own, strict=True))


def _finite(values: NDArray[np.float64]) -> Bounds:
    return tuple((k, float(x)) for k, x in enumerate(values.tolist()) if math.isfinite(x))
