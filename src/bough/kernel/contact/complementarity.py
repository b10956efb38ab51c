"""Forces of contacts, limits and other conditions from A and b: the public functions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import complementarity
from bough.backends import Argument
from bough.complementarity import SOLVED, Conditions, Demands
from bough.errors import ModelError
from bough.kernel.arguments import FloatArray, as_floats, broadcast, require_plain
from bough.kernel.compile import get_backend
from bough.kernel.contact.problem_arguments import (
    as_type,
    enlarge_tiny,
    for_all_rows,
    read_problem,
    require_given,
    row_count,
    shape_of,
    when_to_stop,
)
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.overflow import BEYOND, finite_status, require_finite_results
from bough.kernel.table import entry
from bough.reading import known_name
from bough.scalar import Array, Scalar, array, both, either, loop, minimum, negation

__all__ = ["Solution", "Swept", "gauss_seidel", "pivoting", "residual"]


@dataclass(frozen=True, eq=False)
class Solution:
    """Forces computed by `pivoting`; immutable.

    Attributes
    ----------
    f
        Forces, or impulses if a is a velocity, shape (*batch, n); always finite.
    a
        A f + b, shape (*batch, n).
    residual
        Violation of each row, in the units of a, shape (*batch, n): see `lcp.residual`.
    conflicts
        True for rows that cannot be met together, or that the solver could not meet within its bounds on work (see
        `reasons`), shape (*batch, n). False everywhere if all conditions are met.
    pivots
        Number of pivots: how many times a row reached or left a bound, shape (*batch,).
    reasons
        Explanation in words for each state with conflicts, by the index of the state; () is the index of a single
        state.
    """

    f: FloatArray
    a: FloatArray
    residual: FloatArray
    conflicts: NDArray[np.bool_]
    pivots: NDArray[np.int64]
    reasons: Mapping[tuple[int, ...], str]

    @property
    def solved(self) -> NDArray[np.bool_]:
        """True for states in which all conditions are met, shape (*batch,)."""
        return np.logical_not(self.conflicts.any(axis=-1))


@dataclass(frozen=True, eq=False)
class Swept:
    """Forces computed by `gauss_seidel`; immutable.

    Attributes
    ----------
    f
        Forces, or impulses if a is a velocity, shape (*batch, n).
    a
        A f + b, shape (*batch, n).
    residual
        Violation of each row, in the units of a, shape (*batch, n): see `lcp.residual`.
    iterations
        Number of sweeps, shape (*batch,).
    """

    f: FloatArray
    a: FloatArray
    residual: FloatArray
    iterations: NDArray[np.int64]


def pivoting(
    A: ArrayLike,
    b: ArrayLike,
    conditions: Conditions,
    mu: ArrayLike = 0.0,
    *,
    slip: ArrayLike | None = None,
    bounds: ArrayLike | None = None,
    method: Literal["lemke", "dantzig"] = "lemke",
) -> Solution:
    """Find forces f such that a = A f + b meets all conditions, exactly.

    Typically A = J M⁻¹ Jᵀ, and b = J v + c for velocities (f is then an impulse) or b is the acceleration without
    contact forces. Units are free: b and a have the same units, say m/s, and A has units of a per unit of f.

    If A is symmetric and positive semidefinite, also singular, and b = J v for some v, a solution exists. It is found,
    except in a few hard problems with many contacts: there `conflicts` names the unmet rows, and a reason says that a
    solution may exist. Other problems may have no solution. Then `conflicts` names rows that cannot be met together,
    and the forces are those of conditions relaxed by the least amounts, in the sense of least squares: first
    equalities, then inequalities. If that also fails (a sliding body that jams, Painlevé), forces of inequalities and
    friction are zero.

    Forces of redundant rows are not unique. The result is one solution; with equalities only, it is the smallest.

    Parameters
    ----------
    A
        Shape (*batch, n, n); the batch axes of all arguments are broadcast.
    b
        Shape (*batch, n), in units of a.
    conditions
        The condition of each row.
    mu
        Coefficients of friction, not negative, read at the normal rows of contacts: one number, or shape (*batch, n).
    slip
        For accelerations: sliding velocities of the friction rows, shape (*batch, n); only signs matter. The force of a
        sliding row is -μ fₙ sign(slip). Zero for rows that do not slide; None: no row slides. Not for cones.
    bounds
        The lower and the upper force of boxes, read at their rows: one pair, or shape (*batch, n, 2). Infinity: no
        bound.
    method
        "lemke": see the notes. "dantzig": Baraff's extension (1994) of Dantzig's algorithm, one row at a time, in
        NumPy. Both agree if the solution is unique. "dantzig" has no cones, may cycle with friction (a reason says so),
        and does not relax conditions without a solution, but names the unmet rows.

    Returns
    -------
    Solution
        Forces, a, residuals, conflicts, and the number of pivots.

    Notes
    -----
    A compiled program guesses for all rows together which are at a bound, and repeats until all conditions are met to
    1e-12. Rows are scaled, so that the diagonal of A is 1 and the largest entry of b is 1. A row is redundant if its
    pivot is below 1e-10 of its diagonal entry. The few states that this does not solve follow Lemke's path, in NumPy,
    one at a time. There cones are smoothed, less and less, and Newton steps follow. On Lemke's path, pivots below 1e-11
    of the largest entry of their column count as zero, and for redundant equalities also singular values below 1e-11 of
    the largest. If equalities are still unmet, those with a diagonal entry below 1e-3 of the largest are scaled as if
    it were 1e-3 of it. A row is unmet if its violation exceeds 1e-9. Float32 input is computed in float64. A problem
    with 100 contacts takes at most about 0.5 s, or about 1 s if it has no solution.

    Examples
    --------
    >>> import bough
    >>> contact = bough.lcp.Conditions.contacts(1)  # a normal and two tangents
    >>> A, b = [[2.0, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], [-1.0, 0.4, 0]  # 1/kg, m/s: it comes down and slides
    >>> solution = bough.lcp.pivoting(A, b, contact, mu=0.3)
    >>> solution.f.round(3)  # impulses in N s: it pushes, and friction is at its limit
    array([ 0.541, -0.162,  0.   ])
    """
    n = row_count(conditions)
    is_usual = type(A) is type(b) is np.ndarray and type(mu) in (float, np.ndarray)
    if not is_usual or slip is not None or bounds is not None:
        require_plain("lcp.pivoting", A=A, b=b, mu=mu, slip=slip, bounds=bounds)
    require_given(A=A, b=b, mu=mu)
    if slip is not None and conditions.cones.size:
        raise ModelError(f"slip is given and row {conditions.cones[0]} is of kind 'cone', expected 'pyramid'")
    by_rows = known_name(method, "method of pivoting", ("lemke", "dantzig")) == "dantzig"
    if by_rows and conditions.cones.size:
        raise ModelError(f"method is 'dantzig' and row {conditions.cones[0]} is of kind 'cone', expected 'pyramid'")
    given = for_all_rows(conditions, mu, bounds, np.float64)
    A, b, slip = (as_type(np.float64, x) for x in (A, b, slip))
    # to interpret a program takes longer than Lemke's path, which is for pyramids
    is_worthwhile = conditions.cones.size or get_backend() != "reference"
    guess = entry(conditions, "pivoting", _solver) if n and not by_rows and is_worthwhile else None
    if guess is not None:
        whole, status = guess(A, b, *given, slip, None, True)
        if status.ndim == 0 and status == SOLVED:
            return _solution(whole, np.zeros(n, np.bool_), {})
    arrays = read_problem(conditions, mu=given[0], bounds=given[1], A=A, b=b, slip=slip)
    arrays = {name: value.astype(np.float64, copy=False) for name, value in arrays.items()}
    factor = enlarge_tiny(arrays)
    if guess is None:
        batch = broadcast((name, a.shape[: a.ndim - len(shape_of(name, n))]) for name, a in arrays.items())
        whole, status = np.zeros((*batch, 3 * n + 1)), np.zeros(batch)
    elif factor is not None:
        whole, status = guess(*map(arrays.get, ("A", "b", "mu", "bounds", "slip")), None, True)
    status = np.where(status == BEYOND, SOLVED, status)  # whether the forces are finite is seen below
    conflicts, reasons = np.zeros((*status.shape, n), np.bool_), {}
    if (status != SOLVED).any() and np.isfinite(whole[status == SOLVED]).all():
        with np.errstate(over="ignore", invalid="ignore"):
            how = {"solve": complementarity.dantzig} if by_rows else {}
            reasons = _one_by_one(conditions, arrays, status, whole, conflicts, **how)
    if factor is not None:
        whole[..., n : 3 * n] /= factor
    require_finite_results("pivoting", whole)
    return _solution(whole, conflicts, reasons)


def _one_by_one(
    conditions: Conditions,
    arrays: Mapping[str, FloatArray],
    verdict: FloatArray,
    whole: FloatArray,
    conflicts: NDArray[np.bool_],
    **how: Any,
) -> dict[tuple[int, ...], str]:
    """See to the states that are not solved; returns what went wrong in which."""
    n, reasons = conditions.n, {}
    each = {name: np.broadcast_to(a, verdict.shape + shape_of(name, n)) for name, a in arrays.items()}
    for place in map(tuple, np.argwhere(verdict != SOLVED).tolist()):
        one = {name: np.ascontiguousarray(a[place]) for name, a in each.items()}
        A, b, slip, bounds = one["A"], one["b"], one.get("slip"), one.get("bounds")
        further: Any = (conditions, conditions.at_friction(one["mu"]), slip, bounds)
        f, conflicts[place], reason, pivots = complementarity.pivoting(A, b, *further, **how)
        whole[place] = np.concatenate([f, A @ f + b, complementarity.residual(A, b, f, *further), [pivots]])
        if reason:
            reasons[place] = reason
    return reasons


def _solution(whole: FloatArray, conflicts: NDArray[np.bool_], reasons: Mapping[tuple[int, ...], str]) -> Solution:
    f, a, failing, pivots = _parts(whole, conflicts.shape[-1])
    return Solution(f, a, failing, conflicts, pivots, reasons)


def _parts(whole: FloatArray, n: int) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.int64]]:
    """Forces, their a, by how much rows fail, and the number of pivots or sweeps, as programs give them together."""
    return whole[..., :n], whole[..., n : 2 * n], whole[..., 2 * n : 3 * n], whole[..., 3 * n].astype(np.int64)


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
    """Find forces f such that a = A f + b meets all conditions, by projected Gauss-Seidel, in batches.

    Use it for approximate results or with a good start; `pivoting` gives exact results. It converges for symmetric
    positive semidefinite A without friction, and in practice with friction; slowly if heavy bodies rest on light ones.

    Parameters
    ----------
    A, b
        Shapes (*batch, n, n) and (*batch, n), b in units of a; the batch axes of all arguments are broadcast.
    conditions, mu, bounds
        As for `pivoting`.
    start
        Initial forces, for example those of the previous step, shape (*batch, n); None: zero.
    tolerance
        Stopping criterion, in units of a: no force changes in a sweep by more than what changes a of its row by this.
    iterations
        The largest number of sweeps.

    Returns
    -------
    Swept
        Forces, a, residuals and the number of sweeps. The residuals show which states have not converged.

    Examples
    --------
    >>> import bough
    >>> contact = bough.lcp.Conditions.contacts(1)  # a normal and two tangents
    >>> A, b = [[2.0, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], [-1.0, 0.4, 0]  # 1/kg, m/s
    >>> swept = bough.lcp.gauss_seidel(A, b, contact, mu=0.3, tolerance=1e-10)
    >>> swept.f.round(3)  # impulses in N s
    array([ 0.541, -0.162,  0.   ])
    """
    n, stop = row_count(conditions), when_to_stop(tolerance, iterations)
    begin = np.zeros(n) if start is None else start
    further = {"start": begin, "stop": stop}
    return Swept(*_parts(_run("gauss_seidel", conditions, {"A": A, "b": b}, mu, bounds, further), n))


def residual(
    A: ArrayLike,
    b: ArrayLike,
    f: ArrayLike,
    conditions: Conditions,
    mu: ArrayLike = 0.0,
    *,
    slip: ArrayLike | None = None,
    bounds: ArrayLike | None = None,
) -> FloatArray:
    """Return the violation of each row, in units of a; all are zero if and only if all conditions are met.

    For each row, project f - a / A_ii to the bounds of the row: the violation is A_ii times the distance of f from this
    projection. For equalities this is |a|, for inequalities |min(a, A_ii f)|. For cones, A_ii is the larger of the two
    entries. If A_ii is zero, 1 is used instead.

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

    Examples
    --------
    >>> import bough
    >>> limits = bough.lcp.Conditions.inequalities(2)
    >>> A, b = [[1.0, 0], [0, 1]], [-2.0, 3.0]
    >>> bough.lcp.residual(A, b, [2.0, 0], limits)  # the first is held by 2, the second needs nothing
    array([0., 0.])
    >>> bough.lcp.residual(A, b, [0.0, 0], limits)
    array([2., 0.])
    """
    return _run("lcp.residual", conditions, {"A": A, "b": b, "f": f}, mu, bounds, {"slip": slip})


def _run(
    name: str, conditions: Conditions, leading: dict[str, Any], mu: Any, bounds: Any, further: dict[str, Any]
) -> FloatArray:
    """What a program gives, in the data type of the leading arguments; further ones are taken as they are."""
    n = row_count(conditions)
    require_plain(f"lcp.{name.removeprefix('lcp.')}", **leading, mu=mu, bounds=bounds, **further)
    require_given(**leading, mu=mu)
    arrays = [as_floats(key, x, shape_of(key, n)) for key, x in leading.items()]
    dtype = np.result_type(*arrays)
    given = [as_type(dtype, x) for x in arrays] + [*for_all_rows(conditions, mu, bounds, dtype)]
    return entry(conditions, name, _solver)(*given, *(as_type(dtype, x) for x in further.values()), None, True)


def _residual(demands: Demands, f: Array) -> dict[str, Array]:
    """By how much rows fail, over scalars."""
    a, failing = array(demands.n), array(demands.n)
    demands.values(f, a)
    demands.fail(f, a, failing)
    return {"whole": failing}


TAKEN = {
    "pivoting": (complementarity.principal, ("A", "b", "mu", "bounds", "slip"), ()),
    "gauss_seidel": (complementarity.gauss_seidel, ("A", "b", "mu", "bounds", "start", "stop"), ("start", "stop")),
    "lcp.residual": (_residual, ("A", "b", "f", "mu", "bounds", "slip"), ("f",)),
}
"""What is compiled, by its name, what it takes, and what of that is no part of the problem."""


def _solver(conditions: Conditions, name: str) -> Function:
    """One of these functions; coefficients that are negative and bounds in the wrong order are refused."""
    n, (algorithm, taken, beside) = conditions.n, TAKEN[name]
    inputs = [
        Argument(key, shape_of(key, n), finite=key != "bounds", optional=key in ("bounds", "slip")) for key in taken
    ]

    def rule(**x: Array) -> dict[str, Any]:
        none: Scalar = 0.0
        doubt = loop(n, lambda i, least: minimum(least, x["mu"][i]), none) < 0.0
        for row in conditions.box.tolist():
            low, high = x["bounds"][2 * row], x["bounds"][2 * row + 1]
            fine = both(low <= high, both(low < math.inf, high > -math.inf))
            doubt = either(doubt, negation(fine))
        demands = Demands(conditions, **{key: value for key, value in x.items() if key not in beside})
        found: dict[str, Any] = algorithm(demands, *(x[key] for key in beside))  # type: ignore[operator]
        if name == "pivoting":
            found["status"][0] = finite_status(found["status"][0], found["whole"], 3 * n + 1)
        return {**found, "doubt": doubt}

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        read_problem(conditions, **arrays)
        return results

    size = n if name == "lcp.residual" else 3 * n + 1
    outputs = [Argument("whole", (size,), finite=name != "pivoting")]
    outputs += [Argument("status", ())] if name == "pivoting" else []
    digest = f"{conditions.kinds} {conditions.normals}"
    return Function(name, inputs, outputs, rule, size=n, digest=lambda: digest, explain=explain, rolled=True)
