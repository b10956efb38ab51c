"""Constrained dynamics on arrays: constraint kinematics, and the accelerations of mechanisms with loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.loops import row_groups
from bough.errors import ModelError, ShapeError, UnknownNameError
from bough.kernel.arguments import FloatArray, finite_states, write_out
from bough.kernel.dynamics import bias_forces, crba, forward_dynamics
from bough.kernel.function import Results, Verdicts
from bough.kernel.functions import AlwaysSingular, call, mechanism, new_function, read, require_model, run
from bough.kernel.loops.regular import light, made_regular
from bough.kernel.loops.saddle import Nearest, nearest, whole_system
from bough.kernel.overflow import refusing_overflow, require_finite_results
from bough.kernel.table import entry
from bough.model import Model
from bough.reading import number

__all__ = [
    "TIME_CONSTANT",
    "ConstrainedMotion",
    "constrained_dynamics",
    "constrained_motion",
    "constraint_bias",
    "constraint_errors",
    "constraint_jacobian",
    "decay_rate",
    "loop_configurations",
    "loop_jacobian",
    "multipliers_pay",
    "stabilisation",
]

TIME_CONSTANT = 0.05
"""Seconds in which errors of constraints decay: e and ė follow ë + 2 ė/T + e/T² = 0, critically damped."""

MULTIPLIERS_NS, RANK_NS, RANK_CALL_NS = 1.6, 1.0, 1e6
"""Nanoseconds for an operation of a program with loops, for one in LAPACK, and for the calls around it; measured once,
on lifts of crossing bars with 60 to 200 rows."""

Arrays: TypeAlias = dict[str, ArrayLike | None]
"""Arguments by name; those that may be left out are None then."""

Method = Literal["auto", "kkt", "multipliers", "null_space"]


def constraint_errors(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """How far each constraint of the model is from being met, (..., rows): m for translations, rad for rotations.

    Rows follow ``model.constraints``, and are named by ``model.constraint_names``. Those of a loop are the components
    of the displacement of its successor from where its joint, in the nearest configuration, would have it, along the
    axes of the joint's moving side: x, y, z, then rotations about x, y, z, less those that the joint allows. Where the
    joint has an axis, z is along it (``joint.alignment``).
    """
    result: FloatArray = call(model, "constraint_errors")(q, out, check)
    return result


def constraint_jacobian(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """The matrix L (..., rows, nv) of the constraints L v = 0; its columns are zero but on the paths of the loops."""
    result: FloatArray = call(model, "constraint_jacobian")(q, out, check)
    return result


def constraint_bias(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """What velocities add to the constraints on accelerations, L v̇ + bias = 0, (..., rows): m/s² or rad/s²."""
    result: FloatArray = call(model, "constraint_bias")(q, v, out, check)
    return result


def loop_configurations(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """The configurations of the joints that close loops, one behind the other in the order of ``model.loops``.

    Laid out as q of any joint of the type (..., sum of nq). Where a loop is open it is the nearest configuration.
    """
    result: FloatArray = call(model, "loop_configurations")(q, out, check)
    return result


def loop_jacobian(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """The matrix B (..., sum of nv, nv) that gives the velocities B v of the joints that close loops.

    Drives, springs and dampers with forces f on these joints act on the tree as joint forces Bᵀ f: add these to tau.
    """
    result: FloatArray = call(model, "loop_jacobian")(q, out, check)
    return result


def constrained_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    method: Method = "auto",
    *,
    loop_tau: ArrayLike | None = None,
    time_constant: float = TIME_CONSTANT,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """Forward dynamics of a mechanism with its constraints: the accelerations under given joint forces, (..., nv).

    Loops may be redundant, as those of a planar mechanism in space are, and their rank may change along the motion. The
    accelerations are unique all the same. Where constraints contradict each other, they are met in the sense of least
    squares; `loops.motion` tells which.

    Parameters
    ----------
    model, q, v, tau, f_ext, out, check
        As in `aba`. q and v should meet the constraints: see `assemble` and `consistent_velocity`. What is float32 is
        computed in float64 all the same: ranks could not be told otherwise.
    method
        "multipliers": one compiled program, in which constraints that depend on others are left out; states where
        their pivots do not say so clearly are solved again as by "null_space". "null_space": by a rank test. "kkt": all
        equations at once. "auto": whichever of the first two has less to do, by counts. (Methods 2, 3 and
        1 of Featherstone & Orin 2000.)
    loop_tau
        Forces of drives on the joints that close loops, one behind the other in the order of ``model.loops``
        (..., sum of nv); N or N m. They act as joint forces Bᵀ loop_tau, see `loops.coordinate_jacobian`.
    time_constant
        Errors of position and velocity decay in this time (s), critically damped; infinity leaves them alone. An
        explicit integrator needs steps shorter than this.

    Raises
    ------
    SingularError
        If a joint moves nothing that has inertia and no loop holds it; the message names it.
    """
    if all_single(*(x for x in (q, v, tau, f_ext, loop_tau) if x is not None)):
        given = _doubles(q=q, v=v, tau=tau, f_ext=f_ext, loop_tau=loop_tau)
        whole = constrained_dynamics(model, **given, method=method, time_constant=time_constant, check=check)  # type: ignore[arg-type]
        return whole.astype(np.float32) if out is None else write_out(out, whole.astype(np.float32))
    rate, key = decay_rate(time_constant), ("constrained_dynamics", method)
    try:
        qdd: FloatArray = entry(model, key, _constrained)(q, v, tau, rate, f_ext, loop_tau, out, check)
    except AlwaysSingular:
        if not model.constraints or method == "null_space":
            raise
        qdd = entry(model, (*key, "held by loops"), _constrained)(q, v, tau, rate, f_ext, loop_tau, out, check)
    return qdd


def _constrained(model: Model, key: tuple[object, ...]) -> Any:
    """Constrained dynamics by a method: the program, or a rank test for every state."""
    method = _chosen(model, key[1])
    if method == "multipliers" and len(key) == 2:
        return new_function(model, "constrained_dynamics", explain=partial(_by_rank_where_doubtful, model))
    return _RankTest(model, "kkt" if method == "kkt" else "null_space")


class _RankTest:
    """Methods 1 and 3 with the interface of a function."""

    def __init__(self, model: Model, method: str) -> None:
        self._model, self._method = model, method

    @property
    def entry(self) -> Callable[..., Any]:
        return self._run

    def _run(self, q: Any, v: Any, tau: Any, rate: Any, f_ext: Any, loop_tau: Any, out: Any, check: Any) -> FloatArray:
        arrays = _doubles(q=q, v=v, tau=tau, f_ext=f_ext, loop_tau=loop_tau)
        result = _by_rank(self._model, arrays, rate, self._method, check).x
        return result if out is None else write_out(out, result)


def _by_rank_where_doubtful(
    model: Model, arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts
) -> Results:
    """Solve the states again in which a pivot or a rank is in doubt."""
    axes = {key: len(shape) for key, shape in (*_ends(model).items(), ("rate", ()))}
    doubtful = np.asarray((verdicts != 0) & finite_states(arrays, axes, verdicts.shape))
    some = _picked(model, {**_ABSENT, **arrays}, doubtful)
    (qdd,) = results
    qdd[doubtful] = _by_rank(model, some, arrays["rate"], "null_space", True).x
    return results


_ABSENT: Arrays = {"f_ext": None, "loop_tau": None}


@dataclass(frozen=True, eq=False)
class ConstrainedMotion:
    """How a mechanism with constraints moves, and what holds it together.

    Attributes
    ----------
    acceleration
        v̇ (..., nv).
    forces
        The multipliers λ (..., rows), N or N m: the force of each row on the successor of its loop, along the
        directions of `loops.errors`. Joint forces Lᵀ λ act on the tree. Where constraints are redundant many λ
        give the same motion; this is the smallest, with each row measured by what it moves.
    rank
        How many constraints are independent (...).
    residual
        L v̇ less what it should be (..., rows): zero unless constraints contradict each other.
    conflicts
        Names of the rows (see `Model.constraint_names`) that are not met in some state.
    """

    acceleration: FloatArray
    forces: FloatArray
    rank: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    residual: FloatArray
    conflicts: tuple[str, ...]


def constrained_motion(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    loop_tau: ArrayLike | None = None,
    time_constant: float = TIME_CONSTANT,
    check: bool = True,
) -> ConstrainedMotion:
    """Forward dynamics of a mechanism with its constraints, with the forces of constraints and their rank.

    Arguments are those of `loops.dynamics`. The rank is that of L in the metric of the mass matrix, where the
    rows of one loop and one unit, translations or rotations, are scaled together to unit length: singular values below
    1e-6 of the largest count as zero. `loops.reactions` gives the whole forces through all joints.
    """
    require_model(model)
    arrays = _doubles(q=q, v=v, tau=tau, f_ext=f_ext, loop_tau=loop_tau)
    found = _by_rank(model, arrays, decay_rate(time_constant), "null_space", check)
    broken = np.flatnonzero(found.broken.any(axis=tuple(range(found.broken.ndim - 1))))
    names = tuple(model.constraint_names[k] for k in broken)
    return ConstrainedMotion(found.x, found.multipliers, found.rank, found.residual, names)


def all_single(*arrays: object) -> bool:
    """Whether all arguments are float32."""
    return all(isinstance(a, np.ndarray) and a.dtype == np.float32 for a in arrays)


def _doubles(**arrays: ArrayLike | None) -> Arrays:
    """The arguments with float32 made float64, without which ranks cannot be told."""
    single = {key for key, a in arrays.items() if isinstance(a, np.ndarray) and a.dtype == np.float32}
    return {key: np.asarray(a, np.float64) if key in single else a for key, a in arrays.items()}


def _by_rank(model: Model, arrays: Arrays, rate: FloatArray, method: str, check: bool) -> Nearest:
    """Methods 1 and 3, in NumPy, one matrix per state; unless checks are left out, what overflows is refused."""
    if not check:
        with np.errstate(over="ignore"):
            return _nearest(model, arrays, rate, method, check)
    with refusing_overflow("motion with constraints"):
        found = _nearest(model, arrays, rate, method, check)
    require_finite_results("motion with constraints", found.x, found.multipliers)
    return found


def _nearest(model: Model, arrays: Arrays, rate: FloatArray, method: str, check: bool) -> Nearest:
    q, v, tau = (_given(arrays, key) for key in ("q", "v", "tau"))
    f_ext, drive = arrays["f_ext"], arrays["loop_tau"]
    if drive is not None:
        f = read(model, "loop_tau", drive, check)
        tau = read(model, "tau", tau, check) + np.einsum("...rn,...r->...n", loop_jacobian(model, q, check=check), f)
    terms = run(model, "constraint_terms", {"q": q, "v": v, "rate": rate}, check=check)
    M, L, aims, groups = crba(model, q, check=check), terms["L"], terms["aims"], row_groups(mechanism(model))
    force = read(model, "tau", tau, check) - bias_forces(model, q, v, f_ext, check=check)
    batch = np.broadcast_shapes(M.shape[:-2], L.shape[:-2], force.shape[:-1])
    held = np.broadcast_to(light(model, read(model, "q", q, check)), batch) & bool(model.constraints)
    free = np.empty((*batch, model.nv))
    if not held.all():
        some = _picked(model, {"q": q, "v": v, "tau": tau, "f_ext": f_ext}, ~held)
        free[~held] = forward_dynamics(model, *some.values(), check=check)  # type: ignore[arg-type]
    if held.any():
        M, weighted = made_regular(model, read(model, "q", q, check), M, L, groups)
        force = force + np.einsum("...nr,...r->...n", weighted, aims)
        whole, right = np.broadcast_to(M, (*batch, *M.shape[-2:])), np.broadcast_to(force, free.shape)
        free[held] = np.linalg.solve(whole[held], right[held][..., np.newaxis])[..., 0]
    return whole_system(M, L, free, force, aims, groups) if method == "kkt" else nearest(M, L, free, aims, groups)


def _ends(model: Model) -> dict[str, tuple[int, ...]]:
    """The shape of each argument for one state."""
    loops = sum(loop.joint.nv for loop in model.loops)
    ends = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "loop_tau": (loops,)}
    return {**ends, "f_ext": (model.nbodies, 6)}


def _picked(model: Model, arrays: Arrays, chosen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Arrays:
    """The arguments of some states of a batch."""
    ends = _ends(model)
    return {
        key: None if a is None else np.broadcast_to(a, (*chosen.shape, *ends[key]))[chosen]
        for key, a in arrays.items()
        if key in ends
    }


def _given(arrays: Arrays, key: str) -> ArrayLike:
    a = arrays[key]
    if a is None:
        raise ShapeError(f"{key} is None, expected an array")
    return a


def _chosen(model: Model, method: object) -> str:
    names = get_args(Method)
    if not isinstance(method, str) or method not in names:
        raise UnknownNameError("method of constrained dynamics", method, names)
    require_model(model)
    if method != "auto":
        return method
    return "multipliers" if multipliers_pay(model) else "null_space"


def multipliers_pay(model: Model) -> bool:
    """Whether multipliers take less time than a rank test, by the number of their operations.

    With k rows and n velocities, L M⁻¹ Lᵀ takes k D₁ + k² n / 2 and its factor k³ / 6; a rank test some 4 k n² + n³.
    """
    k, n, D1 = len(model.constraint_names), model.nv, model.coupling.dof_tree.D1
    operations = k * D1 + k * k * n / 2 + k**3 / 6
    return operations * MULTIPLIERS_NS <= (4 * k * n * n + n**3) * RANK_NS + RANK_CALL_NS


def decay_rate(time_constant: float) -> FloatArray:
    """The rate of the stabilisation (1/s) as an array."""
    if type(time_constant) is not float:
        return _read_only(stabilisation(time_constant))
    return _usual_rate(time_constant)


@lru_cache(maxsize=64)
def _usual_rate(time_constant: float) -> FloatArray:
    return _read_only(stabilisation(time_constant))


def _read_only(number: float) -> FloatArray:
    a: FloatArray = np.array(number)
    a.setflags(write=False)
    return a


def stabilisation(time_constant: float) -> float:
    """1/T in 1/s, the rate of a stabilisation with the time constant T."""
    what, expected = "the time constant of constraints", "a positive number (s)"
    T = number(time_constant, what, expected, above=0.0, infinite=True, error=ModelError)
    if math.inf == 1.0 / T:
        raise ModelError(f"{what} is {T!r}, expected one whose reciprocal is a number")
    return 1.0 / T
