"""The panel of a page: tabs with the pose, the motion, what is shown, and the model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

from bough.model import Model
from bough.viewer.overlays import OVERLAYS
from bough.viewer.panel import costs_html, note_html, sparsity_html, tree_html
from bough.viewer.server import Page

__all__ = ["LAYOUTS", "Asked", "Gui"]

LAYOUTS = ("side by side", "ghosts", "one")
"""How the states of a batch are seen."""

SHOWN_MISSING = 2
"""Lines that are told of what is missing; the others are counted."""

MOST_OPTIONS = 400
"""Bodies and frames that can be chosen from a list; bodies of larger models are clicked on."""


@dataclass(frozen=True)
class Asked:
    """What the panel calls when somebody asks for something: a frame, a state by number, a layout, an overlay."""

    frame: Callable[[str], None]
    state: Callable[[int], None]
    layout: Callable[[str], None]
    overlay: Callable[[str, bool], None]


class Gui:
    """The panel. Tabs that depend on what is shown (pose, motion) are filled by others."""

    def __init__(
        self, page: Page, model: Model, states: int, missing: tuple[str, ...], shown: Container[str], asked: Asked
    ) -> None:
        self._page, self._model, self._asked = page, model, asked
        gui = page.server.gui
        self._status = gui.add_html("", visible=False)
        if missing:
            more = [f"… and {len(missing) - SHOWN_MISSING} more"] if len(missing) > SHOWN_MISSING else []
            gui.add_html("".join(note_html(line) for line in (*missing[:SHOWN_MISSING], *more)))
        self._frames = (model.frame_names[1:] or model.frame_names)[:MOST_OPTIONS]
        self._frame = gui.add_dropdown("frame", self._frames, initial_value=self._frames[0])
        self._frame.on_update(self._frame_asked)
        self._state: Any = None
        self.readings = gui.add_html("")
        tabs = gui.add_tab_group()
        self.pose = tabs.add_tab("Pose")
        self.motion = tabs.add_tab("Motion")
        with tabs.add_tab("Show"):
            self._switches = {name: self._switch(gui, name, name in shown) for name in OVERLAYS}
            if states > 1:
                self._add_batch(gui, states)
        with tabs.add_tab("Model"):
            self._tree = gui.add_html(tree_html(model, min(1, model.nbodies)))
            self._sparsity = gui.add_html(sparsity_html(model, min(1, model.nbodies)))
            self._costs = gui.add_html("counting operations …")
        threading.Thread(target=self._count, name="bough costs", daemon=True).start()

    def tell(self, text: str) -> None:
        """A line at the top of the panel; none with an empty text."""
        note = note_html(text)
        if self._status.content != note or self._status.visible != bool(text):
            self._page.write(lambda: self._write_status(note, bool(text)))

    def _write_status(self, note: str, is_seen: bool) -> None:
        self._status.content, self._status.visible = note, is_seen

    def choose(self, frame: str) -> None:
        """Light the path of the body that carries a frame."""
        if frame in self._frames and self._frame.value != frame:
            self._frame.value = frame
        body = self._model.frame(frame).body
        self._tree.content, self._sparsity.content = tree_html(self._model, body), sparsity_html(self._model, body)

    def choose_state(self, state: int) -> None:
        """Tell which state of a batch is chosen."""
        if self._state is not None and self._state.value != state:
            self._state.value = state

    def switch(self, name: str, on: bool) -> None:
        """Tell whether an overlay is on."""
        if self._switches[name].value != on:
            self._switches[name].value = on

    def _switch(self, gui: Any, name: str, on: bool) -> Any:
        box = gui.add_checkbox(name, initial_value=on)

        def changed(event: Any) -> None:
            if event.client is not None:
                self._asked.overlay(name, bool(box.value))

        box.on_update(changed)
        return box

    def _add_batch(self, gui: Any, states: int) -> None:
        layout = gui.add_dropdown("batch", LAYOUTS, initial_value=LAYOUTS[0])
        chosen = self._state = gui.add_slider("state", min=0, max=states - 1, step=1, initial_value=0)

        def layout_changed(event: Any) -> None:
            if event.client is not None:
                self._asked.layout(layout.value)

        def state_changed(event: Any) -> None:
            if event.client is not None:
                self._asked.state(int(chosen.value))

        layout.on_update(layout_changed)
        chosen.on_update(state_changed)

    def _frame_asked(self, event: Any) -> None:
        if event.client is not None:
            self._asked.frame(self._frame.value)

    def _count(self) -> None:
        text = costs_html(self._model)
        self._page.write(lambda: setattr(self._costs, "content", text))
