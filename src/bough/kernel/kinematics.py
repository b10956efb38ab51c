"""Kinematics, momentum and energy on arrays."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from bough import reading
from bough.errors import ModelError
from bough.kernel.arguments import FloatArray
from bough.kernel.function import Function
from bough.kernel.functions import (
    algorithm,
    new_function,
    on_frames,
    options,
    require_frames,
    require_model,
)
from bough.kernel.table import entry
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


def placements(
    model: Model, q: ArrayLike, frames: Frames = None, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return placements in the base frame, as homogeneous matrices [[R, p], [0, 1]].

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (..., nq).
    frames
        Names of frames or bodies. One name gives (..., 4, 4), k names give (..., k, 4, 4); None: all bodies.
    out
        Array to write the result to.
    check
        Whether to refuse NaN and infinity.

    Returns
    -------
    ndarray
        Placements (..., N, 4, 4), (..., k, 4, 4) or (..., 4, 4); positions in metres.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> X = bough.placements(model, [np.pi / 2], "tip")  # the end of the rod, turned to the level
    >>> X[:3, 3].round(3) + 0.0  # m
    array([-1.,  0.,  0.])
    >>> bough.placements(model, np.zeros((5, 1))).shape  # five states, all (one) bodies
    (5, 1, 4, 4)
    """
    names = tuple(frames) if type(frames) is list else frames
    return entry(model, ("placements", names, "LOCAL", False), on_frames)(q, out, check)


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
    """Return velocities of frames or bodies, linear part first: (..., N, 6), (..., k, 6) or (..., 6).

    `reference` is "LOCAL" (the frame's own coordinates), "WORLD" (base coordinates, linear part at the base origin) or
    "LOCAL_WORLD_ALIGNED" (base axes, linear part at the frame's origin).

    q is (..., nq), v (..., nv); linear parts are in m/s, angular ones in rad/s.

    Examples
    --------
    >>> import bough
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> bough.velocities(model, [0.0], [2.0], "tip", "LOCAL_WORLD_ALIGNED").round(3) + 0.0  # 1 m below, 2 rad/s
    array([-2.,  0.,  0.,  0.,  2.,  0.])
    >>> bough.velocities(model, [0.0], [2.0]).shape  # of all bodies
    (1, 6)
    """
    names = tuple(frames) if type(frames) is list else frames
    return entry(model, ("velocities", names, reference, False), on_frames)(q, v, out, check)


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
    """Return accelerations of frames or bodies, linear part first, shaped as in `velocities`, without gravity.

    Spatial accelerations by default; with `classical`, the linear part is the acceleration of the frame's origin.
    q is (..., nq), v and a (..., nv); linear parts are in m/s², angular ones in rad/s².

    Examples
    --------
    >>> import bough
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> at_tip = bough.accelerations(model, [0.0], [2.0], [0.0], "tip", "LOCAL_WORLD_ALIGNED", classical=True)
    >>> at_tip.round(3) + 0.0  # towards the hinge, (2 rad/s)² · 1 m
    array([0., 0., 4., 0., 0., 0.])
    """
    names = tuple(frames) if type(frames) is list else frames
    return entry(model, ("accelerations", names, reference, classical), on_frames)(q, v, a, out, check)


def jacobian(
    model: Model,
    q: ArrayLike,
    frame: str,
    reference: str = "LOCAL",
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """Return the Jacobian J (..., 6, nv) of a frame or body, linear rows first: J v is its velocity.

    q is (..., nq). `reference` is as in `velocities`.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> J = bough.jacobian(model, q, "tool")
    >>> J.shape, np.allclose(J @ v, bough.velocities(model, q, v, "tool"))
    ((6, 6), True)
    """
    return entry(model, ("jacobian", frame, reference, False), on_frames)(q, out, check)


def jacobian_packed(
    model: Model,
    q: ArrayLike,
    frame: str,
    reference: str = "LOCAL",
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """Return the nonzero columns of a frame's Jacobian (..., 6, d): those of ``model.path_dofs(frame)``.

    These are the columns of the joints between the base and the frame. q is (..., nq).

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("quadruped")
    >>> q, foot = bough.neutral(model), model.body_names[-1]
    >>> J = bough.trees.jacobian_packed(model, q, foot)
    >>> J.shape, model.nv  # the joints of the other three legs do not move it
    ((6, 9), 18)
    >>> np.allclose(J, bough.jacobian(model, q, foot)[:, model.path_dofs(foot)])
    True
    """
    return entry(model, ("jacobian_packed", frame, reference, False), on_frames)(q, out, check)


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
    """Return the time derivative J̇ (..., 6, nv) of the Jacobian along the motion.

    J a + J̇ v is the spatial acceleration in "LOCAL" and "WORLD", and the classical one in "LOCAL_WORLD_ALIGNED".

    q is (..., nq), v (..., nv).

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> J, J_rate = bough.jacobian(model, q, "tool"), bough.jacobian_rate(model, q, v, "tool")
    >>> a = np.full(6, 2.0)  # rad/s²
    >>> np.allclose(J @ a + J_rate @ v, bough.accelerations(model, q, v, a, "tool"))
    True
    """
    return entry(model, ("jacobian_rate", frame, reference, False), on_frames)(q, v, out, check)


def center_of_mass(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the centre of mass in the base frame (..., 3), in metres.

    q is (..., nq).

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> bough.center_of_mass(model, [0.0]) + 0.0
    array([ 0. ,  0. , -0.5])
    >>> bough.center_of_mass(model, np.zeros((7, 1))).shape  # seven states
    (7, 3)
    """
    return entry(model, ("center_of_mass", "divided by mass"), _divided_by_mass)(q, out, check)


def center_of_mass_jacobian(
    model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the Jacobian J (..., 3, nv) of the centre of mass.

    q is (..., nq); J v is the velocity of the centre of mass along the base axes, in m/s.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> bough.center_of_mass_jacobian(model, [0.0]).ravel() + 0.0  # 1 rad/s moves it by 0.5 m/s along -x
    array([-0.5,  0. ,  0. ])
    """
    return entry(model, ("center_of_mass_jacobian", "divided by mass"), _divided_by_mass)(q, out, check)


def centroidal_momentum(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the momentum about the centre of mass (..., 6), in base axes, linear part first.

    q is (..., nq), v (..., nv); kg m/s and kg m²/s.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> bough.centroidal_momentum(model, [0.0], [2.0]).round(4) + 0.0  # 1 kg at 1 m/s, and 0.0834 kg m² at 2 rad/s
    array([-1.    ,  0.    ,  0.    ,  0.    ,  0.1669,  0.    ])
    """
    return entry(model, ("centroidal_momentum", "divided by mass"), _divided_by_mass)(q, v, out, check)


def centroidal_momentum_matrix(
    model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the matrix (..., 6, nv) that maps v to the centroidal momentum.

    q is (..., nq).

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> A = bough.centroidal_momentum_matrix(model, q)
    >>> A.shape, np.allclose(A @ v, bough.centroidal_momentum(model, q, v))
    ((6, 6), True)
    """
    return entry(model, ("centroidal_momentum_matrix", "divided by mass"), _divided_by_mass)(q, out, check)


def kinetic_energy(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the kinetic energy ½ vᵀ M v (...) in joules, rotors included.

    q is (..., nq), v (..., nv).

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> bough.kinetic_energy(model, [[0.0]], [[2.0]]).round(3)  # 0.333 kg m² at 2 rad/s
    array([0.667])
    """
    return entry(model, "kinetic_energy", algorithm)(q, v, out, check)


def potential_energy(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the potential energy (...) in joules; it is zero if the centre of mass is level with the base origin.

    q is (..., nq).

    Examples
    --------
    >>> import bough
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> bough.potential_energy(model, [[0.0]])  # 1 kg, 0.5 m below the hinge
    array([-4.905])
    """
    return entry(model, "potential_energy", algorithm)(q, out, check)


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
    """Return the operational-space inertia Λ = (J M⁻¹ Jᵀ)⁻¹ (..., 6k, 6k) of k frames.

    With `inverse`, the result is J M⁻¹ Jᵀ, which exists even if the frames cannot move in all directions. q is (...,
    nq). `reference` is as in `velocities`.

    Raises
    ------
    SingularError
        If Λ does not exist: the frames cannot all move independently in all directions.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> inverse = bough.operational_space_inertia(model, q, "tool", inverse=True)
    >>> J = bough.jacobian(model, q, "tool")
    >>> np.allclose(inverse, J @ bough.mass_matrix_inverse(model, q) @ J.T)
    True
    >>> np.allclose(bough.operational_space_inertia(model, q, "tool") @ inverse, np.eye(6), atol=1e-6)
    True
    """
    names, inverse = reading.names_in_order(frames, "frames"), reading.truth(inverse, "inverse")
    key = ("operational_space_inverse" if inverse else "operational_space_inertia", names, reference)
    return entry(model, key, _of_moves)(q, out, check)


def _of_moves(model: Model, key: tuple[str, tuple[str, ...], str]) -> Function:
    """The operational-space inertia of some frames, or its inverse."""
    name, frames, reference = key
    require_frames(model, name, frames)
    return new_function(model, name, options(model, frames, reference))


def _divided_by_mass(model: Model, key: tuple[str, str]) -> Function:
    """An algorithm that divides by the mass of the model."""
    require_model(model)
    if model.mass == 0.0:
        raise ModelError(f"model {model.name!r} has no mass, so it has no centre of mass")
    return new_function(model, key[0])
