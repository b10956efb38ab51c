"""Motion with contacts and limits at the three levels: accelerations, velocities of first order, impulses."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.levels import FAR
from bough.errors import ModelError, ShapeError, UnknownNameError
from bough.kernel.arguments import FloatArray
from bough.kernel.contact.limits import near_limits
from bough.kernel.contact.scene import (
    NO_PLACE,
    ContactMotion,
    Scene,
    per_contact,
    require_contacts,
    scene_of,
)
from bough.kernel.contact.solving import Solver
from bough.kernel.contact.touching import Settled, settled
from bough.kernel.loops.constrained import TIME_CONSTANT, stabilisation
from bough.kernel.overflow import require_finite_results
from bough.model import Contacts, Model
from bough.reading import number, truth

__all__ = [
    "STILL",
    "contact_dynamics",
    "contact_impulses",
    "contact_step",
    "contact_velocities",
]

SolverName: TypeAlias = Literal["pivoting", "gauss_seidel"]
SOLVERS: tuple[SolverName, ...] = get_args(SolverName)

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
        Forces of drives on the joints that close loops, as in `loops.dynamics`; N or N m.
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
    rates = _settings(stabilisation(time_constant), _positive("still", still))
    arrays = {"q": q, "v": v, "tau": tau, "f_ext": f_ext, "loop_tau": loop_tau, "points": points, "normals": normals}
    arrays |= {"point_velocities": point_velocities, "normal_velocities": normal_velocities}
    scene = _scene(model, contacts, "touching_accelerations", truth(limits, "limits") and near_limits(model, q))
    return scene.motion(_settled(scene, arrays, mu, gaps, rates, _solver(solver, tolerance, iterations), start))


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
    rates = _settings(stabilisation(time_constant), 0.0)
    arrays = {"q": q, "tau": tau, "loop_tau": loop_tau, "points": points, "normals": normals}
    scene = _scene(model, contacts, "touching_velocities", truth(limits, "limits") and near_limits(model, q))
    return scene.motion(_settled(scene, arrays, mu, gaps, rates, _solver(solver, tolerance, iterations), start))


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
    scene = _scene(model, contacts, "touching_impulses", truth(limits, "limits") and near_limits(model, q))
    e = per_contact("restitution", restitution, scene.contacts.count, "numbers from 0 to 1", 0.0, 1.0)
    arrays = {"q": q, "v": v, "points": points, "normals": normals}
    return scene.motion(_settled(scene, arrays, mu, gaps, None, _solver(solver, tolerance, iterations), start, e))


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
    rates = _settings(min(stabilisation(time_constant), 1.0 / dt), dt)
    arrays = {"q": q, "v": v, "tau": tau, "f_ext": f_ext, "loop_tau": loop_tau, "points": points, "normals": normals}
    scene = _scene(model, contacts, "touching_step", limits)
    return scene.motion(_settled(scene, arrays, mu, gaps, rates, _solver(solver, tolerance, iterations), start))


def _scene(model: Model, contacts: Contacts | None, level: str, limits: bool) -> Scene:
    return scene_of(model, require_contacts(model, contacts), level, truth(limits, "limits"))


def _settled(
    scene: Scene,
    arrays: Mapping[str, ArrayLike | None],
    mu: ArrayLike,
    gaps: ArrayLike,
    rates: FloatArray | None,
    solver: Solver,
    start: ContactMotion | None,
    restitution: FloatArray | None = None,
) -> Settled:
    """Forces and motion at a level, from arguments."""
    k = scene.contacts.count
    friction = per_contact("mu", mu, k, "coefficients of friction that are not negative", 0.0, sys.float_info.max)
    distances = np.minimum(per_contact("gaps", gaps, k, "distances (m), or infinity"), FAR)
    if start is not None and not isinstance(start, ContactMotion):
        raise ShapeError(f"start is a {type(start).__name__}, expected a ContactMotion")
    numbers = {"gaps": distances} if rates is None else {"gaps": distances, "settings": rates}
    problem = scene.problem({**arrays, **({} if k else NO_PLACE), **numbers})
    further = {"mu": friction} if restitution is None else {"mu": friction, "restitution": restitution}
    problem, friction, *e = _broadcast(problem, further)
    begin = None if start is None else scene.forces(start, problem)
    if e and e[0].any():
        return _struck(scene, problem, friction, e[0], solver, begin)
    return settled(scene.rows, scene.names, problem, friction, solver, begin)


def _broadcast(problem: FloatArray, further: Mapping[str, FloatArray]) -> list[FloatArray]:
    """Problem and numbers of contacts with the batch axes of all of them."""
    states, arrays = problem.shape[:-1], [problem, *further.values()]
    if all(a.shape[:-1] == states for a in arrays):
        return arrays
    try:
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape[:-1]}" for name, a in further.items())
        raise ShapeError(f"the batch axes do not broadcast: states {states}, {shapes}") from None
    return [a if a.shape[:-1] == batch else np.broadcast_to(a, (*batch, a.shape[-1])) for a in arrays]


def _struck(
    scene: Scene, problem: FloatArray, mu: FloatArray, e: FloatArray, solver: Solver, start: FloatArray | None
) -> Settled:
    """An impact with restitution e (*batch, k); and then another one without, for what still approaches."""
    rows, base, free = scene.rows, scene.rows.parts["base"], scene.rows.parts["free"]
    n, normals = rows.count, slice(base.start, base.start + rows.touch, rows.axes)

    def bounced(e: FloatArray) -> Settled:
        changed = problem.copy()
        changed[..., normals] *= 1.0 + e
        return settled(rows, scene.names, changed, mu, solver, start)

    first = bounced(e)
    if not first.met.all():
        first = bounced(np.where(first.met[..., None], e, 0.0))
    A = problem[..., rows.parts["A"]].reshape(*problem.shape[:-1], n, n)
    after = problem.copy()
    after[..., base] += np.sum(A * first.forces[..., None, :], axis=-1)
    after[..., free] = first.motion
    more = settled(rows, scene.names, after, mu, solver, start)
    bounces = e.any(axis=-1, keepdims=True)
    forces = first.forces + np.where(bounces, more.forces, 0.0)
    require_finite_results("motion with contacts", forces)
    return Settled(
        np.where(bounces, more.motion, first.motion),
        forces,
        np.maximum(first.residual, more.residual),
        first.slopes,
        first.met & more.met,
        tuple(dict.fromkeys((*first.unmet, *more.unmet))),
    )


@lru_cache(maxsize=256)
def _settings(rate: float, other: float) -> FloatArray:
    return np.array([rate, other])


def _solver(name: object, tolerance: float, iterations: int) -> Solver:
    for known in SOLVERS:
        if isinstance(name, str) and name == known:
            return Solver(known, tolerance, iterations)
    raise UnknownNameError("solver", name, SOLVERS)


def _positive(name: str, value: float) -> float:
    return number(value, name, "a positive number", above=0.0, error=ModelError)
