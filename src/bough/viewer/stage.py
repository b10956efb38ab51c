"""The shapes of a mechanism, or of a batch of them, in a page of viser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bough.viewer.drawables import Drawable, Floats
from bough.viewer.instances import Instances, arranged, poses, quaternions
from bough.viewer.simplify import simplified

__all__ = ["Stage"]

LIVE_FACES, FEWEST_FACES = 40_000, 60
"""Triangles in all, above which surfaces are made coarser, and as few as each keeps.

A browser without a graphics card needs a microsecond for each in every picture, however small the window is.
"""

MANY_COPIES = 8
"""Instances of one surface from which on those far away are drawn with fewer triangles."""

Picked = Callable[[int, int], None]
"""Called with the numbers of a state and of a body."""


class Stage:
    """Shapes in a page, and what happens when somebody clicks on them or drags them."""

    def __init__(self, server: Any, shapes: Sequence[Drawable], name: str = "/shapes") -> None:
        self._server, self._name = server, name
        self._moving = arranged(d for d in shapes if d.sort != "plane")
        self._handles: list[Any] = []
        self._visible = True
        self._opacity: Floats = np.ones(1)
        for k, d in enumerate(shapes):
            if d.sort == "plane":
                self._add_plane(f"{name}/plane{k}", d)

    def _add_plane(self, name: str, plane: Drawable) -> None:
        X = plane.placement.homogeneous
        self._server.scene.add_grid(
            name,
            width=plane.scale[0],
            height=plane.scale[1],
            cell_size=0.5,
            section_size=1.0,
            plane_color=tuple(int(255 * x) for x in plane.rgba[:3]),
            plane_opacity=0.25,
            shadow_opacity=0.25,
            wxyz=quaternions(X[:3, :3]),
            position=X[:3, 3],
        )

    def place(self, world: Floats, offsets: Floats, opacity: Floats) -> None:
        """Draw s states whose bodies are at `world` (s, N+1, 4, 4), moved by `offsets` (s, 3).

        `opacity` (s,) is that of each state. States that are not finite are not seen.
        """
        sound = np.asarray(np.isfinite(world).all(axis=(1, 2, 3)))
        if not sound.all():
            world = np.where(sound[:, None, None, None], world, np.eye(4))
            opacity = np.where(sound, opacity, 0.0)
        placed = poses(self._moving, world, offsets)
        if not self._handles:
            all_faces = sum(len(g.triangles.faces) * len(placed[k][0]) for k, g in enumerate(self._moving))
            share = LIVE_FACES / max(all_faces, 1)
            self._handles = [
                self._added(k, g, *placed[k], len(world), opacity, share) for k, g in enumerate(self._moving)
            ]
            self._opacity = opacity
            return
        other = not np.array_equal(opacity, self._opacity)
        for group, handle, (positions, turns) in zip(self._moving, self._handles, placed, strict=True):
            if len(positions) != len(handle.batched_positions):
                handle.batched_scales = np.tile(group.scales, (len(world), 1))
                handle.batched_colors = _colours(group, len(world))
            handle.batched_positions, handle.batched_wxyzs = positions, turns
            if other:
                handle.batched_opacities = _opacities(group, opacity)
        self._opacity = opacity

    def _added(
        self,
        k: int,
        group: Instances,
        positions: Floats,
        turns: Floats,
        states: int,
        opacity: Floats,
        share: float,
    ) -> Any:
        surface = simplified(group.triangles, max(FEWEST_FACES, int(share * len(group.triangles.faces))))
        return self._server.scene.add_batched_meshes_simple(
            f"{self._name}/{k}",
            surface.corners.astype(np.float32),
            surface.faces.astype(np.uint32),
            turns,
            positions,
            batched_scales=np.tile(group.scales, (states, 1)),
            batched_colors=_colours(group, states),
            batched_opacities=_opacities(group, opacity),
            flat_shading=not group.triangles.smooth,
            side="double",
            receive_shadow=False,  # which flickers on what casts it
            lod="auto" if len(positions) > MANY_COPIES else "off",
            visible=self._visible,
        )

    @property
    def visible(self) -> bool:
        """Whether the shapes are seen."""
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._visible = visible
        for handle in self._handles:
            handle.visible = visible

    def on_click(self, picked: Picked) -> None:
        """Tell the state and the body of a shape that is clicked on."""
        for group, handle in zip(self._moving, self._handles, strict=True):

            def clicked(event: Any, group: Instances = group) -> None:
                picked(*_picked(group, event.instance_index))

            handle.on_click(clicked)

    def on_drag(self, dragged: Callable[[str, int, int, Floats, Floats], None]) -> None:
        """Tell of a shape that is dragged: "start", "update" or "end", state, body, the point held, and the pointer."""
        for group, handle in zip(self._moving, self._handles, strict=True):

            async def moved(event: Any, group: Instances = group) -> None:  # in order, as ordinary functions are not
                state, body = _picked(group, event.instance_index)
                dragged(event.phase, state, body, np.array(event.start_position), np.array(event.end_position))

            handle.on_drag("left")(moved)


def _picked(group: Instances, instance: int | None) -> tuple[int, int]:
    state, member = divmod(instance or 0, len(group.bodies))
    return state, int(group.bodies[member])


def _colours(group: Instances, states: int) -> Any:
    return np.tile(np.round(255 * group.colours[:, :3]).astype(np.uint8), (states, 1))


def _opacities(group: Instances, opacity: Floats) -> Any:
    values = (opacity[:, None] * group.colours[None, :, 3]).reshape(-1)
    return None if (values == 1.0).all() else values.astype(np.float32)
