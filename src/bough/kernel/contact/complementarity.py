"""Forces of contacts, limits and other conditions from A and b: the public functions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import complementarity
from bough.backends import Kernel, Plain
from bough.complementarity import SOLVED, Conditions
from bough.errors import ModelError, ShapeError
from bough.kernel.border import FloatArray, Shape, as_floats, batch_shape, call, require_finite
from bough.kernel.compile import kernel, remember_call
from bough.kernel.contact.one_by_one import at_friction, one_by_one, shape_of, worthwhile
from bough.kernel.overflow import require_finite_results
from bough.reading import number, whole_number

__all__ = ["Solution", "Swept", "complementarity_residual", "gauss_seidel", "pivoting", "when_to_stop"]


TINY, ENLARGED = 1e-280, 2.0**400
"""Below this largest entry A is enlarged, and by what: a power of two, which changes no digit."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Forces found by `pivoting`; immutable.

    Attributes
    ----------
    f
        Forces, or impulses where a is a velocity, shape (*batch, n); always finite.
    a
        A f + b, shape (*batch, n).
    residual
        By how much each row fails, in the units of a, shape (*batch, n): see `complementarity_residual`.
    conflicts
        True for rows that cannot be met together, shape (*batch, n); False everywhere if all conditions are met.
    pivots
        How many pivots it took: how many times a row began or ceased to be at a bound, shape (*batch,).
    reasons
        What went wrong, in words, by the index of each state that has conflicts; () is the index of a single state.
    """

    f: FloatArray
    a: FloatArray
    residual: FloatArray
    conflicts: NDArray[np.bool_]
    pivots: NDArray[np.int64]
    reasons: Mapping[tuple[int, ...], str]

    @property
    def solved(self) -> NDArray[np.bool_]:
        """Whether all conditions are met, shape (*batch,)."""
        return np.logical_not(self.conflicts.any(axis=-1))


def pivoting(
    A: ArrayLike,
    b: ArrayLike,
    conditions: Conditions,
    mu: ArrayLike = 0.0,
    *,
    slip: ArrayLike | None = None,
    bounds: ArrayLike | None = None,
) -> Solution:
    """Find forces f so that a = A f + b meets all conditions, exactly.

    Typically A = J M⁻¹ Jᵀ and b = J v + c for velocities (f is then an impulse), or b the acceleration without contact
    forces. Units are the caller's: those of a are those of b, say m/s, and A is in units of a per unit of f.

    If A is symmetric and positive semidefinite, singular or not, and b = J v for some v, then there is a solution, and
    it is found; with cones nothing proves that, but of 60 000 hostile problems none was left. Otherwise there may be
    none. Then `conflicts` of the result names rows that cannot be met together, and the forces are those of conditions
    relaxed by the least amounts, in the sense of least squares: equalities among themselves first, then inequalities.
    If that does not help either (a sliding body that jams, Painlevé), forces of inequalities and friction are zero.

    Forces of redundant rows are not unique; one solution is returned, for equalities alone the smallest.

    Parameters
    ----------
    A
        Shape (*batch, n, n); the batch axes of all arguments are broadcast.
    b
        Shape (*batch, n), in units of a.
    conditions
        What each row demands.
    mu
        Coefficients of friction, not negative, read at the normal rows of contacts: one number, or shape (*batch, n).
    slip
        For accelerations: velocities at which rows of friction slide already, shape (*batch, n); only signs matter. The
        force of such a row is -μ fₙ sign(slip). Zero, or None for all, where a row does not slide yet. Not for cones.
    bounds
        The lower and the upper force of boxes, read at their rows: one pair, or shape (*batch, n, 2). Infinite ones
        bound nothing.

    Returns
    -------
    Solution
        Forces, a, residuals, conflicts, and the number of pivots.

    Notes
    -----
    A compiled program guesses for all rows at once which are at a bound, until all conditions are met but for 1e-12, in
    a problem of magnitude 1: rows are scaled so that A has a diagonal of 1 and b a largest entry of 1. Redundant rows
    are those whose pivot is below 1e-10 of their diagonal entry. States that are not solved so (few) follow Lemke's
    path, on NumPy, one after the other. Cones have corners there, eight and more where forces and sliding point, and
    Newton steps lead from those to the round ones. On that path, pivots below 1e-11 of the largest entry of their
    column count as zero, and rows that fail by more than 1e-9 are in conflict. So do, for redundant equalities,
    singular values below 1e-11 of the largest. What is float32 is computed in float64. To find what conflicts in a
    problem without a solution takes some 0.1 s for 30 contacts, half a second for 100.
    """
    n = _rows(conditions)
    whole = _straight(conditions, "pivoting", mu, bounds, A, b, slip)
    if whole is not None and np.isfinite(whole).all():
        return _solution(whole, np.zeros(n, np.bool_), {})
    if slip is not None and conditions.cones.size:
        raise ModelError(f"slip is given and row {conditions.cones[0]} is of kind 'cone', expected 'pyramid'")
    arrays = _read(conditions, mu=mu, bounds=bounds, A=A, b=b, slip=slip)
    arrays = {name: value.astype(np.float64, copy=False) for name, value in arrays.items()}
    factor = _enlarged(arrays)
    with np.errstate(over="ignore", invalid="ignore"):
        if n and worthwhile(conditions):
            results = _run(conditions, "pivoting", arrays, {"whole": (3 * n + 1,), "verdict": (2,)})
            whole, verdict = results["whole"], results["verdict"][..., 1]
        else:
            batch = batch_shape(_with_axes(arrays, n))
            whole, verdict = np.zeros((*batch, 3 * n + 1)), np.zeros(batch)
        conflicts = np.zeros((*verdict.shape, n), np.bool_)
        doubtful = (verdict != SOLVED).any() and not _beyond(whole, verdict)
        reasons = one_by_one(conditions, arrays, verdict, whole, conflicts) if doubtful else {}
    if factor is not None:
        whole[..., n : 3 * n] /= factor
    require_finite_results("pivoting", whole)
    return _solution(whole, conflicts, reasons)


def _enlarged(arrays: dict[str, FloatArray]) -> FloatArray | None:
    """Multiply A and b of states whose A is next to nothing, of which reciprocals would be infinite; by what."""
    A = arrays["A"]
    largest = np.abs(A).max(axis=(-2, -1), initial=0.0)
    tiny = (largest > 0.0) & (largest < TINY)
    if not tiny.any():
        return None
    factor = np.where(tiny, ENLARGED, 1.0)
    arrays["A"] = A * factor[..., None, None]
    with np.errstate(over="ignore"):
        arrays["b"] = arrays["b"] * factor[..., None]
    require_finite_results("pivoting", arrays["b"])
    return factor[..., None]


def _beyond(whole: FloatArray, verdict: FloatArray) -> bool:
    """Whether forces of states that count as solved are infinite already."""
    return not np.isfinite(whole[verdict == SOLVED]).all()


def _solution(whole: FloatArray, conflicts: NDArray[np.bool_], reasons: Mapping[tuple[int, ...], str]) -> Solution:
    n = conflicts.shape[-1]
    pivots = whole[..., 3 * n].astype(np.int64)
    return Solution(whole[..., :n], whole[..., n : 2 * n], whole[..., 2 * n : 3 * n], conflicts, pivots, reasons)


@dataclass(frozen=True, eq=False)
class Swept:
    """Forces found by `gauss_seidel`; immutable.

    Attributes
    ----------
    f
        Forces, or impulses where a is a velocity, shape (*batch, n).
    a
        A f + b, shape (*batch, n).
    residual
        By how much each row fails, in the units of a, shape (*batch, n): see `complementarity_residual`.
    iterations
        How many sweeps it took, shape (*batch,).
    """

    f: FloatArray
    a: FloatArray
    residual: FloatArray
    iterations: NDArray[np.int64]


def gauss_seidel(
    A: ArrayLike,
    b: ArrayLike,
    conditions: Conditions,
    mu: ArrayLike = 0.0,
    *,
    start: ArrayLike | None = None,
    bounds: ArrayLike | None = None,
    tolerance: float = 1e-8,
    iterations: int = 1000,
) -> Swept:
    """Find forces f so that a = A f + b meets all conditions, by projected Gauss-Seidel, in batches.

    Fast where a rough answer will do or a good start is known; `pivoting` gives exact ones. Converges for symmetric
    positive semidefinite A without friction, and in practice with friction; slowly where much lies on little mass.

    Parameters
    ----------
    A
        Shape (*batch, n, n); the batch axes of all arguments are broadcast.
    b
        Shape (*batch, n), in units of a.
    conditions
        What each row demands; pyramids and cones of friction.
    mu
        Coefficients of friction, not negative, read at the normal rows of contacts: one number, or shape (*batch, n).
    start
        Forces to start from, such as those of the previous step, shape (*batch, n); None for zero.
    bounds
        The lower and the upper force of boxes, read at their rows: one pair, or shape (*batch, n, 2).
    tolerance
        A state is done when no force changes in a sweep by more than what changes its own a by this, in units of a.
    iterations
        The largest number of sweeps.

    Returns
    -------
    Swept
        Forces, a, residuals and the number of sweeps. Residuals tell which states are not done.
    """
    n = _rows(conditions)
    stop = when_to_stop(tolerance, iterations)
    begin = np.zeros(n) if start is None else start
    whole = _straight(conditions, "gauss_seidel", mu, bounds, A, b, begin, stop)
    if whole is None:
        arrays = _read(conditions, mu=mu, bounds=bounds, A=A, b=b, start=begin, stop=stop)
        dtype = np.result_type(arrays["A"], arrays["b"])
        arrays = {name: value.astype(dtype, copy=False) for name, value in arrays.items()}
        whole = _run(conditions, "gauss_seidel", arrays, {"whole": (3 * n + 1,)})["whole"]
    f, a, residual = (whole[..., k * n : (k + 1) * n] for k in range(3))
    for name, result in (("f", f), ("a", a)):
        require_finite(name, result)
    return Swept(f, a, residual, whole[..., 3 * n].astype(np.int64))


def when_to_stop(tolerance: float, iterations: int) -> FloatArray:
    """Both numbers, if they are any."""
    within = number(tolerance, "tolerance", "a finite number, not negative", least=0.0)
    return np.array([within, whole_number(iterations, "iterations")], np.float64)


def complementarity_residual(
    A: ArrayLike,
    b: ArrayLike,
    f: ArrayLike,
    conditions: Conditions,
    mu: ArrayLike = 0.0,
    *,
    slip: ArrayLike | None = None,
    bounds: ArrayLike | None = None,
) -> FloatArray:
    """By how much each row fails its condition, in units of a; zero where and only where all conditions are met.

    For a row it is A_ii times the distance of f from where f - a / A_ii lies once it is put within the bounds of the
    row. That is the magnitude of a for equalities, of min(a, A_ii f) for inequalities. For cones A_ii is the larger of
    the two; where A_ii is zero, 1 is taken for it.

    Parameters
    ----------
    A, b, f
        Shapes (*batch, n, n), (*batch, n) and (*batch, n).
    conditions, mu, slip, bounds
        As for `pivoting`.

    Returns
    -------
    array
        Shape (*batch, n), not negative.
    """
    n = _rows(conditions)
    arrays = _read(conditions, A=A, b=b, mu=mu, slip=slip, bounds=bounds)
    forces, mu = as_floats("f", f, (n,)), at_friction(arrays["mu"], conditions)
    require_finite("f", forces)
    limits, sliding = arrays.get("bounds"), arrays.get("slip")
    with np.errstate(over="ignore", invalid="ignore"):
        failing = complementarity.residual(arrays["A"], arrays["b"], forces, conditions, mu, sliding, limits)
    require_finite_results("complementarity_residual", failing)
    return np.asarray(failing)


# ---- arguments and programs ------------------------------------------------------------------------------------------


def _rows(conditions: object) -> int:
    if not isinstance(conditions, Conditions):
        raise ShapeError(f"conditions is a {type(conditions).__name__}, expected Conditions")
    return conditions.n


def _read(conditions: Conditions, **given: ArrayLike | None) -> dict[str, FloatArray]:
    """The arguments that are given and of use, as arrays of the right shape with sound numbers."""
    n, arrays = conditions.n, {}
    if not conditions.box.size:
        given.pop("bounds", None)
    elif given.get("bounds") is None:
        row = conditions.box[0]
        raise ShapeError(f"bounds is None and row {row} is of kind 'box', expected its lower and its upper force")
    for name, value in given.items():
        if value is None:
            if name in ("A", "b", "mu"):
                raise ShapeError(f"{name} is None, expected an array")
            continue
        pair = {"mu": (), "bounds": (2,)}.get(name)  # what all rows share may be given once
        if pair is not None and (one := as_floats(name, value, ())).shape == pair:
            value = np.broadcast_to(one, shape_of(name, n))
        arrays[name] = as_floats(name, value, shape_of(name, n))
        if name != "bounds":
            require_finite(name, arrays[name])
    if (arrays["mu"] < 0).any():
        least = arrays["mu"].min()
        raise ShapeError(f"mu has the entry {least}, expected coefficients of friction that are not negative")
    if "bounds" in arrays:
        _require_order(conditions, arrays["bounds"])
    return arrays


def _require_order(conditions: Conditions, bounds: FloatArray) -> None:
    pairs = bounds[..., conditions.box, :]
    low, high = pairs[..., 0], pairs[..., 1]
    wrong = np.argwhere(~((low <= high) & (low < np.inf) & (high > -np.inf)))
    if wrong.size:
        *state, k = wrong[0].tolist()
        got, row = pairs[(*state, k)].tolist(), int(conditions.box[k])
        raise ShapeError(
            f"bounds{[*state, row]} is {got}, expected a lower force and an upper one that is not below it"
        )


def _with_axes(arrays: Mapping[str, FloatArray], n: int) -> dict[str, tuple[FloatArray, int]]:
    """Arguments with the number of axes that belong to one state."""
    return {name: (a, len(shape_of(name, n))) for name, a in arrays.items()}


def _straight(conditions: Conditions, name: str, mu: object, bounds: object, *arrays: object) -> FloatArray | None:
    """What a program gives for one state, straight from machine code, if there is some and all is plain; else None."""
    given = [a for a in (mu, bounds, *arrays) if a is not None]
    if mu is None or arrays[0] is None or arrays[1] is None:
        return None
    fast = conditions.calls.get((name, len(given), bounds is None))
    if fast is None:
        return None
    if isinstance(mu, float):
        given[0] = _uniform(conditions.n, mu)
    elif type(mu) is not np.ndarray or mu.dtype != np.float64 or not (mu >= 0.0).all():
        return None
    if bounds is not None and not (type(bounds) is np.ndarray and (bounds[..., 0] <= bounds[..., 1]).all()):
        return None
    result: FloatArray | None = None if given[0] is None else fast(*given)
    return result


@lru_cache(maxsize=64)
def _uniform(n: int, mu: float) -> FloatArray | None:
    """A coefficient of friction for all rows, if it is one."""
    return np.full(n, mu) if mu >= 0.0 else None


def _run(
    conditions: Conditions, name: str, arrays: Mapping[str, FloatArray], shapes: Mapping[str, Shape]
) -> dict[str, FloatArray]:
    """Run a program on arrays; one state in float64 goes straight to machine code from the next time on."""
    ready = _kernel(conditions, name, tuple(arrays))
    results = call(ready, _with_axes(arrays, conditions.n), shapes)
    first = next(iter(results.values()))
    key = (name, len(arrays), "bounds" not in arrays)
    if first.ndim == 1 and first.dtype == np.float64 and key not in conditions.calls:
        remember_call(conditions, key, ready, first.shape)
    return results


def _kernel(conditions: Conditions, name: str, arguments: tuple[str, ...]) -> Kernel:
    n = conditions.n
    function: Any = complementarity.principal if name == "pivoting" else complementarity.gauss_seidel
    shapes = {argument: shape_of(argument, n) for argument in arguments}
    return kernel(
        (name, conditions, arguments),
        name,
        lambda **arrays: function(conditions, **arrays),
        {argument: math.prod(shape) for argument, shape in shapes.items()},
        n,
        lambda: f"{name} {conditions.kinds} {conditions.normals} {arguments}",
        Plain((*shapes.values(), (3 * n + 1,)), pivots=name == "pivoting"),
        rolled=True,
    )
