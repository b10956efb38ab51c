"""Links as MuJoCo sees them: inertias and velocities along the world's axes, at the robot's centre of mass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bough.kernel.arguments import FloatArray
from bough.kernel.kinematics import placements, velocities
from bough.model import Inertia, Model

__all__ = ["inertias_at", "velocities_at"]


def inertias_at(model: Model, links: Sequence[str], q: FloatArray, point: FloatArray) -> FloatArray:
    """Inertias (n, links, 10) about a point (n, 3): xx yy zz xy xz yz, mass times centre from there, mass.

    Links on fixed joints have their own, which the bodies they are fixed to do not have.
    """
    bodies = {name: body.inertia for name, body in zip(model.body_names, model.bodies, strict=True)}
    fixed = {frame.name: frame for frame in model.frames if frame.inertia is not None}
    every = tuple(dict.fromkeys([*links, *fixed]))
    given = [fixed[name].inertia if name in fixed else bodies[name] for name in every]
    own = _about(given, placements(model, q, every), point)
    for name, frame in fixed.items():
        if frame.body and model.body_names[frame.body - 1] in every:
            own[:, every.index(model.body_names[frame.body - 1])] -= own[:, every.index(name)]
    return own[:, : len(links)]


def _about(inertias: Sequence[Inertia | None], X: FloatArray, point: FloatArray) -> FloatArray:
    """Inertias in frames placed in the world, (n, links, 10), about a point."""
    known = [Inertia(0.0) if inertia is None else inertia for inertia in inertias]
    mass = np.array([inertia.mass for inertia in known])[:, None]
    packed = np.array([inertia.rotational for inertia in known])[:, [0, 1, 3, 1, 2, 4, 3, 4, 5]]
    R, centers = X[..., :3, :3], np.array([inertia.com for inertia in known])
    d = np.einsum("nkij,kj->nki", R, centers) + X[..., :3, 3] - point[:, None]
    I = np.einsum("nkia,kab,nkjb->nkij", R, packed.reshape(-1, 3, 3), R)
    I += mass[..., None] * (np.sum(d * d, axis=-1)[..., None, None] * np.eye(3) - d[..., :, None] * d[..., None, :])
    moments = I[..., [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return np.concatenate([moments, mass * d, np.broadcast_to(mass, (*d.shape[:2], 1))], axis=-1)


def velocities_at(model: Model, links: Sequence[str], q: FloatArray, v: FloatArray, point: FloatArray) -> FloatArray:
    """Velocities (n, links, 6), angular first, of what of each link is at a point (n, 3)."""
    V = velocities(model, q, v, tuple(links), "WORLD")
    return np.concatenate([V[..., 3:], V[..., :3] + np.cross(V[..., 3:], point[:, None])], axis=-1)
