"""Simulation: a scene that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.algorithms.soft.scene import SoftScene, StepIntegrator, layout_of
from bough.algorithms.soft.step import MOST_STEPS
from bough.errors import ModelError, ShapeError
from bough.kernel.function import Function
from bough.model import Model
from bough.reading import instance, known_name, number, shown, whole_number
from bough.scalar.lazy import cached_property
from bough.simulation.adaptive import AdaptiveRun
from bough.simulation.arguments import (
    ACTING,
    MOST_SINGLE_STEPS,
    are_single,
    in_single,
    is_single,
    per_state,
    read_acting,
    read_servo,
    read_start,
    read_steps,
    read_times,
    require_moving,
    written,
)  # fmt: skip
from bough.simulation.contact_forces import ContactForces
from bough.simulation.events import Event, read_events
from bough.simulation.interrupts import interrupted_once
from bough.simulation.pairs import LeftOut
from bough.simulation.program import measure_function, steps_function, trial_function
from bough.simulation.run import Controller, Run
from bough.simulation.scene import Scene
from bough.simulation.soft import soft_scene, unknown_pairs
from bough.simulation.state import State

if TYPE_CHECKING:
    from bough.simulation.trajectory import Trajectory

__all__ = ["Simulation"]

ADAPTIVE = "adaptive"
INTEGRATORS: tuple[StepIntegrator, ...] = ("euler", "rk4", "variational")


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
        "variational": for long motions without contact, joint limits, dry friction and loops; second order, energy and
        momentum without drift.
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
        wanted = ("rk4" if data.integrator == "rk4" else "euler") if integrator is None else integrator
        self.integrator = INTEGRATORS[INTEGRATORS.index(known_name(wanted, "integrator", INTEGRATORS))]
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
        out: State | None = None,
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
        out
            A state whose arrays are written to and returned, such as the one before the last; nothing is written
            if an argument is wrong.

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
        state = State._make(entry(*given, None, True))
        return state if out is None else written(out, state)

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
        a, tau, control, target, kp, kd, f_ext = read_acting(acting, "argument of contacts", ("a", *ACTING))
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
        integrator: str | None = None,
        accuracy: float = 1e-8,
        events: Mapping[str, Event | Callable[..., float]] | None = None,
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
        integrator
            Another one for this run; beside those of the simulation "adaptive": steps as long as `accuracy` allows, by
            the method of Dormand and Prince, of fifth order, each state with steps of its own. Contacts are as soft as
            for steps dt.
        accuracy
            Largest error of an adaptive step in positions (m, rad) and velocities, these divided by 1 + their size.
        events
            For adaptive steps: functions of time, q and v by name, or `bough.simulation.Event`; where they pass zero is
            found, and told in `events` of the trajectory.
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

        known_name(self.integrator if integrator is None else integrator, "integrator", (*INTEGRATORS, ADAPTIVE))
        if integrator == ADAPTIVE:
            if controller is not None:
                raise ShapeError("a controller was given for adaptive steps, expected one of the other integrators")
            with interrupted_once():
                found = self._adaptive(q, v, duration, rate, accuracy, read_events(events), acting)
                found.go(show_progress)
                return Trajectory(self.model, **found.arrays(), events=tuple(found.occurrences))
        if events is not None:
            raise ShapeError('events were given, expected integrator="adaptive" with them')
        if integrator is not None and integrator != self.integrator:
            more = {"controller": controller, "hold": hold, "show_progress": show_progress, **acting}
            return self._with_integrator(integrator).run(q, v, duration=duration, rate=rate, **more)
        total, every = read_times(duration, rate, self.dt)
        start, velocity = read_start(self.model, q, v)
        if controller is not None and not callable(controller):
            raise TypeError(f"controller is {shown(controller)}, expected a function of time, q and v")
        read_acting(acting, "argument of run")
        run = Run(self.step, self.dt, start, velocity, acting, controller, whole_number(hold, "hold", least=1))
        with interrupted_once():
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

    @lru_cache(maxsize=4)  # noqa: B019 (a simulation and its siblings go together)
    def _with_integrator(self, integrator: str) -> Simulation:
        return Simulation(
            self.scene, dt=self.dt, integrator=integrator, tolerance=self._tolerance, iterations=self._iterations
        )

    def _adaptive(
        self,
        q: ArrayLike,
        v: ArrayLike | None,
        duration: float,
        rate: float | None,
        accuracy: float,
        events: Mapping[str, Event],
        acting: dict[str, Any],
    ) -> AdaptiveRun:
        """A run with steps as long as their errors allow, to begin with."""
        start, velocity = (x.astype(np.float64) for x in read_start(self.model, q, v))
        total, every = read_times(duration, rate, self.dt)
        times = self.dt * np.unique([*range(0, total, every), total])
        near = number(accuracy, "accuracy", "a positive number", above=0.0)
        tau, control, target, kp, kd, f_ext = read_acting(acting, "argument of run")
        if target is not None or kp is not None or kd is not None:
            target, kp, kd = read_servo(target, kp, kd, self.model.nv)
        given = {"tau": tau, "control": control, "target": target, "kp": kp, "kd": kd, "f_ext": f_ext}
        batch = start.shape[:-1]
        flat = {n: per_state(n, x, 2 if n == "f_ext" else 1, batch) for n, x in given.items() if x is not None}
        trial = trial_function(self.model, self._soft)

        def tried(k: Any, q: Any, v: Any, a: Any, length: Any, part: Any) -> Any:
            return trial(q=q, v=v, a=a, dt=self._dt, length=length, part=part, **{n: x[k] for n, x in flat.items()})

        return AdaptiveRun(tried, start, velocity, times, near, self.dt, events)
