"""Simulation: a scene that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from bough.algorithms.soft.states import MOST_STEPS
from bough.errors import UnknownNameError
from bough.reading import known_name, shown, whole_number
from bough.simulation.adaptive import Orders, adaptive_run
from bough.simulation.arguments import (
    ACTING,
    MOST_SINGLE_STEPS,
    are_single,
    in_numpy,
    in_single,
    is_single,
    read_acting,
    read_begin,
    read_servo,
    read_start,
    read_steps,
    read_times,
    read_values,
    written,
)  # fmt: skip
from bough.simulation.derivatives import Differentiated, is_traced_by_jax, wants_gradients
from bough.simulation.events import Event, read_events
from bough.simulation.interrupts import interrupted_once
from bough.simulation.prepared import ADAPTIVE, INTEGRATORS, Prepared, require_of_hard_law
from bough.simulation.run import Controller, Run
from bough.simulation.state import State
from bough.simulation.sweep import Sweep, sweep_of
from bough.simulation.sweep_axes import Runs
from bough.simulation.watch import Watch

if TYPE_CHECKING:
    from bough.simulation.live import Live
    from bough.simulation.trajectory import Trajectory

__all__ = ["Simulation"]


class Simulation(Differentiated):
    """A scene that runs, under MuJoCo's law of soft contact or under that of hard contact.

    A step (positions, what touches, forces, accelerations, the next state) is one compiled program, for one state, for
    a batch, and for many steps per call. Accelerations of soft contact are those of MuJoCo's convex model, found by
    Newton steps on the tree itself; where its files say something of contact, limits, friction and actuators, it is
    heeded. Under hard contact nothing sinks in, friction is Coulomb's, with a round cone, and what strikes bounces.
    Limits of velocity, which URDF files give, say what a drive can do and are not held, as in MuJoCo: nothing in a
    simulation stops a joint that is faster. ``trajectory.v`` beside ``model.joint(name).velocity`` tells where one was.

    Parameters
    ----------
    model
        A model, or a scene with its model.
    scene
        The scene, if a model was given; the model alone, in no world but its own, without one.
    dt
        Length of a step (s); that of the model's file, 2 ms if it has none.
    law
        "soft": MuJoCo's; "hard": impulses of each step (Stewart and Trinkle 1996) let no gap close further than to
        zero, limits and loops hold without giving way, and contacts that are struck bounce, one after the other where
        they touch in a row, as in Newton's cradle. It knows no torsional and rolling friction, and of the integrators
        "euler" and "implicitfast" alone.
    integrator
        "euler": semi-implicit, and implicit in joint damping; "implicitfast", for stiff actuators: implicit in how
        their forces change with velocities, too, as MuJoCo's; "rk4": fourth order. That of the file, else "euler";
        for "implicit" of a file "implicitfast". "variational": for long motions without contact, joint limits, dry
        friction and loops; second order, energy and momentum without drift.
    tolerance, iterations
        When Newton's method ends; of soft contact.
    restitution
        Of hard contact: how much of the speed at which bodies strike is left, from 0 to 1, for all contacts; without
        it, what their surfaces say.
    max_contacts
        Of hard contact: so many contacts at a time a step is compiled for; the fewer, the faster. States in which more
        touch are stepped one step at a time, by another program. 16 without it.
    parameters
        Numbers of the model that are given with every state, called as those of `bough.function`: "mass of hand",
        "damping of knee", "gravity", …; and "friction" and (under hard contact) "restitution", factors of those of
        all contacts. How soft contacts are stays as it is.

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
        parameters: Mapping[str, ArrayLike] | None = None,
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
            What a `State` has to start the next step from: accelerations (..., nv), or impulses of hard contact.
        tau
            Joint forces (..., nv) in N and N m, held for all steps.
        control
            Controls (..., nu) of the actuators of the model, held; each feels the state at every step. Those of a joint
            together do at most its effort. Without them no actuator acts.
        target, kp, kd
            Targets (..., nv) for the coordinates of joints that have as many as velocities, and gains (N m/rad or N/m,
            and per rad/s or m/s), one for all or one for each: at every step kp (target - q) - kd v, at most the effort
            of the joint. "euler" is implicit in kd, as in the damping of joints: no kd is too large for it.
        f_ext
            Forces (..., N, 6) from outside on the bodies, in their own frames, linear first.
        parameters
            Values of the parameters that the simulation was made with, by name, each with any batch axes; what is left
            out is as in the model.
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
        values = (read_values(self.parameters, parameters),) if self.parameters or parameters is not None else ()
        if target is not None or kp is not None or kd is not None:
            target, kp, kd = read_servo(target, kp, kd, self.model.nv)
        count = read_steps(steps, MOST_SINGLE_STEPS if single else MOST_STEPS)
        rest = self._zeros if a is None else a
        given = (q, v, rest, self._dt, count, tau, control, target, kp, kd, f_ext, *values)
        if wants_gradients(given):
            return self._tensor_steps(in_single(given) if single else given, steps, out)
        if is_traced_by_jax(given):
            return self._steps_in_jax(given, steps, out)
        state = self._made(given, single)
        return state if out is None else written(out, state)

    def _made(self, given: Sequence[Any], single: bool) -> State:
        """Steps in one call: given q, v, a, dt, the number of steps and what acts."""
        if single and self.law == "soft":
            given = in_single(given)
        which = (given[5] is None, given[6] is None, given[7] is None, given[10] is None)
        entry = self._entries.get(which)
        if entry is None:
            entry = self._entries[which] = self._steps.form(given).entry
        state: State = _NEW_TUPLE(State, entry(*given, None, True))
        if self._roomier is not None:
            state = self._roomier.steps(given, state, entry)
            if single:  # impulses are found in float64
                state = State._make(in_single(state))
        return state

    # ---- many steps ------------------------------------------------------------------------------------------------

    def run(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        duration: float,
        rate: float | None = None,
        controller: Controller | None = None,
        hold: int = 1,
        integrator: str | None = None,
        accuracy: float = 1e-8,
        events: Mapping[str, Event | Callable[..., float]] | Sequence[Event | Callable[..., float]] | None = None,
        resume: Trajectory | None = None,
        show_progress: bool | None = None,
        **acting: Any,
    ) -> Trajectory:
        """Let it run, and keep what happened.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv) to begin with; at rest without v.
        duration
            How long (s), with `resume` how much longer; whole steps are made, the nearest number: `time` of the
            trajectory tells.
        rate
            Samples kept per second, about: there is a whole number of steps between two of them, the nearest, and at
            least one. 100 without it.
        controller
            Called as ``controller(time, q, v)`` every `hold` steps; gives joint forces (..., nv), or a dictionary with
            any of tau, control, target, kp, kd and f_ext, which hold until it is called again. Forces that are held
            damp explicitly; rather give targets and gains, which every step heeds. q and v are its own to change, and
            what it gives is copied.
        hold
            Steps between two calls of the controller.
        integrator
            Another one for this run; beside those of the simulation "adaptive": steps as long as `accuracy` allows, by
            the method of Dormand and Prince, of fifth order, each state with steps of its own. Contacts are as soft as
            for steps dt; where something slides on them steps become very short, and a run may take hundreds of times
            as long as one with steps of equal length. Not for hard contact.
        accuracy
            Largest error of an adaptive step in positions (m, rad) and velocities, these divided by 1 + their size.
        events
            Functions of time, q and v, or `bough.simulation.Event`, such as `contact_event` and `limit_event` make, by
            name, or in a list: "event 0", …. Where they pass zero is found, within steps, and told in `events` of the
            trajectory. Each is called for every state at every step.
        resume
            A trajectory to go on with, in place of q and v: the whole of it is returned, bit for bit as if it had
            never been interrupted, if all else is as it was; adaptive steps go on to their accuracy. One that
            `Trajectory.load` read will do.
        show_progress
            Whether a bar tells how far it is; None: on a terminal, if it takes long.
        acting
            tau, control, target, kp, kd, f_ext, parameters as in `step`, for the whole run.

        Returns
        -------
        Trajectory
            Samples of time, q and v from the beginning to the end. A state that stops for a reason of its own keeps its
            last sound values, and `status` says why. Ctrl-C ends a run, and what was computed is returned,
            with the status "interrupted". A run or sweep that begins within a second of that raises
            `KeyboardInterrupt`, unless it resumes: so Ctrl-C ends a loop of runs, too.

        Examples
        --------
        >>> import bough
        >>> arm = bough.robots.load("arm")
        >>> sim = bough.Simulation(arm, dt=0.001)
        >>> trajectory = sim.run([0.3] * 6, duration=0.02, target=[0.0] * 6, kp=20, kd=2)
        >>> trajectory.q.shape
        (3, 6)
        """
        known_name(self.integrator if integrator is None else integrator, "integrator", (*INTEGRATORS, ADAPTIVE))
        if self.law == "hard":
            require_of_hard_law(integrator)
        start, velocity = begin = read_begin(self.model, q, v, resume)
        if controller is not None and not callable(controller):
            raise TypeError(f"controller is {shown(controller)}, expected a function of time, q and v")
        read_acting(acting, "argument of run")
        acting = in_numpy(acting)
        often = whole_number(hold, "hold", least=1)
        total, every = samples = read_times(duration, rate, self.dt, 8 + start.nbytes + velocity.nbytes)
        if integrator == ADAPTIVE:
            orders = Orders(self.model, self.parameters, start.shape[:-1], acting, controller, often * self.dt)
            with interrupted_once(resume is not None):
                found = adaptive_run(self._trial, self.dt, begin, samples, accuracy, events, orders, resume)
                found.go(show_progress)
                return found.trajectory(self.scene, self._sense, resume)
        watched = read_events(events)
        if integrator is not None and integrator != self.integrator:
            first = begin if resume is None else ()
            return self.with_integrator(integrator).run(
                *first, duration=duration, rate=rate, controller=controller, hold=hold, events=events, resume=resume,
                show_progress=show_progress, **acting
            )  # fmt: skip
        watch = Watch(self.model, watched, self.dt) if watched else None
        run = Run(self.step, self.dt, start, velocity, self._zeros, acting, controller, often, resume, watch)
        with interrupted_once(resume is not None):
            run.go(total, every, show_progress)
            return run.trajectory(self.scene, self._sense)

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
            It runs until ``.viewer.close()``, anew when the page is first seen; `pause`, `start` and `reset` do what
            the buttons of the page do.
        """
        from bough.simulation.live import Live

        where = {name: options.pop(name) for name in ("host", "port") if name in options}
        start, speeds = (x.astype("float64") for x in read_start(self.model, q, v))
        live = Live(self, start, speeds, options, **where)
        if browser:
            live.viewer.open()
        live.start()
        return live

    def sweep(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        duration: float,
        grid: Mapping[str, ArrayLike] | None = None,
        table: Mapping[str, ArrayLike] | None = None,
        rate: float | None = None,
        controller: Controller | None = None,
        hold: int = 1,
        path: str | PathLike[str] | None = None,
        workers: int | str | object | None = None,
        at_once: int | None = None,
        show_progress: bool | None = None,
        **acting: Any,
    ) -> Sweep:
        """Many runs that differ in something, as batches on all threads, or on many machines.

        Parameters
        ----------
        q, v
            The state (nq,) and (nv,) to begin with, but for what differs; at rest without v.
        duration, rate, controller, hold
            As those of `run`. What a controller takes beside time, q and v may differ: values (n, 1), one for each run.
        grid
            Values (n,) by name, each with each: parameters that the simulation was made with ("mass of hand",
            "friction"), coordinates and velocities to begin with ("q of knee", "v of root_joint[2]"), the gains "kp"
            and "kd", numbers that the controller takes; rows (n, ...) of "q", "v", "tau", "target", "control", "kp",
            "kd", "f_ext" and parameters of many numbers; and "controller", a dictionary of functions by name.
        table
            Values by name, all of one length: the first of each together, the second of each, and so on; each row with
            all of the grid.
        path
            A folder for what is finished; one called ``*.zarr`` keeps it on disk alone (the extra ``zarr``). A sweep
            that is run again with it reads these parts, bit for bit, and goes on; controllers are known by name.
        workers
            None: this process. A number of processes of this machine, or the address or client of a cluster of
            dask.distributed, whose workers have bough (the extra ``cluster``).
        at_once
            Runs of one part: 4096, or what gives each worker some.
        show_progress
            As that of `run`; with workers the address of their dashboard, too.
        acting
            tau, control, target, kp, kd, f_ext as in `step`, for all runs.

        Returns
        -------
        Sweep
            The trajectory, with a batch axis for the table and one for each entry of the grid, and labels; Ctrl-C
            ends it, and what was finished is returned. Runs that raise an error are told in `failed`.

        Examples
        --------
        >>> import bough
        >>> arm = bough.robots.load("arm")
        >>> sim = bough.Simulation(arm, parameters=["damping of elbow"])
        >>> grid = {"damping of elbow": [0.1, 1.0, 5.0], "q of elbow": [0.0, 0.5]}
        >>> sim.sweep([0.0] * 6, duration=0.02, grid=grid)
        <Sweep of 'arm': 3 damping of elbow × 2 q of elbow, 0 did not finish>
        """
        for name in acting:
            if name == "parameters":
                hint = "grid={'friction': [0.2, 0.8]} or table= have the values of parameters, by name"
                raise UnknownNameError("argument of sweep", name, (), hint)
            known_name(name, "argument of sweep", [name for name in ACTING if name != "parameters"])
        runs, often = Runs(self, q, v, grid, table, controller, in_numpy(acting)), whole_number(hold, "hold", least=1)
        with interrupted_once():
            return sweep_of(self, runs, (duration, rate), often, path, at_once, workers, show_progress)


_NEW_TUPLE: Any = tuple.__new__
"""Makes a named tuple in half the time."""

Prepared.__init__.__qualname__ = "Simulation"  # what Python calls it where a wrong keyword is given
