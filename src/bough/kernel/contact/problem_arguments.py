"""A, b and what else users give for problems of forces: read, or refused by name."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.complementarity import Conditions
from bough.errors import ShapeError
from bough.kernel.arguments import FloatArray, Shape, as_floats, require_finite
from bough.kernel.overflow import require_finite_results
from bough.reading import kind_of, number, whole_number

__all__ = [
    "as_type",
    "enlarge_tiny",
    "for_all_rows",
    "read_problem",
    "require_given",
    "row_count",
    "shape_of",
    "when_to_stop",
]

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))

TINY, ENLARGED = 1e-280, 2.0**400
"""Below this largest entry A is enlarged, or its reciprocals would overflow; a power of two changes no digit."""


def row_count(conditions: object) -> int:
    """The number of rows of conditions, or a refusal of anything else."""
    if not isinstance(conditions, Conditions):
        raise ShapeError(f"conditions is {kind_of(conditions)}, expected Conditions")
    return conditions.n


def shape_of(name: str, n: int) -> Shape:
    """The shape of an argument for one state."""
    return {"A": (n, n), "bounds": (n, 2), "stop": (2,)}.get(name, (n,))


def read_problem(conditions: Conditions, **given: ArrayLike | None) -> dict[str, FloatArray]:
    """The arguments that are given and of use, as arrays of the right shape with sound numbers."""
    if not conditions.box.size:
        given.pop("bounds", None)
    arrays = {key: as_floats(key, x, shape_of(key, conditions.n)) for key, x in given.items() if x is not None}
    for name, a in arrays.items():
        if name != "bounds":
            require_finite(name, a)
    if (arrays["mu"] < 0).any():
        least = arrays["mu"].min()
        raise ShapeError(f"mu has the entry {least}, expected coefficients of friction that are not negative")
    pairs = arrays["bounds"][..., conditions.box, :] if "bounds" in arrays else np.zeros((0, 2))
    low, high = pairs[..., 0], pairs[..., 1]
    wrong = np.argwhere(~((low <= high) & (low < np.inf) & (high > -np.inf)))
    if wrong.size:
        *state, k = wrong[0].tolist()
        got, row = pairs[(*state, k)].tolist(), int(conditions.box[k])
        expected = "expected a lower force and an upper one that is not below it"
        raise ShapeError(f"bounds{[*state, row]} is {got}, {expected}")
    return arrays


def require_given(**arrays: object) -> None:
    """Raise for what is None."""
    for name, value in arrays.items():
        if value is None:
            raise ShapeError(f"{name} is None, expected an array")


def as_type(dtype: Any, x: Any) -> Any:
    """An array of floats with floats of some type; what is no array of floats is left as it is."""
    return x.astype(dtype, copy=False) if isinstance(x, np.ndarray) and x.dtype in FLOATS else x


def for_all_rows(
    conditions: Conditions, mu: Any, bounds: ArrayLike | None, dtype: Any
) -> tuple[FloatArray, FloatArray | None]:
    """Coefficients and bounds for all rows, where they were given once for all of them."""
    n = conditions.n
    if type(mu) is float:
        friction = _uniform(n, mu, np.dtype(dtype).name)
    else:
        friction = as_floats("mu", mu, ()).astype(dtype, copy=False)
        friction = friction if friction.ndim else np.full(n, friction)
    if not conditions.box.size:
        return friction, None
    if bounds is None:
        row = conditions.box[0]
        raise ShapeError(f"bounds is None and row {row} is of kind 'box', expected its lower and its upper force")
    pairs = as_floats("bounds", bounds, (2,)).astype(dtype, copy=False)
    return friction, np.broadcast_to(pairs, (n, 2)).copy() if pairs.ndim == 1 else pairs


@lru_cache(maxsize=64)
def _uniform(n: int, mu: float, dtype: str) -> FloatArray:
    """A coefficient of friction for all rows."""
    return np.full(n, mu, dtype)


def when_to_stop(tolerance: float, iterations: int) -> FloatArray:
    """The tolerance and the number of sweeps at which Gauss-Seidel stops, as an array (2,), or a refusal by name."""
    within = number(tolerance, "tolerance", "a finite number, not negative", least=0.0)
    return np.array([within, whole_number(iterations, "iterations")], np.float64)


def enlarge_tiny(arrays: dict[str, FloatArray]) -> FloatArray | None:
    """Multiply A and b of states whose A is so small that reciprocals overflow, and return the factors."""
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
