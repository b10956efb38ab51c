"""Motion with contacts and limits at the three levels: accelerations, velocities of first order, impulses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError, ShapeError
from bough.kernel.arguments import FloatArray
from bough.kernel.contact.problem_arguments import when_to_stop
from bough.kernel.contact.scene import LimitKind, Scene, place_of, read_limits, require_touch, scene_of
from bough.kernel.loops.constrained import TIME_CONSTANT, stabilisation
from bough.kernel.motion import Motion
from bough.model import Model, Touch
from bough.reading import kind_of, known_name, number, truth

__all__ = ["STILL", "Limits", "dynamics", "impulses", "step", "velocities"]

SolverName: TypeAlias = Literal["pivoting", "gauss_seidel"]
SOLVERS: tuple[SolverName, ...] = get_args(SolverName)

Limits: TypeAlias = bool | LimitKind | Sequence[LimitKind]
POSITIONS = read_limits(True)

STILL = 1e-3
"""Relative velocities up to this (m/s or rad/s) count as none where accelerations are asked for."""


def dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    touch: Touch | None = None,
    *,
    f_ext: ArrayLike | None = None,
    loop_tau: ArrayLike | None = None,
    limits: Limits = True,
    dry_friction: bool = False,
    time_constant: float = TIME_CONSTANT,
    still: float = STILL,
    solver: SolverName = "pivoting",
    tolerance: float = 1e-8,
    iterations: int = 1000,
    start: Motion | None = None,
) -> Motion:
    """Return accelerations and forces under contacts, joint limits and loops (forward dynamics).

    Forces obey M v̇ + C = τ + Bᵀ loop_tau + Jᵀ f + limit forces + Lᵀ λ. Bodies in contact, and joints at their limits,
    do not accelerate into each other; contact and limit forces only push. A sliding contact has the friction μ fₙ
    against its motion, a sticking contact at most that. Some sliding states have no solution (Painlevé); then
    `conflicts` names the contacts. Approaching bodies are stopped within the time constant. For an impact, call
    `contact.impulses` first.

    Parameters
    ----------
    model, q, v, tau, f_ext
        As in `aba`. Computations are in float64, and batch axes of all arrays are broadcast.
    touch
        Where and how contacts touch, from `Contacts.at`; None: only limits and loops. Restitution is ignored.
    loop_tau
        Forces of drives on the joints that close loops, as in `forward_dynamics`; N or N m.
    limits
        Whether joints stop at their position limits; every entry of q may have some, except quaternions. Or which
        limits to include, some of "position", "velocity" (a joint at its largest velocity gets no faster) and "effort"
        (tau and loop_tau are clipped to the effort).
    dry_friction
        Whether to include dry friction of joints, in the tree and of loops: it decelerates joints that move, and holds
        joints at rest up to its size. (In `contact.velocities` and `contact.step`, the new velocities decide which
        joints move.)
    time_constant
        Errors of position and velocity decay in this time (s), critically damped: ë + 2 ė/T + e/T² ≥ 0, or = 0 for
        loops. Infinity: no correction.
    still
        Velocity (m/s, rad/s) above which contacts count as sliding or separating.
    solver
        "pivoting": exact. "gauss_seidel": iterative, for good starts; it may not converge with strong friction.
    tolerance, iterations
        For Gauss-Seidel: as in `bough.lcp.gauss_seidel`, in m/s².
    start
        The result for a similar state, such as the previous step. The solver tries its forces first, which saves most
        of the work if bodies rest on many contacts.

    Returns
    -------
    Motion
        With accelerations as `motion`.

    Notes
    -----
    Tensors of PyTorch and arrays of JAX come back as such, with gradients: those of the solution while what holds goes
    on to hold. Forward mode (`jvp`) is one run; reverse mode takes one for each number of the arguments.

    Examples
    --------
    A ball is pushed along the ground with 5 N; it weighs 9.81 N, and a tenth of that holds it back:

    >>> import bough
    >>> b = bough.Builder()
    >>> _ = b.add("ball", bough.joints.Translational(), mass=1.0)
    >>> touch = bough.contact.Contacts([("ball", None)]).at([[0, 0, -0.1]], [[0, 0, 1]], mu=0.1)
    >>> found = bough.contact.dynamics(b.build(), [0, 0, 0], [1.0, 0, 0], [5.0, 0, 0], touch)
    >>> found.motion.round(3), found.contact_forces.round(3)
    (array([4.019, 0.   , 0.   ]), array([[ 9.81 , -0.981,  0.   ]]))
    """
    settings = _settings(stabilisation(time_constant), _positive("still", still))
    touch, scene = _scene(model, touch, "contact_dynamics", limits, solver, dry_friction)
    place = (*place_of(touch), touch.point_velocities, touch.normal_velocities)
    further = (*_numbers(scene, touch), settings, *_start(scene, start, tolerance, iterations))
    return scene.motion(q, v, tau, f_ext, loop_tau, *place, *further)


def velocities(
    model: Model,
    q: ArrayLike,
    tau: ArrayLike,
    touch: Touch | None = None,
    *,
    loop_tau: ArrayLike | None = None,
    limits: Limits = True,
    dry_friction: bool = False,
    time_constant: float = TIME_CONSTANT,
    solver: SolverName = "pivoting",
    tolerance: float = 1e-8,
    iterations: int = 1000,
    start: Motion | None = None,
) -> Motion:
    """Return velocities of first-order motion, M v = τ + Jᵀ f + …: forces cause velocities; there is no inertia.

    Use it to drag mechanisms (kinematic manipulation): the mass matrix weighs how they follow, bodies do not penetrate,
    and motion stops when τ does. There is no gravity. Penetration and errors of loops decay in the time constant.

    Parameters
    ----------
    model, q
        As in `aba`.
    tau, loop_tau
        Driving impulses: of joints (..., nv), and of joints that close loops, in N s or N m s.
    touch
        Where and how contacts touch, from `Contacts.at`; None: only limits and loops.
    limits, dry_friction, time_constant, solver, tolerance, iterations, start
        As in `contact.dynamics`, with tolerances in m/s.

    Returns
    -------
    Motion
        With velocities (..., nv) as `motion`.

    Examples
    --------
    A crate of 2 kg is dragged into the ground and along it:

    >>> import bough
    >>> b = bough.Builder()
    >>> _ = b.add("crate", bough.joints.Translational(), mass=2.0)
    >>> touch = bough.contact.Contacts([("crate", None)]).at([[0, 0, 0]], [[0, 0, 1]])
    >>> bough.contact.velocities(b.build(), [0, 0, 0], [3.0, 0, -1.0], touch).motion
    array([1.5, 0. , 0. ])
    """
    settings = _settings(stabilisation(time_constant), 0.0)
    touch, scene = _scene(model, touch, "contact_velocities", limits, solver, dry_friction)
    further = (*_numbers(scene, touch), settings, *_start(scene, start, tolerance, iterations))
    return scene.motion(q, tau, loop_tau, *place_of(touch), *further)


def impulses(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    touch: Touch | None = None,
    *,
    limits: Limits = True,
    solver: SolverName = "pivoting",
    tolerance: float = 1e-8,
    iterations: int = 1000,
    start: Motion | None = None,
) -> Motion:
    """Return velocities after an impact, M (v⁺ - v) = Jᵀ p + …, and all impulses (N s).

    Normal velocities u of contacts become u⁺ ≥ -e u, with impulses only where u⁺ = -e u (Moreau's law, for all contacts
    together). If some bodies still approach afterwards, because others pushed them, a second impact stops them. Limits
    and loops have no restitution, and velocities that violate loops are made consistent. Without restitution a solution
    always exists; a state that has none with restitution (a body between two walls that hold it) is solved without.
    Energy does not increase if there is no friction and all contacts have the same e, apart from limits and
    inconsistent loops. Otherwise restitution may increase energy, which is a known property of such laws.

    Parameters
    ----------
    model, q, v
        As in `aba`, with v before the impact.
    touch
        Where and how contacts touch, with restitution e, from `Contacts.at`; None: only limits and loops. Contacts with
        gaps above 1e-6 m are ignored.
    limits, solver, tolerance, iterations, start
        As in `contact.dynamics`, with tolerances in m/s. Impacts ignore dry friction and effort.

    Returns
    -------
    Motion
        With velocities after the impact (..., nv) as `motion`, and impulses as forces.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder()
    >>> _ = b.add("ball", bough.joints.Translational(), mass=2.0)
    >>> touch = bough.contact.Contacts([("ball", None)]).at([[0, 0, 0]], [[0, 0, 1]], restitution=0.5)
    >>> found = bough.contact.impulses(b.build(), [0, 0, 0], [1.0, 0, -4.0], touch)
    >>> found.motion, found.contact_forces
    (array([1., 0., 2.]), array([[12.,  0.,  0.]]))
    """
    touch, scene = _scene(model, touch, "contact_impulses", limits, solver)
    e = scene.number("restitution", touch.restitution)
    e = e if e.any() else None  # without it there is less to do
    further = (*_numbers(scene, touch), e, *_start(scene, start, tolerance, iterations))
    return scene.motion(q, v, *place_of(touch), *further)


def step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    touch: Touch | None = None,
    *,
    dt: float,
    f_ext: ArrayLike | None = None,
    loop_tau: ArrayLike | None = None,
    limits: Limits = True,
    dry_friction: bool = False,
    time_constant: float = TIME_CONSTANT,
    solver: SolverName = "pivoting",
    tolerance: float = 1e-8,
    iterations: int = 1000,
    start: Motion | None = None,
) -> Motion:
    """Return velocities after a time step, including its contacts, impacts and friction (Stewart and Trinkle 1996).

    M (v⁺ - v) = dt (τ - C) + Jᵀ p + …, such that no gap closes below zero, gap + dt J v⁺ ≥ 0, and joints do not pass
    their limits. A solution exists also with sliding, except where bodies have penetrated from several sides without a
    way out. Nothing bounces: for restitution see `contact.impulses`. Continue with ``q = bough.integrate(model, q, dt *
    v)``.

    Parameters
    ----------
    model, q, v, tau, f_ext, loop_tau
        As in `contact.dynamics`, with v before the step.
    touch
        Where and how contacts touch, from `Contacts.at`; None: only limits and loops. Include all contacts that could
        close within the step, with their gaps. Negative gaps, and errors of loops, decay in the time constant, or in
        the step if that is longer.
    dt
        Time step (s), the same for all states.
    limits, dry_friction, time_constant, solver, tolerance, iterations, start
        As in `contact.dynamics`, with tolerances in m/s.

    Returns
    -------
    Motion
        With velocities after the step (..., nv) as `motion`, and impulses (N s) as forces.

    Examples
    --------
    A ball falls from 1 cm above the ground, and in a step of 0.1 s gets as far as the ground:

    >>> import bough
    >>> b = bough.Builder()
    >>> _ = b.add("ball", bough.joints.Translational(), mass=1.0)
    >>> touch = bough.contact.Contacts([("ball", None)]).at([[0, 0, -0.1]], [[0, 0, 1]], gaps=0.01)
    >>> bough.contact.step(b.build(), [0, 0, 0.11], [0, 0, 0], [0, 0, 0], touch, dt=0.1).motion
    array([ 0. ,  0. , -0.1])
    """
    usual = type(time_constant) is float and type(dt) is float
    settings = (_settings_of_step if usual else _new_settings_of_step)(time_constant, dt)
    touch, scene = _scene(model, touch, "contact_step", limits, solver, dry_friction)
    further = (*_numbers(scene, touch), settings, *_start(scene, start, tolerance, iterations))
    return scene.motion(q, v, tau, f_ext, loop_tau, *place_of(touch), *further)


def _scene(
    model: Model, touch: Touch | None, level: str, limits: Limits, solver: object, dry: object = False
) -> tuple[Touch, Scene]:
    sweeps = solver is not SOLVERS[0] and known_name(solver, "solver", SOLVERS) == "gauss_seidel"
    touch = require_touch(model, touch)
    is_dry, kinds = (
        dry is not False and truth(dry, "dry_friction"),
        POSITIONS if limits is True else read_limits(limits),
    )
    return touch, scene_of(model, touch.contacts, level, kinds, is_dry, sweeps)


def _numbers(scene: Scene, touch: Touch) -> tuple[Any, Any]:
    """Gaps and coefficients of friction."""
    return scene.number("gaps", touch.gaps), scene.number("mu", touch.mu)


def _start(scene: Scene, start: Motion | None, tolerance: float, iterations: int) -> tuple[Any, ...]:
    """What to start from; for Gauss-Seidel, when to stop too."""
    stop = when_to_stop(tolerance, iterations) if scene.options.plan.sweeps else None
    if start is None:
        return (None, None, None, None, stop)
    if not isinstance(start, Motion):
        raise ShapeError(f"start is {kind_of(start)}, expected a bough.Motion")
    return (start.contact_forces, start.limit_forces, start.loop_limit_forces, start.loop_forces, stop)


def _new_settings_of_step(time_constant: float, dt: float) -> FloatArray:
    """The rate at which errors decay within a step (1/s), and the step (s)."""
    step = _positive("dt", dt)
    return _settings(min(stabilisation(time_constant), 1.0 / step), step)


_settings_of_step = lru_cache(maxsize=64, typed=True)(_new_settings_of_step)


@lru_cache(maxsize=256)
def _settings(rate: float, other: float) -> FloatArray:
    return np.array([rate, other])


def _positive(name: str, value: float) -> float:
    return number(value, name, "a positive number", above=0.0, error=ModelError)
