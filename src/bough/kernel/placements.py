"""Logarithms and exponentials of placements on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.backends import Argument
from bough.errors import FiniteError
from bough.kernel.arguments import FloatArray, write_out
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.table import NO_STRUCTURE, entry
from bough.kernel.verdict import is_finite
from bough.scalar import Array, Bool, Scalar, absolute, both, negation
from bough.spatial import Matrix, Motion, Transform, Vector

__all__ = ["exp_placements", "log_placements"]

UNIT = {"float64": 1e-6, "float32": 1e-4}
"""How far R Rᵀ may be from the identity."""


def exp_placements(motions: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
    """Return placements (..., 4, 4) after a unit of time with constant velocities: the exponential of SE(3).

    A frame at X (4, 4) that moves with the twist v_omega (6,) in its own axes is at ``X @ exp_placements(v_omega *
    dt)`` after the time dt.

    Parameters
    ----------
    motions
        Motions (..., 6), linear part first: [vx vy vz ωx ωy ωz], m and rad, along the axes of the frame itself.
    out
        Array to write the result to, of the right shape and data type.

    Examples
    --------
    >>> import bough
    >>> X = bough.exp_placements([1.0, 2.0, 3.0, 0.0, 0.0, 0.5])
    >>> bough.log_placements(X).round(12)
    array([1. , 2. , 3. , 0. , 0. , 0.5])
    """
    return entry(NO_STRUCTURE, "exp_placements", _exp)(motions, out, True)


def log_placements(placements: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
    """Return motions (..., 6) that lead to placements in a unit of time, linear part first: the logarithm of SE(3).

    For a frame at A that should be at B, the error in its own axes is ``log_placements(np.linalg.inv(A) @ B)``: the
    velocity that takes it there in one second. Rotations are at most half a turn. For exactly half a turn there are two
    solutions; the result is one of them.

    Parameters
    ----------
    placements
        Matrices (..., 4, 4) as `placements` gives: a rotation and an origin (m) above the row 0 0 0 1. Rotations may
        be off by 1e-6 (1e-4 in float32).
    out
        Array to write the result to, of the right shape and data type.

    Raises
    ------
    FiniteError
        If entries are not finite, or a matrix is not a placement; the message says which.

    Examples
    --------
    >>> import bough
    >>> X = bough.Placement.from_rpy((0, 0, 0.5), (0, 0, 2)).homogeneous  # by 0.5 rad about z, and 2 m along it
    >>> bough.log_placements(X)
    array([0. , 0. , 2. , 0. , 0. , 0.5])
    """
    motions: FloatArray = entry(NO_STRUCTURE, "log_placements", _log)(placements, None, True)
    # whether a matrix is a placement is known with its logarithm: only then may there be something in `out`
    return motions if out is None else write_out(out, motions)


def _require_placements(X: FloatArray) -> None:
    """Raise unless the matrices are rigid: rotations, and a last row 0 0 0 1."""
    R = X[..., :3, :3].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(axis=(-1, -2), initial=0.0)
        upright = np.sum(np.cross(R[..., 0, :], R[..., 1, :]) * R[..., 2, :], axis=-1) > 0
    flaws = {
        "the last row is not 0 0 0 1": (X[..., 3, :] != [0.0, 0.0, 0.0, 1.0]).any(axis=-1),
        "the (3, 3) matrix is not a rotation": ~(upright & (error <= UNIT[str(X.dtype)])),
    }
    for flaw, where in flaws.items():
        if where.any():
            place = [int(k) for k in np.argwhere(where)[0]]
            raise FiniteError(f"placements{place or ''} is {X[tuple(place)].tolist()}: {flaw}")


def _require_finite(what: str, name: str, given: FloatArray, result: FloatArray, axes: int) -> None:
    """Raise, naming the argument, unless all results are finite; `axes` of the result belong to one state."""
    bad = ~np.isfinite(result).all(axis=tuple(range(-axes, 0)))
    if bad.any():
        place = [int(k) for k in np.argwhere(bad)[0]]
        raise FiniteError(f"{name}{place or ''} is {given[tuple(place)].tolist()}: {what} is not finite")


def _exp(structure: object, name: str) -> Function:
    def rule(motions: Array) -> dict[str, Any]:
        X = Transform.exp(Motion(_vector(motions, (3, 4, 5)), _vector(motions, (0, 1, 2))))
        x, y, z = (column.parts for column in X.rotation.columns)
        rows = zip(x, y, z, X.translation.parts, strict=True)
        placement = [*(entry for row in rows for entry in row), 0.0, 0.0, 0.0, 1.0]
        return {"placements": placement, "doubt": negation(is_finite(placement, 16))}

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        _require_finite("the exponential", "motions", arrays["motions"], results[0], 2)
        return results

    inputs = [Argument("motions", (6,), "linear part first, m and rad")]
    outputs = [Argument("placements", (4, 4), finite=False)]
    return Function(name, inputs, outputs, rule, size=6, digest=lambda: name, explain=explain)


def _log(structure: object, name: str) -> Function:
    def rule(placements: Array) -> dict[str, Any]:
        x, y, z, p = (_vector(placements, (k, k + 4, k + 8)) for k in range(4))
        m = Transform(Matrix(x, y, z), p).log
        motion = [*m.linear.parts, *m.angular.parts]
        return {"motions": motion, "doubt": negation(both(_is_placement(placements), is_finite(motion, 6)))}

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        _require_placements(arrays["placements"])
        _require_finite("the logarithm", "placements", arrays["placements"], results[0], 1)
        return results

    inputs = [Argument("placements", (4, 4), "rotation and origin above a row 0 0 0 1")]
    outputs = [Argument("motions", (6,), finite=False)]
    return Function(name, inputs, outputs, rule, size=6, digest=lambda: name, explain=explain)


def _is_placement(X: Array) -> Bool:
    """Whether a matrix is rigid, in a program."""
    sound: Bool = True
    for k, last in zip(range(12, 16), (0.0, 0.0, 0.0, 1.0), strict=True):
        sound = both(sound, absolute(X[k] - last) <= 0.0)
    a, b, c = (_vector(X, range(k, k + 3)) for k in (0, 4, 8))
    products: list[tuple[Scalar, float]] = [(a.dot(a), 1.0), (b.dot(b), 1.0), (c.dot(c), 1.0)]
    for product, one in (*products, (a.dot(b), 0.0), (a.dot(c), 0.0), (b.dot(c), 0.0)):
        sound = both(sound, absolute(product - one) <= UNIT["float64"])
    return both(sound, a.cross(b).dot(c) > 0.0)


def _vector(values: Array, places: Sequence[int]) -> Vector:
    return Vector.of([values[k] for k in places])
