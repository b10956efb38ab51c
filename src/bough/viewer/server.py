"""The server of a page: viser, its address, its camera and its light."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bough.errors import BoughError, ShapeError
from bough.reading import shown, whole_number
from bough.viewer.drawables import Floats
from bough.viewer.notebook import is_in_notebook

__all__ = ["Page"]

PORT = 8080
"""The port that is tried first; the next free one is taken if it is in use."""

EVERYWHERE = ("0.0.0.0", "::", "")

SUN, LAMP = (-6.0, -8.0, 20.0), (20.0, -12.0, 10.0)
"""From where light comes: of one that casts shadows, and of a weaker one on what the camera sees first."""

LATEST = 10.0
"""Time (s) after which a browser that connected is taken to show its panel, whatever it says."""

WHITE, DUSK = (255, 255, 255), (150, 150, 160)


class Page:
    """A page of viser.

    Parameters
    ----------
    title
        Told in the panel.
    host
        The address to serve on: only this computer can reach "localhost".
    port
        The port; if it is in use, that is an error. Without one, the first free one from 8080 on.
    """

    def __init__(self, title: str, host: str, port: int | None) -> None:
        try:
            import viser
        except ImportError:
            raise BoughError("the viewer needs viser and trimesh: pip install 'bough[view]'") from None
        if not isinstance(host, str):
            raise ShapeError(f"host is {shown(host)}, expected the name or the address of this computer")
        _require_free(host, 0 if port is None else whole_number(port, "port", most=65535))
        if port is None:  # a notebook that is opened again should not find another page where its own was
            port = 0 if is_in_notebook() else PORT
        try:
            with _silence():
                self.server: Any = viser.ViserServer(host, port, label=title, verbose=False)
        except OSError as error:
            raise BoughError(f"cannot serve on host {host!r}: {error}") from None
        self.lock, self.is_closed = threading.RLock(), False
        self.port = int(self.server.get_port())
        self.url = f"http://{'localhost' if host in EVERYWHERE else host}:{self.port}"
        self.server.gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
        self.server.gui.main_panel.dock_right()  # beside what is seen, not over it
        self.server.scene.set_up_direction("+z")
        self._add_lights()

    def _add_lights(self) -> None:
        """Our own: pictures under viser's mirrored sky take a computer without a graphics card seconds each."""
        scene = self.server.scene
        scene.configure_environment_map(None)
        scene.configure_default_lights(enabled=False)
        scene.add_light_hemisphere("/lights/sky", sky_color=WHITE, ground_color=DUSK, intensity=1.3)
        self._sun, _ = (
            scene.add_light_directional(f"/lights/{name}", color=WHITE, intensity=intensity, position=position)
            for name, position, intensity in (("sun", SUN, 1.6), ("lamp", LAMP, 0.5))
        )

    @property
    def shadows(self) -> bool:
        """Whether shapes cast shadows on the ground and on each other."""
        return bool(self._sun.cast_shadow)

    @shadows.setter
    def shadows(self, on: bool) -> None:
        self._sun.cast_shadow = on

    @property
    def is_elsewhere(self) -> bool:
        """Whether the port that is tried first was in use."""
        return self.port != PORT

    def look_at(self, low: Floats, high: Floats, offsets: Floats) -> None:
        """Turn the camera to a mechanism between two corners, and to the copies of it at `offsets` (s, 3)."""
        low, high = low + offsets.min(axis=0), high + offsets.max(axis=0)
        middle, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
        self.server.initial_camera.look_at = middle
        self.server.initial_camera.position = middle + 0.85 * size * np.array([0.95, -0.75, 0.45])

    def add_ground(self, height: float) -> None:
        """A grid at a height in m, for the eye alone."""
        self.server.scene.add_grid(
            "/ground",
            infinite_grid=True,
            cell_size=0.25,
            section_size=1.0,
            fade_distance=20.0,
            position=(0.0, 0.0, height),
        )

    def once_panel_is_seen(self, action: Callable[[], object]) -> None:
        """Do something when the first browser has the panel: when it tells that its camera is where it was sent.

        What is slow to draw had better wait for that: on a computer without a graphics card the panel would come last.
        """
        is_done = threading.Event()

        def act() -> None:
            if not is_done.is_set() and not self.is_closed:
                is_done.set()
                action()

        def connected(client: Any) -> None:
            def moved(_: Any = None) -> None:
                if np.allclose(client.camera.position, self.server.initial_camera.position, rtol=1e-3):
                    act()

            if not is_done.is_set():
                client.camera.on_update(moved)
                moved()
                latest = threading.Timer(LATEST, act)
                latest.daemon = True
                latest.start()

        self.server.on_client_connect(connected)

    def write(self, action: Callable[[], object]) -> None:
        """Do something to the page, unless it is closed: threads may come too late."""
        with self.lock:
            if not self.is_closed:
                action()

    def end(self) -> None:
        """Let nothing be written any more."""
        with self.lock:
            self.is_closed = True

    def close(self) -> None:
        """End the server."""
        self.end()
        with _silence():
            self.server.stop()


@contextmanager
def _silence() -> Iterator[None]:
    """Without what viser prints when it starts and when it ends."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _require_free(host: str, port: int) -> None:
    """Raise unless one can serve there."""
    where = f"port {port} of {host!r}" if port else repr(host)
    try:
        family = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except (OSError, UnicodeError, ValueError) as error:
        free = "; port 0 is any free one (--port 0)" if getattr(error, "errno", None) == errno.EADDRINUSE else ""
        raise BoughError(f"cannot serve on {where}: {getattr(error, 'strerror', None) or error}{free}") from None
