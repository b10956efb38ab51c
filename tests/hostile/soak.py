"""Robots that fall, lie, roll and are pushed on a floor, by hard contact: what must hold in every step."""

from __future__ import annotations

from typing import Any

import numpy as np

import bough
from hostile.tally import Tally

__all__ = ["ROBOTS", "soak"]

ROBOTS = {
    "quadruped": ("foot", "shank", "thigh", "trunk"),
    "humanoid": ("sole", "hand", "head", "torso", "knee", "elbow"),
}
"""The robots, and what the names of frames that may touch the floor hold."""

DT = 2e-3
DEEPEST = 0.02
"""Metres below the floor that a point may be: a step of rounding in time, not a fall through it."""

FAST, LONGER, DEEPEST_OF_FAST = 0.1, 100, 0.1
"""A joint that turns by more in a step (rad) leaves its chord by millimetres in each, which is made up for in the time
constant: for so many steps behind one a point may be deeper."""


def soak(seed: int, steps: int, tally: Tally) -> str:
    """One robot from a random pose, pushed at random, for some steps, and how that ended."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(list(ROBOTS)))
    model, friction = bough.robots.load(name), str(rng.choice(["pyramid", "cone"]))
    frames = [frame for frame in model.frame_names if any(part in frame for part in ROBOTS[name])]
    contacts = bough.contact.Contacts([(frame, None) for frame in frames], friction)
    normals, mu = np.tile([0.0, 0.0, 1.0], (len(frames), 1)), float(rng.choice([0.0, 0.4, 1.0]))
    q = bough.integrate(model, bough.neutral(model), rng.normal(size=model.nv) * 0.5)
    q[2] -= bough.placements(model, q, frames)[:, 2, 3].min() - 0.05
    driven = np.where(np.arange(model.nv) < 6, 0.0, 1.0 / np.diag(bough.mass_matrix_inverse(model, q)))
    v, before, push, fast = rng.normal(size=model.nv), None, np.zeros(model.nv), -LONGER
    for k in range(steps):
        points = bough.placements(model, q, frames)[:, :3, 3]
        if k % 100 == 0:
            push = rng.normal(size=model.nv) * float(rng.choice([0.0, 10.0, 100.0]))  # rad/s² and m/s²
        tau = driven * (push - 5.0 * v)
        what = f"{name}, {friction}, mu {mu}, seed {seed}, step {k}"
        with tally.trying(what):
            touch = contacts.at(points, normals, mu=mu, gaps=points[:, 2])
            after = bough.contact.step(model, q, v, tau, touch, dt=DT, start=before)
            if after.conflicts:  # said so, which is not wrong; a state goes on only from what is solved
                return "unsolved"
            fast = k if DT * np.abs(after.motion[3:]).max() > FAST else fast
            _check(after, points, mu, friction, DEEPEST if k - fast > LONGER else DEEPEST_OF_FAST, what, tally)
            v, before = after.motion, after
            q = bough.integrate(model, q, DT * v)
            if not np.isfinite(q).all():
                tally.wrong(what, "the state is not finite")
                return "not finite"
    return "solved"


def _check(after: Any, points: Any, mu: float, friction: str, deepest: float, what: str, tally: Tally) -> None:
    """No point is deep in the floor, no impulse pulls, and none is outside its cone."""
    if points[:, 2].min() < -deepest:
        tally.wrong(what, f"a point is {-points[:, 2].min():.3g} m below the floor")
    along = after.contact_forces
    size = max(1.0, float(np.abs(along).max()))
    if along[:, 0].min() < -1e-6 * size:
        tally.wrong(what, f"an impulse pulls with {-along[:, 0].min():.3g} N s")
    across = np.abs(along[:, 1:]).max(1) if friction == "pyramid" else np.hypot(along[:, 1], along[:, 2])
    if (across > mu * along[:, 0] + 1e-6 * size).any():
        tally.wrong(what, "friction is outside its cone")
