"""The viewer: a page in the browser that shows a mechanism, its motion and what there is to know about it."""

from __future__ import annotations

import math
import threading
import time as clock
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import AssemblyError, BoughError, ShapeError
from bough.kernel.arguments import require_finite
from bough.model import Geometry, Model
from bough.reading import known_name
from bough.viewer.controls import Closing, PoseControls
from bough.viewer.drawables import Floats, drawables
from bough.viewer.gui import LAYOUTS, Asked, Gui
from bough.viewer.html import motion_html
from bough.viewer.instances import extent, world_placements
from bough.viewer.notebook import inline, is_in_notebook
from bough.viewer.overlays import OVERLAYS, Contacts, Overlays
from bough.viewer.panel import readings, readings_html
from bough.viewer.playback import Motion, Playback
from bough.viewer.server import Page
from bough.viewer.stage import Stage

__all__ = ["Viewer"]

READING_PERIOD, FEW_SLIDERS = 0.1, 4
"""Time (s) between two readings while a motion plays, and sliders that are moved with each."""

FEW_FACES = 20_000
"""Triangles up to which shadows are on to begin with: those of meshes hold up a computer without a graphics card."""

VISIBLE = 1e15  # m, of what can be drawn

GHOST = 0.25
"""Opacity of the states of a batch that are not the chosen one."""


class Viewer:
    """A page in the browser that shows a model. `bough.view`, `Trajectory.show` and `bough simulate --view` make it.

    It runs a server in its own threads until `close`, or until the program ends. Any number of tabs may be open, and
    you may close them. As a context manager, it closes at the end. In a notebook it appears inline.

    Attributes
    ----------
    url
        Address of the page.
    model
        The mechanism.
    missing
        A line for each part that could not be drawn, such as a mesh with a missing file.
    """

    def __init__(
        self,
        model: Model,
        q: Floats,
        *,
        world: Sequence[Geometry] = (),
        motion: Motion | None = None,
        contacts: Contacts | None = None,
        host: str = "localhost",
        port: int | None = None,
        steered: Callable[[Floats, str], Floats] | None = None,
    ) -> None:
        self.model = model
        self._steered, self._motion = steered, motion
        self._q = np.atleast_2d(np.array(q, np.float64))
        if not len(self._q):
            raise ShapeError(f"there are no states to show: q has shape {np.shape(q)}")
        require_finite("q", self._q)
        self._v = np.zeros((len(self._q), model.nv))
        self._state, self._layout = 0, LAYOUTS[0]
        self._frame = model.frame_names[min(1, model.nbodies)]
        self._time: float | None = None
        self._read_at, self._ended = 0.0, threading.Event()
        places = world_placements(model, self._q)
        if (far := np.abs(places).max(initial=0.0)) > VISIBLE:
            raise ShapeError(f"q: a body lies {far:.3g} m away, expected at most {VISIBLE:.0e} m, which can be drawn")
        drawn = drawables(model, world)
        self.missing = drawn.missing
        self._page = Page(model.name or "bough", host, port)
        self.url, self._lock = self._page.url, self._page.lock
        self._server = self._page.server
        low, high = extent(drawn.shapes, places[0])
        self._size = float(np.clip(np.linalg.norm(high - low), 0.05, 1e4))
        self._spacing = 1.1 * max(float(high[0] - low[0]), float(high[1] - low[1]), 0.2)
        self._stage = Stage(self._server, drawn.shapes)
        self._stage.visible = False  # until there is a panel
        self._collision: Stage | None = None
        self._world_shapes = tuple(world)
        self._overlays = Overlays(self._server, model, self._size, contacts)
        if len(self._q) * sum(len(d.triangles.faces) for d in drawn.shapes) <= FEW_FACES:
            self._overlays.shown.add("shadows")
        self._controls = PoseControls(self._server, model, self._size, steered or self._asked)
        self._closing = Closing(model)
        self._playback: Playback | None = None
        self._gui: Gui | None = None
        self._page.look_at(low, high, self._offsets())
        if not any(d.sort in ("plane", "ground") for d in drawn.shapes):
            self._page.add_ground(min(0.0, float(low[2])))  # nobody stands in it
        self._gui = self._panel(motion)
        self.redraw()
        self._stage.on_click(self._clicked)
        self._page.once_panel_is_seen(self._panel_seen)

    def _panel(self, motion: Motion | None) -> Gui:
        asked = Asked(self._chosen, self._state_asked, self._layout_asked, lambda name, on: self._switch([name], on))
        gui = Gui(self._page, self.model, len(self._q), self.missing, self._overlays.shown, asked)
        with gui.pose:
            self._controls.build(self._q[0], self._body, handles=self._steered is None)
        with gui.motion:
            if motion is not None:
                self._playback = Playback(self._page, motion, lambda t, q, v: self.update(q, v, time=t))
            elif self._steered is None:
                self._server.gui.add_markdown("There is no motion: `trajectory.show()` has one.")
        return gui

    # ---- what users call -------------------------------------------------------------------------------------------

    def update(self, q: ArrayLike, v: ArrayLike | None = None, *, time: float | None = None) -> None:
        """Show other configurations.

        Parameters
        ----------
        q
            Configuration (nq,), or a batch (..., nq).
        v
            Velocities (..., nv) for readings and overlays (default: none).
        time
            Time (s) for the readings.
        """
        states = np.array(q, np.float64)
        if states.shape[-1:] != (self.model.nq,):
            raise ShapeError(f"q has shape {states.shape}, expected (..., {self.model.nq})")
        speeds = np.zeros((*states.shape[:-1], self.model.nv)) if v is None else np.array(v, np.float64)
        if speeds.shape != (*states.shape[:-1], self.model.nv):
            raise ShapeError(f"v has shape {speeds.shape}, expected {(*states.shape[:-1], self.model.nv)}")
        with self._lock:
            self._q, self._v = states.reshape(-1, self.model.nq), speeds.reshape(-1, self.model.nv)
            self._time = time
            self._state = min(self._state, len(self._q) - 1)
            self.redraw()

    @property
    def q(self) -> Floats:
        """Configuration (nq,) of the selected state."""
        return np.array(self._q[self._state])

    @property
    def frame(self) -> str:
        """Name of the selected frame, whose readings and velocity are shown."""
        return self._frame

    @property
    def _body(self) -> int:
        """Number of the body that carries the chosen frame, whose path is lit."""
        return self.model.frame(self._frame).body

    def choose(self, frame: str) -> None:
        """Select a body or frame by name: the page shows its readings, and highlights the path to its body."""
        self._chosen(self.model.frame(frame).name)

    def show(self, *overlays: str) -> None:
        """Turn on overlays by name: "frames", "joint axes", "centre of mass" and so on; see `overlays`."""
        self._switch(overlays, True)

    def hide(self, *overlays: str) -> None:
        """Turn off overlays by name; "shapes" is the model itself."""
        self._switch(overlays, False)

    @property
    def overlays(self) -> dict[str, bool]:
        """All overlays, and whether each is on."""
        return {name: name in self._overlays.shown for name in OVERLAYS}

    def play(self) -> None:
        """Play the motion, if there is one."""
        if self._playback is not None:
            self._playback.play()

    def pause(self) -> None:
        """Pause the motion."""
        if self._playback is not None:
            self._playback.pause()

    def seek(self, time: float) -> None:
        """Show the motion at a time (s)."""
        if self._playback is None:
            raise BoughError(f"there is no motion of {self.model.name!r} to show at {time} s")
        self._playback.seek(time)

    def open(self) -> bool:
        """Open the page in the browser and return whether it opened. In a notebook the page appears inline instead."""
        try:
            return not is_in_notebook() and webbrowser.open(self.url)
        except webbrowser.Error:
            return False

    def wait(self) -> None:
        """Wait until the user presses Ctrl-C or the viewer is closed; then close it."""
        try:
            while not self._ended.wait(timeout=0.5):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Stop the server and its threads. You may call this more than once."""
        with self._lock:
            if self._page.is_closed:
                return
            self._page.end()
        if self._playback is not None:
            self._playback.close()
        self._page.close()
        self._ended.set()

    @property
    def is_closed(self) -> bool:
        """Whether the viewer is closed."""
        return self._page.is_closed

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Viewer of {self.model.name!r} at {self.url}{', closed' if self.is_closed else ''}>"

    def _repr_html_(self) -> str:
        """For notebooks: the page, or once nobody serves it any more one with the pose or the motion."""
        kept = ""
        with suppress(BoughError):  # what is not finite cannot be kept
            motion = self._motion
            time, q = (np.zeros(1), self._q[None]) if motion is None else (motion.time, motion.q)
            kept = motion_html(self.model, time, q, self._world_shapes)
        return inline(self.url, kept)

    @property
    def page(self) -> Page:
        """The page of viser, for everything else: ``viewer.page.server.scene.add_label(…)``."""
        return self._page

    def on_drag(self, dragged: Callable[[str, int, int, Floats, Floats], None]) -> None:
        """Call a function when the user drags a shape with the mouse.

        Its arguments are "start", "update" or "end", the number of the state, the number of the body, the grabbed point
        (3,) and the point of the mouse (3,), in m in world axes.
        """

        def moved(phase: str, state: int, body: int, held: Floats, pulled: Floats) -> None:
            offset = self._offsets()[min(state, len(self._q) - 1)]
            dragged(phase, state, body, held - offset, pulled - offset)

        self._stage.on_drag(moved)

    def show_pull(self, state: int = 0, points: ArrayLike = ()) -> None:
        """Draw an arrow between two world points (2, 3) in m for a state, such as a pull; without points, remove it."""
        ends = np.array(points, np.float64).reshape(-1, 2, 3)
        self._page.write(lambda: self._overlays.pull(ends + self._offsets()[min(state, len(self._q) - 1)]))

    @property
    def controls(self) -> Any:
        """A context manager for adding elements to the motion tab of the panel."""
        assert self._gui is not None
        return self._gui.motion

    def tell(self, text: str) -> None:
        """Show a line at the top of the panel; an empty text removes it."""
        assert self._gui is not None
        self._gui.tell(text)

    # ---- drawing -----------------------------------------------------------------------------------------------------

    def redraw(self, held: str = "") -> None:
        """Send what is to be seen to all pages, in one message; `held` is a joint that somebody moves."""
        with self._lock:
            if self._page.is_closed:
                return
            places, offsets = world_placements(self.model, self._q), self._offsets()
            seen = np.full(len(self._q), 1.0 if self._layout == LAYOUTS[0] else GHOST * (self._layout == LAYOUTS[1]))
            seen[self._state] = 1.0
            k = self._state
            with self._server.atomic():
                self._stage.place(places, offsets, seen)
                if self._collision is not None and self._collision.visible:
                    self._collision.place(places[k : k + 1], offsets[k : k + 1], np.array([0.5]))
                self._overlays.draw(self._q[k], self._v[k], places[k], offsets[k], self._frame)
                self._tell(places[k], offsets[k], held)

    def _tell(self, places: Floats, offset: Floats, held: str) -> None:
        """Readings, sliders and handles; while a motion plays, not with every picture, and few sliders at a time."""
        playing = self._steered is not None or (self._playback is not None and self._playback.is_playing)
        if self._gui is None or (playing and clock.perf_counter() - self._read_at < READING_PERIOD):
            return
        self._read_at = clock.perf_counter()
        q, v = self._q[self._state], self._v[self._state]
        if np.isfinite(q).all() and np.isfinite(v).all():
            told = readings(self.model, q, v, self._frame, self._time)
            self._gui.readings.content = readings_html(told, self._frame)
        if self._steered is None:  # else sliders tell what is asked for, not what is
            self._controls.show(q, places, offset, held, most=FEW_SLIDERS if playing else None)

    def _offsets(self) -> Floats:
        """By how much each state is moved, so that a batch stands side by side in a square, the first one in place."""
        count = len(self._q)
        if count == 1 or self._layout != LAYOUTS[0]:
            return np.zeros((count, 3))
        side = math.ceil(math.sqrt(count))
        k = np.arange(count)
        return np.asarray(self._spacing * np.column_stack([k % side, k // side, np.zeros(count)]), np.float64)

    # ---- what the page asks for ------------------------------------------------------------------------------------

    def _asked(self, q: Floats, hold: str) -> Floats:
        """Somebody moves a joint of the chosen state: loops are kept closed, with what they move held."""
        with self._lock:
            try:
                q = self._closing.moved(self._q[self._state], q, hold)
                told = ""
            except AssemblyError as error:
                q, told = self._q[self._state], str(error)
            self._q[self._state], self._v[self._state], self._time = q, 0.0, None
            if self._gui is not None:
                self._gui.tell(told)
            self.redraw(held=hold)
            return np.array(q)

    def _clicked(self, state: int, body: int) -> None:
        if state != self._state and state < len(self._q):
            self._state_asked(state)
        if body:
            self._chosen(self.model.body_names[body - 1])

    def _chosen(self, frame: str) -> None:
        with self._lock:
            self._frame = frame
            if self._page.is_closed:
                return
            self._controls.choose(self._body)
            if self._gui is not None:
                self._gui.choose(frame)
            self.redraw()

    def _state_asked(self, state: int) -> None:
        with self._lock:
            self._state = min(state, len(self._q) - 1)
            if self._gui is not None:
                self._gui.choose_state(self._state)
            self.redraw()

    def _layout_asked(self, layout: str) -> None:
        with self._lock:
            self._layout = layout
            self.redraw()

    def _switch(self, overlays: Sequence[str], on: bool) -> None:
        with self._lock:
            for name in overlays if not self._page.is_closed else ():
                known_name(name, "overlay", OVERLAYS)
                (self._overlays.shown.add if on else self._overlays.shown.discard)(name)
                if name == "shapes":
                    self._stage.visible = on
                elif name == "collision shapes":
                    self._show_collision(on)
                elif name == "shadows":
                    self._page.shadows = on
                if self._gui is not None:
                    self._gui.switch(name, on)
            self.redraw()

    def _panel_seen(self) -> None:
        """Somebody came to see it: shapes, and a motion from its beginning."""
        self._page.write(lambda: setattr(self._stage, "visible", "shapes" in self._overlays.shown))
        self._page.write(lambda: setattr(self._page, "shadows", "shadows" in self._overlays.shown))
        if self._playback is not None and self._playback.is_playing:
            self._playback.seek(self._playback.first)

    def _show_collision(self, on: bool) -> None:
        if self._collision is None and on:
            self._collision = Stage(self._server, drawables(self.model, sort="collision").shapes, "/collision")
        if self._collision is not None:
            self._collision.visible = on
