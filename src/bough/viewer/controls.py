"""Sliders for joints and handles for bodies that float, which move a mechanism and keep its loops closed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bough.kernel.loops.assembly import assemble
from bough.model import Free, Loop, Model, Placement, Spherical
from bough.model.coordinates import coordinate_names, coordinate_units
from bough.spatial import Matrix, Transform, Vector
from bough.viewer.drawables import Floats
from bough.viewer.instances import quaternions

__all__ = ["Closing", "PoseControls"]

MOST_SLIDERS = 80
"""Sliders in a page; of larger models those of the joints on the path to the chosen body are shown."""

MOST_HANDLES = 8
"""Bodies that float, or turn on ball joints, with handles to drag them by."""

REACH = {"rad": math.pi, "m": 1.0, "": 1.0}
"""How far a slider without limits goes to each side."""


class PoseControls:
    """Sliders and handles for one state.

    Parameters
    ----------
    server
        The server of the page.
    model
        The mechanism.
    moved
        Called with the configuration (nq,) that somebody asks for and the joint they hold; returns the one that they
        get, and tells what is in the way of it.
    """

    def __init__(self, server: Any, model: Model, size: float, moved: Callable[[Floats, str], Floats]) -> None:
        self._server, self._model, self._size, self._moved = server, model, size, moved
        self._names, self._units = coordinate_names(model, 0)["q"], coordinate_units(model, 0)["q"]
        self._sliders: dict[int, Any] = {}  # by place in q
        self._handles: dict[str, Any] = {}  # by joint
        self._folder: Any = None
        self._q: Floats = np.zeros(model.nq)
        self._world: Floats = np.tile(np.eye(4), (model.nbodies + 1, 1, 1))
        self._offset: Floats = np.zeros(3)
        self._on_path: tuple[str, ...] = ()

    def build(self, q: Floats, body: int, *, handles: bool = True) -> None:
        """Make the sliders for a configuration (nq,), with a body chosen, and if wanted the handles."""
        self._q = np.array(q)
        self._folder = self._server.gui.add_folder("joints")
        self._add_sliders(self._joints(body))
        floating = [e for e in self._model.joints if isinstance(e.joint, Free | Spherical)]
        for entry in floating[: MOST_HANDLES * handles]:
            self._add_handle(entry.name, turns_only=isinstance(entry.joint, Spherical))

    def choose(self, body: int) -> None:
        """Show the sliders that belong to a body, if there are too many to show them all."""
        names = self._joints(body)
        if names != self._on_path:
            for slider in self._sliders.values():
                slider.remove()
            self._sliders = {}
            self._add_sliders(names)

    def show(self, q: Floats, world: Floats, offset: Floats, held: str = "", *, most: int | None = None) -> None:
        """Let sliders and handles tell a configuration (nq,), whose bodies are at `world` (N+1, 4, 4).

        The handle of the joint `held`, which somebody drags, is left to them. Of the sliders at most so many are moved
        if that is said, those whose turn it is: all at once hold up a motion that plays.
        """
        if not np.isfinite(world).all():
            return
        self._q, self._world, self._offset = np.array(q), world, offset
        for k in list(self._sliders)[:most]:
            slider = self._sliders[k]
            value = float(np.clip(q[k], slider.min, slider.max))
            if abs(slider.value - value) > 0.5 * slider.step:
                slider.value = value
            if most is not None:
                self._sliders[k] = self._sliders.pop(k)  # to the end of the queue
        for name, handle in self._handles.items():
            if name == held:
                continue
            X = world[1 + self._model.joint_names.index(name)]
            handle.position, handle.wxyz = X[:3, 3] + offset, quaternions(X[:3, :3])

    def _joints(self, body: int) -> tuple[str, ...]:
        model = self._model
        all_of_them = tuple(e.name for e in model.joints if e.joint.nq and not e.joint.quaternions)
        if sum(model.joint(name).joint.nq for name in all_of_them) <= MOST_SLIDERS:
            return all_of_them
        path = model.tree.path(body) if body else range(1, model.nbodies + 1)
        near = [model.joint_names[i - 1] for i in path if model.joint_names[i - 1] in set(all_of_them)]
        return tuple(near[-MOST_SLIDERS // 2 :] if body else near[: MOST_SLIDERS // 2])

    def _add_sliders(self, joints: Sequence[str]) -> None:
        self._on_path = tuple(joints)
        lower, upper = self._model.limits("lower"), self._model.limits("upper")
        with self._folder:
            for name in joints:
                place = self._model.q_slice(name)
                for k in range(place.start, place.stop):
                    self._sliders[k] = self._slider(name, k, float(lower[k]), float(upper[k]))

    def _slider(self, joint: str, k: int, lower: float, upper: float) -> Any:
        reach, value = REACH[self._units[k]], float(self._q[k])
        low = lower if math.isfinite(lower) else min(value, upper if math.isfinite(upper) else 0.0, 0.0) - reach
        high = upper if math.isfinite(upper) else max(value, low + reach, 0.0) + reach
        low, high = min(low, value), max(high, value)  # what lies beyond its limits is told as it is
        step = 0.001 if high - low > 0.05 else max((high - low) / 1000.0, 1e-9)
        unit = f" ({self._units[k]})" if self._units[k] else ""
        slider = self._server.gui.add_slider(
            f"{self._names[k]}{unit}",
            min=low,
            max=high,
            step=step,
            initial_value=value,
            hint=f"from {lower:g} to {upper:g}{unit}",
        )

        def changed(event: Any) -> None:
            if event.client is None:  # it was the program
                return
            q = np.array(self._q)
            q[k] = slider.value
            self._q = self._moved(q, joint)

        slider.on_update(changed)
        return slider

    def _add_handle(self, joint: str, turns_only: bool) -> None:
        handle = self._server.scene.add_transform_controls(
            f"/handles/{joint}", scale=0.35 * self._size, disable_axes=turns_only, disable_sliders=turns_only
        )
        self._handles[joint] = handle

        def changed(event: Any) -> None:
            if event.client is None or event.phase == "start":
                return
            place = self._model.q_slice(joint)
            q = np.array(self._q)
            q[place] = self._of_handle(joint, handle)
            self._q = self._moved(q, joint)

        handle.on_update(changed)

    def _of_handle(self, joint: str, handle: Any) -> list[float]:
        """The coordinates of a joint with which its body is where its handle is."""
        i = 1 + self._model.joint_names.index(joint)
        w, x, y, z = (float(c) for c in handle.wxyz)
        wanted = Placement.from_quaternion((x, y, z, w), np.asarray(handle.position) - self._offset)
        entry, parent = self._model.joints[i - 1], self._world[self._model.tree.parents[i - 1]]
        fixed_side = Placement.of(parent[:3, :3], parent[:3, 3], "the parent") @ entry.placement
        X = fixed_side.inverse @ wanted @ self._model.bodies[i - 1].frame.inverse
        transform = Transform(Matrix.of_rows(X.rotation), Vector(*X.origin))
        return [float(c) for c in entry.joint.nearest(entry.joint.parameters, transform)]


class Closing:
    """What keeps the loops of a model closed while somebody moves one of its joints.

    Assembly without limits finds the nearest pose, and at once; only where that leads past a limit are limits heeded,
    which may take longer. A pose that is past its limits to begin with, as that of many a file, may be moved.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lower, self._upper = model.limits("lower"), model.limits("upper")
        self._unlimited = _without_limits(model)

    def closed(self, q: Floats, hold: Sequence[str] = ()) -> Floats:
        """The configuration nearest to q (nq,) in which loops are closed, limits or not, with some joints held."""
        return assemble(self._unlimited, q, hold=hold) if self._model.constraints else q

    def moved(self, before: Floats, q: Floats, hold: str) -> Floats:
        """The configuration nearest to q (nq,) in which loops are closed, with the joint `hold` where it is.

        Raises
        ------
        AssemblyError
            If there is none that is within limits, or no further past them than the one `before`.
        """
        near = self.closed(q, (hold,))
        if (self._past(near) <= self._past(before) + 1e-9).all() or not self._model.constraints:
            return near
        return assemble(self._model, q, hold=(hold,))

    def _past(self, q: Floats) -> Floats:
        return np.maximum(np.maximum(self._lower - q, q - self._upper), 0.0)


def _without_limits(model: Model) -> Model:
    """The same mechanism, whose joints and loops have no limits."""

    def unlimited(part: Any) -> Any:
        none = (math.inf,) * len(part.lower)
        return replace(part, lower=tuple(-x for x in none), upper=none)

    constraints = tuple(unlimited(c) if isinstance(c, Loop) else c for c in model.constraints)
    return model.with_checked(joints=tuple(map(unlimited, model.joints)), constraints=constraints)
