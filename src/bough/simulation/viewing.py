"""Scenes, motions and running simulations in the viewer."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import AssemblyError, ModelError
from bough.kernel.arguments import FloatArray, as_floats
from bough.kernel.configuration import integrate, neutral
from bough.model import Model
from bough.reading import instance, truth
from bough.simulation.scene import Scene, require_scene_of
from bough.simulation.simulation import Simulation
from bough.viewer.controls import Closing
from bough.viewer.viewer import Viewer

if TYPE_CHECKING:
    from bough.simulation.trajectory import Trajectory

__all__ = ["show", "view"]

NEAR_STARTS = 8
"""How many poses near the first one are tried to close loops from."""


def view(
    model: Model | Scene,
    q: ArrayLike | None = None,
    *,
    scene: Scene | None = None,
    host: str = "localhost",
    port: int | None = None,
    browser: bool = True,
) -> Viewer:
    """Show a model in the browser: a page with joint sliders, overlays, the tree, the matrices and the costs.

    The page shows the shapes of the model (with meshes whose files exist), or else its inertia ellipsoids. Loops stay
    closed when you move joints. The server runs until the viewer is closed or the program ends.

    Parameters
    ----------
    model
        The model, or a scene with a model.
    q
        Configuration (nq,), or a batch (..., nq), shown side by side or as ghosts. Default: the pose of the file, with
        loops closed.
    scene
        The world of the model, with its floor and shapes.
    host
        Address of the server. Only this computer can reach "localhost"; "0.0.0.0" is for the whole network.
    port
        Port of the server; an error if it is in use. Default: the first free port from 8080 on.
    browser
        Whether to open the page in the browser. In a notebook, the page appears inline if a cell ends with the viewer.

    Returns
    -------
    Viewer
        With `url`, `update(q)`, `choose(body)`, `show(overlay)`, `wait()` and `close()`; also a context manager.

    Raises
    ------
    BoughError
        If viser is not installed (the extra ``view``), or the port is in use.

    Examples
    --------
    >>> import bough
    >>> robot = bough.robots.load("arm")
    >>> with bough.view(robot, browser=False) as viewer:
    ...     viewer.update([0.1, 0.2, 0.3, 0.0, 0.0, 0.0])
    ...     viewer.show("frames", "centre of mass")
    ...     viewer.overlays["frames"]
    True
    """
    if isinstance(model, Scene):
        if scene is not None:
            raise ModelError("two scenes were given, expected a model and a scene, or a scene alone")
        scene, model = model, model.model
    instance(model, "the model", Model)
    states = _pose(model) if q is None else as_floats("q", q, (model.nq,)).reshape(-1, model.nq)
    return _shown(model, states, scene, None, host, port, truth(browser, "browser"))


def show(trajectory: Trajectory, scene: Scene | None = None, **options: Any) -> Viewer:
    """A viewer that plays a motion; options as those of `view`."""
    scene = trajectory.scene if scene is None else scene
    states = trajectory.q[0].reshape(-1, trajectory.model.nq)
    browser = truth(options.pop("browser", True), "browser")
    host, port = options.pop("host", "localhost"), options.pop("port", None)
    if options:
        raise TypeError(f"show() got {next(iter(options))!r}, expected any of scene, host, port and browser")
    viewer = _shown(trajectory.model, states, scene, trajectory, host, port, browser)
    viewer.play()
    return viewer


def _shown(
    model: Model,
    q: FloatArray,
    scene: Scene | None,
    motion: Trajectory | None,
    host: str,
    port: int | None,
    browser: bool,
) -> Viewer:
    if scene is not None:
        require_scene_of(model, instance(scene, "scene", Scene))
    world = () if scene is None else scene.shapes
    viewer = Viewer(model, q, world=world, motion=motion, contacts=_contacts(model, scene), host=host, port=port)
    if browser:
        viewer.open()
    return viewer


def _pose(model: Model) -> FloatArray:
    """The pose of the file, else the neutral one, with loops closed if they can be from there or near it."""
    given = np.array(model.simulation.reference)
    q = given if given.shape == (model.nq,) else np.asarray(neutral(model))
    if model.constraints:
        rng, closing = np.random.default_rng(0), Closing(model)
        for spread in (0.0, *(0.5,) * NEAR_STARTS):  # flat, as many a mechanism is at zero, it may have nowhere to go
            with suppress(AssemblyError):
                return closing.closed(integrate(model, q, spread * rng.normal(size=model.nv)))
    return q


def _contacts(model: Model, scene: Scene | None) -> Any:
    """What touches in a state, computed when it is first asked for; None where nothing can."""
    if scene is None or not scene.pairs:
        return None
    made: list[Simulation] = []

    def contacts(q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not made:
            made.append(Simulation(scene))
        found = made[0].contacts(q, v)
        return found.points, found.forces

    return contacts
