"""Logarithms and exponentials of placements on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from bough.backends import Kernel
from bough.errors import FiniteError
from bough.kernel.border import FloatArray, as_floats, call, require_finite, write_out
from bough.kernel.compile import get_backend, kernel
from bough.scalar import Array, Scalar
from bough.spatial import Matrix, Motion, Transform, Vector

__all__ = ["exp_placements", "log_placements"]

UNIT = {"float64": 1e-6, "float32": 1e-4}
"""How far R Rᵀ may be from the identity."""


def exp_placements(motions: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
    """Where frames get that move with constant velocities for a unit of time, (..., 4, 4): the exponential of SE(3).

    A frame placed by X (4, 4) that moves with the twist ω, v in its own axes is at ``X @ exp_placements(v_omega * dt)``
    after the time dt.

    Parameters
    ----------
    motions
        Motions (..., 6), linear part first: [vx vy vz ωx ωy ωz], m and rad, along the axes of the frame itself.
    out
        Where to write the result, an array of its shape and data type.

    Examples
    --------
    >>> import bough
    >>> X = bough.exp_placements([1.0, 2.0, 3.0, 0.0, 0.0, 0.5])
    >>> bough.log_placements(X).round(12)
    array([1. , 2. , 3. , 0. , 0. , 0.5])
    """
    m = as_floats("motions", motions, (6,), "linear part first, m and rad")
    require_finite("motions", m)
    result = call(_exp(get_backend()), {"motions": (m, 1)}, {"placements": (4, 4)})["placements"]
    return _given_back("the exponential", "motions", m, result, 2, out)


def log_placements(placements: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
    """The motions (..., 6) that lead to placements in a unit of time, linear part first: the logarithm of SE(3).

    The error of a frame at A that should be at B, in its own axes, is ``log_placements(np.linalg.inv(A) @ B)``: the
    velocity that takes it there in one second. Rotations are by at most half a turn; of the two that are exactly
    half a turn the result is one or the other.

    Parameters
    ----------
    placements
        Matrices (..., 4, 4) as `placements` gives: a rotation and an origin (m) above the row 0 0 0 1. Rotations may
        be off by 1e-6 (1e-4 in float32).
    out
        Where to write the result, an array of its shape and data type.

    Raises
    ------
    FiniteError
        If entries are not finite, or a matrix is no placement; the message says which.
    """
    X = as_floats("placements", placements, (4, 4), "rotation and origin above a row 0 0 0 1")
    require_finite("placements", X)
    _require_placements(X)
    result = call(_log(get_backend()), {"placements": (X, 2)}, {"motions": (6,)})["motions"]
    return _given_back("the logarithm", "placements", X, result, 1, out)


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


def _given_back(
    what: str, name: str, given: FloatArray, result: FloatArray, axes: int, out: FloatArray | None
) -> FloatArray:
    """The result, where it was asked for, unless it is not finite."""
    bad = ~np.isfinite(result).all(axis=tuple(range(-axes, 0)))
    if bad.any():
        place = [int(k) for k in np.argwhere(bad)[0]]
        raise FiniteError(f"{name}{place or ''} is {given[tuple(place)].tolist()}: {what} is not finite")
    return result if out is None else write_out(out, result)


@lru_cache(maxsize=2)
def _exp(backend: str) -> Kernel:
    def exp(motions: Array) -> dict[str, list[Scalar]]:
        X = Transform.exp(Motion(_vector(motions, (3, 4, 5)), _vector(motions, (0, 1, 2))))
        x, y, z = (column.parts for column in X.rotation.columns)
        rows = zip(x, y, z, X.translation.parts, strict=True)
        return {"placements": [*(entry for row in rows for entry in row), 0.0, 0.0, 0.0, 1.0]}

    return kernel(("exp_placements",), "exp_placements", exp, {"motions": 6}, 6, lambda: "exp_placements")


@lru_cache(maxsize=2)
def _log(backend: str) -> Kernel:
    def log(placements: Array) -> dict[str, list[Scalar]]:
        x, y, z, p = (_vector(placements, (k, k + 4, k + 8)) for k in range(4))
        m = Transform(Matrix(x, y, z), p).log
        return {"motions": [*m.linear.parts, *m.angular.parts]}

    return kernel(("log_placements",), "log_placements", log, {"placements": 16}, 6, lambda: "log_placements")


def _vector(values: Array, places: Sequence[int]) -> Vector:
    return Vector.of([values[k] for k in places])
