"""A motion that plays in a page: play, pause, scrub, speed."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from bough.reading import number
from bough.viewer.drawables import Floats
from bough.viewer.server import Page

__all__ = ["Motion", "Playback"]

FRAMES_PER_SECOND = 60.0
SPEEDS = ("0.1 x", "0.25 x", "0.5 x", "1 x", "2 x", "4 x", "8 x")
SLIDER_PERIOD = 0.1
"""Time (s) between two updates of the slider while a motion plays."""


class Motion(Protocol):
    """What a `bough.Trajectory` is to the page."""

    @property
    def time(self) -> Floats:
        """Times of the samples (T,) in s."""

    @property
    def q(self) -> Floats:
        """Configurations (T, ..., nq)."""

    def at(self, time: float, /) -> Any:
        """The motion at a time in s: what has q (..., nq) and v (..., nv)."""


class Playback:
    """The controls of a motion, and the thread that plays it."""

    def __init__(self, page: Page, motion: Motion, drawn: Callable[[float, Floats, Floats], None]) -> None:
        self._page, self._motion, self._drawn = page, motion, drawn
        self.first, self._last = float(motion.time[0]), float(motion.time[-1])
        self.time = self.first
        self._told, self._lock = 0.0, threading.RLock()
        self._is_playing, self._is_closed = threading.Event(), threading.Event()
        gui = page.server.gui
        self._button = gui.add_button("Play")
        self._slider = gui.add_slider(
            "time (s)",
            min=self.first,
            max=self._last,
            step=max((self._last - self.first) / 10000.0, 1e-6),
            initial_value=self.first,
        )
        self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1 x")
        self._repeat = gui.add_checkbox("repeat", initial_value=True)
        self._button.on_click(lambda _: self.pause() if self.is_playing else self.play())
        self._slider.on_update(self._scrubbed)
        self._thread = threading.Thread(target=self._run, name="bough playback", daemon=True)
        self._thread.start()

    @property
    def is_playing(self) -> bool:
        """Whether the motion runs."""
        return self._is_playing.is_set()

    def play(self) -> None:
        """Let it run, from the beginning if it is at the end."""
        if self.time >= self._last:
            self.seek(self.first)
        self._page.write(lambda: setattr(self._button, "label", "Pause"))
        self._is_playing.set()

    def pause(self) -> None:
        """Let it stand."""
        with self._lock:  # a picture on its way is drawn before
            was_playing = self.is_playing
            self._is_playing.clear()
            if was_playing and not self._is_closed.is_set():
                self.seek(self.time)  # with all that is told of it
            self._page.write(lambda: setattr(self._button, "label", "Play"))
            self._tell_time()

    def seek(self, time: float) -> None:
        """Show the motion at a time in s; times outside are taken as the nearest inside."""
        asked = number(time, "time", "a time in s", infinite=True)
        with self._lock:
            self.time = min(max(asked, self.first), self._last)
            sample = self._motion.at(self.time)
            self._drawn(self.time, np.asarray(sample.q, np.float64), np.asarray(sample.v, np.float64))

    def close(self) -> None:
        """End the thread."""
        self._is_closed.set()
        self._is_playing.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=5.0)

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None:
            asked = self._slider.value
            self.pause()
            self.seek(asked)
            self._tell_time()

    def _run(self) -> None:
        before = clock.perf_counter()
        while not self._is_closed.is_set():
            if not self._is_playing.wait(timeout=0.5):
                before = clock.perf_counter()
                continue
            now = clock.perf_counter()
            passed, before = min(now - before, 0.25), now  # whatever held the computer up is not caught up with
            if self._is_closed.is_set():
                return
            with self._lock:
                if self.is_playing:
                    self._advance(passed * float(self._speed.value.split()[0]))
            clock.sleep(max(0.0, 1.0 / FRAMES_PER_SECOND - (clock.perf_counter() - now)))

    def _advance(self, by: float) -> None:
        ahead = self.time + by
        if ahead > self._last:
            if not self._repeat.value or self._last <= self.first:
                self.seek(self._last)
                self.pause()
                return
            ahead = self.first
        self.seek(ahead)
        if clock.perf_counter() - self._told > SLIDER_PERIOD:
            self._told = clock.perf_counter()
            self._tell_time()

    def _tell_time(self) -> None:
        self._page.write(lambda: setattr(self._slider, "value", self.time))
