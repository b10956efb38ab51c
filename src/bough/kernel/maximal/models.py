"""Models in maximal coordinates: a body for each body, a constraint for each joint; and the way back to joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError, SingularError
from bough.kernel.arguments import FloatArray
from bough.kernel.configuration import neutral
from bough.kernel.function import Function
from bough.kernel.functions import algorithm, new_function, require_model
from bough.kernel.loops.constrained import TIME_CONSTANT, decay_rate
from bough.kernel.table import entry
from bough.lagrange import Auxiliary, System, joints
from bough.lagrange.attributes import is_solid
from bough.lagrange.joints import constraint_system
from bough.lagrange.loops import loop_system
from bough.model import Model
from bough.reading import number
from bough.scalar.tolerances import TOUCHING

__all__ = [
    "Maximal", "MaximalLoops", "dynamics", "joint_accelerations", "joint_positions", "joint_reactions",
    "joint_velocities", "of_loops", "of_model", "reaction_multipliers",
]  # fmt: skip


class Maximal(NamedTuple):
    """A model in maximal coordinates at one state, or at a batch: the arguments of `multipliers` and `ldlt`.

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
        The term c of the constraints J v̇ + c + C λ = 0, (..., nc).
    compliance
        1 in the rows of armature and 0 in all others, (nc,); None if no joint has armature.
    """

    system: System
    mass: FloatArray
    jacobian: FloatArray
    force: FloatArray
    c: FloatArray
    compliance: FloatArray | None


def of_model(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | None = None, *, check: bool = True
) -> Maximal:
    """Convert a model to maximal coordinates, for `maximal.multipliers`.

    ``a, lam = bough.maximal.multipliers(*bough.maximal.of_model(model, q, v, tau))`` are accelerations and multipliers.

    The coordinates are spatial velocities and accelerations of the bodies in their own frames, linear part first. The
    accelerations, reshaped to (..., N, 6), are those that `accelerations` returns for the joint accelerations of `aba`.

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

    Examples
    --------
    >>> import bough
    >>> model, q, v, tau = bough.robots.load("pendulum"), [0.3], [0.0], [0.0]  # rad, rad/s, N m
    >>> acceleration, multiplier = bough.maximal.multipliers(*bough.maximal.of_model(model, q, v, tau))
    >>> print(acceleration.round(3) + 0.0)  # about the axis of the joint
    [ 0.     0.     0.     0.    -4.347  0.   ]
    """
    jacobian, force, c = entry(model, "maximal", algorithm)(q, v, tau, f_ext, None, check)
    return Maximal(constraint_system(model), joints.masses(model), jacobian, force, c, joints.compliances(model))


def dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | None = None, *, check: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Return forward dynamics in maximal coordinates, in one program: the result of `multipliers` for `of_model`.

    Parameters
    ----------
    model, q, v, tau, f_ext, check
        As for `of_model`.

    Returns
    -------
    acceleration, multiplier
        Spatial accelerations of the bodies (..., N, 6), each in its own frame, linear part first, and multipliers of
        the joints (..., nc), which `joint_reactions` turns into forces.

    Examples
    --------
    >>> import bough
    >>> model, q, v, tau = bough.robots.load("pendulum"), [0.3], [0.0], [0.0]  # rad, rad/s, N m
    >>> acceleration, multiplier = bough.maximal.dynamics(model, q, v, tau)
    >>> print(bough.maximal.joint_accelerations(model, q, v, acceleration).round(3))  # as bough.aba(model, q, v, tau)
    [-4.347]
    """
    x, n = entry(model, "maximal_dynamics", _of_bodies)(q, v, tau, f_ext, None, check), 6 * model.nbodies
    return x[..., :n].reshape(*x.shape[:-1], model.nbodies, 6), x[..., n:]


class MaximalLoops(NamedTuple):
    """Loops and couplings of a model in maximal coordinates, at one state or a batch: last arguments of `anticipate`.

    Attributes
    ----------
    auxiliary
        The constraints of the model, in order, each with its bodies in the system of `of_model`.
    jacobian
        The blocks of their rows (..., auxiliary.jacobian_size).
    c
        The part cᵃ of the rows, with the terms that correct errors (..., rows).
    """

    auxiliary: Auxiliary
    jacobian: FloatArray
    c: FloatArray


def of_loops(
    model: Model, q: ArrayLike, v: ArrayLike, *, time_constant: float = TIME_CONSTANT, check: bool = True
) -> MaximalLoops:
    """Convert the loops and couplings of a model to maximal coordinates.

    With them, the accelerations of a mechanism with loops are those of `forward_dynamics`::

        system, mass, jacobian, force, c, compliance = bough.maximal.of_model(model, q, v, tau)
        factor = bough.maximal.ldlt(system, mass, jacobian, compliance)
        free = factor.solve(np.concatenate([force, c], axis=-1))
        problem = bough.maximal.anticipate(factor, free, *bough.maximal.of_loops(model, q, v))
        forces = bough.lcp.pivoting(problem.A, problem.b, bough.lcp.Conditions.equalities(len(model.constraint_names)))
        acceleration, multiplier = problem.motion(forces.f)

    Parameters
    ----------
    model, q, v, check
        As for `of_model`.
    time_constant
        As for `forward_dynamics` (s).

    Examples
    --------
    >>> import bough
    >>> chain = bough.trees.topologies.chain(4)
    >>> ring = chain.with_loop("close", bough.joints.Revolute("z"), chain.body_names[-1], "world")
    >>> loops = bough.maximal.of_loops(ring, [0.0] * 4, [0.0] * 4)  # rad, rad/s
    >>> loops.auxiliary.nc, loops.c.shape
    (5, (5,))
    """
    jacobian, c = entry(model, "maximal_loops", algorithm)(q, v, decay_rate(time_constant), None, check)
    return MaximalLoops(loop_system(model), jacobian, c)


def joint_positions(
    model: Model, placements: ArrayLike, q0: ArrayLike | None = None, *, tolerance: float = TOUCHING
) -> FloatArray:
    """Return the configuration (..., nq) in which the bodies have given placements: the inverse of `placements`.

    Parameters
    ----------
    model
        The mechanism, without mimic joints.
    placements
        Placement of each body in the base frame, (..., N, 4, 4), as `placements` returns it; in metres.
    q0
        A configuration near the result, (..., nq): of configurations that differ by whole turns, the result is the
        nearest. Default: neutral.
    tolerance
        Largest distance of a body from the nearest placement that its joint allows (m, rad), where it is taken to be.
        If one is farther away, an error names the joint.

    Examples
    --------
    >>> import bough
    >>> model, q = bough.robots.load("pendulum"), [0.3]  # rad
    >>> print(bough.maximal.joint_positions(model, bough.placements(model, q)).round(12))
    [0.3]
    """
    of_placements = entry(model, "joint_positions", _of_bodies)
    found: FloatArray
    found, rest = of_placements(placements, neutral(model) if q0 is None else q0, None, True)
    off = np.abs(rest).max(axis=-1)
    tolerance = number(tolerance, "tolerance", "a number that is not negative (m, rad)", least=0.0)
    if off.size and not off.max() <= tolerance:
        *place, k = (int(x) for x in np.unravel_index(int(np.argmax(off)), off.shape))
        where = f" in state {place}" if place else ""
        raise ModelError(
            f"joint {model.joint_names[k]!r} does not reach the placement of body {model.body_names[k]!r}{where}: it "
            f"is off by {off[(*place, k)]:.3g} m or rad, expected at most {tolerance:g}"
        )
    return found


def joint_velocities(model: Model, q: ArrayLike, velocities: ArrayLike) -> FloatArray:
    """Return joint velocities (..., nv) from velocities of the bodies: the inverse of `velocities` in LOCAL frames.

    Parameters
    ----------
    model, q
        The mechanism, without mimic joints, and its configuration (..., nq).
    velocities
        Spatial velocities of the bodies (..., N, 6), each in its own frame, linear part first (m/s, rad/s). Motions
        that the joints do not allow are ignored, in the sense of least squares in the frame of the joint.

    Examples
    --------
    >>> import bough
    >>> model, q = bough.robots.load("pendulum"), [0.3]  # rad
    >>> print(bough.maximal.joint_velocities(model, q, bough.velocities(model, q, [2.0])).round(12))
    [2.]
    """
    return entry(model, "joint_velocities", _of_bodies)(q, velocities, None, True)


def joint_accelerations(model: Model, q: ArrayLike, v: ArrayLike, accelerations: ArrayLike) -> FloatArray:
    """Return joint accelerations (..., nv) from those of the bodies: the inverse of `accelerations` in LOCAL frames.

    Parameters
    ----------
    model, q, v
        The mechanism, without mimic joints, its configuration (..., nq) and its velocity (..., nv).
    accelerations
        Spatial accelerations of the bodies (..., N, 6), each in its own frame, linear part first (m/s², rad/s²), as
        `maximal.dynamics` returns them. Motions that the joints do not allow are ignored.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> bodies = bough.accelerations(model, q, v, 2 * v)  # (6, 6), m/s² and rad/s²
    >>> bough.maximal.joint_accelerations(model, q, v, bodies).round(6)  # rad/s²
    array([2., 2., 2., 2., 2., 2.])
    """
    return entry(model, "joint_accelerations", _of_bodies)(q, v, accelerations, None, True)


def joint_reactions(model: Model, q: ArrayLike, tau: ArrayLike, multiplier: ArrayLike) -> FloatArray:
    """Return the total force through each joint (..., N, 6), from the multipliers of its constraint; N and N m.

    Row i-1 is the force on body i from its parent, in the frame of body i, linear part first. It is the joint force
    tau, without the part that accelerates the armature, plus the reaction of the joint.

    Parameters
    ----------
    model, q
        The mechanism, without mimic joints, and its configuration (..., nq).
    tau
        Joint forces (..., nv); N or N m.
    multiplier
        Multipliers of the joints (..., nc), as `maximal.dynamics` gives them.

    Examples
    --------
    >>> import bough
    >>> model, q, v, tau = bough.robots.load("pendulum"), [0.3], [0.0], [0.0]  # rad, rad/s, N m
    >>> acceleration, multiplier = bough.maximal.dynamics(model, q, v, tau)
    >>> print(bough.maximal.joint_reactions(model, q, tau, multiplier).round(3) + 0.0)
    [[-0.725  0.     9.372  0.     0.     0.   ]]
    """
    return entry(model, "joint_reactions", _of_bodies)(q, tau, multiplier, None, True)


def reaction_multipliers(model: Model, q: ArrayLike, tau: ArrayLike, reactions: ArrayLike) -> FloatArray:
    """Return the multipliers (..., nc) of given forces through the joints: the inverse of `joint_reactions`.

    Parameters
    ----------
    model, q, tau
        As for `joint_reactions`.
    reactions
        The total force through each joint (..., N, 6), on its body, in the frame of the body, linear part first; N and
        N m.

    Examples
    --------
    >>> import bough
    >>> model, q, v, tau = bough.robots.load("pendulum"), [0.3], [0.0], [0.0]  # rad, rad/s, N m
    >>> _, multipliers = bough.maximal.dynamics(model, q, v, tau)
    >>> through = bough.maximal.joint_reactions(model, q, tau, multipliers)  # (1, 6), N and N m
    >>> bool(abs(bough.maximal.reaction_multipliers(model, q, tau, through) - multipliers).max() < 1e-9)
    True
    """
    return entry(model, "reaction_multipliers", _of_bodies)(q, tau, reactions, None, True)


def _of_bodies(model: Model, name: str) -> Function:
    """A function of all bodies; mimic joints are refused, and where bodies are to move, those that are not solid."""
    require_model(model)
    constraint_system(model)
    for body in model.bodies if name == "maximal_dynamics" else ():
        if not is_solid(body.inertia):
            central = np.linalg.eigvalsh(body.inertia.matrix)
            raise SingularError(
                f"body {body.name!r} has mass {body.inertia.mass} and central moments of inertia {central}, expected a "
                "mass and three moments: in maximal coordinates every body moves by itself"
            )
    return new_function(model, name)
