"""Identification: the inertial parameters that explain measured joint forces, from what a model says beforehand.

Unknown are the parameters π of some bodies. What is minimised is

    Σ |(τ - Y π) / noise|² + Σ |(π - π₀) / (spread · scale)|²,

with π₀ of the model and the size of each parameter, from mass and size of its body, as scale: the most probable
parameters where both errors are normal. What the data cannot tell thus stays as the model has it. Over all π it is one
linear problem; with `consistent`, over bodies that can exist, a convex one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import reading
from bough.errors import FiniteError, LoadWarning, ModelError, ShapeError, UnknownNameError, warn
from bough.kernel.arguments import as_floats
from bough.kernel.functions import read, require_model
from bough.kernel.identification.base import BaseParameters, base_parameters
from bough.kernel.identification.fitting import (
    consistent_least_squares,
    estimated_noise,
    least_squares,
    posterior_covariance,
)
from bough.kernel.identification.parameters import (
    is_consistent,
    named_bodies,
    parameter_names,
    parameters,
    with_parameters,
)
from bough.kernel.identification.regressors import torque_regressor
from bough.model import Model
from bough.reading import counted, kind_of

__all__ = ["Identification", "identify"]

Floats = NDArray[np.float64]

KEYS = ("q", "v", "a", "tau")
HEAD = ("parameter", "value", "deviation")
TABLED = 30  # parameters in a table
TOLD = 0.5
"""A base parameter is told by the data if its variance falls below this part of what it was beforehand."""

UNEXPLAINED = 10.0
"""Residuals this many times the noise have another cause."""


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """Result of an identification; ``print`` shows the parameters with their standard deviations.

    Attributes
    ----------
    model
        The model with the identified parameters.
    parameters
        The inertial parameters of all bodies (10 N), as `bough.identification.parameters` returns them.
    names
        Names of the k unknown parameters: ten for each body.
    covariance
        Covariance of the unknown parameters (k, k), from `noise` and `spread`, without the condition that bodies are
        physically consistent.
    noise
        Standard deviation of the errors of tau (nv), given or estimated, in N or N m.
    residuals
        τ - Y π - armature · a for each sample (..., nv), in N or N m. Armatures of mimic joints act on their leaders.
    base
        The base parameters of the bodies with unknown parameters.
    untold
        Names of base parameters that the data hardly determine: their uncertainty is nearly as large as before.
    """

    model: Model
    parameters: Floats
    names: tuple[str, ...]
    covariance: Floats
    noise: Floats
    residuals: Floats
    base: BaseParameters
    untold: tuple[str, ...]

    def __repr__(self) -> str:
        told = f"{counted(len(self.names), 'parameter')}, {len(self.untold)} base parameters untold"
        return f"<Identification of {self.model.name!r}: {told}>"

    def __str__(self) -> str:
        places, deviations = parameter_names(self.model), np.sqrt(np.diag(self.covariance))
        rows = [
            (name, f"{self.parameters[places.index(name)]:.5g}", f"{deviation:.2g}")
            for name, deviation in zip(self.names[:TABLED], deviations[:TABLED], strict=True)
        ]
        widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
        lines = [f"{a:{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in (HEAD, *rows)]
        more = [f"and {len(self.names) - TABLED} more"] if len(self.names) > TABLED else []
        doubts = _doubts(self.model, self.noise, self.residuals)
        return "\n".join([repr(self), *lines, *more, *doubts])


def identify(
    model: Model,
    data: Mapping[str, ArrayLike] | Sequence[ArrayLike],
    *more: ArrayLike,
    bodies: str | Sequence[str] | None = None,
    noise: ArrayLike | None = None,
    spread: float = 10.0,
    consistent: bool = True,
) -> Identification:
    """Identify masses, centres of mass and inertias of bodies from measured motions and joint forces.

    Parameters
    ----------
    model
        The mechanism, with prior values: its parameters are taken as the most probable ones.
    data
        Arrays q (..., nq), v, a and tau (..., nv), in this order or by these names: configurations, velocities,
        accelerations and joint forces of many samples. Subtract forces of springs, dampers and friction from tau, but
        not those of armatures.
    bodies
        Names of the bodies with unknown parameters; None: all bodies. The parameters of other bodies are known.
    noise
        Standard deviation of the errors of tau: one number, or one for each degree of freedom (N or N m). None:
        estimated for each degree of freedom from the residuals, which needs more samples than unknown parameters.
    spread
        Standard deviation of the parameters around those of the model, relative to the size of each. A small value,
        such as 0.1, means that the model is nearly right, and pulls results towards it; it is needed with little data.
    consistent
        Whether each body must be physically consistent: positive mass, and inertias that obey the triangle inequality.
        The result is then the best fit of such bodies, or a `SingularError` if it does not converge. If False, an
        inconsistent result raises an error.

    Returns
    -------
    Identification
        The identified model, with residuals, covariance, and the names of parameters that the data do not determine.

    Warns
    -----
    LoadWarning
        If residuals are more than ten times the noise: no such bodies explain the data. Signs of tau, or of the axes
        and frames in which the data were measured, may be wrong.

    Examples
    --------
    >>> import bough
    >>> import numpy as np
    >>> arm = bough.robots.load("arm")
    >>> tool = arm.body_names[-1]
    >>> loaded = arm.with_body("load", bough.joints.Fixed(), tool, mass=0.8, com=(0, 0, 0.1), inertia=1e-3)
    >>> rng = np.random.default_rng(1)
    >>> q, (v, a) = bough.random(arm, rng, size=200), rng.normal(size=(2, 200, 6))
    >>> tau = bough.rnea(loaded, q, v, a) + 0.01 * rng.normal(size=(200, 6))
    >>> found = bough.identify(arm, (q, v, a, tau), bodies=tool)
    >>> bool(abs(found.model.mass - loaded.mass) < 0.01)
    True
    >>> bool(np.all(abs(found.noise - 0.01) < 0.002))
    True
    """
    require_model(model)
    if more:
        raise ShapeError(f"the data are {1 + len(more)} arguments, expected one: identify(model, (q, v, a, tau))")
    q, v, a, tau = _samples(model, data)
    sought = named_bodies(model, bodies)
    places = [model.body_names.index(name) for name in sought]
    expected = "a positive number"
    width = reading.number(spread, "spread", expected, error=ModelError)
    if not width > 0.0:
        raise ModelError(f"spread is {spread!r}, expected {expected}")
    columns = np.concatenate([np.arange(10) + 10 * k for k in places])
    before = parameters(model)
    π0, scale = before[columns], width * _scales(model, places)
    Y = np.asarray(torque_regressor(model, q, v, a), float).reshape(-1, model.nv, before.size)
    right = tau.reshape(-1, model.nv) - a.reshape(-1, model.nv) * _rotors(model)
    known = before.copy()
    known[columns] = 0.0
    unexplained = right - Y @ known
    if noise is not None:
        deviation = _noise(model, noise)
    elif len(right) > columns.size:
        deviation = estimated_noise(Y[..., columns], unexplained, π0, scale)
    else:
        raise ShapeError(
            f"the data have {len(right)} samples, too few to estimate the noise of tau beside {columns.size} "
            f"parameters: expected more than {columns.size}, or noise given (N or N m)"
        )
    A, b = (Y[..., columns] / deviation[:, None]).reshape(-1, columns.size), (unexplained / deviation).reshape(-1)
    if reading.truth(consistent, "consistent", error=ModelError):
        _require_consistent(model, sought, π0)
        π = consistent_least_squares(A, b, π0, scale)
        found = with_parameters(model, π, sought)
    else:
        π = least_squares(A, b, π0, scale)
        found = _require_real(model, π, sought, len(right))
    after = before.copy()
    after[columns] = π
    covariance, base = posterior_covariance(A, scale), base_parameters(model, sought)
    residuals = (right - Y @ after).reshape(tau.shape)
    names, untold = parameter_names(model), _untold(base, covariance, scale)
    words = tuple(names[k] for k in columns)
    for doubt in _doubts(model, deviation, residuals):
        warn(f"identify: {doubt}", LoadWarning)
    return Identification(found, after, words, covariance, deviation, residuals, base, untold)


def _rotors(model: Model) -> Floats:
    """Armature per degree of freedom (nv,): that of a mimic joint acts on its leader, times the square of the ratio."""
    coupling, own = model.coupling, [x for entry in model.joints for x in entry.armature]
    return np.bincount(coupling.v_source, coupling.v_ratio**2 * np.array(own, float), model.nv).astype(float)


def _require_consistent(model: Model, sought: Sequence[str], π0: Floats) -> None:
    for name, row in zip(sought, π0.reshape(-1, 10), strict=True):
        if not is_consistent(row):
            raise ModelError(
                f"body {name!r} of {model.name!r} has an inertia that no body with a volume has, and there is nothing "
                "to start from; expected a positive mass and moments none of which reaches the sum of the others: "
                "give it others (model.with_inertia), or consistent=False"
            )


def _require_real(model: Model, π: Floats, sought: Sequence[str], samples: int) -> Model:
    try:
        return with_parameters(model, π, sought)
    except ModelError as error:
        raise ModelError(
            f"the best fit to {samples} sample{'s' * (samples > 1)} is no body that can exist ({error}): expected "
            "consistent=True, which finds the best of those that can, more data, or a smaller spread"
        ) from error


def _doubts(model: Model, noise: Floats, residuals: Floats) -> list[str]:
    """What to say of the joint whose residuals exceed the noise most, if they do so by far."""
    size = np.sqrt(np.mean(residuals.reshape(-1, model.nv) ** 2, axis=0))
    k = int(np.argmax(size / noise))
    if size[k] <= UNEXPLAINED * noise[k]:
        return []
    return [
        f"the bodies found do not explain tau of {model.dof_names[k]!r}: it is off by {size[k]:.3g} (root mean "
        f"square), and its noise is {noise[k]:.3g}; check the signs of tau, and the axes and frames of q, v and a"
    ]


def _untold(base: BaseParameters, covariance: Floats, scale: Floats) -> tuple[str, ...]:
    B = base.map
    before, after = np.sum((B * scale) ** 2, axis=1), np.einsum("ij,jk,ik->i", B, covariance, B)
    return tuple(name for name, x, y in zip(base.names, before, after, strict=True) if x > 0.0 and y > TOLD * x)


# ---- what is given ---------------------------------------------------------------------------------------------------


def _samples(model: Model, data: Any) -> list[Floats]:
    """q, v, a and tau with the same batch axes."""
    if isinstance(data, Mapping):
        missing, unknown = [key for key in KEYS if key not in data], [key for key in data if key not in KEYS]
        if missing:
            told = f"data has no {missing[0]!r}"
            if unknown:
                raise UnknownNameError("array of the data", unknown[0], KEYS, f"{told}; expected q, v, a and tau")
            raise ShapeError(f"{told}; expected q, v, a and tau")
        given = [data[key] for key in KEYS]
    elif isinstance(data, Sequence) and len(data) == len(KEYS):
        given = list(data)
    else:
        raise ShapeError(f"data is {kind_of(data)}, expected four arrays: q, v, a and tau")
    arrays = [read(model, key, x).astype(float) for key, x in zip(KEYS, given, strict=True)]
    batches = {key: x.shape[:-1] for key, x in zip(KEYS, arrays, strict=True)}
    if len(set(batches.values())) != 1:
        raise ShapeError(f"the arrays of the data have the samples {batches}, expected equally many in each")
    if not arrays[1].size:
        raise ShapeError(f"the data have the samples {batches['q']}, expected at least one, and a joint that moves")
    return arrays


def _noise(model: Model, noise: ArrayLike) -> Floats:
    found = as_floats("noise", noise, ())
    if found.shape not in ((), (model.nv,)):
        raise ShapeError(f"noise has shape {found.shape}, expected a number or one for each of {model.nv} joint forces")
    if not np.isfinite(found).all() or not (found > 0.0).all():
        raise FiniteError(f"noise is {noise!r}, expected finite positive numbers (N or N m)")
    return np.broadcast_to(found.astype(float), (model.nv,))


def _scales(model: Model, places: Sequence[int]) -> Floats:
    """The size of each parameter: of masses that of the body, of moments with its size, at least a part of the mean."""
    mass = np.array([body.inertia.mass for body in model.bodies])
    turning = np.array([np.trace(body.inertia.about_origin()) / 2.0 for body in model.bodies])
    mean = max(mass.mean(), 1e-6)
    radius = np.sqrt(max(turning.sum(), 1e-12 * mean) / max(mass.sum(), mean))
    found = []
    for k in places:
        m = max(mass[k], 0.01 * mean)
        r = max(np.sqrt(turning[k] / m), 0.1 * radius)
        found += [m, *[m * r] * 3, *[m * r * r] * 6]
    return np.array(found)
