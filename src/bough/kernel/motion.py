"""How a mechanism moves under all that constrains it: the one result of forward dynamics, steps and impacts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.kernel.arguments import FloatArray
from bough.kernel.tensors import fetched_numbers, is_tensor, library_of

__all__ = ["Motion", "motion_under_constraints", "unmet_names"]


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
        some state. Empty inside `jit` and `vmap`, where numbers are not known: use `residual` there.
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
    batch, dtype, library = tuple(motion.shape[:-1]), motion.dtype, library_of(motion)
    none, touch = _nothing(batch, dtype) if library is np else _nothing_in(library, motion, batch)
    residual = library.zeros(batch, dtype=dtype) if residual is None else residual
    undecided = library.zeros(batch, dtype=bool) if undecided is None else undecided
    forces = none if forces is None else forces
    return Motion(motion, touch, none, none, forces, residual, conflicts, undecided, none, none)


def unmet_names(names: Sequence[str], suspect: Any, unmet: Any) -> tuple[str, ...]:
    """Names of the rows that are not met in some state, where `suspect` is not zero."""
    doubt = suspect if isinstance(suspect, np.ndarray | np.generic) else fetched_numbers(suspect)
    if doubt is None or not (doubt.any() if doubt.ndim else doubt):
        return ()
    found = fetched_numbers(unmet)
    assert found is not None, "both belong to one call"
    return tuple(names[k] for k in np.flatnonzero(found.reshape(-1, found.shape[-1]).any(axis=0)).tolist())


def _nothing_in(library: Any, like: Any, batch: tuple[int, ...]) -> tuple[Any, Any]:
    """The same as arrays of another library."""
    where = {"device": like.device} if is_tensor(like) else {}
    return like[..., :0], library.zeros((*batch, 0, 3), dtype=like.dtype, **where)


@lru_cache(maxsize=64)
def _nothing(batch: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[FloatArray, FloatArray]:
    """Forces of no rows and of no contacts: arrays without a number, which all may share."""
    return np.empty((*batch, 0), dtype), np.empty((*batch, 0, 3), dtype)
