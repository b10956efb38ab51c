"""The panel of a page: tabs with the pose, the motion, what is shown, and the model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bough.model import Model
from bough.viewer.overlays import OVERLAYS
from bough.viewer.panel import costs_html, note_html, sparsity_html, tree_html
from bough.viewer.server import Page

__all__ = ["LAYOUTS", "Asked", "Gui"]

LAYOUTS = ("side by side", "ghosts", "one")
"""How the states of a batch are seen."""

SHOWN_MISSING = 4
"""Lines that are told of what is missing; the others are counted."""

MOST_OPTIONS = 400
"""Bodies that can be chosen from a list; in larger models they are clicked on."""


@dataclass(frozen=True)
class Asked:
    """What the panel calls when somebody asks for something: a body or a state by number, a layout, an overlay."""

    body: Callable[[int], None]
    state: Callable[[int], None]
    layout: Callable[[str], None]
    overlay: Callable[[str, bool], None]


class Gui:
    """The panel. Tabs that depend on what is shown (pose, motion) are filled by others."""

    def __init__(self, page: Page, model: Model, states: int, missing: tuple[str, ...], asked: Asked) -> None:
        self._page, self._model, self._asked = page, model, asked
        gui = page.server.gui
        self._status = gui.add_html("", visible=False)
        if missing:
            more = [f"… and {len(missing) - SHOWN_MISSING} more"] if len(missing) > SHOWN_MISSING else []
            gui.add_html("".join(note_html(line) for line in (*missing[:SHOWN_MISSING], *more)))
        self._bodies = model.body_names[:MOST_OPTIONS]
        self._body: Any = None
        if self._bodies:
            self._body = gui.add_dropdown("body", self._bodies, initial_value=self._bodies[0])
            self._body.on_update(self._body_asked)
        self.readings = gui.add_html("")
        tabs = gui.add_tab_group()
        self.pose = tabs.add_tab("Pose")
        self.motion = tabs.add_tab("Motion")
        with tabs.add_tab("Show"):
            self._switches = {name: self._switch(gui, name) for name in OVERLAYS}
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

    def choose(self, body: int) -> None:
        """Light the path of a body."""
        name = self._model.bodies[body - 1].name
        if self._body is not None and name in self._bodies and self._body.value != name:
            self._body.value = name
        self._tree.content, self._sparsity.content = tree_html(self._model, body), sparsity_html(self._model, body)

    def switch(self, name: str, on: bool) -> None:
        """Tell whether an overlay is on."""
        if self._switches[name].value != on:
            self._switches[name].value = on

    def _switch(self, gui: Any, name: str) -> Any:
        box = gui.add_checkbox(name, initial_value=name == OVERLAYS[0])

        def changed(event: Any) -> None:
            if event.client is not None:
                self._asked.overlay(name, bool(box.value))

        box.on_update(changed)
        return box

    def _add_batch(self, gui: Any, states: int) -> None:
        layout = gui.add_dropdown("batch", LAYOUTS, initial_value=LAYOUTS[0])
        chosen = gui.add_slider("state", min=0, max=states - 1, step=1, initial_value=0)

        def layout_changed(event: Any) -> None:
            if event.client is not None:
                self._asked.layout(layout.value)

        def state_changed(event: Any) -> None:
            if event.client is not None:
                self._asked.state(int(chosen.value))

        layout.on_update(layout_changed)
        chosen.on_update(state_changed)

    def _body_asked(self, event: Any) -> None:
        if event.client is not None:
            self._asked.body(self._model.body_names.index(self._body.value) + 1)

    def _count(self) -> None:
        text = costs_html(self._model)
        self._page.write(lambda: setattr(self._costs, "content", text))
