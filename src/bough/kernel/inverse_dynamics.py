"""Inverse dynamics on arrays: the forces of drives behind a motion, with the loops and couplings of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from bough import reading
from bough.algorithms.inverse_dynamics import DrivenRows
from bough.errors import ShapeError, UnknownNameError
from bough.kernel.arguments import FloatArray
from bough.kernel.function import Function
from bough.kernel.functions import model_function, require_model
from bough.kernel.loops.careful import careful_function
from bough.kernel.specs import Options
from bough.kernel.table import entry
from bough.model import Model

__all__ = ["DriveForces", "inverse_algorithm", "inverse_dynamics"]


@dataclass(frozen=True, eq=False)
class DriveForces:
    """Forces of drives, as `forward_dynamics` takes them, and how well they produce a motion.

    Attributes
    ----------
    tau
        Joint forces (..., nv), N or N m; zero for joints without a drive.
    loop_tau
        Forces on the joints that close loops, concatenated in the order of ``model.loops`` (..., sum of nv).
    residual
        The largest missing joint force in each state (...), N or N m; rounding error unless there are conflicts.
    conflicts
        Names of constraints that the accelerations violate, and of joints of the tree that lack a force, in some state.
    """

    tau: FloatArray
    loop_tau: FloatArray
    residual: FloatArray
    conflicts: tuple[str, ...]


@overload
def inverse_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | None = None, *,
    drives: str | Sequence[str] | None = None, full: Literal[False] = False, out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray: ...  # fmt: skip


@overload
def inverse_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | None = None, *,
    drives: str | Sequence[str] | None = None, full: Literal[True], out: None = None, check: bool = True,
) -> DriveForces: ...  # fmt: skip


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    drives: str | Sequence[str] | None = None,
    full: bool = False,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray | DriveForces:
    """Return the drive forces that produce a motion, with loops and couplings (inverse dynamics).

    `forward_dynamics` with these forces returns the given accelerations. If several forces produce the same motion, as
    in a mechanism with more drives than degrees of freedom, the result has the smallest sum of squares. Without loops,
    and with all joints driven, the result is that of `rnea`.

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (..., nq). It should meet the loops: see `loops.assemble`.
    v, a
        Velocity and acceleration (..., nv), which the loops must allow. The accelerations with which `forward_dynamics`
        closes slightly open loops are also allowed, even if redundant rows of the loops ask for different ones. For any
        a, the nearest allowed acceleration is ``forward_dynamics(model, q, v, rnea(model, q, v, a))``.
    f_ext
        External forces (..., N, 6), as in `rnea`.
    drives
        Names of the joints with drives, of the tree or of loops; None: all joints of the tree.
    full
        Whether to return `DriveForces`, with forces of loop joints, and with conflicts instead of an error.
    out, check
        As in `rnea`. There is no `out` for `DriveForces`.

    Returns
    -------
    ndarray or DriveForces
        Joint forces tau (..., nv), N or N m; zero for joints without a drive. With loops or named drives, float32 input
        is computed in float64.

    Raises
    ------
    DriveError
        If the drives cannot produce the motion, or the loops do not allow it; the message names the joint or the
        constraint. With `full`, `conflicts` names them instead.

    Examples
    --------
    Two wheels that a belt couples, one of them driven:

    >>> import bough
    >>> b = bough.Builder("belt")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> _ = b.add("b", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> b.equality("belt", "b", "a", (0.0, 1.0))
    >>> wheels = b.build()
    >>> bough.inverse_dynamics(wheels, [0.0, 0.0], [0.0, 0.0], [1.0, 1.0], drives=["a"]).tolist()
    [2.0, 0.0]
    >>> bough.inverse_dynamics(wheels, [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]).tolist()
    [1.0, 1.0]
    """
    if type(drives) is list:
        drives = tuple(drives)
    if full is False:
        return entry(model, ("inverse_dynamics", drives), _inverse)(q, v, a, f_ext, out, check)
    reading.truth(full, "full")
    if out is not None:
        raise ShapeError("out is given, and forces of drives are several arrays; expected None")
    return _conflicts(model, *entry(model, ("drive_forces", drives), _whole)(q, v, a, f_ext, None, check))


def inverse_algorithm(model: Model) -> str:
    """The algorithm of inverse dynamics on a model all of whose joints are driven."""
    return "inverse_dynamics" if model.constraints else "rnea"


def _inverse(model: Model, key: tuple[str, Any]) -> Function:
    require_model(model)
    if key[1] is None and not model.constraints:
        return model_function(model, "rnea")
    drives = _driven(model, key[1])
    if drives is not None and drives.loops:
        loop = next(loop.name for loop in model.loops if loop.name in reading.names(key[1], "drives"))
        raise ShapeError(f"loop {loop!r} is driven, and joint forces do not tell its force; expected full=True")
    return careful_function(model, "inverse_dynamics", Options(drives=drives))


def _whole(model: Model, key: tuple[str, Any]) -> Function:
    require_model(model)
    return careful_function(model, "drive_forces", Options(drives=_driven(model, key[1])))


def _driven(model: Model, names: object) -> DrivenRows | None:
    """The coordinates that drives of the named joints act on; None for all of the tree."""
    if names is None:
        return None
    starts = np.cumsum([0, *(loop.joint.nv for loop in model.loops)]).tolist()
    loops = {loop.name: range(start, start + loop.joint.nv) for loop, start in zip(model.loops, starts, strict=False)}
    tree: list[int] = []
    closing: list[int] = []
    for name in reading.names(names, "drives"):
        if not isinstance(name, str):
            raise UnknownNameError("joint or loop", name, (*model.joint_names, *loops))
        if name in loops:
            closing += loops[name]
        elif name in model.joint_names:
            part = model.v_slice(name)
            tree += range(part.start, part.stop)
        else:
            raise UnknownNameError("joint or loop", name, (*model.joint_names, *loops))
    return DrivenRows(tuple(sorted(set(tree))), tuple(sorted(set(closing))))


def _conflicts(
    model: Model, tau: FloatArray, loop_tau: FloatArray, residual: FloatArray, unmet: FloatArray
) -> DriveForces:
    broken = np.flatnonzero(unmet.any(axis=tuple(range(unmet.ndim - 1))))
    names = (*model.constraint_names, *model.dof_names)
    return DriveForces(tau, loop_tau, residual, tuple(names[k] for k in broken))
