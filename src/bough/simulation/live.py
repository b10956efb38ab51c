"""A simulation to watch while it runs: push bodies with the mouse, change targets, pause, begin anew."""

from __future__ import annotations

import threading
import time as clock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bough.kernel.arguments import FloatArray
from bough.kernel.dynamics import crba
from bough.kernel.kinematics import jacobian
from bough.model import Model
from bough.simulation.state import State
from bough.viewer.instances import world_placements
from bough.viewer.viewer import Viewer

if TYPE_CHECKING:
    from bough.simulation.simulation import Simulation

__all__ = ["Live", "felt_mass", "pull"]

PICTURES_PER_SECOND = 60.0
SPEEDS = ("0.1 x", "0.25 x", "0.5 x", "1 x", "2 x", "4 x")
PULL = 12.0
"""How fast (rad/s) a body swings on the spring by which the mouse pulls it, in whichever mechanism it is."""

DENSE = 300  # velocities up to which the mass that is felt at a point is computed from the whole mass matrix


class Grip(NamedTuple):
    """Where somebody holds a body, and to where they pull it."""

    state: int
    body: int
    point: FloatArray  # in the frame of the body
    pulled: FloatArray  # in the world
    mass: float  # that is felt there


class Live:
    """A simulation that runs in a viewer, in real time if the computer is fast enough.

    Parameters
    ----------
    sim
        The simulation.
    q, v
        Initial configuration (nq,) or batch (n, nq), and velocities.
    acting
        Arguments of `Simulation.step`, constant during the run. The sliders of the page change targets.
    options
        host and port as in `bough.view`.
    """

    def __init__(self, sim: Simulation, q: FloatArray, v: FloatArray, acting: dict[str, Any], **options: Any) -> None:
        self.sim, self._acting = sim, dict(acting)
        zeros = np.zeros(q.shape[:-1])
        self._start = self._state = State(q, v, np.zeros((*v.shape[:-1], sim._zeros.size)), zeros, zeros)
        self.time, self.rate = 0.0, 0.0
        self._grip: Grip | None = None
        self._shift: FloatArray = np.zeros(3)  # from the pointer to where the body is pulled
        self._running, self._lock = threading.Event(), threading.RLock()
        self.viewer = Viewer(
            sim.model, q, world=sim.scene.shapes, contacts=self._contacts, steered=self._steered, **options
        )
        self.viewer.on_drag(self._dragged)
        self._told_at = 0.0
        self._rate: Any = None
        self._add_controls()
        self._thread = threading.Thread(target=self._loop, name="bough simulation", daemon=True)
        self.viewer.page.once_panel_is_seen(self.reset)  # whoever comes to see it sees it from the beginning

    def start(self) -> None:
        """Start the simulation."""
        if not self._thread.is_alive():
            self._thread.start()
        self._running.set()
        self.viewer.page.write(lambda: setattr(self._button, "label", "Pause"))

    def pause(self) -> None:
        """Pause the simulation, after the current steps."""
        self._running.clear()
        with self._lock:
            pass
        self.viewer.page.write(lambda: setattr(self._button, "label", "Run"))

    def reset(self) -> None:
        """Restart from the initial state."""
        with self._lock:
            self._state, self.time, self._grip = self._start, 0.0, None
        self.viewer.tell("")
        self._draw()

    @property
    def state(self) -> State:
        """Current state."""
        return self._state

    @property
    def target(self) -> FloatArray | None:
        """Targets of the controller (nv,); None without a controller."""
        given = self._acting.get("target")
        return None if given is None else np.array(given)

    # ---- what runs ---------------------------------------------------------------------------------------------------

    def advance(self, duration: float) -> None:
        """Make steps for a number of seconds, with the current mouse forces on bodies."""
        steps = max(1, round(duration / self.sim.dt))
        with self._lock:
            before = self._state
            pulled = self._pulled(before.q, before.v)
            after = self.sim.step(before.q, before.v, steps=steps, a=before.a, f_ext=pulled, **self._acting)
            self._state, self.time = after, self.time + steps * self.sim.dt
        if np.any(after.status):
            self.pause()
            self.viewer.tell("Stopped: the state was not finite or ran away. Press Reset to restart.")

    def _loop(self) -> None:
        self.viewer.tell("Compiling the simulation …")
        while not self.viewer.is_closed:
            if not self._running.wait(timeout=0.2):
                continue
            began = clock.perf_counter()
            ahead = float(self._speed.value.split()[0]) / PICTURES_PER_SECOND
            made = self.time
            try:
                with self._lock:
                    if not self._running.is_set():
                        continue
                    self.advance(ahead)
                if not made:
                    self.viewer.tell("")
                self._draw()
            except Exception as error:  # a thread has nobody to raise it to
                self.pause()
                self.viewer.tell(f"{type(error).__name__}: {error}")
                continue
            made = self.time - made
            clock.sleep(max(0.0, made / ahead / PICTURES_PER_SECOND - (clock.perf_counter() - began)))
            self._tell_rate(made, clock.perf_counter() - began)

    def _draw(self) -> None:
        self.viewer.update(self._state.q, self._state.v, time=self.time)
        grip = self._grip
        if grip is None:
            self.viewer.show_pull()
        else:
            X = world_placements(self.sim.model, np.atleast_2d(self._state.q)[grip.state])[grip.body]
            self.viewer.show_pull(grip.state, [X[:3, :3] @ grip.point + X[:3, 3], grip.pulled])

    def _tell_rate(self, made: float, spent: float) -> None:
        self.rate += 0.1 * (made / max(spent, 1e-9) - self.rate)
        told = f"{self.rate:.1f} x real time"
        if clock.perf_counter() - self._told_at > 0.5:
            self._told_at = clock.perf_counter()
            self.viewer.page.write(lambda: setattr(self._rate, "content", told))

    # ---- what users do -----------------------------------------------------------------------------------------------

    def _add_controls(self) -> None:
        gui = self.viewer.page.server.gui
        with self.viewer.controls:
            self._button = gui.add_button("Run")
            reset = gui.add_button("Reset")
            self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1 x")
            self._rate = gui.add_markdown("")
            told = "Drag a body with the mouse to pull it."
            gui.add_markdown(f"{told} The sliders of the pose set targets." if "target" in self._acting else told)
        self._button.on_click(lambda _: self.pause() if self._running.is_set() else self.start())
        reset.on_click(lambda _: self.reset())

    def _steered(self, q: FloatArray, joint: str) -> FloatArray:
        """A slider was moved: its joint gets another target, or is put there where nothing controls it."""
        model = self.sim.model
        with self._lock:
            if "target" in self._acting:
                target = np.array(np.broadcast_to(self._acting["target"], (model.nv,)))
                target[model.v_slice(joint)] = q[model.q_slice(joint)]
                self._acting["target"] = target
            else:
                states, speeds = np.array(self._state.q), np.array(self._state.v)
                states[..., model.q_slice(joint)] = q[model.q_slice(joint)]
                speeds[..., model.v_slice(joint)] = 0.0
                self._state = self._state._replace(q=states, v=speeds)
        return q

    def _dragged(self, phase: str, state: int, body: int, held: FloatArray, pulled: FloatArray) -> None:
        model = self.sim.model
        with self._lock:
            if phase == "end" or not body:
                self._grip = None
            elif not np.isfinite(pulled).all():
                return
            elif self._grip is None or phase == "start":
                q = np.atleast_2d(self._state.q)[state]
                X = world_placements(model, q)[body]
                self._shift = np.zeros(3)
                if not np.isfinite(held).all():  # not every browser knows it: by the middle, as the mouse moves
                    held = X[:3, :3] @ np.array(model.bodies[body - 1].inertia.com) + X[:3, 3]
                    self._shift = held - pulled
                point = X[:3, :3].T @ (held - X[:3, 3])
                self._grip = Grip(state, body, point, pulled + self._shift, felt_mass(model, q, body, held))
            else:
                self._grip = self._grip._replace(pulled=pulled + self._shift)

    def _pulled(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """The forces from outside (..., N, 6) of whoever holds a body."""
        forces = np.zeros((*q.shape[:-1], self.sim.model.nbodies, 6))
        grip = self._grip
        if grip is not None:
            state = np.atleast_2d(q)[grip.state], np.atleast_2d(v)[grip.state]
            forces.reshape(-1, *forces.shape[-2:])[grip.state, grip.body - 1] = pull(self.sim.model, *state, grip)
        return forces

    def _contacts(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        found = self.sim.contacts(q, v)
        return found.points, found.forces


def pull(model: Model, q: FloatArray, v: FloatArray, grip: Grip) -> FloatArray:
    """Force and moment (6,) on a body, in its frame: of a damped spring from the point that is held to the mouse."""
    X = world_placements(model, q)[grip.body]
    R = X[:3, :3]
    J = _point_jacobian(model, q, grip.body, R @ grip.point)
    spring = PULL**2 * grip.mass * (grip.pulled - X[:3, 3] - R @ grip.point) - PULL * grip.mass * (J @ v)
    force = R.T @ spring
    return np.concatenate([force, np.cross(grip.point, force)])


def felt_mass(model: Model, q: FloatArray, body: int, point: FloatArray) -> float:
    """The mass (kg) that is felt at a point (3,) in the world of a body, in the mean of all directions."""
    carried = sum(model.bodies[i - 1].inertia.mass for i in model.tree.subtree(body))
    if model.nv > DENSE:
        return max(carried, 1e-3 * model.mass)
    J = _point_jacobian(model, q, body, point - world_placements(model, q)[body, :3, 3])
    answer = np.trace(J @ np.linalg.lstsq(crba(model, q), J.T, rcond=None)[0])
    return float(3.0 / answer) if answer > 0 else max(carried, 1e-3 * model.mass)


def _point_jacobian(model: Model, q: FloatArray, body: int, arm: FloatArray) -> FloatArray:
    """From v to the velocity (3,) of a point of a body, `arm` (3,) from its origin; all along the axes of the world."""
    J = jacobian(model, q, model.bodies[body - 1].name, "LOCAL_WORLD_ALIGNED")
    x, y, z = arm
    return J[:3] - np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ J[3:]
