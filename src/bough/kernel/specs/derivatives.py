"""The derivatives: a row each. Matrices of one function are one array, (how many, rows, nv)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bough.algorithms.forward_dynamics_derivatives import (
    forward_dynamics_derivatives,
    forward_dynamics_second_derivatives,
)
from bough.algorithms.frame_derivatives import acceleration_derivatives, velocity_derivatives
from bough.algorithms.momentum_derivatives import momentum_derivatives
from bough.algorithms.rnea import ZEROS
from bough.algorithms.rnea_derivatives import rnea_derivatives
from bough.algorithms.rnea_second_derivatives import rnea_second_derivatives
from bough.kernel.arguments import Shape
from bough.kernel.specs.spec import Options, Outputs, Spec
from bough.model import Frame, Mechanism, Model
from bough.scalar import Array, Part, blank, fill

__all__ = ["DERIVATIVES"]


def _matrices(count: int, rows: int | None = None) -> Callable[[Model, Options], dict[str, Shape]]:
    """So many matrices (rows, nv), with nv rows unless told."""
    return lambda model, o: {"derivatives": (count, model.nv if rows is None else rows, model.nv)}


def _stacked(size: int, parts: Sequence[Array]) -> Outputs:
    whole = blank(size * len(parts))
    for k, values in enumerate(parts):
        fill(Part(whole, k * size), size, values.__getitem__)
    return {"derivatives": whole}


def _of_rnea(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    d = rnea_derivatives(m, x["q"], x["v"], x["a"], x.get("f_ext"))
    return {"derivatives": d.stacked} if m.coupling.trivial else _stacked(m.model.nv**2, (d.q, d.v, d.a))


def _of_bias(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    d = rnea_derivatives(m, x["q"], x["v"], ZEROS, x.get("f_ext"))
    return _stacked(m.model.nv**2, (d.q, d.v))


def _of_gravity(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    return _stacked(m.model.nv**2, (rnea_derivatives(m, x["q"], ZEROS, ZEROS).q,))


def _of_forward(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    d = forward_dynamics_derivatives(m, x["q"], x["v"], x["tau"], x.get("f_ext"))
    return {"derivatives": d.stacked, "pivots": d.pivots}


def _of_rnea_twice(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    return {"derivatives": rnea_second_derivatives(m, x["q"], x["v"], x["a"], x.get("f_ext")).stacked}


def _of_forward_twice(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    d = forward_dynamics_second_derivatives(m, x["q"], x["v"], x["tau"], x.get("f_ext"))
    return {"derivatives": d.stacked, "pivots": d.pivots}


def _cubes(model: Model, o: Options) -> dict[str, Shape]:
    return {"derivatives": (4, model.nv, model.nv, model.nv)}


def _frame(o: Options) -> Frame:
    assert o.frames is not None
    return o.frames[0]


def _of_velocity(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    return _stacked(6 * m.model.nv, velocity_derivatives(m, x["q"], x["v"], _frame(o), o.reference))


def _of_acceleration(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    state = (x["q"], x["v"], x["a"])
    return _stacked(6 * m.model.nv, acceleration_derivatives(m, *state, _frame(o), o.reference, o.classical))


def _of_momentum(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    return _stacked(6 * m.model.nv, momentum_derivatives(m, x["q"], x["v"]))


LONGER = 100_000
"""Values of straight-line programs of first derivatives: with loops they have up to twice the operations on humanoids,
since a loop does not see the zeros in u and w of a joint, and take three to five times as long."""

DERIVATIVES = (
    Spec("rnea_derivatives", ("q", "v", "a", "f_ext"), _matrices(3), _of_rnea, LONGER),
    Spec("bias_forces_derivatives", ("q", "v", "f_ext"), _matrices(2), _of_bias),
    Spec(
        "gravity_forces_derivatives",
        ("q",),
        lambda model, o: {"derivatives": (model.nv, model.nv)},
        _of_gravity,
    ),
    Spec("forward_dynamics_derivatives", ("q", "v", "tau", "f_ext"), _matrices(3), _of_forward, LONGER),
    Spec("rnea_second_derivatives", ("q", "v", "a", "f_ext"), _cubes, _of_rnea_twice),
    Spec("forward_dynamics_second_derivatives", ("q", "v", "tau", "f_ext"), _cubes, _of_forward_twice),
    Spec("velocity_derivatives", ("q", "v"), _matrices(2, 6), _of_velocity),
    Spec("acceleration_derivatives", ("q", "v", "a"), _matrices(3, 6), _of_acceleration),
    Spec("centroidal_momentum_derivatives", ("q", "v"), _matrices(2, 6), _of_momentum),
)
