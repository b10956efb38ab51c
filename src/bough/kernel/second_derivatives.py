"""Second derivatives of inverse and forward dynamics, on arrays."""

from __future__ import annotations

from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.kernel.arguments import FloatArray
from bough.kernel.called import public_name
from bough.kernel.derivative_choice import derivatives_of
from bough.kernel.function import Function
from bough.kernel.functions import require_model
from bough.kernel.table import entry
from bough.model import Model

__all__ = ["forward_dynamics_second_order", "rnea_second_order"]

Four = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def _four(found: FloatArray) -> Four:
    """The tensors of a result (..., 4, rows, columns, columns)."""
    return tuple(found[..., k, :, :, :] for k in range(4))  # type: ignore[return-value]


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
    """Second derivatives of inverse dynamics, `bough.rnea`: by q twice, by v twice, by q and v, and by a and q.

    Arguments are as in `rnea`; `out` is (..., 4, nv, nv, nv). Entry (i, j, k) is of the force on i. It is zero unless
    one path from the base leads through all three joints. Those with respect to q are in the tangent space: of
    ∂²τ/∂q∂q it is the rate of ∂τᵢ/∂qⱼ as q moves along the k-th degree of freedom, so for j and k of one spherical,
    free or planar joint their order matters. By a twice, and by a and v, all are zero.

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
    found: FloatArray = entry(model, key, derivatives_of)(q, v, a, f_ext, out, check)
    return _four(found)


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
    """Second derivatives of `bough.forward_dynamics`: by q twice, by v twice, by q and v, and by tau and q.

    Arguments are as in `forward_dynamics`, entries as in `rnea_second_order`; `out` is (..., 4, nv, nv, nv). By tau
    twice, and by tau and v, all are zero.

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
    found: FloatArray = entry(model, key, _without_constraints)(q, v, tau, f_ext, out, check)
    return _four(found)


def _without_constraints(model: Model, key: tuple[str, str]) -> Function:
    require_model(model)
    if model.constraints:
        raise ModelError(
            f"{public_name(key[1])}: {model.name!r} has constraint {model.constraints[0].name!r}, expected a model "
            "without loops and couplings; `derivatives.forward_dynamics` has first derivatives with them"
        )
    return derivatives_of(model, key)
