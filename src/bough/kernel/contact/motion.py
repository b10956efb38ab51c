"""Motion with contacts and limits at the three levels: accelerations, velocities of first order, impulses."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError, ShapeError
from bough.kernel.arguments import FloatArray
from bough.kernel.contact.problem_arguments import when_to_stop
from bough.kernel.contact.scene import ContactMotion, Scene, require_contacts, scene_of
from bough.kernel.loops.constrained import TIME_CONSTANT, stabilisation
from bough.model import Contacts, Model
from bough.reading import known_name, number, truth

__all__ = [
    "STILL",
    "contact_dynamics",
    "contact_impulses",
    "contact_step",
    "contact_velocities",
]

SolverName: TypeAlias = Literal["pivoting", "gauss_seidel"]
SOLVERS: tuple[SolverName, ...] = get_args(SolverName)

NO_PLACE = np.zeros((0, 3))

STILL = 1e-3
"""Relative velocities up to this (m/s or rad/s) count as none where accelerations are asked for."""


def contact_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: Contacts | None = None,
    points: ArrayLike | None = None,
    normals: ArrayLike | None = None,
    *,
    mu: ArrayLike = 0.0,
    gaps: ArrayLike = 0.0,
    f_ext: ArrayLike | None = None,
    loop_tau: ArrayLike | None = None,
    point_velocities: ArrayLike | None = None,
    normal_velocities: ArrayLike | None = None,
    limits: bool = True,
    time_constant: float = TIME_CONSTANT,
    still: float = STILL,
    solver: SolverName = "pivoting",
    tolerance: float = 1e-8,
    iterations: int = 1000,
    start: ContactMotion | None = None,
) -> ContactMotion:
    """Forward dynamics with contacts, joint limits and loops: accelerations and the forces of all that touches.

    Forces obey M v̇ + C = τ + Bᵀ loop_tau + Jᵀ f + limit forces + Lᵀ λ. The bodies of a contact and a joint at its
    limit do not accelerate into each other, and push only where they would. What slides is held back by μ fₙ, what does
    not slide is held by up to that. Some states of sliding have no solution (Painlevé); then `conflicts` names the
    contacts. Bodies that approach are brought to rest within the time constant: for an impact call `contact.impulses`
    before.

    Parameters
    ----------
    model, q, v, tau, f_ext
        As in `aba`. All is computed in float64.
    contacts, points, normals
        As in `contact.jacobian`; None for limits and loops alone. Batch axes of all arrays are broadcast.
    mu
        Coefficients of friction: one number, or (..., k).
    gaps
        Distances of the bodies (m): one number, or (..., k). Above 1e-6 m they do not touch, and infinity is fine where
        there is no contact; below zero they have sunk into each other, which decays in the time constant.
    loop_tau
        Forces of drives on the joints that close loops, as in `forward_dynamics`; N or N m.
    point_velocities, normal_velocities
        As in `contact.bias`.
    limits
        Whether joints stop at their limits: each number of q may have some, but for those of quaternions.
    time_constant
        Errors of position and velocity decay in this time (s), critically damped: ë + 2 ė/T + e/T² ≥ 0, or = 0 for
        loops; infinity leaves them alone.
    still
        Above this velocity (m/s, rad/s) bodies slide, or separate; below they do not.
    solver
        "pivoting": exact. "gauss_seidel": iterative, from a good start; it may not end where friction is strong.
    tolerance, iterations, start
        For Gauss-Seidel: as in `bough.lcp.gauss_seidel`, in m/s²; `start` is the result of a similar state.

    Returns
    -------
    ContactMotion
        With accelerations as `motion`.
    """
    settings = _settings(stabilisation(time_constant), _positive("still", still))
    scene = _scene(model, contacts, "contact_dynamics", limits, solver)
    points, normals = _place(scene, points, normals)
    place = (points, normals, point_velocities, normal_velocities)
    numbers = (scene.number("gaps", gaps), scene.number("mu", mu), settings)
    further = _start(scene, start, tolerance, iterations)
    return scene.motion(q, v, tau, f_ext, loop_tau, *place, *numbers, *further)


def contact_velocities(
    model: Model,
    q: ArrayLike,
    tau: ArrayLike,
    contacts: Contacts | None = None,
    points: ArrayLike | None = None,
    normals: ArrayLike | None = None,
    *,
    mu: ArrayLike = 0.0,
    gaps: ArrayLike = 0.0,
    loop_tau: ArrayLike | None = None,
    limits: bool = True,
    time_constant: float = TIME_CONSTANT,
    solver: SolverName = "pivoting",
    tolerance: float = 1e-8,
    iterations: int = 1000,
    start: ContactMotion | None = None,
) -> ContactMotion:
    """Motion of first order, M v = τ + Jᵀ f + …: forces make velocities, and nothing moves by itself.

    For dragging mechanisms about (kinematic manipulation): they follow as the mass matrix weighs them, stay out of each
    other, and stop where τ does. There is no gravity. tau (..., nv) and loop_tau are in N s or N m s; all other
    arguments are those of `contact.dynamics`, with tolerances in m/s. Penetration and errors of loops decay in the time
    constant.

    Returns
    -------
    ContactMotion
        With velocities as `motion`.
    """
    settings = _settings(stabilisation(time_constant), 0.0)
    scene = _scene(model, contacts, "contact_velocities", limits, solver)
    place = _place(scene, points, normals)
    numbers = (scene.number("gaps", gaps), scene.number("mu", mu), settings)
    return scene.motion(q, tau, loop_tau, *place, *numbers, *_start(scene, start, tolerance, iterations))


def contact_impulses(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts | None = None,
    points: ArrayLike | None = None,
    normals: ArrayLike | None = None,
    *,
    mu: ArrayLike = 0.0,
    restitution: ArrayLike = 0.0,
    gaps: ArrayLike = 0.0,
    limits: bool = True,
    solver: SolverName = "pivoting",
    tolerance: float = 1e-8,
    iterations: int = 1000,
    start: ContactMotion | None = None,
) -> ContactMotion:
    """Velocities after an impact, M (v⁺ - v) = Jᵀ p + …, and the impulses of all that touches (N s).

    Normal velocities u of contacts become u⁺ ≥ -e u, with impulses only where u⁺ = -e u (Moreau's law, for all contacts
    at once). Where that leaves bodies approaching, since others pushed them, they are then brought to rest. Limits and
    loops are without restitution, and velocities that break loops are made consistent. Without restitution there always
    is a solution; a state without one (a body that is to bounce between two walls which hold it) is taken without.
    Energy does not increase without friction and with one e for all contacts, limits and inconsistent loops aside;
    otherwise restitution may increase it, as is known of such laws.

    Parameters
    ----------
    restitution
        e, from 0 to 1: one number, or (..., k).
    others
        As in `contact.dynamics`; contacts with gaps above 1e-6 m take no part, tolerances are in m/s.

    Returns
    -------
    ContactMotion
        With velocities after the impact as `motion`, and impulses as forces.
    """
    scene = _scene(model, contacts, "contact_impulses", limits, solver)
    place = _place(scene, points, normals)
    numbers = (scene.number("gaps", gaps), scene.number("mu", mu))
    e = scene.number("restitution", restitution)
    e = e if e.any() else None  # without it there is less to do
    return scene.motion(q, v, *place, *numbers, e, *_start(scene, start, tolerance, iterations))


def contact_step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: float,
    contacts: Contacts | None = None,
    points: ArrayLike | None = None,
    normals: ArrayLike | None = None,
    *,
    mu: ArrayLike = 0.0,
    gaps: ArrayLike = 0.0,
    f_ext: ArrayLike | None = None,
    loop_tau: ArrayLike | None = None,
    limits: bool = True,
    time_constant: float = TIME_CONSTANT,
    solver: SolverName = "pivoting",
    tolerance: float = 1e-8,
    iterations: int = 1000,
    start: ContactMotion | None = None,
) -> ContactMotion:
    """Velocities after a step of time, with all contacts, impacts and friction on the way (Stewart and Trinkle 1996).

    M (v⁺ - v) = dt (τ - C) + Jᵀ p + …, so that no gap closes further than to zero, gap + dt J v⁺ ≥ 0, and joints do not
    pass their limits. There always is a solution, whatever slides, but where bodies have sunk in from sides that leave
    them no way out. Nothing bounces: for restitution see `contact.impulses`. Go on with
    ``q = bough.integrate(model, q, dt * v)``.

    Parameters
    ----------
    dt
        The step (s), the same for all states.
    gaps
        As in `contact.dynamics`, but all contacts count that could close within the step: give those that are near.
        Those below zero, and errors of loops, decay in the time constant, or in the step if that is longer.
    others
        As in `contact.dynamics`, with tolerances in m/s.

    Returns
    -------
    ContactMotion
        With velocities after the step as `motion`, and impulses (N s) as forces.
    """
    dt = _positive("dt", dt)
    settings = _settings(min(stabilisation(time_constant), 1.0 / dt), dt)
    scene = _scene(model, contacts, "contact_step", limits, solver)
    place = _place(scene, points, normals)
    numbers = (scene.number("gaps", gaps), scene.number("mu", mu), settings)
    return scene.motion(q, v, tau, f_ext, loop_tau, *place, *numbers, *_start(scene, start, tolerance, iterations))


def _scene(model: Model, contacts: Contacts | None, level: str, limits: bool, solver: object) -> Scene:
    known_name(solver, "solver", SOLVERS)
    touching = require_contacts(model, contacts)
    return scene_of(model, touching, level, truth(limits, "limits"), solver == "gauss_seidel")


def _place(scene: Scene, points: Any, normals: Any) -> tuple[Any, Any]:
    """Points and normals; without contacts there are none."""
    if scene.contacts.count:
        return points, normals
    empty = all(x is None or np.shape(x)[-2:] in ((0,), (0, 3)) for x in (points, normals))
    if not empty:
        raise ShapeError("points and normals are given, and no contacts; expected none, or the contacts they are of")
    return tuple(NO_PLACE if x is None or np.shape(x) == (0,) else x for x in (points, normals))  # type: ignore[return-value]


def _start(scene: Scene, start: ContactMotion | None, tolerance: float, iterations: int) -> tuple[Any, ...]:
    """For Gauss-Seidel, what to start from, and when to stop."""
    if start is not None and not isinstance(start, ContactMotion):
        raise ShapeError(f"start is a {type(start).__name__}, expected a ContactMotion")
    if not scene.options.plan.sweeps:
        return (None,) * 5
    stop = when_to_stop(tolerance, iterations)
    if start is None:
        return (None, None, None, None, stop)
    return (start.forces, start.limit_forces, start.loop_limit_forces, start.loop_forces, stop)


@lru_cache(maxsize=256)
def _settings(rate: float, other: float) -> FloatArray:
    return np.array([rate, other])


def _positive(name: str, value: float) -> float:
    return number(value, name, "a positive number", above=0.0, error=ModelError)
