"""The careful solution of mechanisms with constraints: states of doubtful rank, in LAPACK with a rank test.

Programs say which states are in doubt (`verdict`). These alone are solved again here, from matrices that programs of
the same source give, and put in their place: whatever the method, its accelerations are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from bough.algorithms.loops import row_groups
from bough.errors import DriveError
from bough.kernel.arguments import FloatArray
from bough.kernel.function import Explain, Function, Results, Verdicts
from bough.kernel.functions import PLAIN, algorithm, inputs_of, mechanism, new_function, require_model
from bough.kernel.loops.saddle import Nearest, StateError, drive_forces, free_motion, nearest, regular_mass, times
from bough.kernel.overflow import refusing_overflow, require_finite_results
from bough.kernel.specs import Options, spec
from bough.kernel.specs.constraints import METHODS, driven_rows
from bough.kernel.table import entry, function_of
from bough.kernel.verdict import all_in_doubt
from bough.model import Model

__all__ = ["CAREFUL", "Arrays", "Run", "careful_function", "mend_states", "mending"]

Arrays: TypeAlias = Mapping[str, Any]
"""Arguments by name; those that may be left out are None, or not there."""

Run: TypeAlias = Callable[[str, Arrays], Any]
"""What runs an algorithm, by name, on a model or on one with parameters: returns its array, or a tuple of them."""


def _by_rank(model: Model, options: Options, run: Run, arrays: Arrays) -> Nearest:
    """Accelerations, multipliers and rank; what overflows is refused."""
    with refusing_overflow("motion with constraints"):
        (L, aims), groups = run("constraint_terms", arrays), row_groups(mechanism(model))
        force = arrays["tau"] - run("bias_forces", arrays)
        if arrays.get("loop_tau") is not None:
            force = force + times(np.swapaxes(run("loop_jacobian", arrays), -1, -2), arrays["loop_tau"])
        M, weighted = regular_mass(model, run("crba_packed", arrays), L, groups)
        force = force + times(weighted, aims)
        found = nearest(M, L, free_motion(M, force), aims, groups)
    require_finite_results("motion with constraints", found.x, found.multipliers)
    return found


# ---- algorithm by algorithm ------------------------------------------------------------------------------------------


def _motion(*given: Any) -> Results:
    found = _by_rank(*given)
    worst = np.abs(found.residual).max(axis=-1, initial=0.0)
    return found.x, found.multipliers, worst, found.broken.astype(float)


def _consistent(model: Model, options: Options, run: Run, arrays: Arrays) -> Results:
    return (_shortest(model, run, arrays, arrays["v"], -run("constraint_speeds", arrays)),)


def _onto(model: Model, options: Options, run: Run, arrays: Arrays) -> Results:
    step = _shortest(model, run, arrays, np.zeros(model.nv), -run("constraint_errors", arrays))
    q = run("integrate", {**arrays, "v": step})
    return q, *_consistent(model, options, run, {**arrays, "q": q})


def _shortest(model: Model, run: Run, arrays: Arrays, v: FloatArray, aims: FloatArray) -> FloatArray:
    """The motion nearest to v with L v = aims, in the metric of the mass matrix."""
    with refusing_overflow("motion onto constraints"):
        L, groups = run("constraint_jacobian", arrays), row_groups(mechanism(model))
        M, _ = regular_mass(model, run("crba_packed", arrays), L, groups)
        x = nearest(M, L, v, aims, groups).x
    require_finite_results("motion onto constraints", x)
    return x


def _drive_forces(model: Model, options: Options, run: Run, arrays: Arrays) -> Results:
    L, drives, n = run("constraint_jacobian", arrays), driven_rows(model, options), model.nv
    rows = np.broadcast_to(np.eye(n)[list(drives.tree)], (*L.shape[:-2], len(drives.tree), n))
    with refusing_overflow("inverse_dynamics"):
        P = np.concatenate([rows, run("loop_jacobian", arrays)[..., list(drives.loops), :]], axis=-2)
        groups = row_groups(mechanism(model))
        M, _ = regular_mass(model, run("crba_packed", arrays), L, groups)
        aims = -run("constraint_bias", arrays)
        returning = run("constraint_terms", arrays)[1] - aims
        found = drive_forces(M, L, P, run("rnea", arrays), (arrays["a"], aims, returning), groups)
    tau = np.zeros((*found.forces.shape[:-1], n))
    loop_tau = np.zeros((*tau.shape[:-1], sum(loop.joint.nv for loop in model.loops)))
    tau[..., list(drives.tree)] = found.forces[..., : len(drives.tree)]
    loop_tau[..., list(drives.loops)] = found.forces[..., len(drives.tree) :]
    missing = np.abs(found.off[..., L.shape[-2] :]).max(axis=-1, initial=0.0)
    return tau, loop_tau, missing, found.off * found.unmet


def _inverse(model: Model, options: Options, run: Run, arrays: Arrays) -> Results:
    tau, _, _, unmet = _drive_forces(model, options, run, arrays)
    rows = len(model.constraint_names)
    for state in np.flatnonzero(unmet.any(axis=-1)):
        broken, lacking = np.split(np.abs(unmet[state]), [rows])
        if broken.any():
            text = (
                f"no drives can produce these accelerations{{}}: they break {model.constraint_names[broken.argmax()]!r}"
                f" by {broken.max():.3g} m/s² or rad/s². Expected accelerations that the constraints allow; the nearest"
                " are forward_dynamics(model, q, v, rnea(model, q, v, a))"
            )
        else:
            text = (
                f"the drives cannot produce this motion{{}}: joint {model.dof_names[lacking.argmax()]!r} lacks "
                f"{lacking.max():.3g} N or N m. Drive more joints"
            )
        raise StateError(DriveError, text, (state,))
    return (tau,)


CAREFUL: dict[str, Callable[..., Results]] = {
    **{f"constrained_dynamics{by}": lambda *given: (_by_rank(*given).x,) for by, _ in METHODS},
    **{f"constrained_motion{by}": _motion for by, _ in METHODS},
    "consistent_velocity": _consistent,
    "onto_constraints": _onto,
    "inverse_dynamics": _inverse,
    "drive_forces": _drive_forces,
}
"""The algorithms that have a careful route: it takes the arguments of some states (states, ...), all finite."""


def mending(
    model: Model, name: str, options: Options, run: Callable[[dict[str, FloatArray]], Run] | None = None
) -> Explain:
    """What solves the states in doubt again; `run` gives what runs algorithms on these, from their arguments."""
    careful = partial(CAREFUL[name], model, options)
    axes = {argument.name: len(argument.shape) for argument in inputs_of(model, name, options)}

    def on_model(name: str, arrays: Arrays) -> Any:
        return entry(model, name, algorithm)(*map(arrays.get, spec(name).inputs), None, True)

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        def found(some: dict[str, FloatArray]) -> Results:
            return careful(run(some) if run else on_model, some)

        return mend_states(found, axes, arrays, results, verdicts != 0)

    return explain


def mend_states(
    careful: Callable[[dict[str, FloatArray]], Results],
    axes: Mapping[str, int],
    arrays: Mapping[str, FloatArray],
    results: Results,
    doubtful: Any,
) -> Results:
    """Put what the careful route finds for some states in their place, as far as their arguments are finite."""
    batch, some = np.shape(doubtful), np.array(doubtful)
    ends = {key: a.shape[a.ndim - axes.get(key, 1) :] for key, a in arrays.items()}
    given = {key: np.broadcast_to(a, (*batch, *ends[key]))[some] for key, a in arrays.items()}
    finite = np.all([np.isfinite(a).all(axis=tuple(range(1, a.ndim))) for a in given.values()], axis=0)
    some[doubtful] = finite
    try:
        found = careful({key: a[finite] for key, a in given.items()})
    except StateError as error:
        raise error.in_batch(some) from None
    for result, part in zip(results, found, strict=True):
        result[some], result[doubtful & ~some] = part, np.nan
    return results


# ---- functions -------------------------------------------------------------------------------------------------------


def careful_function(model: Model, name: str, options: Options = PLAIN, is_long: bool = False) -> Function:
    """The function of an algorithm on a model whose states in doubt take the careful route.

    Ranks cannot be determined in float32, so it computes in float64. Where a joint moves nothing that has inertia,
    whatever the state, there is no program, but loops may hold it: then all states take the careful route. They always
    do if there `is_long`: where the program has so much to do that a rank test has less.
    """
    return function_of(model, (name, options, is_long), _careful)


def _careful(model: Model, key: tuple[str, Options, bool]) -> Function:
    name, options, is_long = key
    require_model(model)
    made = new_function(model, name, options, mending(model, name, options))
    made.in_double, made.can_be_singular = True, bool(model.constraints)
    if is_long:
        made.rule, made.digest = all_in_doubt(made.outputs), lambda: None
    return made
