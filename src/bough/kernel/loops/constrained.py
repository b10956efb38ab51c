"""Constraints on arrays: errors, Jacobian, bias, rank; joints that close loops; reactions; and the stabilisation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.algorithms.closed_loops import TIME_CONSTANT
from bough.algorithms.loops import row_groups
from bough.algorithms.saddle_tree import saddle_tree
from bough.errors import ModelError
from bough.kernel.arguments import FloatArray
from bough.kernel.functions import algorithm, mechanism, read, require_model
from bough.kernel.loops.saddle import StateError, nearest, regular_mass
from bough.kernel.table import entry
from bough.model import Model
from bough.reading import number

__all__ = [
    "TIME_CONSTANT", "ConstrainedReactions", "bias", "coordinate_jacobian", "coordinates", "decay_rate", "errors",
    "jacobian", "program_pays", "rank", "reactions", "stabilisation",
]  # fmt: skip


PROGRAM_NS, RANK_NS, RANK_CALL_NS = 0.8, 1.0, 1e6
"""Nanoseconds for an operation of a program with loops, for one in LAPACK, and for the calls around it; measured once,
on lifts of crossing bars with 60 to 200 rows."""


def errors(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the error of each constraint of the model (..., rows): m for translations, rad for rotations.

    Rows follow ``model.constraints``; ``model.constraint_names`` names them. The rows of a loop are components of a
    displacement: from where the loop's joint would place the successor, in its nearest configuration, to where the
    successor is. Components are along the axes of the joint's moving side: x, y, z, then rotations about x, y, z,
    without those that the joint allows. If the joint has an axis, z is along it (``joint.alignment``).

    Parameters
    ----------
    model, q, out, check
        The mechanism and its configuration (..., nq); all others as in `rnea`.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("belt")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> _ = b.add("b", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> b.equality("belt", "b", "a", (0.0, 2.0))
    >>> bough.loops.errors(b.build(), [0.1, 0.5]).round(12).tolist()
    [0.3]
    """
    return entry(model, "constraint_errors", algorithm)(q, out, check)


def jacobian(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the matrix L (..., rows, nv) of the constraints L v = 0; columns off the paths of the loops are zero.

    Parameters
    ----------
    model, q, out, check
        The mechanism and its configuration (..., nq); all others as in `rnea`.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("belt")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> _ = b.add("b", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> b.equality("belt", "b", "a", (0.0, 2.0))
    >>> bough.loops.jacobian(b.build(), [0.0, 0.0]).tolist()
    [[-2.0, 1.0]]
    """
    return entry(model, "constraint_jacobian", algorithm)(q, out, check)


def bias(model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the bias (..., rows) of the constraints on accelerations, L v̇ + bias = 0: m/s² or rad/s².

    Parameters
    ----------
    model, q, v, out, check
        The mechanism, its configuration (..., nq) and its velocity (..., nv); all others as in `rnea`.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("belt")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> _ = b.add("b", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> b.equality("belt", "b", "a", (0.0, 2.0, 0.5))
    >>> bough.loops.bias(b.build(), [0.0, 0.0], [3.0, 6.0]).tolist()
    [-9.0]
    """
    return entry(model, "constraint_bias", algorithm)(q, v, out, check)


def coordinates(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the configurations of the joints that close loops, concatenated in the order of ``model.loops``.

    The shape is (..., sum of nq), with the layout that joints of these types have in q. For an open loop, the result is
    the nearest configuration.

    Parameters
    ----------
    model, q, out, check
        The mechanism and its configuration (..., nq); all others as in `rnea`.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("held at both ends")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> b.loop("pin", bough.joints.Revolute("z"), "world", "a")
    >>> bough.loops.coordinates(b.build(), [0.3]).round(12).tolist()
    [0.3]
    """
    return entry(model, "loop_configurations", algorithm)(q, out, check)


def coordinate_jacobian(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the matrix B (..., sum of nv, nv): B v are the velocities of the joints that close loops.

    Forces f of drives, springs and dampers on these joints act on the tree as joint forces Bᵀ f: add these to tau.

    Parameters
    ----------
    model, q, out, check
        The mechanism and its configuration (..., nq); all others as in `rnea`.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("held at both ends")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> b.loop("pin", bough.joints.Revolute("z"), "world", "a")
    >>> bough.loops.coordinate_jacobian(b.build(), [0.3]).round(12).tolist()
    [[1.0]]
    """
    return entry(model, "loop_jacobian", algorithm)(q, out, check)


def rank(model: Model, q: ArrayLike, *, check: bool = True) -> NDArray[np.int64]:
    """Return the number of independent constraints of the model in a configuration (...).

    If it is less than the number of rows, some constraints are redundant: a hinge that closes a planar mechanism has
    five rows, of which two are independent. The result is the rank of L in the metric of the mass matrix. The rows of
    one loop and one unit, translations or rotations, are scaled together to unit length, and singular values below 1e-6
    of the largest count as zero.

    Parameters
    ----------
    model, q, check
        The mechanism and its configuration (..., nq); all others as in `rnea`.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("held twice")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> b.loop("pin", bough.joints.Revolute("z"), "world", "a")
    >>> int(bough.loops.rank(b.build(), [0.3]))
    0
    """
    require_model(model)
    given = read(model, "q", q, check).astype(np.float64, copy=False)
    states = given.reshape(math.prod(given.shape[:-1]), model.nq)
    L, groups = jacobian(model, states, check=check), row_groups(mechanism(model))
    try:
        M, _ = regular_mass(model, entry(model, "crba_packed", algorithm)(states, None, check), L, groups)
    except StateError as error:
        raise error.in_batch(np.ones(given.shape[:-1], np.bool_)) from None
    return nearest(M, L, np.zeros(model.nv), np.zeros(L.shape[:-1]), groups).rank.reshape(given.shape[:-1])


@dataclass(frozen=True, eq=False)
class ConstrainedReactions:
    """Total forces through the joints of a mechanism with loops: N and N m, linear part first.

    Attributes
    ----------
    joints
        The force on each body from its parent, in the frame of the body (..., N, 6).
    loops
        The force on the successor of each loop from its predecessor, in the frame of the successor's body, in the order
        of ``model.loops`` (..., loops, 6). The opposite force acts on the predecessor, along the same line.
    """

    joints: FloatArray
    loops: FloatArray


def reactions(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    forces: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    loop_tau: ArrayLike | None = None,
    check: bool = True,
) -> ConstrainedReactions:
    """Return the total forces through all joints and loops of a mechanism that moves under constraints.

    Every body is in balance: I a + v × I v is the sum of the forces of its joints and loops, gravity and external
    forces. If constraints are redundant, the result depends on the given λ.

    Parameters
    ----------
    model, q, v
        The mechanism, its configuration (..., nq) and its velocity (..., nv).
    a, forces
        Accelerations (..., nv) and multipliers of the constraints (..., rows): `motion` and `loop_forces` of the
        `Motion` that `forward_dynamics` returns with ``full=True``.
    f_ext, loop_tau, check
        External forces, and forces of drives on loops, as given to `forward_dynamics`; `check` as in `rnea`.

    Examples
    --------
    A weight of 1 kg that hangs on a slider, which a law keeps in its place:

    >>> import bough
    >>> b = bough.Builder("hanging")
    >>> _ = b.add("weight", bough.joints.Prismatic("z"), mass=1.0)
    >>> b.equality("stop", "weight", None, 0.0)
    >>> model = b.build()
    >>> found = bough.forward_dynamics(model, [0.0], [0.0], [0.0], full=True)
    >>> found.loop_forces.tolist()
    [9.81]
    >>> bough.loops.reactions(model, [0.0], [0.0], found.motion, found.loop_forces).joints[0].tolist()
    [0.0, 0.0, 9.81, 0.0, 0.0, 0.0]
    """
    arrays = (q, v, a, forces, loop_tau, f_ext)
    return ConstrainedReactions(*entry(model, "constrained_reactions", algorithm)(*arrays, None, check))


def program_pays(model: Model) -> bool:
    """Whether a program is faster than a rank test by singular values: not where very many rows hold few bodies."""
    k, n = len(model.constraint_names), model.nv
    operations = saddle_tree(mechanism(model), "soon").operations
    return operations * PROGRAM_NS <= (4 * k * n * n + n**3) * RANK_NS + RANK_CALL_NS


def decay_rate(time_constant: float) -> FloatArray:
    """The rate of the stabilisation (1/s) as an array; what is no float is read anew."""
    return (_new_rate if type(time_constant) is not float else _rate)(time_constant)


def _new_rate(time_constant: float) -> FloatArray:
    a: FloatArray = np.array(stabilisation(time_constant))
    a.setflags(write=False)
    return a


_rate = lru_cache(maxsize=64)(_new_rate)


def stabilisation(time_constant: float) -> float:
    """1/T in 1/s, the rate of a stabilisation with the time constant T."""
    what, expected = "the time constant of constraints", "a positive number (s)"
    T = number(time_constant, what, expected, above=0.0, infinite=True, error=ModelError)
    if math.inf == 1.0 / T:
        raise ModelError(f"{what} is {T!r}, expected one whose reciprocal is a number")
    return 1.0 / T
