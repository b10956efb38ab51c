"""Mechanisms that touch something: a box on a slope, a ball, stacks, robots that stand, and random ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import bough
from mechanisms import random_loops
from model_strategies import random_model, random_state

GRAVITY = 9.81
BOX = np.array([[x, y, -0.1] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
"""The corners of the lower face of a box."""


@dataclass
class Scene:
    model: bough.Model
    q: Any
    contacts: bough.contact.Contacts
    points: Any
    normals: Any
    v: Any = None
    tau: Any = None
    mu: float = 0.0
    f_ext: Any = None

    def touch(self, **how: Any) -> bough.contact.Touch:
        """All contacts where they are, with friction, gaps and the like as told."""
        return self.contacts.at(self.points, self.normals, **how)

    @property
    def at_rest(self) -> tuple[Any, ...]:
        """Model, q, v and tau, without velocities and joint forces."""
        return self.model, self.q, np.zeros(self.model.nv), np.zeros(self.model.nv)

    def limit_rows(self, touching: float = 1e-6) -> tuple[Any, Any]:
        """Rows and gaps of the limits that are at most so far away, one after the other."""
        rows, gaps = [], []
        for entry in self.model.joints:
            if entry.joint.nq != 1:
                continue
            at = self.q[self.model.q_slice(entry.name)][0]
            for sign, (bound,) in ((1.0, entry.lower), (-1.0, entry.upper)):
                if np.isfinite(bound) and sign * (at - bound) <= touching:
                    rows.append(sign * np.eye(self.model.nv)[self.model.v_slice(entry.name).start])
                    gaps.append(sign * (at - bound))
        return np.reshape(rows, (-1, self.model.nv)), np.array(gaps)


def box(angle: float, friction: Any) -> Scene:
    """A box on a slope about y, which falls along x."""
    b = bough.Builder()
    b.add("box", bough.joints.Free(), mass=2.0, inertia=(0.2, 0.2, 0.35))
    q = np.array([0, 0, 0, 0, np.sin(angle / 2), 0, np.cos(angle / 2)])
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    return Scene(
        b.build(), q, bough.contact.Contacts([("box", None)] * 4, friction), BOX @ R.T, np.tile(R[:, 2], (4, 1))
    )


def ball(radius: float) -> bough.Model:
    """A solid ball of 3 kg."""
    b = bough.Builder()
    b.add("ball", bough.joints.Free(), mass=3.0, inertia=0.4 * 3.0 * radius**2)
    return b.build()


def stack(count: int) -> Scene:
    """Boxes of side 1 on each other, of different masses, four contacts under each."""
    b, pairs, points = bough.Builder(), [], []
    for k in range(count):
        mass = 1.0 + 0.5 * k
        b.add(f"box {k}", bough.joints.Free(), mass=mass, inertia=mass / 6)
        pairs += [(f"box {k}", f"box {k - 1}" if k else "world")] * 4
        points += [[x, y, float(k)] for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    model = b.build()
    q = bough.neutral(model).reshape(count, 7)
    q[:, 2] = 0.5 + np.arange(count)
    return Scene(
        model, q.ravel(), bough.contact.Contacts(pairs), np.array(points), np.tile([0, 0, 1.0], (4 * count, 1))
    )


def standing(name: str) -> tuple[Scene, Any]:
    """One of bough's robots on its feet, and joint forces that hold it there."""
    model = bough.robots.load(name)
    q, points = bough.neutral(model), []
    for joint in model.joint_names:
        if name == "quadruped" and joint.endswith(("swing", "knee")):
            q[model.q_slice(joint)] = 0.6 if joint.endswith("swing") else -1.2
    if name == "quadruped":
        feet = [frame for frame in model.frame_names if frame.endswith("foot")]
        points = list(bough.placements(model, q, feet)[:, :3, 3])
    else:
        feet = [sole for sole in ("left_sole", "right_sole") for _ in range(4)]
        corners = [(x, y, 0.0, 1.0) for x in (-0.06, 0.1) for y in (-0.04, 0.04)]
        points = [(X @ corner)[:3] for X in bough.placements(model, q, feet[::4]) for corner in corners]
    contacts = bough.contact.Contacts([(foot, None) for foot in feet])
    scene = Scene(model, q, contacts, np.array(points), [[0, 0, 1.0]] * len(feet))
    J = bough.contact.jacobian(model, q, scene.touch()).reshape(-1, model.nv)
    weight = bough.gravity_forces(model, q)
    tau = weight - J.T @ np.linalg.lstsq(J[:, :6].T, weight[:6], rcond=None)[0]
    return scene, np.where(np.arange(model.nv) < 6, 0.0, tau)


def random_scene(seed: int, limits: bool = True, batch: tuple[int, ...] = ()) -> Scene:
    """A random mechanism, some with loops and mimic joints, with limits, some of which are reached, and contacts."""
    rng = np.random.default_rng(seed)
    if seed % 3 == 2:
        model, q = random_loops(rng, ["spherical"], bodies=6)
    else:
        model = random_model(rng, 4, mimic=seed % 3 == 1, floating=True)
        q = bough.random(model, rng)
    model = limited(model, q, rng) if limits else model
    k = 3
    pairs: list[Any] = []
    while len(pairs) < k:
        first, second = (str(name) for name in rng.choice(model.frame_names, size=2))
        if model.frame(first).body != model.frame(second).body:
            pairs.append((first, second))
    _, v, _, tau, f_ext = random_state(model, rng, batch)
    if batch:
        q = np.broadcast_to(q, (*batch, model.nq)).copy()
        if not model.constraints:
            q = bough.integrate(model, q, 0.05 * rng.normal(size=(*batch, model.nv)))
    normals = rng.normal(size=(*batch, k, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    points = rng.normal(size=(*batch, k, 3))
    return Scene(
        model, q, bough.contact.Contacts(pairs), points, normals, v, tau, float(rng.choice([0.0, 0.3, 1.0])), f_ext
    )


def limited(model: bough.Model, q: Any, rng: np.random.Generator) -> bough.Model:
    """The same mechanism with limits on all joints that may have some; half of them are reached, some just passed."""
    joints = []
    for entry in model.joints:
        if (entry.joint.nq, entry.joint.nv) == (1, 1) and not getattr(entry.joint, "continuous", False):
            at = float(q[model.q_slice(entry.name)][0])
            below = at - float(rng.choice([0.0, 0.5])) + float(rng.choice([0.0, 0.01]))
            entry = replace(entry, lower=(below,), upper=(below + 2.0,))
        joints.append(entry)
    return replace(model, joints=tuple(joints))
