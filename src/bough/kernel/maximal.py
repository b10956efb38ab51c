"""Models in maximal coordinates: a body for each body, a constraint for each joint; and the way back to joints."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.kernel.border import FloatArray
from bough.kernel.configuration import neutral
from bough.kernel.run import require_model, run
from bough.lagrange import System
from bough.lagrange.joints import constraint_system
from bough.model import Model

__all__ = [
    "Maximal",
    "joint_accelerations",
    "joint_positions",
    "joint_reactions",
    "joint_velocities",
    "maximal",
    "reaction_multipliers",
]


class Maximal(NamedTuple):
    """A model in maximal coordinates at one state, or a batch of them: the arguments of `multipliers` and `ldlt`.

    Attributes
    ----------
    system
        N bodies of dimension 6 and, as constraint i-1, joint i between the parent of body i (the world for the base)
        and body i, with 6 - nᵢ rows; joints with armature have nᵢ more.
    mass
        Inertia of each body in its frame, linear part first, (N·36,).
    jacobian
        The blocks of the constraints, (..., jacobian_size).
    force
        Force on each body: joint forces, external forces, gravity, velocity products, (..., N·6); N and N m.
    c
        What the constraints ask for, (..., nc).
    compliance
        1 in the rows of armature and 0 in all others, (nc,); None if no joint has armature.
    """

    system: System
    mass: FloatArray
    jacobian: FloatArray
    force: FloatArray
    c: FloatArray
    compliance: FloatArray | None


def maximal(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    check: bool = True,
) -> Maximal:
    """A model in maximal coordinates: ``a, lam = bough.multipliers(*bough.maximal(model, q, v, tau))``.

    The coordinates are the spatial velocities and accelerations of the bodies in their own frames, linear part first:
    the accelerations, reshaped to (..., N, 6), are those of `accelerations` for the joint accelerations of `aba`.

    Parameters
    ----------
    model
        The mechanism, without mimic joints. Every body needs a mass and three moments of inertia.
    q
        Configuration (..., nq).
    v, tau
        Velocity and joint forces (..., nv).
    f_ext
        External forces (..., N, 6), each in the frame of its body, linear part first (N, N m).
    check
        Whether to refuse NaN and infinity. Shapes are always checked.
    """
    require_model(model)
    system = constraint_system(model)
    made = run(model, "maximal", {"q": q, "v": v, "tau": tau, "f_ext": f_ext}, check=check, whole=True)
    return Maximal(system, _masses(model), made["jacobian"], made["force"], made["c"], _compliance(model))


def joint_positions(
    model: Model, placements: ArrayLike, q0: ArrayLike | None = None, *, tolerance: float = 1e-6
) -> FloatArray:
    """The configuration in which the bodies are placed as given, (..., nq): the inverse of `placements`.

    Parameters
    ----------
    model
        The mechanism, without mimic joints.
    placements
        Placement of each body in the base, (..., N, 4, 4), as `placements` gives it; in metres.
    q0
        A configuration near the one sought, (..., nq): of those that differ by whole turns the nearest is found.
        Neutral if left out.
    tolerance
        How far a body may be from where its joint allows it to be, in metres and radians. Such bodies count as being
        at the nearest place that the joint allows.

    Raises
    ------
    ModelError
        If a body is farther off; the message names the joint.
    """
    _require_free(model)
    start = neutral(model) if q0 is None else q0
    results = run(model, "joint_positions", {"placements": placements, "q0": start}, whole=True)
    off = np.abs(results["rest"]).max(axis=-1)
    if off.size and not off.max() <= tolerance:
        *place, k = (int(x) for x in np.unravel_index(int(np.argmax(off)), off.shape))
        where = f" in state {place}" if place else ""
        raise ModelError(
            f"joint {model.joint_names[k]!r} does not reach the placement of body {model.body_names[k]!r}{where}: it "
            f"is off by {off[(*place, k)]:.3g} m or rad, expected at most {tolerance:g}"
        )
    return results["q"]


def joint_velocities(model: Model, q: ArrayLike, velocities: ArrayLike) -> FloatArray:
    """Joint velocities (..., nv) from velocities of the bodies (..., N, 6).

    The inverse of `velocities` in LOCAL frames; what the joints do not allow is left out, in the sense of least squares
    in the frame of the joint.
    """
    _require_free(model)
    return run(model, "joint_velocities", {"q": q, "velocities": velocities})["v"]


def joint_accelerations(model: Model, q: ArrayLike, v: ArrayLike, accelerations: ArrayLike) -> FloatArray:
    """Joint accelerations (..., nv) from spatial accelerations of the bodies (..., N, 6).

    The inverse of `accelerations` in LOCAL frames; what the joints do not allow is left out.
    """
    _require_free(model)
    return run(model, "joint_accelerations", {"q": q, "v": v, "accelerations": accelerations})["a"]


def joint_reactions(model: Model, q: ArrayLike, tau: ArrayLike, multipliers: ArrayLike) -> FloatArray:
    """The whole force through each joint from the multipliers of its constraint, (..., N, 6); N and N m.

    Row i-1 acts on body i, in its frame, linear part first, and comes from its parent. It is made of the joint force
    tau (..., nv), less what armature takes, and of the reaction of the joint.
    """
    _require_free(model)
    return run(model, "joint_reactions", {"q": q, "tau": tau, "multipliers": multipliers})["reactions"]


def reaction_multipliers(model: Model, q: ArrayLike, tau: ArrayLike, reactions: ArrayLike) -> FloatArray:
    """The multipliers (..., nc) of given forces through the joints (..., N, 6): the inverse of `joint_reactions`."""
    _require_free(model)
    return run(model, "reaction_multipliers", {"q": q, "tau": tau, "reactions": reactions})["multipliers"]


def _require_free(model: Model) -> None:
    """Raise for models with mimic joints."""
    require_model(model)
    constraint_system(model)


@lru_cache(maxsize=128)
def _masses(model: Model) -> FloatArray:
    """Inertias of the bodies in their frames, linear part first, (N·36,)."""
    n = model.nbodies
    inertias = [body.inertia for body in model.bodies]
    m = np.array([inertia.mass for inertia in inertias]).reshape(n, 1, 1)
    x, y, z = np.array([inertia.com for inertia in inertias]).reshape(n, 3).T
    xx, yx, yy, zx, zy, zz = np.array([inertia.rotational for inertia in inertias]).reshape(n, 6).T
    o = np.zeros(n)
    C = np.moveaxis(np.array([[o, -z, y], [z, o, -x], [-y, x, o]]), -1, 0)
    J = np.moveaxis(np.array([[xx, yx, zx], [yx, yy, zy], [zx, zy, zz]]), -1, 0)
    blocks = np.concatenate(
        [
            np.concatenate([m * np.eye(3), -m * C], axis=2),
            np.concatenate([m * C, J - m * C @ C], axis=2),
        ],
        axis=1,
    )
    mass = blocks.reshape(n * 36)
    mass.setflags(write=False)
    return mass


@lru_cache(maxsize=128)
def _compliance(model: Model) -> FloatArray | None:
    """1 in the rows of armature, 0 in all others, (nc,); None if there are no such rows."""
    rows = [[0.0] * (6 - e.joint.nv) + [1.0] * (e.joint.nv if any(e.armature) else 0) for e in model.joints]
    compliance = np.array([x for row in rows for x in row])
    compliance.setflags(write=False)
    return compliance if compliance.any() else None
