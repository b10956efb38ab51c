"""Simulation: a scene that runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from bough.algorithms.soft.states import MOST_STEPS
from bough.errors import UnknownNameError
from bough.reading import known_name, shown, whole_number
from bough.simulation.acting import Acting, Controller
from bough.simulation.adaptive import Orders, adaptive_run
from bough.simulation.arguments import (
    ACTING,
    ONE,
    are_single,
    is_single,
    read_begin,
    read_servo,
    read_start,
    read_steps,
    read_times,
    read_values,
    written,
)  # fmt: skip
from bough.simulation.events import Event, read_events
from bough.simulation.interrupts import interrupted_once
from bough.simulation.open_loops import tell_of_open_loops
from bough.simulation.pieces import FEW_STEPS, in_pieces, is_long
from bough.simulation.prepared import ADAPTIVE, INTEGRATORS, Prepared, require_of_hard_law
from bough.simulation.run import Run
from bough.simulation.state import State
from bough.simulation.stepped import Stepped
from bough.simulation.sweep import Sweep, sweep_of
from bough.simulation.sweep_axes import Runs
from bough.simulation.watch import Watch

if TYPE_CHECKING:
    from bough.simulation.live import Live
    from bough.simulation.trajectory import Trajectory

__all__ = ["Simulation"]


class Simulation(Stepped):
    """Simulation of a scene, with MuJoCo's law of soft contact or with hard contact.

    A step (positions, contacts, forces, accelerations, next state) is one compiled program, for one state, for a batch,
    and for many steps per call. Soft contact computes the accelerations of MuJoCo's convex model by Newton steps on the
    tree, and uses the parameters of MJCF files for contact, limits, friction and actuators. Hard contact prevents
    penetration, and has Coulomb friction with a round cone and restitution. Velocity limits, as in URDF files, are not
    enforced, as in MuJoCo. Compare ``trajectory.v`` with ``model.joint(name).velocity`` to find joints that were too
    fast.

    Parameters
    ----------
    model
        A model, or a scene with its model.
    scene
        The scene, if the first argument is a model. Default: a scene with only the model.
    dt
        Time step (s). Default: that of the model's file, or 2 ms.
    law
        "soft": MuJoCo's law. "hard": impulses of each step (Stewart and Trinkle 1996) keep gaps from closing below
        zero, limits and loops are rigid, and impacts bounce, one after the other for bodies in a row, as in Newton's
        cradle. Hard contact has no torsional and rolling friction, and only the integrators "euler" and "implicitfast".
    integrator
        "euler": semi-implicit, and implicit in joint damping. "implicitfast": also implicit in the velocity derivatives
        of actuator forces, as in MuJoCo; for stiff actuators. "rk4": fourth order. "variational": second order, without
        drift of energy and momentum; for long motions without contact, joint limits, dry friction and loops. Default:
        that of the file ("implicit" becomes "implicitfast"), or "euler".
    tolerance, iterations
        Stopping criteria of Newton's method, for soft contact.
    restitution
        Coefficient of restitution of all contacts, from 0 to 1, for hard contact. Default: those of the surfaces. With
        friction, a restitution near 1 may increase the energy, which is a known property of such laws.
    max_contacts
        Number of simultaneous contacts for which a step of hard contact is compiled; fewer are faster. States with more
        contacts use another program, one step at a time, several times slower: a warning tells of it. Default: 16.
    parameters
        Names of numbers of the model that each state provides, as for `bough.function`: "mass of hand", "damping of
        knee", "gravity", …; also "friction" and (hard contact) "restitution", which are factors for all contacts. They
        do not change the softness of contacts.

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
        """Return the state after a number of steps, in one call of compiled code.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv), with any batch axes.
        steps
            Number of steps: one for all states, or one for each (...).
        a
            Warm start for the first step, from ``state.a``: accelerations (..., nv), or impulses of hard contact.
        tau
            Joint forces (..., nv) in N and N m, constant for all steps.
        control
            Controls (..., nu) of the actuators of the model, constant for all steps. Actuators respond to the state at
            every step. The total force of the actuators of a joint is at most its effort. Without controls, no actuator
            acts.
        target, kp, kd
            Targets (..., nv) for joints with as many coordinates as velocities, and gains (N m/rad or N/m; N m s/rad or
            N s/m), one for all or one for each. At every step the force is kp (target - q) - kd v, at most the effort
            of the joint. "euler" is implicit in kd, as in joint damping, so kd may have any size.
        f_ext
            External forces (..., N, 6) on the bodies, in their own frames, linear first (N, N m).
        parameters
            Values of the parameters of the simulation, by name, each with any batch axes. Parameters that are left out
            have the values of the model.
        out
            A state whose arrays receive the result, and which is returned. Wrong arguments raise an error before
            anything is written.

        Examples
        --------
        >>> import bough
        >>> arm = bough.robots.load("arm")
        >>> sim = bough.Simulation(arm, dt=0.001)
        >>> state = sim.step([0.0] * 6, [0.0] * 6, steps=10)
        >>> state.q.shape, float(state.taken)
        ((6,), 10.0)
        """
        aim, stiffness, damping = target, kp, kd
        if target is not None or kp is not None or kd is not None:
            aim, stiffness, damping = read_servo(target, kp, kd, self._drawn)
        count = ONE if type(steps) is int and steps == 1 else read_steps(steps, MOST_STEPS)
        if type(steps) is not int or steps > FEW_STEPS:
            acting = (tau, control, target, kp, kd, f_ext, parameters)
            if is_long(steps, (q, v, a, *acting)):
                return in_pieces(self, count, (q, v, a), acting, out)
        rest = self._zeros if a is None else a
        given: tuple[Any, ...]
        given = (q, v, rest, self._dt, count, tau, control, aim, stiffness, damping, f_ext, None, True)
        if self.parameters or parameters is not None:
            given = (*given[:-2], read_values(self.parameters, parameters), None, True)
        try:
            entry = self._entries[tau is None, control is None, aim is None, f_ext is None]
        except KeyError:
            entry = self._entry(given[:-2])
        state: State | None = entry(*given)
        if state is None:
            single = is_single(q) and are_single(v, a, tau, control, target, kp, kd, f_ext)
            return self._longer(given[:-2], single, steps, out)
        if self._roomier is not None:
            state = self._roomier.steps(given[:-2], state, self._careful_entry(given))
        return state if out is None else written(out, state)

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
        """Run the simulation and return its trajectory.

        Parameters
        ----------
        q, v
            Initial configuration (..., nq) and velocity (..., nv) (default: at rest).
        duration
            Duration (s); with `resume`, the additional duration. It is rounded to a whole number of steps; see `time`
            of the trajectory.
        rate
            Approximate number of samples per second (default: 100). The number of steps between samples is rounded to a
            whole number, at least one.
        controller
            Called as ``controller(time, q, v)`` every `hold` steps. It returns joint forces (..., nv), or a dictionary
            with any of tau, control, target, kp, kd and f_ext, which stay constant until the next call, also within the
            steps of "rk4" and "adaptive": a force is late by half of that time, and a spring k on a mass m made so
            gains energy at k dt / 2m (per s). Prefer springs and dampers of joints, or targets and gains, which are
            evaluated at every step, or a smaller dt. The controller may change q and v, and its result is copied.
        hold
            Steps between two calls of the controller.
        integrator
            Another integrator for this run: one of those of the simulation, or "adaptive". "adaptive" is the
            fifth-order method of Dormand and Prince; each state has its own steps, which `accuracy` determines. The
            softness of contacts is that for steps dt. During sliding the steps become very short, and a run may take
            hundreds of times as long as with fixed steps. Not for hard contact.
        accuracy
            Largest error of an adaptive step in positions (m, rad) and velocities, these divided by 1 + their size.
        events
            Functions of time, q and v, or `bough.simulation.Event`, for example from `contact_event` and `limit_event`,
            in a dictionary by name, or in a list (named "event 0", …). Their zeros are found within steps, and stored
            in `events` of the trajectory. Each function is called for every state at every step.
        resume
            A trajectory to continue, instead of q and v, also one from `Trajectory.load`. The result contains the old
            and new samples. With the same other arguments it is the same, bit for bit, as an uninterrupted run (with
            adaptive steps: to their accuracy). A controller is called at once, even if `hold` steps are not over yet:
            the trajectory does not contain what it returned last.
        show_progress
            Whether to show a progress bar; None: on a terminal, if the run takes long.
        acting
            tau, control, target, kp, kd, f_ext and parameters as in `step`, for the whole run.

        Returns
        -------
        Trajectory
            Samples of time, q and v from the start to the end. A state that stops early keeps its last valid values,
            and `status` gives the reason. Ctrl-C stops a run, which then returns what was computed, with the status
            "interrupted". A run or sweep that starts within a second after Ctrl-C raises `KeyboardInterrupt`, unless it
            resumes, so that Ctrl-C also stops a loop of runs.

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
        begin = read_begin(self.model, q, v, resume)
        if controller is not None and not callable(controller):
            raise TypeError(f"controller is {shown(controller)}, expected a function of time, q and v")
        acts = Acting(self._steps.inputs, self.parameters, lambda: self._drawn)
        acting = acts.read(acting, "argument of run")
        start, velocity = begin = acts.begin(*begin, acting, resume is not None)
        asked = None if controller is None else acts.asked(controller)
        often = whole_number(hold, "hold", least=1)
        if resume is None and integrator in (None, self.integrator, ADAPTIVE):  # others tell themselves
            tell_of_open_loops(self.model, start)
        remembers = self.law == "hard" and self._sense is not None
        size = 8 + start.nbytes + velocity.nbytes
        size += math.prod(start.shape[:-1]) * self._zeros.size * velocity.itemsize if remembers else 0
        total, every = samples = read_times(duration, rate, self.dt, size)
        if integrator == ADAPTIVE:
            orders = Orders(self.model, self.parameters, start.shape[:-1], acting, asked, often * self.dt)
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
        run = Run(self.step, self.dt, start, velocity, self._zeros, acting, asked, often, resume, watch, remembers)
        with interrupted_once(resume is not None):
            run.go(total, every, show_progress)
            return run.trajectory(self.scene, self._sense)

    def view(self, q: ArrayLike, v: ArrayLike | None = None, *, browser: bool = True, **options: Any) -> Live:
        """Watch the simulation in the browser, pull bodies with the mouse, and set targets by sliders (needs the extra
        ``view``).

        Parameters
        ----------
        q, v
            Initial configuration (nq,) or batch (n, nq), and velocities (default: at rest).
        browser
            Whether to open the page in the browser.
        options
            host and port as in `bough.view`; tau, control, target, kp and kd as in `step`.

        Returns
        -------
        Live
            The running simulation. It stops at ``.viewer.close()``, and restarts when the page is first opened.
            `pause`, `start` and `reset` act like the buttons of the page.
        """
        from bough.simulation.live import Live

        where = {name: options.pop(name) for name in ("host", "port") if name in options}
        start, speeds = (x.astype("float64") for x in read_start(self.model, q, v))
        tell_of_open_loops(self.model, start)
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
        """Run many simulations with different inputs, as batches on all threads, or on many machines.

        Parameters
        ----------
        q, v
            Initial state (nq,) and (nv,) for everything that the sweep does not vary (default of v: at rest).
        duration, rate, controller, hold
            As for `run`. A controller may take additional arguments that the sweep varies: values (n, 1), one for each
            run.
        grid
            Values (n,) by name; the sweep combines all of them. Names may be parameters of the simulation ("mass of
            hand", "friction"), initial coordinates and velocities ("q of knee", "v of root_joint[2]"), the gains "kp"
            and "kd", and additional arguments of the controller. "q", "v", "tau", "target", "control", "kp", "kd",
            "f_ext" and parameters with several numbers take rows (n, ...). "controller" takes a dictionary of functions
            by name.
        table
            Values by name, all of the same length. Run k of the table uses value k of each. Every row is combined with
            the whole grid.
        path
            Folder for finished parts. A folder called ``*.zarr`` keeps results only on disk (needs the extra ``zarr``).
            A repeated sweep with the same path reads the finished parts, bit for bit, and continues. Controllers are
            identified by name.
        workers
            None: this process; a number: that many processes on this machine; or the address or client of a
            dask.distributed cluster on which bough is installed (needs the extra ``cluster``).
        at_once
            Number of runs per part. Default: 4096, or fewer so that each worker gets some.
        show_progress
            As for `run`; with workers it also prints the address of their dashboard.
        acting
            tau, control, target, kp, kd and f_ext as in `step`, for all runs.

        Returns
        -------
        Sweep
            The trajectory and labels, with a batch axis for the table and one for each entry of the grid. Ctrl-C stops
            the sweep, which then returns the finished runs. `failed` lists runs that raised an error.

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
        acts = Acting(self._steps.inputs, self.parameters, lambda: self._drawn)
        given = acts.of_one_state(acting, "argument of sweep")
        runs, often = Runs(self, q, v, grid, table, controller, given), whole_number(hold, "hold", least=1)
        with interrupted_once():
            return sweep_of(self, runs, (duration, rate), often, path, at_once, workers, show_progress)


Prepared.__init__.__qualname__ = "Simulation"  # what Python calls it where a wrong keyword is given
