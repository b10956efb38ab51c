"""Forces of contacts, limits and other conditions from A and b: the public functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import complementarity
from bough.backends import Kernel
from bough.complementarity import NONE, Conditions, Solution
from bough.errors import ModelError, ShapeError
from bough.kernel.border import FloatArray, as_floats, call, require_finite
from bough.kernel.compile import get_backend, kernel

__all__ = ["Swept", "complementarity_residual", "gauss_seidel", "pivoting"]


def pivoting(
    A: ArrayLike, b: ArrayLike, conditions: Conditions, mu: ArrayLike = 0.0, *, slip: ArrayLike | None = None
) -> Solution:
    """Find forces f so that a = A f + b meets all conditions, exactly, for one state.

    Typically A = J M⁻¹ Jᵀ and b = J v + c for velocities (f is then an impulse), or b the acceleration without contact
    forces. Units are the caller's: those of a are those of b, say m/s, and A is in units of a per unit of f.

    If A is symmetric and positive semidefinite, singular or not, and b = J v for some v, then there is a solution, and
    it is found. Otherwise there may be none. Then `conflicts` of the result names rows that cannot be met together, and
    the forces are those of conditions relaxed by the least amounts, in the sense of least squares: equalities among
    themselves first, then inequalities. If that does not help either (a sliding body that jams, Painlevé), forces of
    inequalities and friction are zero.

    Forces of redundant rows are not unique; one solution is returned, for equalities the smallest.

    Parameters
    ----------
    A
        Shape (n, n).
    b
        Shape (n,), in units of a.
    conditions
        What each row demands. Cones are for `gauss_seidel`.
    mu
        Coefficients of friction, not negative, read at the normal rows of contacts: one number, or shape (n,).
    slip
        For accelerations: velocities at which rows of friction slide already, shape (n,); only signs matter. The force
        of such a row is -μ fₙ sign(slip). Zero, or None for all, where a row does not slide yet.

    Returns
    -------
    Solution
        Forces, a, residuals, conflicts, and the number of pivots.

    Notes
    -----
    Rows are scaled so that A has a diagonal of 1 and b a largest entry of 1. Then singular
    values of the equalities below 1e-11 of the largest count as zero, so do pivots below 1e-11 of the largest entry of
    their column, and rows are in conflict that fail by more than 1e-9.
    """
    n = _rows(conditions)
    cones = conditions.of("cone")
    if cones.size:
        raise ModelError(f"row {cones[0]} is of kind 'cone', expected 'pyramid': cones are for gauss_seidel")
    arrays = {"A": as_floats("A", A, (n, n)), "b": as_floats("b", b, (n,)), "mu": _mu(mu, conditions)}
    arrays["slip"] = np.zeros(n) if slip is None else as_floats("slip", slip, (n,))
    for name, value in arrays.items():
        if value.ndim > (2 if name == "A" else 1):
            raise ShapeError(f"{name} has shape {value.shape}: pivoting takes one state at a time, without batch axes")
        require_finite(name, value)
    whole = {name: value.astype(np.float64) for name, value in arrays.items()}
    return complementarity.pivoting(whole["A"], whole["b"], conditions, whole["mu"], whole["slip"])


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
    arrays = {"A": as_floats("A", A, (n, n)), "b": as_floats("b", b, (n,)), "mu": _mu(mu, conditions)}
    arrays["start"] = np.zeros(n, arrays["b"].dtype) if start is None else as_floats("start", start, (n,))
    for name, value in arrays.items():
        require_finite(name, value)
    if not 0 <= tolerance < np.inf:
        raise ShapeError(f"tolerance is {tolerance}, expected a finite number, not negative")
    if iterations < 0:
        raise ShapeError(f"iterations is {iterations}, expected a whole number, not negative")
    dtype = np.result_type(arrays["A"], arrays["b"])
    inputs = {name: (a.astype(dtype, copy=False), 2 if name == "A" else 1) for name, a in arrays.items()}
    inputs["stop"] = (np.array([tolerance, iterations], dtype), 1)
    result = call(_sweeper(get_backend(), conditions), inputs, {"f": (n,), "a": (n,), "sweeps": (1,)})
    for name in ("f", "a"):
        require_finite(name, result[name])
    failing = complementarity.residual(arrays["A"], arrays["b"], result["f"], conditions, arrays["mu"])
    return Swept(result["f"], result["a"], failing, result["sweeps"][..., 0].astype(np.int64))


def complementarity_residual(
    A: ArrayLike,
    b: ArrayLike,
    f: ArrayLike,
    conditions: Conditions,
    mu: ArrayLike = 0.0,
    *,
    slip: ArrayLike | None = None,
) -> FloatArray:
    """By how much each row fails its condition, in units of a; zero where and only where all conditions are met.

    For a row it is A_ii times the distance of f from where f - a / A_ii lies once it is put within the bounds of the
    row. That is the magnitude of a for equalities, of min(a, A_ii f) for inequalities. For cones A_ii is the larger of
    the two; where A_ii is zero, 1 is taken for it.

    Parameters
    ----------
    A, b, f
        Shapes (*batch, n, n), (*batch, n) and (*batch, n).
    conditions, mu, slip
        As for `pivoting`; mu and slip may have batch axes.

    Returns
    -------
    array
        Shape (*batch, n), not negative.
    """
    n = _rows(conditions)
    matrix, offset, forces = as_floats("A", A, (n, n)), as_floats("b", b, (n,)), as_floats("f", f, (n,))
    sliding = None if slip is None else as_floats("slip", slip, (n,))
    return complementarity.residual(matrix, offset, forces, conditions, _mu(mu, conditions), sliding)


@lru_cache(maxsize=256)
def _sweeper(backend: str, conditions: Conditions) -> Kernel:
    n = conditions.n
    return kernel(
        ("gauss_seidel", conditions),
        "gauss_seidel",
        lambda **arrays: complementarity.gauss_seidel(conditions, **arrays),
        {"A": n * n, "b": n, "mu": n, "start": n, "stop": 2},
        n,
        lambda: f"gauss_seidel {conditions.kinds} {conditions.normals}",
        rolled=True,
    )


def _rows(conditions: object) -> int:
    if not isinstance(conditions, Conditions):
        raise ShapeError(f"conditions is a {type(conditions).__name__}, expected Conditions")
    return conditions.n


def _mu(mu: ArrayLike, conditions: Conditions) -> NDArray[np.floating[Any]]:
    """Coefficients of friction at the rows of friction, from those at the normals."""
    n = conditions.n
    values = as_floats("mu", mu, ())
    values = as_floats("mu", np.full(n, values) if values.ndim == 0 else values, (n,))
    if (values < 0).any():
        raise ShapeError(f"mu has the entry {values.min()}, expected coefficients of friction that are not negative")
    return np.where(conditions.normal == NONE, values.dtype.type(0), values[..., conditions.normal])
