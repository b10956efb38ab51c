"""Motion with contacts and limits at the three levels: accelerations, velocities of first order, impulses."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.contacts import AXES
from bough.errors import ModelError
from bough.kernel.border import FloatArray
from bough.kernel.contact.scene import (
    TOUCHING,
    Case,
    ContactMotion,
    Scene,
    SolverName,
    flat,
    per_contact,
)
from bough.kernel.contact.touching import OneSided, Settled
from bough.kernel.loops.constrained import TIME_CONSTANT, stabilisation
from bough.kernel.run import read
from bough.model import Contacts, Model

__all__ = [
    "STILL",
    "contact_dynamics",
    "contact_impulses",
    "contact_step",
    "contact_velocities",
]

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

    Forces obey M v̇ + C = τ + Jᵀ f + limit forces + Lᵀ λ. The bodies of a contact and a joint at its limit do not
    accelerate into each other, and push only where they would. What slides is held back by μ fₙ, what does not slide is
    held by up to that. Some states of sliding have no solution (Painlevé); then `conflicts` names the contacts. Bodies
    that approach are brought to rest within the time constant: for an impact call `contact_impulses` before.

    Parameters
    ----------
    model, q, v, tau, f_ext
        As in `aba`. All is computed in float64.
    contacts, points, normals
        As in `contact_jacobian`; None for limits and loops alone. Batch axes of all arrays are broadcast.
    mu
        Coefficients of friction: one number, or (..., k).
    gaps
        Distances of the bodies (m): one number, or (..., k). Above 1e-6 m they do not touch, and infinity is fine where
        there is no contact; below zero they have sunk into each other, which decays in the time constant.
    point_velocities, normal_velocities
        As in `contact_bias`.
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
        For Gauss-Seidel: as in `bough.gauss_seidel`, in m/s²; `start` is the result of a similar state.

    Returns
    -------
    ContactMotion
        With accelerations as `motion`.
    """
    rate = stabilisation(time_constant)
    place = {"points": points, "normals": normals}
    moving = {"point_velocities": point_velocities, "normal_velocities": normal_velocities}
    scene = Scene.of(model, contacts, {**place, **moving}, mu, gaps, limits, solver, tolerance, iterations, start)
    arrays = {"q": q, "v": v, "tau": tau, "f_ext": f_ext}
    case = scene.run("touching_accelerations", arrays, scene.near_limits(read(model, "q", q)))
    rates, errors = case.found["rates"], case.found["errors"]
    base = case.with_loops(case.found["drive"] + case.found["bias"] + 2.0 * rate * rates, rate * rate * errors)
    active = (case.gaps <= TOUCHING) & (case.of_conditions(rates) <= _positive("still", still))
    offset = np.where(active, rate * rate * np.where(active, case.gaps, 0.0), np.inf)
    found = case.solve(base, OneSided(offset, active), _sliding(scene, rates, still))
    return case.result(case.moved(case.found["free"], found), found)


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
    limits: bool = True,
    time_constant: float = TIME_CONSTANT,
    solver: SolverName = "pivoting",
    tolerance: float = 1e-8,
    iterations: int = 1000,
    start: ContactMotion | None = None,
) -> ContactMotion:
    """Motion of first order, M v = τ + Jᵀ f + …: forces make velocities, and nothing moves by itself.

    For dragging mechanisms about (kinematic manipulation): they follow as the mass matrix weighs them, stay out of each
    other, and stop where τ does. There is no gravity. tau (..., nv) is in N s or N m s; all other arguments are those
    of `contact_dynamics`, with tolerances in m/s. Penetration and errors of loops decay in the time constant.

    Returns
    -------
    ContactMotion
        With velocities as `motion`.
    """
    rate = stabilisation(time_constant)
    place = {"points": points, "normals": normals}
    scene = Scene.of(model, contacts, place, mu, gaps, limits, solver, tolerance, iterations, start)
    case = scene.run("touching_velocities", {"q": q, "tau": tau}, scene.near_limits(read(model, "q", q)))
    active = case.gaps <= TOUCHING
    offset = np.where(active, rate * np.minimum(case.gaps, 0.0), np.inf)
    base = case.with_loops(case.found["drive"], rate * case.found["errors"])
    found = case.solve(base, OneSided(offset, active))
    return case.result(case.moved(case.found["free"], found), found)


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
        As in `contact_dynamics`; contacts with gaps above 1e-6 m take no part, tolerances are in m/s.

    Returns
    -------
    ContactMotion
        With velocities after the impact as `motion`, and impulses as forces.
    """
    place = {"points": points, "normals": normals}
    scene = Scene.of(model, contacts, place, mu, gaps, limits, solver, tolerance, iterations, start)
    e = per_contact("restitution", restitution, scene.contacts, "numbers from 0 to 1", 0.0, 1.0)
    case = scene.run("touching_impulses", {"q": q, "v": v}, scene.near_limits(read(model, "q", q)), e)
    active = case.gaps <= TOUCHING
    touch = OneSided(np.where(active, 0.0, np.inf), active)
    before = flat(read(model, "v", v), case.batch, 1)
    found = _struck(case, flat(e, case.batch, 1), touch)
    return case.result(case.moved(before, found), found)


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
    them no way out. Nothing bounces: for restitution see `contact_impulses`. Go on with
    ``q = bough.integrate(model, q, dt * v)``.

    Parameters
    ----------
    dt
        The step (s), the same for all states.
    gaps
        As in `contact_dynamics`, but all contacts count that could close within the step: give those that are near.
        Those below zero, and errors of loops, decay in the time constant, or in the step if that is longer.
    others
        As in `contact_dynamics`, with tolerances in m/s.

    Returns
    -------
    ContactMotion
        With velocities after the step as `motion`, and impulses (N s) as forces.
    """
    dt, rate = _positive("dt", dt), stabilisation(time_constant)
    rate = min(rate, 1.0 / dt)
    place = {"points": points, "normals": normals}
    scene = Scene.of(model, contacts, place, mu, gaps, limits, solver, tolerance, iterations, start)
    case = scene.run("touching_accelerations", {"q": q, "v": v, "tau": tau, "f_ext": f_ext}, limits)
    before = flat(read(model, "v", v), case.batch, 1)
    base = case.with_loops(case.found["rates"] + dt * case.found["drive"], rate * case.found["errors"])
    offset = np.where(case.gaps > 0.0, case.gaps / dt, rate * np.minimum(case.gaps, 0.0))
    active = (case.gaps <= TOUCHING) | (case.of_conditions(base) + offset <= 0.0)
    found = case.solve(base, OneSided(offset, active))
    return case.result(case.moved(before + dt * case.found["free"], found), found)


def _struck(case: Case, e: FloatArray, touch: OneSided) -> Settled:
    """The impulses of an impact, with restitution e (states, k)."""
    rates, normals = case.found["rates"], slice(0, case.problem.contacts, case.problem.axes)

    def bounced(e: FloatArray) -> Settled:
        base = rates.copy()
        base[:, normals] *= 1.0 + e
        return case.solve(base, touch)

    found = bounced(e)
    if not e.any():
        return found
    if not found.met.all():
        found = bounced(np.where(found.met[:, None], e, 0.0))
    more = case.solve(rates + case.problem.response(found.forces), touch)
    return Settled(
        found.forces + more.forces,
        np.maximum(found.residual, more.residual),
        found.met & more.met,
        tuple(dict.fromkeys((*found.unmet, *more.unmet))),
    )


def _sliding(scene: Scene, rates: FloatArray, still: float) -> FloatArray | None:
    """The directions in which contacts slide (states, k, 2): of unit length for cones, signs for pyramids."""
    if scene.contacts.friction is None:
        return None
    tangential = rates[:, : AXES * scene.contacts.count].reshape(len(rates), scene.contacts.count, AXES)[:, :, 1:]
    if scene.contacts.friction == "pyramid":
        return np.where(np.abs(tangential) > still, np.sign(tangential), 0.0)
    speed = np.sqrt(np.sum(tangential * tangential, axis=2, keepdims=True))
    return np.where(speed > still, tangential / np.where(speed > still, speed, 1.0), 0.0)


def _positive(name: str, value: float) -> float:
    if not isinstance(value, int | float) or not 0.0 < value < math.inf:
        raise ModelError(f"{name} is {value!r}, expected a positive number")
    return float(value)
