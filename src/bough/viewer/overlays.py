"""What can be switched on over the picture: frames, joint axes, centre of mass, inertia, contact, velocity."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from bough.errors import BoughError
from bough.kernel.kinematics import center_of_mass, velocities
from bough.model import Model
from bough.model.coupling import own_joint
from bough.model.joints import Joint
from bough.scalar import leaves
from bough.viewer.drawables import Floats, ball_triangles, inertia_ellipsoid
from bough.viewer.instances import quaternions
from bough.viewer.stage import Stage

__all__ = ["OVERLAYS", "Contacts", "Overlays"]

OVERLAYS = (
    "shapes",
    "collision shapes",
    "frames",
    "joint axes",
    "centre of mass",
    "inertia ellipsoids",
    "contact points",
    "contact forces",
    "velocity",
    "shadows",
)
"""The names of what can be switched on and off."""

Contacts = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""From q (nq,) and v (nv,) to points (k, 3) in m and forces (k, 3) in N at which something touches."""

ORANGE, GREEN, RED, VIOLET = (232, 89, 12), (43, 138, 62), (224, 49, 49), (112, 72, 232)


class Overlays:
    """The overlays of one state in a page. What is switched off is neither computed nor sent."""

    def __init__(self, server: Any, model: Model, size: float, contacts: Contacts | None) -> None:
        self._server, self._model, self._size, self._contacts = server, model, size, contacts
        self._axes = [(i, axis) for i, entry in enumerate(model.joints, 1) for axis in _turning_axes(entry.joint)]
        self.shown: set[str] = {"shapes"}
        self._handles: dict[str, Any] = {}
        self._ellipsoids: Stage | None = None

    def draw(self, q: Floats, v: Floats, world: Floats, offset: Floats, frame: str) -> None:
        """Draw what is switched on for the state q (nq,), v (nv,), whose bodies are at `world` (N+1, 4, 4).

        `frame` is the name of the frame whose velocity is drawn.
        """
        touching = cache(lambda: self._touching(q, v))
        made: dict[str, Callable[[], None]] = {
            "frames": lambda: self._frames(world, offset, frame),
            "joint axes": lambda: self._arrows("joint axes", self._joint_axes(world) + offset, ORANGE),
            "centre of mass": lambda: self._ball(center_of_mass(self._model, q) + offset),
            "inertia ellipsoids": lambda: self._inertias(world, offset),
            "contact points": lambda: self._points(touching()[:, 0] + offset),
            "contact forces": lambda: self._arrows("contact forces", touching() + offset, GREEN),
            "velocity": lambda: self._arrows("velocity", self._velocity(q, v, world, frame) + offset, VIOLET),
        }
        for name, draw in made.items():
            if name in self.shown and np.isfinite(world).all():
                try:
                    draw()
                    continue
                except BoughError:  # there is none: no mass, or a contact that cannot be computed
                    pass
            self._hide(name)

    def pull(self, ends: Floats) -> None:
        """Draw the arrows from points to points (k, 2, 3) along which somebody pulls at bodies."""
        self._arrows("pull", ends, RED)

    def _hide(self, name: str) -> None:
        if name == "inertia ellipsoids" and self._ellipsoids is not None and self._ellipsoids.visible:
            self._ellipsoids.visible = False
        handle = self._handles.get(name)
        if handle is not None and handle.visible:
            handle.visible = False

    def _placed(self, world: Floats, frame: str) -> Floats:
        """Where a frame is: (4, 4)."""
        found = self._model.frame(frame)
        return np.asarray(world[found.body] @ found.placement.homogeneous)

    def _frames(self, world: Floats, offset: Floats, frame: str) -> None:
        """Those of the base and the bodies, and the chosen one."""
        X = np.concatenate([world, self._placed(world, frame)[None]])
        positions, turns = X[:, :3, 3] + offset, quaternions(X[:, :3, :3])
        handle = self._handles.get("frames")
        if handle is None:
            add = self._server.scene.add_batched_axes
            length = 0.12 * self._size
            self._handles["frames"] = add("/frames", turns, positions, axes_length=length, axes_radius=0.03 * length)
            return
        handle.batched_positions, handle.batched_wxyzs, handle.visible = positions, turns, True

    def _arrows(self, name: str, points: Floats, colour: tuple[int, int, int]) -> None:
        """Arrows from points to points (k, 2, 3)."""
        handle = self._handles.get(name)
        if not len(points):
            self._hide(name)
        elif handle is None or len(handle.points) != len(points):
            thick = 0.006 * self._size
            self._handles[name] = self._server.scene.add_arrows(
                f"/{name.replace(' ', '_')}",
                points,
                colour,
                shaft_radius=thick,
                head_radius=2.5 * thick,
                head_length=6 * thick,
            )
        else:
            handle.points, handle.visible = points, True

    def _joint_axes(self, world: Floats) -> Floats:
        """Both ends of each axis (k, 2, 3), half of it on each side of the joint."""
        ends = []
        for i, axis in self._axes:
            X = world[i] @ self._model.bodies[i - 1].frame.inverse.homogeneous
            along = 0.1 * self._size * (X[:3, :3] @ axis)
            ends.append((X[:3, 3] - along, X[:3, 3] + along))
        return np.array(ends).reshape(-1, 2, 3)

    def _ball(self, position: Floats) -> None:
        handle = self._handles.get("centre of mass")
        if handle is None:
            surface = ball_triangles()
            self._handles["centre of mass"] = self._server.scene.add_mesh_simple(
                "/centre_of_mass",
                surface.corners * 0.03 * self._size,
                surface.faces.astype(np.uint32),
                color=RED,
                position=position,
            )
            return
        handle.position, handle.visible = position, True

    def _inertias(self, world: Floats, offset: Floats) -> None:
        if self._ellipsoids is None:
            shapes = [d for i, b in enumerate(self._model.bodies, 1) for d in inertia_ellipsoid(b, i)]
            self._ellipsoids = Stage(self._server, shapes, "/inertia")
        self._ellipsoids.place(world[None], offset[None], np.array([0.45]))
        if not self._ellipsoids.visible:
            self._ellipsoids.visible = True

    def _points(self, points: Floats) -> None:
        handle = self._handles.get("contact points")
        if not len(points):
            self._hide("contact points")
        elif handle is None:
            self._handles["contact points"] = self._server.scene.add_point_cloud(
                "/contact_points",
                points,
                GREEN,
                point_size=0.02 * self._size,
                point_shape="circle",
                precision="float32",
            )
        else:
            handle.colors = np.tile(np.array(GREEN, np.uint8), (len(points), 1))
            handle.points, handle.visible = points, True

    def _touching(self, q: Floats, v: Floats) -> Floats:
        """Both ends (k, 2, 3) of each contact force; the weight of the mechanism is as long as half of it."""
        if self._contacts is None:
            return np.zeros((0, 2, 3))
        points, forces = self._contacts(q, v)
        acting = np.linalg.norm(forces, axis=-1) > 0
        weight = self._model.mass * max(float(np.linalg.norm(self._model.gravity)), 1.0)
        ends = points[acting] + 0.5 * self._size * forces[acting] / max(weight, 1e-9)
        return np.stack([points[acting], ends], axis=1)

    def _velocity(self, q: Floats, v: Floats, world: Floats, frame: str) -> Floats:
        """From the chosen frame to where it would be in 0.2 s; nothing if it rests."""
        speed = velocities(self._model, q, v, frame, "LOCAL_WORLD_ALIGNED")[:3]
        at = self._placed(world, frame)[:3, 3]
        return np.array([(at, at + 0.2 * speed)]) if np.linalg.norm(speed) > 1e-9 else np.zeros((0, 2, 3))


def _turning_axes(joint: Joint) -> list[Floats]:
    """Directions along or about which a joint with few degrees of freedom moves, in the axes of its moving side."""
    own = own_joint(joint)
    if not 0 < own.nv <= 2 or own.elastic_count or not own.canonical.is_constant:
        return []
    found = []
    for column in own.canonical.subspace(own.parameters, own.neutral()):
        part = leaves(column.angular) if any(leaves(column.angular)) else leaves(column.linear)
        axis = own.alignment @ np.array([float(x) for x in part])
        found.append(axis / max(float(np.linalg.norm(axis)), 1e-12))
    return found
