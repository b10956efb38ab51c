"""Kinematics, momentum and energy on arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bough import reading
from bough.errors import ModelError, ShapeError, SingularError
from bough.kernel.border import FloatArray, require_finite, write_out
from bough.kernel.run import NO_CALLS, options, read, require_model, run
from bough.model import Model

__all__ = [
    "accelerations",
    "center_of_mass",
    "center_of_mass_jacobian",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "jacobian",
    "jacobian_packed",
    "jacobian_rate",
    "kinetic_energy",
    "operational_space_inertia",
    "placements",
    "potential_energy",
    "velocities",
]

Frames = str | Sequence[str] | None

DEPENDENT = 1e-10
"""A pivot of J M⁻¹ Jᵀ this much smaller than the largest one counts as zero."""


def placements(
    model: Model, q: ArrayLike, frames: Frames = None, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Placements in the base as homogeneous matrices [[R, p], [0, 1]].

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (..., nq).
    frames
        Names of frames or bodies; one name gives (..., 4, 4), several give (..., k, 4, 4), None all bodies.
    out
        Array to write the result to.
    check
        Whether to refuse NaN and infinity.

    Returns
    -------
    ndarray
        Placements (..., N, 4, 4), (..., k, 4, 4) or (..., 4, 4); positions in metres.
    """
    top = run(model, "placements", {"q": q}, options(model, frames, "LOCAL"), check=check)["X"]
    full = np.zeros((*top.shape[:-2], 4, 4), top.dtype)
    full[..., :3, :] = top
    full[..., 3, 3] = 1.0
    return _one(full, frames, 3, out)


def velocities(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frames: Frames = None,
    reference: str = "LOCAL",
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """Velocities of frames or bodies, linear part first: (..., N, 6), (..., k, 6) or (..., 6).

    `reference` is "LOCAL" (the frame's own coordinates), "WORLD" (base coordinates, linear part at the base origin) or
    "LOCAL_WORLD_ALIGNED" (base axes, linear part at the frame's origin).
    """
    o = options(model, frames, reference)
    return _one(run(model, "velocities", {"q": q, "v": v}, o, check=check)["velocity"], frames, 2, out)


def accelerations(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frames: Frames = None,
    reference: str = "LOCAL",
    *,
    classical: bool = False,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """Accelerations of frames or bodies, linear part first, shaped as in `velocities`; gravity is not included.

    Spatial accelerations by default; with `classical`, the linear part is the acceleration of the frame's origin.
    """
    o = options(model, frames, reference, classical)
    arrays = {"q": q, "v": v, "a": a}
    return _one(run(model, "accelerations", arrays, o, check=check)["acceleration"], frames, 2, out)


def jacobian(
    model: Model,
    q: ArrayLike,
    frame: str,
    reference: str = "LOCAL",
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """The Jacobian of a frame or body, (..., 6, nv), linear rows first: J v is its velocity in the reference frame."""
    key = ("jacobian", frame, reference) if isinstance(frame, str) and isinstance(reference, str) else None
    fast = getattr(model, "calls", NO_CALLS).get(key)
    if fast is not None and out is None and check:
        J: FloatArray | None = fast(q)
        if J is not None:
            return J
    chosen = options(model, [frame], reference)
    return run(model, "jacobian", {"q": q}, chosen, out=out, check=check, call_as=key)["J"]


def jacobian_packed(
    model: Model,
    q: ArrayLike,
    frame: str,
    reference: str = "LOCAL",
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """The columns of the Jacobian of a frame that are not zero: those of ``model.path_dofs(frame)``, (..., 6, d).

    The joints between base and frame move it, the others do not.
    """
    return run(model, "jacobian_packed", {"q": q}, options(model, [frame], reference), out=out, check=check)["J"]


def jacobian_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    reference: str = "LOCAL",
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """The time derivative of the Jacobian along the motion, (..., 6, nv).

    J a + J̇ v is the spatial acceleration in "LOCAL" and "WORLD", and the classical one in "LOCAL_WORLD_ALIGNED".
    """
    arrays = {"q": q, "v": v}
    return run(model, "jacobian_rate", arrays, options(model, [frame], reference), out=out, check=check)["J"]


def center_of_mass(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """The centre of mass in the base frame, (..., 3), in metres."""
    _require_mass(model)
    return run(model, "center_of_mass", {"q": q}, out=out, check=check)["com"]


def center_of_mass_jacobian(
    model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """The Jacobian of the centre of mass, (..., 3, nv)."""
    _require_mass(model)
    return run(model, "center_of_mass_jacobian", {"q": q}, out=out, check=check)["J"]


def centroidal_momentum(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Momentum about the centre of mass along the base axes, (..., 6), linear part first."""
    _require_mass(model)
    return run(model, "centroidal_momentum", {"q": q, "v": v}, out=out, check=check)["momentum"]


def centroidal_momentum_matrix(
    model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """The matrix that maps v to the centroidal momentum, (..., 6, nv)."""
    _require_mass(model)
    return run(model, "centroidal_momentum_matrix", {"q": q}, out=out, check=check)["A"]


def kinetic_energy(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Kinetic energy in joules, (...), rotors included: ½ vᵀ M v."""
    energy = run(model, "kinetic_energy", {"q": q, "v": v}, check=check)["energy"][..., 0]
    return energy if out is None else write_out(out, energy)


def potential_energy(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Potential energy in joules, (...), zero with the centre of mass level with the base origin."""
    energy = run(model, "potential_energy", {"q": q}, check=check)["energy"][..., 0]
    return energy if out is None else write_out(out, energy)


def operational_space_inertia(
    model: Model,
    q: ArrayLike,
    frames: str | Sequence[str],
    reference: str = "LOCAL",
    *,
    inverse: bool = False,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """Operational-space inertia Λ = (J M⁻¹ Jᵀ)⁻¹ of a set of k frames, (..., 6k, 6k).

    With `inverse`, J M⁻¹ Jᵀ itself, which exists also where the frames cannot move in all directions.

    Raises
    ------
    SingularError
        If the frames cannot all be moved independently in all directions, so that Λ does not exist.
    """
    names, inverse = list(reading.names(frames, "frames")), reading.truth(inverse, "inverse")
    if not names:
        raise ShapeError("frames is empty, expected the name of a frame or several")
    arrays, o = {"q": read(model, "q", q, check)}, options(model, names, reference)
    if inverse:
        return run(model, "operational_space_inverse", arrays, o, out=out, check=check)["inverse"]
    results = run(model, "operational_space_inertia", arrays, o, check=False, whole=True)
    pivots = results["pivots"][..., model.nv :]
    largest = np.fmax.reduce(pivots, axis=-1, keepdims=True, initial=0.0)
    if (pivots <= DEPENDENT * largest).any():
        raise SingularError(
            f"frames {names} cannot be moved independently in all {6 * len(names)} directions here, "
            "so J M⁻¹ Jᵀ has no inverse; ask for it with inverse=True"
        )
    if check:
        require_finite("the operational-space inertia", results["inertia"])
    return results["inertia"] if out is None else write_out(out, results["inertia"])


def _one(a: FloatArray, frames: Frames, axes: int, out: FloatArray | None) -> FloatArray:
    """Drop the axis of frames when one was asked for by name."""
    if isinstance(frames, str):
        a = np.squeeze(a, axis=a.ndim - axes)
    return a if out is None else write_out(out, a)


def _require_mass(model: Model) -> None:
    require_model(model)
    if model.mass == 0.0:
        raise ModelError(f"model {model.name!r} has no mass, so it has no centre of mass")
