"""Regressors on arrays."""

from __future__ import annotations

from numpy.typing import ArrayLike

from bough.kernel.arguments import FloatArray
from bough.kernel.functions import algorithm
from bough.kernel.table import entry
from bough.model import Model

__all__ = ["kinetic_energy_regressor", "momentum_regressor", "potential_energy_regressor", "torque_regressor"]


def torque_regressor(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the matrix Y of τ = Y π: joint forces are linear in the inertial parameters π of `parameters`.

    π does not include armatures: `bough.rnea` returns Y π + armature · a.

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (..., nq).
    v, a
        Velocity and acceleration (..., nv).
    out
        Array to write the result to.
    check
        Whether to refuse NaN and infinity.

    Returns
    -------
    ndarray
        Y (..., nv, 10 N). Each body has ten columns: mass, m c (3), and inertia about the origin of its frame
        (xx yx yy zx zy zz), in the order of ``model.bodies``.

    Examples
    --------
    >>> import bough
    >>> import numpy as np
    >>> arm = bough.robots.load("arm")
    >>> q, v, a = bough.neutral(arm), np.ones(6), np.ones(6)
    >>> tau = bough.identification.torque_regressor(arm, q, v, a) @ bough.identification.parameters(arm)
    >>> np.allclose(tau + arm.limits("armature") * a, bough.rnea(arm, q, v, a))
    True
    """
    return entry(model, "torque_regressor", algorithm)(q, v, a, out, check)


def kinetic_energy_regressor(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the row y (..., 10 N) of: kinetic energy = y π (J), without armatures; see `torque_regressor`.

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> bough.identification.kinetic_energy_regressor(arm, bough.neutral(arm), [1.0] * 6).shape
    (60,)
    """
    return entry(model, "kinetic_energy_regressor", algorithm)(q, v, out, check)


def potential_energy_regressor(
    model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the row y (..., 10 N) of: potential energy = y π (J); see `torque_regressor`.

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> q, pi = bough.neutral(arm), bough.identification.parameters(arm)
    >>> y = bough.identification.potential_energy_regressor(arm, q)
    >>> bool(abs(y @ pi - bough.potential_energy(arm, q)) < 1e-9)
    True
    """
    return entry(model, "potential_energy_regressor", algorithm)(q, out, check)


def momentum_regressor(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the matrix Y (..., 6, 10 N) of: momentum = Y π; see `torque_regressor`.

    This is the momentum about the origin of the base, in base axes, linear part first (N s, N m s). Momentum about the
    centre of mass is not linear in π.

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> bough.identification.momentum_regressor(arm, bough.neutral(arm), [1.0] * 6).shape
    (6, 60)
    """
    return entry(model, "momentum_regressor", algorithm)(q, v, out, check)
