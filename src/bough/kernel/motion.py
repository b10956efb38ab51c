"""How a mechanism moves under all that constrains it: the one result of forward dynamics, steps and impacts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.kernel.arguments import FloatArray

__all__ = ["Motion", "free_motion"]


class Motion(NamedTuple):
    """How a mechanism moves, and the forces of all that constrains it. Batch axes (...) are those of the states.

    Attributes
    ----------
    motion
        Accelerations v̇ or velocities v (..., nv), whichever was asked for.
    contact_forces
        Forces of contacts on their first bodies (..., k, 3), along the normal and the two tangents: N, or N s where
        velocities jump. Where contacts are redundant, as four on a rigid block are, only their sum is determined.
    limit_forces
        Joint forces of limits, on positions and velocities (..., nv): positive from a lower limit, negative from an
        upper one; (..., 0) where limits were not asked for.
    loop_limit_forces
        The same of joints that close loops, one behind the other (..., sum of nv), or (..., 0).
    loop_forces
        The multipliers λ (..., rows of ``model.constraints``), N or N m: the force of each row on the successor of its
        loop, along the directions of `loops.errors`. Joint forces Lᵀ λ act on the tree. Where constraints are
        redundant many λ give the same motion; this is the smallest, with each row measured by what it moves.
    residual
        By how much the worst condition of each state fails (...): m/s² or rad/s² of accelerations, m/s or rad/s of
        velocities. It is rounding unless conditions contradict each other.
    conflicts
        Names of contacts, limits, dry friction and rows of constraints (`Model.constraint_names`) that are not met in
        some state.
    undecided
        Truth for each state (...): the search for forces ended without an answer, and what is not met there may have a
        solution after all. Where it is False, what conflicts cannot be met together.
    friction_forces
        Joint forces of dry friction (..., nv), or (..., 0) where that was not asked for.
    loop_friction_forces
        The same of joints that close loops, one behind the other (..., sum of nv), or (..., 0).

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("geared")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> _ = b.add("b", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> b.equality("gear", "b", "a", (0.0, 1.0))
    >>> found = bough.forward_dynamics(b.build(), [0.0, 0.0], [0.0, 0.0], [2.0, 0.0], full=True)
    >>> found.motion.tolist(), found.loop_forces.tolist(), found.conflicts
    ([1.0, 1.0], [1.0], ())
    """

    motion: FloatArray
    contact_forces: FloatArray
    limit_forces: FloatArray
    loop_limit_forces: FloatArray
    loop_forces: FloatArray
    residual: FloatArray
    conflicts: tuple[str, ...]
    undecided: NDArray[np.bool_]
    friction_forces: FloatArray
    loop_friction_forces: FloatArray

    def __eq__(self, other: object) -> bool:
        return self is other  # arrays have no one answer

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


def free_motion(motion: FloatArray) -> Motion:
    """A motion that nothing constrains."""
    batch, none = motion.shape[:-1], np.zeros((*motion.shape[:-1], 0), motion.dtype)
    touch, residual, undecided = none.reshape(*batch, 0, 3), np.zeros(batch, motion.dtype), np.zeros(batch, np.bool_)
    return Motion(motion, touch, none, none, none, residual, (), undecided, none, none)
