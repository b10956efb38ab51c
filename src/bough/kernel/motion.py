"""How a mechanism moves under all that constrains it: the one result of forward dynamics, steps and impacts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.kernel.arguments import FloatArray

__all__ = ["Motion", "motion_under_constraints"]


class Motion(NamedTuple):
    """Motion of a mechanism or a linkage, and the forces of all its constraints.

    Batch axes (...) are those of the states.

    Attributes
    ----------
    motion
        Accelerations v̇ or velocities v (..., nv), depending on the function. For linkages, those of all bodies,
        concatenated.
    contact_forces
        Forces of contacts on their first bodies (..., k, 3), along the normal and the two tangents: N, or N s if
        velocities jump. If contacts are redundant, such as four on a rigid block, only their sum is determined.
    limit_forces
        Joint forces of position and velocity limits (..., nv): positive at a lower limit, negative at an upper limit;
        (..., 0) if limits were not included.
    loop_limit_forces
        Forces of limits of joints that close loops, concatenated (..., sum of nv), or (..., 0).
    loop_forces
        The multipliers λ of all constraints (..., rows), N or N m, or times s if velocities jump, row by row as in
        `loops.errors` or `Linkage.errors`. A positive multiplier pushes the successor of a loop in the direction in
        which the error of its row grows. Forces Lᵀ λ act on the joints of a tree, Jᵀ λ on the bodies of a linkage. If
        constraints are redundant, many λ give the same motion; this is the smallest, with each row measured by what it
        moves.
    residual
        Largest violation of a condition in each state (...): m/s² or rad/s² for accelerations, m/s or rad/s for
        velocities. It is rounding error unless conditions contradict each other, or 1e-9 where friction cones needed
        sweeps.
    conflicts
        Names of contacts, limits, dry friction and rows of constraints (`Model.constraint_names`) that are violated in
        some state.
    undecided
        True for each state (...) whose search for forces ended without an answer: its violated conditions may still
        have a solution. If False, the conflicting conditions cannot be met together.
    friction_forces
        Joint forces of dry friction (..., nv), or (..., 0) if it was not included.
    loop_friction_forces
        Forces of dry friction of joints that close loops, concatenated (..., sum of nv), or (..., 0).

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


def motion_under_constraints(
    motion: FloatArray,
    forces: FloatArray | None = None,
    residual: FloatArray | None = None,
    conflicts: tuple[str, ...] = (),
    undecided: NDArray[np.bool_] | None = None,
) -> Motion:
    """A motion without contacts, limits and friction; without forces, one that nothing constrains."""
    batch, dtype = motion.shape[:-1], motion.dtype
    none, touch = _nothing(batch, dtype)
    residual = np.zeros(batch, dtype) if residual is None else residual
    undecided = np.zeros(batch, np.bool_) if undecided is None else undecided
    forces = none if forces is None else forces
    return Motion(motion, touch, none, none, forces, residual, conflicts, undecided, none, none)


@lru_cache(maxsize=64)
def _nothing(batch: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[FloatArray, FloatArray]:
    """Forces of no rows and of no contacts: arrays without a number, which all may share."""
    return np.empty((*batch, 0), dtype), np.empty((*batch, 0, 3), dtype)
