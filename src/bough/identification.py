"""Inertial parameters of models: regressors, base parameters, and tools for `bough.identify`.

Every body has ten parameters: mass, m c, and the inertia about the origin of its frame, xx yx yy zx zy zz. Joint
forces, energies and momentum are linear in them (see `torque_regressor`).
"""

from bough.kernel.identification.base import BaseParameters, base_parameters
from bough.kernel.identification.identify import Identification
from bough.kernel.identification.parameters import (
    from_log_cholesky,
    is_consistent,
    log_cholesky,
    parameter_names,
    parameters,
    pseudo_inertia,
    with_parameters,
)
from bough.kernel.identification.regressors import (
    kinetic_energy_regressor,
    momentum_regressor,
    potential_energy_regressor,
    torque_regressor,
)
from bough.rooms import furnish

__all__ = [
    "BaseParameters",
    "Identification",
    "base_parameters",
    "from_log_cholesky",
    "is_consistent",
    "kinetic_energy_regressor",
    "log_cholesky",
    "momentum_regressor",
    "parameter_names",
    "parameters",
    "potential_energy_regressor",
    "pseudo_inertia",
    "torque_regressor",
    "with_parameters",
]

furnish(__name__)
