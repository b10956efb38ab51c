"""Inertial parameters of bodies as vectors: read from a model, given to one, checked, and made from free numbers.

A rigid body has ten: m, h = m c, and J about the origin of its frame. They are those of some distribution of mass if
and only if the pseudo-inertia P = [[Σ, h], [hᵀ, m]], with Σ = ½ tr(J) 1 - J = ∫ r rᵀ dm, is positive definite (Wensing,
Kim & Slotine 2018). P = U Uᵀ with an upper triangular U, whose diagonal is exponentials, makes ten free numbers of
them, and each ten numbers a body (Rucker & Wensing 2022).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import reading
from bough.errors import ModelError, ShapeError, UnknownNameError
from bough.kernel.arguments import as_floats, require_finite
from bough.kernel.functions import require_model
from bough.model import Inertia, Model
from bough.model.stations import require_all_rigid

__all__ = [
    "LABELS", "from_log_cholesky", "is_consistent", "log_cholesky", "named_bodies", "parameter_names",
    "parameters", "pseudo_inertia", "with_parameters",
]  # fmt: skip

Floats = NDArray[np.float64]

LABELS = ("mass", "h_x", "h_y", "h_z", "J_xx", "J_yx", "J_yy", "J_zx", "J_zy", "J_zz")
"""The parameters of a body, in order."""

LOWER = ((0, 1, 1, 2, 2, 2), (0, 0, 1, 0, 1, 2))
"""Rows and columns of the lower triangle of a symmetric matrix, row by row."""


def parameters(model: Model) -> Floats:
    """Return the inertial parameters π (10 N) of all bodies.

    For each body, in the order of ``model.bodies``: mass (kg), m c (3, kg m), and the inertia about the origin of the
    body frame, xx yx yy zx zy zz (kg m²). This is Pinocchio's order.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder()
    >>> b.add("rod", bough.joints.Revolute("y"), mass=2.0, com=(0, 0, -0.5), inertia=0.1)
    1
    >>> bough.identification.parameters(b.build()).tolist()
    [2.0, 0.0, 0.0, -1.0, 0.6, 0.0, 0.6, 0.0, 0.0, 0.1]
    """
    require_model(model)
    require_all_rigid(model, "identification.parameters")
    return np.concatenate([np.zeros(0), *(_of_inertia(body.inertia, body.name) for body in model.bodies)])


def _of_inertia(inertia: Inertia, name: str) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        moment = inertia.mass * np.array(inertia.com)
        found = np.concatenate([[inertia.mass], moment + 0.0, inertia.about_origin()[LOWER]])
    if not np.isfinite(found).all():
        raise ModelError(f"body {name!r}: its inertia about the origin of its frame is beyond the range of floats")
    return found


def parameter_names(model: Model) -> tuple[str, ...]:
    """Return the names of the inertial parameters: ``"mass of hand"``, ``"h_x of hand"``, …, ``"J_zz of hand"``.

    Examples
    --------
    >>> import bough
    >>> bough.identification.parameter_names(bough.robots.load("arm"))[-1]
    'J_zz of wrist_roll_link'
    """
    require_model(model)
    return tuple(f"{label} of {body.name}" for body in model.bodies for label in LABELS)


def with_parameters(model: Model, values: ArrayLike, bodies: str | Sequence[str] | None = None) -> Model:
    """Return the same mechanism with other inertial parameters.

    Parameters
    ----------
    model
        The mechanism.
    values
        Inertial parameters (10 N) in the order of `parameters`, or only those of `bodies`.
    bodies
        Names of the bodies of `values`; None: all bodies.

    Returns
    -------
    Model
        The model with the given inertias, each of which must be that of a rigid body.

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> heavier = bough.identification.with_parameters(arm, 2.0 * bough.identification.parameters(arm))
    >>> bool(abs(heavier.mass - 2.0 * arm.mass) < 1e-9)
    True
    """
    require_model(model)
    names = named_bodies(model, bodies)
    found = _read(values, "values", 10 * len(names))
    if found.ndim != 1:
        raise ShapeError(f"values has shape {found.shape}, expected ({10 * len(names)},)")
    for name, row in zip(names, found.reshape(-1, 10), strict=True):
        mass, h, J = row[0], row[1:4], _symmetric(row[4:])
        if mass < 0.0 or (mass == 0.0 and h.any()):
            raise ModelError(f"body {name!r}: the mass is {mass:g} kg and m c is {h.tolist()} kg m: no body has them")
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by its name
            c = h / mass if mass > 0.0 else h
            about_center = J - mass * (c @ c * np.eye(3) - np.outer(c, c))
        model = model.with_inertia(name, mass=mass, com=c, inertia=about_center)
    return model


def pseudo_inertia(values: ArrayLike) -> Floats:
    """Return pseudo-inertias (..., 4, 4) of bodies with inertial parameters (..., 10): ∫ (r, 1) (r, 1)ᵀ dm.

    Examples
    --------
    >>> import bough
    >>> bough.identification.pseudo_inertia([1.0, 0, 0, 0, 2.0, 0, 2.0, 0, 0, 2.0]).diagonal().tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    π = _read(values, "values", 10)
    J, P = _symmetric(π[..., 4:]), np.empty((*π.shape[:-1], 4, 4))
    half = np.trace(J, axis1=-2, axis2=-1)[..., None, None] / 2.0
    P[..., :3, :3] = half * np.eye(3) - J
    P[..., :3, 3] = P[..., 3, :3] = π[..., 1:4]
    P[..., 3, 3] = π[..., 0]
    return P


def is_consistent(values: ArrayLike) -> NDArray[np.bool_]:
    """Return whether inertial parameters (..., 10) are physical: whether the pseudo-inertia is positive definite.

    Examples
    --------
    >>> import bough
    >>> bool(bough.identification.is_consistent([1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.3]))
    False
    """
    return np.linalg.eigvalsh(pseudo_inertia(values))[..., 0] > 0.0


def log_cholesky(values: ArrayLike) -> Floats:
    """Return ten free numbers θ (..., 10) for inertial parameters (..., 10) of bodies: α, d (3), s (3), t (3).

    The pseudo-inertia is U Uᵀ with U = exp(α) [[exp(d₁), s₁, s₃, t₁], [0, exp(d₂), s₂, t₂], [0, 0, exp(d₃), t₃],
    [0, 0, 0, 1]].

    Examples
    --------
    >>> import bough
    >>> bough.identification.log_cholesky([1.0, 0, 0, 0, 2.0, 0, 2.0, 0, 0, 2.0]).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    P = pseudo_inertia(values)
    try:
        U = np.linalg.cholesky(P[..., ::-1, ::-1])[..., ::-1, ::-1]
    except np.linalg.LinAlgError:
        raise ModelError(
            "inertial parameters are of no body: the smallest eigenvalue of the pseudo-inertia is "
            f"{np.linalg.eigvalsh(P).min():g}, expected a positive one"
        ) from None
    last = U[..., 3:, 3:]
    V, θ = U / last, np.empty((*P.shape[:-2], 10))
    θ[..., 0] = np.log(last[..., 0, 0])
    θ[..., 1:4] = np.log(np.stack([V[..., k, k] for k in range(3)], axis=-1))
    θ[..., 4], θ[..., 5], θ[..., 6], θ[..., 7:] = V[..., 0, 1], V[..., 1, 2], V[..., 0, 2], V[..., :3, 3]
    return θ + 0.0


def from_log_cholesky(numbers: ArrayLike) -> Floats:
    """Return the inertial parameters (..., 10) of bodies from ten free numbers each: the inverse of `log_cholesky`.

    Examples
    --------
    >>> import bough
    >>> bough.identification.from_log_cholesky([0.0] * 10).tolist()
    [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 2.0, 0.0, 0.0, 2.0]
    """
    given = _read(numbers, "numbers", 10)
    with np.errstate(over="ignore", invalid="ignore"):
        U = _factor(given)
        found = _of_pseudo(U @ np.swapaxes(U, -1, -2))
    if not np.isfinite(found).all():
        raise ModelError("inertial parameters of these numbers are beyond the range of floats: expected smaller ones")
    return found


def _factor(θ: Floats) -> Floats:
    U = np.zeros((*θ.shape[:-1], 4, 4))
    for k in range(3):
        U[..., k, k] = np.exp(θ[..., 1 + k])
    U[..., 0, 1], U[..., 1, 2], U[..., 0, 2], U[..., :3, 3] = θ[..., 4], θ[..., 5], θ[..., 6], θ[..., 7:]
    U[..., 3, 3] = 1.0
    return np.asarray(U * np.exp(θ[..., 0])[..., None, None])


def _of_pseudo(P: Floats) -> Floats:
    """Inertial parameters from pseudo-inertias."""
    Σ = P[..., :3, :3]
    J = np.trace(Σ, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - Σ
    return np.concatenate([P[..., 3:, 3], P[..., :3, 3], J[..., *LOWER]], axis=-1)


def _symmetric(lower: Floats) -> Floats:
    return lower[..., [[0, 1, 3], [1, 2, 4], [3, 4, 5]]]


def _read(values: ArrayLike, name: str, size: int) -> Floats:
    """An array whose last axis has a length, of finite numbers."""
    found = as_floats(name, values, (size,))
    require_finite(name, found)
    return found.astype(float)


def named_bodies(model: Model, bodies: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names of bodies of a model, each once; None for all."""
    if bodies is None:
        return model.body_names
    found = reading.names_in_order(bodies, "bodies")
    for k, name in enumerate(found):
        if not isinstance(name, str) or name not in model.body_names:
            raise UnknownNameError("body", name, model.body_names)
        if name in found[:k]:
            raise ModelError(f"bodies has {name!r} twice, expected each name once")
    if not found:
        raise ModelError("bodies is empty, expected names of bodies")
    return found
