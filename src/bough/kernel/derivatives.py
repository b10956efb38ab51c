"""Derivatives on arrays: of inverse and forward dynamics, second ones too, of the motion of frames, of momentum."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.kernel.arguments import FloatArray
from bough.kernel.called import public_name
from bough.kernel.derivative_choice import derivatives_of
from bough.kernel.function import Function
from bough.kernel.functions import algorithm, on_frames, read, require_known_bodies, require_model
from bough.kernel.loop_derivatives import LoopedDerivatives
from bough.kernel.table import entry
from bough.model import Model

__all__ = [
    "accelerations",
    "bias_forces",
    "centroidal_momentum",
    "forward_dynamics",
    "forward_dynamics_second_order",
    "gravity_forces",
    "rnea",
    "rnea_second_order",
    "velocities",
]

Pair = tuple[FloatArray, FloatArray]
Three = tuple[FloatArray, FloatArray, FloatArray]
Four = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def _three(found: FloatArray) -> Three:
    """The matrices of a result (..., 3, rows, columns); those of one state are had faster without an ellipsis."""
    if found.ndim == 3:
        return found[0], found[1], found[2]
    return found[..., 0, :, :], found[..., 1, :, :], found[..., 2, :, :]


def _pair(found: FloatArray) -> Pair:
    """The same of two matrices."""
    return (found[0], found[1]) if found.ndim == 3 else (found[..., 0, :, :], found[..., 1, :, :])


def _four(found: FloatArray) -> Four:
    """The tensors of a result (..., 4, rows, columns, columns)."""
    return tuple(found[..., k, :, :, :] for k in range(4))  # type: ignore[return-value]


def rnea(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> Three:
    """Return the derivatives of inverse dynamics, `bough.rnea`, with respect to q, v and a.

    The derivative with respect to q is in the tangent space: column k is the rate of the joint forces as q moves along
    the k-th degree of freedom, ``bough.integrate(model, q, t * e_k)``. All derivatives are exact, by recursions over
    the bodies. Entry (i, k) is zero unless one of the two joints carries the other.

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (..., nq).
    v, a
        Velocity and acceleration (..., nv).
    f_ext
        External forces (..., N, 6), as in `bough.rnea`; constant in the frames of their bodies.
    out
        Array (..., 3, nv, nv) to write the three matrices to.
    check
        Whether to refuse NaN and infinity.

    Returns
    -------
    tuple of ndarray
        ∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M, each (..., nv, nv): forces (N or N m) per unit of each degree of freedom.

    Examples
    --------
    >>> import bough
    >>> import numpy as np
    >>> arm = bough.robots.load("arm")
    >>> q, v, a = bough.neutral(arm), np.ones(6), np.zeros(6)
    >>> by_q, by_v, by_a = bough.derivatives.rnea(arm, q, v, a)
    >>> np.allclose(by_a, bough.crba(arm, q))
    True
    """
    return _three(entry(model, ("derivatives", "rnea_derivatives"), derivatives_of)(q, v, a, f_ext, out, check))


def bias_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> Pair:
    """Return the derivatives of `bough.bias_forces` with respect to q, in the tangent space, and v.

    Arguments are as in `rnea`; `out` is (..., 2, nv, nv).

    Returns
    -------
    tuple of ndarray
        ∂C/∂q and ∂C/∂v, each (..., nv, nv).

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> by_q, by_v = bough.derivatives.bias_forces(arm, bough.neutral(arm), [0.0] * 6)
    >>> float(abs(by_v).max())
    0.0
    """
    return _pair(entry(model, "bias_forces_derivatives", algorithm)(q, v, f_ext, out, check))


def gravity_forces(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the derivative of `bough.gravity_forces` with respect to q, in the tangent space.

    Arguments are as in `rnea`; `out` is (..., nv, nv).

    Returns
    -------
    ndarray
        ∂g/∂q (..., nv, nv).

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> K = bough.derivatives.gravity_forces(arm, bough.neutral(arm))
    >>> bool(abs(K - K.T).max() < 1e-9)
    True
    """
    return entry(model, "gravity_forces_derivatives", algorithm)(q, out, check)


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    loop_tau: ArrayLike | None = None,
    out: FloatArray | None = None,
    check: bool = True,
) -> Three:
    """Return the derivatives of `bough.forward_dynamics` with respect to q, in the tangent space, v and tau.

    Arguments are as in `rnea`, with joint forces tau (..., nv), and constant forces `loop_tau` on joints that close
    loops, as in `bough.forward_dynamics`; `out` is (..., 3, nv, nv). Loops and couplings of the model are included,
    also redundant ones, with the terms that correct their errors. Where their rank changes there is no derivative, and
    the result is meaningless.

    Returns
    -------
    tuple of ndarray
        ∂q̈/∂q, ∂q̈/∂v and ∂q̈/∂τ, which is M⁻¹ without loops, each (..., nv, nv).

    Raises
    ------
    SingularError
        If a joint moves nothing that has inertia; the message names it.

    Examples
    --------
    >>> import bough
    >>> import numpy as np
    >>> arm = bough.robots.load("arm")
    >>> q, v, tau = bough.neutral(arm), np.ones(6), np.zeros(6)
    >>> by_q, by_v, by_tau = bough.derivatives.forward_dynamics(arm, q, v, tau)
    >>> np.allclose(by_tau, bough.mass_matrix_inverse(arm, q))
    True
    """
    key = ("derivatives", "forward_dynamics_derivatives")
    if loop_tau is None:
        return _three(entry(model, key, _forward)(q, v, tau, f_ext, out, check))
    read(model, "loop_tau", loop_tau, check)
    require_known_bodies(model, key[1])
    return _three(LoopedDerivatives(model).entry(q, v, tau, f_ext, out, check, loop_tau))


def _forward(model: Model, key: tuple[str, str]) -> Any:
    cheapest = derivatives_of(model, key)
    return LoopedDerivatives(model) if model.constraints else cheapest


def velocities(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    reference: str = "LOCAL",
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> Pair:
    """Return the derivatives of a frame's velocity, `bough.velocities`, with respect to q, in the tangent space, and v.

    Parameters
    ----------
    model
        The mechanism.
    q, v
        Configuration (..., nq) and velocity (..., nv).
    frame, reference
        Name of a frame or body, and of the reference frame, as in `bough.velocities`.
    out
        Array (..., 2, 6, nv) to write both matrices to.
    check
        Whether to refuse NaN and infinity.

    Returns
    -------
    tuple of ndarray
        ∂V/∂q and ∂V/∂v = J, each (..., 6, nv), linear rows first.

    Examples
    --------
    >>> import bough
    >>> import numpy as np
    >>> arm = bough.robots.load("arm")
    >>> q, tip = bough.neutral(arm), arm.body_names[-1]
    >>> by_q, by_v = bough.derivatives.velocities(arm, q, np.ones(6), tip)
    >>> np.allclose(by_v, bough.jacobian(arm, q, tip))
    True
    """
    return _pair(entry(model, ("velocity_derivatives", frame, reference, False), on_frames)(q, v, out, check))


def accelerations(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: str,
    reference: str = "LOCAL",
    *,
    classical: bool = False,
    out: FloatArray | None = None,
    check: bool = True,
) -> Three:
    """Return the derivatives of a frame's acceleration, `bough.accelerations`, with respect to q, v and a.

    Arguments are as in `derivatives.velocities`, with accelerations a (..., nv); `out` is (..., 3, 6, nv). With
    `classical` the linear part is the acceleration of the frame's origin.

    Returns
    -------
    tuple of ndarray
        ∂A/∂q (in the tangent space), ∂A/∂v and ∂A/∂a = J, each (..., 6, nv), linear rows first.

    Examples
    --------
    >>> import bough
    >>> import numpy as np
    >>> arm = bough.robots.load("arm")
    >>> by_q, by_v, by_a = bough.derivatives.accelerations(
    ...     arm, bough.neutral(arm), np.ones(6), np.zeros(6), arm.body_names[-1]
    ... )
    >>> by_q.shape
    (6, 6)
    """
    key = ("acceleration_derivatives", frame, reference, classical)
    return _three(entry(model, key, on_frames)(q, v, a, out, check))


def centroidal_momentum(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> Pair:
    """Return the derivatives of `bough.centroidal_momentum` with respect to q, in the tangent space, and v.

    Arguments are as in `rnea`; `out` is (..., 2, 6, nv).

    Returns
    -------
    tuple of ndarray
        ∂h/∂q and ∂h/∂v, the centroidal momentum matrix, each (..., 6, nv), linear rows first.

    Examples
    --------
    >>> import bough
    >>> import numpy as np
    >>> arm = bough.robots.load("arm")
    >>> by_q, by_v = bough.derivatives.centroidal_momentum(arm, bough.neutral(arm), np.ones(6))
    >>> np.allclose(by_v, bough.centroidal_momentum_matrix(arm, bough.neutral(arm)))
    True
    """
    return _pair(entry(model, "centroidal_momentum_derivatives", algorithm)(q, v, out, check))


def rnea_second_order(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> Four:
    """Return the second derivatives of inverse dynamics, `bough.rnea`: by q twice, v twice, q and v, and a and q.

    Arguments are as in `rnea`; `out` is (..., 4, nv, nv, nv). Entry (i, j, k) is a derivative of the force on i. It is
    zero unless one path from the base leads through all three joints. Derivatives with respect to q are in the tangent
    space: entry (i, j, k) of ∂²τ/∂q∂q is the rate of ∂τᵢ/∂qⱼ as q moves along the k-th degree of freedom, so the order
    of j and k matters within one spherical, free or planar joint. The derivatives by a twice, and by a and v, are zero.

    Returns
    -------
    tuple of ndarray
        ∂²τ/∂q∂q, ∂²τ/∂v∂v, ∂²τ/∂q∂v (j is of q, k of v) and ∂²τ/∂a∂q = ∂M/∂q (k is of q), each (..., nv, nv, nv).

    Examples
    --------
    >>> import bough
    >>> import numpy as np
    >>> arm = bough.robots.load("arm")
    >>> q, v, a = bough.neutral(arm), np.ones(6), np.zeros(6)
    >>> by_qq, by_vv, by_qv, by_aq = bough.derivatives.rnea_second_order(arm, q, v, a)
    >>> coriolis = bough.rnea(arm, q, v, a) - bough.gravity_forces(arm, q)
    >>> np.allclose(coriolis, 0.5 * by_vv @ v @ v)
    True
    """
    key = ("derivatives", "rnea_second_derivatives")
    return _four(entry(model, key, derivatives_of)(q, v, a, f_ext, out, check))


def forward_dynamics_second_order(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> Four:
    """Return the second derivatives of `bough.forward_dynamics`: by q twice, v twice, q and v, and tau and q.

    Arguments are as in `forward_dynamics`, entries as in `rnea_second_order`; `out` is (..., 4, nv, nv, nv). The
    derivatives by tau twice, and by tau and v, are zero.

    Returns
    -------
    tuple of ndarray
        ∂²q̈/∂q∂q, ∂²q̈/∂v∂v, ∂²q̈/∂q∂v and ∂²q̈/∂τ∂q = ∂M⁻¹/∂q, each (..., nv, nv, nv).

    Raises
    ------
    SingularError
        If a joint moves nothing that has inertia; the message names it.
    ModelError
        If the model has loops or couplings.

    Examples
    --------
    >>> import bough
    >>> import numpy as np
    >>> arm = bough.robots.load("arm")
    >>> q, v, tau = bough.neutral(arm), np.ones(6), np.zeros(6)
    >>> by_qq, by_vv, by_qv, by_tauq = bough.derivatives.forward_dynamics_second_order(arm, q, v, tau)
    >>> by_tauq.shape
    (6, 6, 6)
    """
    key = ("derivatives", "forward_dynamics_second_derivatives")
    return _four(entry(model, key, _without_constraints)(q, v, tau, f_ext, out, check))


def _without_constraints(model: Model, key: tuple[str, str]) -> Function:
    require_model(model)
    if model.constraints:
        raise ModelError(
            f"{public_name(key[1])}: {model.name!r} has constraint {model.constraints[0].name!r}, expected a model "
            "without loops and couplings; `derivatives.forward_dynamics` has first derivatives with them"
        )
    return derivatives_of(model, key)
