"""Derivatives, and regressors of inertial parameters: a row each.

Matrices of derivatives of one function are one array, (how many, rows, nv).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bough.algorithms.forward_dynamics_derivatives import (
    forward_dynamics_derivatives,
    forward_dynamics_second_derivatives,
)
from bough.algorithms.frame_derivatives import acceleration_derivatives, velocity_derivatives
from bough.algorithms.momentum_derivatives import momentum_derivatives
from bough.algorithms.regressor import (
    PARAMETERS,
    kinetic_energy_regressor,
    momentum_regressor,
    potential_energy_regressor,
    torque_regressor,
)
from bough.algorithms.rnea import ZEROS
from bough.algorithms.rnea_derivatives import rnea_derivatives
from bough.algorithms.rnea_second_derivatives import rnea_second_derivatives
from bough.kernel.arguments import Shape
from bough.kernel.specs.spec import Options, Outputs, Spec, frame_of, plain, square
from bough.model import Mechanism, Model
from bough.scalar import Array, Part, blank, fill

__all__ = ["DERIVATIVES", "REGRESSORS"]

MADE = "derivatives"
"""What their results are called."""


def _matrices(count: int, rows: int | None = None) -> Callable[[Model], Shape]:
    """A number of matrices (rows, nv), by default with nv rows."""
    return lambda model: (count, model.nv if rows is None else rows, model.nv)


def _cubes(model: Model) -> Shape:
    return (4, model.nv, model.nv, model.nv)


def _stacked(size: int, *parts: Array) -> Array:
    whole = blank(size * len(parts))
    for k, values in enumerate(parts):
        fill(Part(whole, k * size), size, values.__getitem__)
    return whole


def _of_rnea(m: Mechanism, *x: Any) -> Array:
    d = rnea_derivatives(m, *x)
    return d.stacked if m.coupling.trivial else _stacked(m.model.nv**2, d.q, d.v, d.a)


def _of_bias(m: Mechanism, q: Array, v: Array, f_ext: Array | None) -> Array:
    d = rnea_derivatives(m, q, v, ZEROS, f_ext)
    return _stacked(m.model.nv**2, d.q, d.v)


def _of_gravity(m: Mechanism, q: Array) -> Array:
    return _stacked(m.model.nv**2, rnea_derivatives(m, q, ZEROS, ZEROS).q)


def _of_forward(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    d = forward_dynamics_derivatives(m, x["q"], x["v"], x["tau"], x.get("f_ext"))
    totals = {} if d.totals is None else {f"totals of {MADE}": d.totals}
    return {MADE: d.stacked, "pivots": d.pivots, **totals}


def _of_forward_twice(m: Mechanism, *x: Any) -> tuple[Array, Array]:
    d = forward_dynamics_second_derivatives(m, *x)
    return d.stacked, d.pivots


def _of_velocity(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    found = velocity_derivatives(m, x["q"], x["v"], frame_of(o), o.reference)
    return {MADE: _stacked(6 * m.model.nv, *found)}


def _of_acceleration(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    found = acceleration_derivatives(m, x["q"], x["v"], x["a"], frame_of(o), o.reference, o.classical)
    return {MADE: _stacked(6 * m.model.nv, *found)}


def _of_momentum(m: Mechanism, *x: Array) -> Array:
    return _stacked(6 * m.model.nv, *momentum_derivatives(m, *x))


LONGER = 100_000
"""Values of straight-line programs of first derivatives: with loops they have up to twice the operations on humanoids,
since a loop does not see the zeros in u and w of a joint, and take three to five times as long."""

DERIVATIVES = (
    plain("rnea_derivatives", "q v a f_ext", MADE, _matrices(3), _of_rnea, longest=LONGER),
    plain("bias_forces_derivatives", "q v f_ext", MADE, _matrices(2), _of_bias),
    plain("gravity_forces_derivatives", "q", MADE, square, _of_gravity),
    Spec(
        "forward_dynamics_derivatives",
        ("q", "v", "tau", "f_ext"),
        lambda model, o: {MADE: _matrices(3)(model)},
        _of_forward,
        LONGER,
    ),
    plain("rnea_second_derivatives", "q v a f_ext", MADE, _cubes, lambda *x: rnea_second_derivatives(*x).stacked),
    plain("forward_dynamics_second_derivatives", "q v tau f_ext", MADE, _cubes, _of_forward_twice, "pivots"),
    Spec("velocity_derivatives", ("q", "v"), lambda model, o: {MADE: (2, 6, model.nv)}, _of_velocity),
    Spec("acceleration_derivatives", ("q", "v", "a"), lambda model, o: {MADE: (3, 6, model.nv)}, _of_acceleration),
    plain("centroidal_momentum_derivatives", "q v", MADE, _matrices(2, 6), _of_momentum),
)

REGRESSORS = (
    plain("torque_regressor", "q v a", "Y", lambda model: (model.nv, PARAMETERS * model.nbodies), torque_regressor),
    plain(
        "kinetic_energy_regressor", "q v", "y", lambda model: (PARAMETERS * model.nbodies,), kinetic_energy_regressor
    ),
    plain(
        "potential_energy_regressor", "q", "y", lambda model: (PARAMETERS * model.nbodies,), potential_energy_regressor
    ),
    plain("momentum_regressor", "q v", "Y", lambda model: (6, PARAMETERS * model.nbodies), momentum_regressor),
)
