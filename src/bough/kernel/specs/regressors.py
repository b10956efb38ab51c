"""The regressors of inertial parameters: a row each."""

from __future__ import annotations

from bough.algorithms.regressor import (
    PARAMETERS,
    kinetic_energy_regressor,
    momentum_regressor,
    potential_energy_regressor,
    torque_regressor,
)
from bough.kernel.specs.spec import Spec

__all__ = ["REGRESSORS"]

REGRESSORS = (
    Spec(
        "torque_regressor",
        ("q", "v", "a"),
        lambda model, o: {"Y": (model.nv, PARAMETERS * model.nbodies)},
        lambda m, o, x: {"Y": torque_regressor(m, x["q"], x["v"], x["a"])},
    ),
    Spec(
        "kinetic_energy_regressor",
        ("q", "v"),
        lambda model, o: {"y": (PARAMETERS * model.nbodies,)},
        lambda m, o, x: {"y": kinetic_energy_regressor(m, x["q"], x["v"])},
    ),
    Spec(
        "potential_energy_regressor",
        ("q",),
        lambda model, o: {"y": (PARAMETERS * model.nbodies,)},
        lambda m, o, x: {"y": potential_energy_regressor(m, x["q"])},
    ),
    Spec(
        "momentum_regressor",
        ("q", "v"),
        lambda model, o: {"Y": (6, PARAMETERS * model.nbodies)},
        lambda m, o, x: {"Y": momentum_regressor(m, x["q"], x["v"])},
    ),
)
