"""The regressors of inertial parameters: a row each."""

from __future__ import annotations

from bough.algorithms.regressor import (
    PARAMETERS,
    kinetic_energy_regressor,
    momentum_regressor,
    potential_energy_regressor,
    torque_regressor,
)
from bough.kernel.specs.spec import plain

__all__ = ["REGRESSORS"]

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
