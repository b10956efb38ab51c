"""Simulation: a scene that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.algorithms.soft.scene import SoftScene, layout_of
from bough.algorithms.soft.step import MOST_STEPS
from bough.errors import ModelError
from bough.kernel.arguments import FloatArray, as_floats
from bough.kernel.function import Function
from bough.model import Model
from bough.reading import instance, known_name, number, shown, whole_number
from bough.scalar.lazy import cached_property
from bough.simulation.arguments import (
    MOST_SINGLE_STEPS,
    are_single,
    in_single,
    is_single,
    read_servo,
    read_steps,
    require_moving,
)  # fmt: skip
from bough.simulation.pairs import LeftOut
from bough.simulation.program import measure_function, steps_function
from bough.simulation.run import Controller, Run, State
from bough.simulation.scene import Scene
from bough.simulation.soft import soft_scene, unknown_pairs

if TYPE_CHECKING:
    from bough.simulation.live import Live
    from bough.simulation.trajectory import Trajectory

__all__ = ["ContactForces", "Controller", "Simulation", "State"]

INTEGRATORS = ("euler", "rk4")


class ContactForces(NamedTuple):
    """What touches in some state.

    `forces` (..., k, 3) in N act on the second shape of each pair, at `points` (..., k, 3) in m, both along the axes of
    the world; zero where nothing touches. `depths` (..., k) in m tell how far shapes have sunk into each other, less
    than zero within the margin. `pairs` names the shapes of each of the k contact points, `acceleration` (..., nv) is
    what all forces together do.
    """

    acceleration: FloatArray
    forces: FloatArray
    points: FloatArray
    depths: FloatArray
    pairs: tuple[tuple[str, str], ...]


class Simulation:
    """A scene that runs, under MuJoCo's law of soft contact.

    A step (positions, what touches, forces, accelerations, the next state) is one compiled program, for one state, for
    a batch, and for many steps per call. Accelerations are those of MuJoCo's convex model, found by Newton steps on the
    tree itself; where its files say something of contact, limits, friction and actuators, it is heeded.

    Parameters
    ----------
    model
        A model, or a scene with its model.
    scene
        The scene, if a model was given; the model alone, in no world but its own, without one.
    dt
        Length of a step (s); that of the model's file, 2 ms if it has none.
    integrator
        "euler": semi-implicit, and implicit in joint damping; "rk4": fourth order. That of the file, else "euler".
    tolerance, iterations
        When Newton's method ends.

    Examples
    --------
    >>> import bough
    >>> robot = bough.robots.load("quadruped")
    >>> sim = bough.Simulation(robot, bough.Scene(robot, self_collision=False).floor())
    >>> q = bough.simulation.on_the_floor(robot, bough.neutral(robot), gap=0.1)
    >>> trajectory = sim.run(q, duration=0.004)
    >>> trajectory.q.shape
    (2, 19)
    """

    def __init__(
        self,
        model: Model | Scene,
        scene: Scene | None = None,
        *,
        dt: float | None = None,
        integrator: str | None = None,
        tolerance: float | None = None,
        iterations: int | None = None,
    ) -> None:
        if isinstance(model, Scene):
            if scene is not None:
                raise ModelError("two scenes were given, expected a model and a scene, or a scene alone")
            scene, model = model, model.model
        self.scene = Scene(instance(model, "the model", Model)) if scene is None else instance(scene, "scene", Scene)
        if self.scene.model is not model and self.scene.model != model:
            other = self.scene.model.name
            raise ModelError(f"the scene is one of another model, {other!r}, expected one of {model.name!r} as given")
        self.model = model
        data = model.simulation
        self.dt = number(data.timestep if dt is None else dt, "dt", "a positive number (s)", above=0.0)
        chosen = ("rk4" if data.integrator == "rk4" else "euler") if integrator is None else integrator
        self.integrator = known_name(chosen, "integrator", INTEGRATORS)
        self._tolerance = number(
            data.tolerance if tolerance is None else tolerance, "tolerance", "a number that is not negative", least=0.0
        )
        self._iterations = whole_number(data.iterations if iterations is None else iterations, "iterations", least=1)
        require_moving(model)

    def __repr__(self) -> str:
        pairs = len(self._soft.candidates)
        return f"Simulation({self.model.name!r}, dt={self.dt}, integrator={self.integrator!r}, {pairs} pairs)"

    @cached_property
    def _soft(self) -> SoftScene:
        return soft_scene(self.scene, self.integrator, self._tolerance, self._iterations)

    @cached_property
    def _steps(self) -> Function:
        return steps_function(self.model, self._soft)

    @cached_property
    def _measure(self) -> Function:
        return measure_function(self.model, self._soft)

    @property
    def left_out(self) -> LeftOut:
        """Which shapes do not touch, and why."""
        found = self.scene.left_out
        reasons = {f"there is no rule for a {kinds} yet": n for kinds, n in unknown_pairs(self.scene).items()}
        return LeftOut({**found.reasons, **reasons}, found.shapes, found.not_understood)

    @cached_property
    def contact_pairs(self) -> tuple[tuple[str, str], ...]:
        """Names of the two shapes of each contact point that `contacts` tells of; of the body where one has none."""
        known = [p for p in self.scene.pairs if (p.first.shape, p.second.shape) in self._kinds]
        names = []
        for pair, candidate in zip(known, self._soft.candidates, strict=True):
            two = (pair.first, pair.second)
            if candidate.sides[0].body == 0 != pair.first.body:
                two = two[::-1]
            names.append((two[0].name or two[0].frame, two[1].name or two[1].frame))
        return tuple(names[k] for k in layout_of(self._soft).order)

    @cached_property
    def _kinds(self) -> set[tuple[str, str]]:
        from bough.algorithms.narrow_phase import is_known

        pairs = {(p.first.shape, p.second.shape) for p in self.scene.pairs}
        return {two for two in pairs if is_known(*two)}

    # ---- one step --------------------------------------------------------------------------------------------------

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        steps: int | ArrayLike = 1,
        a: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        control: ArrayLike | None = None,
        target: ArrayLike | None = None,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        f_ext: ArrayLike | None = None,
    ) -> State:
        """The state after so many steps, in one call and without Python in between.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv), with any batch axes.
        steps
            Their number, the same for all states or one for each (...).
        a
            Accelerations (..., nv) of the step before, from which Newton's method starts: a `State` has them.
        tau
            Joint forces (..., nv) in N and N m, held for all steps.
        control
            Controls (..., nu) of the actuators of the model, held; each feels the state at every step. Without them no
            actuator acts.
        target, kp, kd
            Targets (..., nv) for the coordinates of joints that have as many as velocities, and gains (N m/rad or N/m,
            and per rad/s or m/s), one for all or one for each: at every step kp (target - q) - kd v, at most the effort
            of the joint. "euler" is implicit in kd, as in the damping of joints: no kd is too large for it.
        f_ext
            Forces (..., N, 6) from outside on the bodies, in their own frames, linear first.

        Examples
        --------
        >>> import bough
        >>> arm = bough.robots.load("arm")
        >>> sim = bough.Simulation(arm, dt=0.001)
        >>> state = sim.step([0.0] * 6, [0.0] * 6, steps=10)
        >>> state.q.shape, float(state.taken)
        ((6,), 10.0)
        """
        single = is_single(q) and are_single(v, a, tau, control, target, kp, kd, f_ext)
        if target is not None or kp is not None or kd is not None:
            target, kp, kd = read_servo(target, kp, kd, self.model.nv)
        count = read_steps(steps, MOST_SINGLE_STEPS if single else MOST_STEPS)
        rest = self._zeros if a is None else a
        given = (q, v, rest, self._dt, count, tau, control, target, kp, kd, f_ext)
        if single:
            given = in_single(given)
        which = (tau is None, control is None, target is None, f_ext is None)
        entry = self._entries.get(which)
        if entry is None:
            entry = self._entries[which] = self._steps.form(given).entry
        return State._make(entry(*given, None, True))

    @cached_property
    def _entries(self) -> dict[tuple[bool, ...], Callable[..., Any]]:
        """The steps for what is given of what may be left out, by whether it is."""
        return {}

    @cached_property
    def _zeros(self) -> NDArray[np.float64]:
        return np.zeros(self.model.nv)

    @cached_property
    def _dt(self) -> NDArray[np.float64]:
        return np.array(self.dt)

    def contacts(self, q: ArrayLike, v: ArrayLike, **acting: Any) -> ContactForces:
        """What touches in a state, and the accelerations under all forces.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv).
        acting
            tau, control, target, kp, kd, f_ext as in `step`.

        Examples
        --------
        >>> import bough
        >>> robot = bough.robots.load("quadruped")
        >>> sim = bough.Simulation(robot, bough.Scene(robot, self_collision=False).floor())
        >>> q = bough.neutral(robot)
        >>> sim.contacts(q, [0.0] * robot.nv).forces.shape[-1]
        3
        """
        known = ("a", "tau", "control", "target", "kp", "kd", "f_ext")
        for name in acting:
            known_name(name, "argument of contacts", known)
        a, tau, control, target, kp, kd, f_ext = map(acting.get, known)
        single = is_single(q) and are_single(v, *acting.values())
        if target is not None or kp is not None or kd is not None:
            target, kp, kd = read_servo(target, kp, kd, self.model.nv)
        values = [q, v, self._zeros if a is None else a, self._dt, tau, control, target, kp, kd, f_ext]
        found = self._measure(*(in_single(values) if single else values))
        acceleration, forces, points, depths = found
        return ContactForces(acceleration, forces, points, depths, self.contact_pairs)

    # ---- many steps ------------------------------------------------------------------------------------------------

    def run(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        duration: float,
        rate: float | None = None,
        controller: Controller | None = None,
        hold: int = 1,
        show_progress: bool | None = None,
        **acting: Any,
    ) -> Trajectory:
        """Let it run, and keep what happened.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv) to begin with; at rest without v.
        duration
            How long (s); whole steps are made, the nearest number.
        rate
            Samples kept per second, at most one per step; about 100 without it.
        controller
            Called as ``controller(time, q, v)`` every `hold` steps; gives joint forces (..., nv), or a dictionary with
            any of tau, control, target, kp, kd and f_ext, which hold until it is called again. Forces that are held
            damp explicitly; rather give targets and gains, which every step heeds.
        hold
            Steps between two calls of the controller.
        show_progress
            Whether a bar tells how far it is; None: on a terminal, if it takes long.
        acting
            tau, control, target, kp, kd, f_ext as in `step`, for the whole run.

        Returns
        -------
        Trajectory
            Samples of time, q and v from the beginning to the end. A state that stops for a reason of its own keeps its
            last sound values, and `status` says why. Ctrl-C ends a run, and what was computed is returned.

        Examples
        --------
        >>> import bough
        >>> arm = bough.robots.load("arm")
        >>> sim = bough.Simulation(arm, dt=0.001)
        >>> trajectory = sim.run([0.3] * 6, duration=0.02, target=[0.0] * 6, kp=20, kd=2)
        >>> trajectory.q.shape
        (3, 6)
        """
        from bough.simulation.trajectory import Trajectory

        length = number(duration, "duration", "a number of seconds that is not negative", least=0.0)
        total = round(length / self.dt)
        wanted = min(100.0, 1.0 / self.dt) if rate is None else number(rate, "rate", "samples per second", above=0.0)
        every = max(1, round(1.0 / (wanted * self.dt)))
        start = np.array(as_floats("q", q, (self.model.nq,)))
        velocity = np.zeros((*start.shape[:-1], self.model.nv), start.dtype)
        if v is not None:
            velocity = velocity + as_floats("v", v, (self.model.nv,))
            start = np.broadcast_to(start, (*velocity.shape[:-1], self.model.nq)).copy()
        if controller is not None and not callable(controller):
            raise TypeError(f"controller is {shown(controller)}, expected a function of time, q and v")
        run = Run(self.step, self.dt, start, velocity, acting, controller, whole_number(hold, "hold", least=1))
        run.go(total, every, show_progress)
        return Trajectory(
            self.model,
            np.array(run.times),
            np.array(run.qs),
            np.array(run.vs),
            tau=run.given("tau"),
            control=run.given("control"),
            status=run.status,
            taken=run.taken,
            stopped=run.taken * self.dt,
        )

    def view(self, q: ArrayLike, v: ArrayLike | None = None, *, browser: bool = True, **options: Any) -> Live:
        """Watch it run in the browser: bodies are pulled with the mouse, sliders are targets (the extra ``view``).

        Parameters
        ----------
        q, v
            Configuration (nq,) or a batch (n, nq) to begin with, and velocities; at rest without v.
        browser
            Whether to open the page in the browser.
        options
            host and port as in `bough.view`; tau, control, target, kp and kd as in `step`, for all of it.

        Returns
        -------
        Live
            It runs until ``.viewer.close()``; `pause`, `start` and `reset` do what the buttons of the page do.
        """
        from bough.simulation.live import Live

        where = {name: options.pop(name) for name in ("host", "port") if name in options}
        start = np.array(as_floats("q", q, (self.model.nq,)), np.float64)
        speeds = np.zeros((*start.shape[:-1], self.model.nv))
        speeds = speeds if v is None else speeds + as_floats("v", v, (self.model.nv,))
        live = Live(self, start, speeds, options, **where)
        if browser:
            live.viewer.open()
        live.start()
        return live
