"""What each algorithm takes and gives: one row per algorithm, for running it and for counting it."""

from bough.errors import UnknownNameError
from bough.kernel.specs.constraints import CONSTRAINTS
from bough.kernel.specs.contact import CONTACT, LEVELS
from bough.kernel.specs.derivatives import DERIVATIVES, REGRESSORS
from bough.kernel.specs.maximal import MAXIMAL
from bough.kernel.specs.spec import OPTIONAL, Options, Spec
from bough.kernel.specs.trees import FORMS, TREES

__all__ = [
    "FLEXIBLE", "NEED_CONTACTS", "NEED_FRAMES", "ONE_FRAME", "OPTIONAL", "PAPER_FORMS", "SEARCHING", "SOME_FRAMES",
    "SPECS", "UNCOUPLED", "Options", "Spec", "spec",
]  # fmt: skip

SPECS: dict[str, Spec] = {
    row.name: row for row in (*TREES, *DERIVATIVES, *REGRESSORS, *CONSTRAINTS, *MAXIMAL, *CONTACT)
}
PAPER_FORMS: dict[str, Spec] = {row.name: row for row in FORMS}
"""Other forms of some of them, as the papers write them."""

ONE_FRAME = ("jacobian", "jacobian_packed", "jacobian_rate", "velocity_derivatives", "acceleration_derivatives")
SOME_FRAMES = ("operational_space_inertia", "operational_space_inverse")
NEED_FRAMES = (*ONE_FRAME, *SOME_FRAMES)
NEED_CONTACTS = tuple(row.name for row in CONTACT)
SEARCHING = tuple(name for name, *_ in LEVELS)
"""Algorithms that search, so that what they do depends on the state; each states a problem first, ``…_problem``."""


UNCOUPLED = {"aba_at_rest", "aba_absolute", "joint_positions", "joint_velocities", "joint_accelerations"}
"""Algorithms that know no mimic joints; `aba` goes through the factor of the mass matrix where there are any."""

FLEXIBLE = {
    "placements", "velocities", "accelerations", "jacobian", "jacobian_packed", "jacobian_rate", "integrate",
    "difference", "interpolate", "rnea", "bias_forces", "gravity_forces", "coriolis_forces", "passive_forces", "crba",
    "crba_packed", "factorize", "mass_matrix_by_rnea", "mass_matrix_inverse", "aba", "crba_ltdl", "center_of_mass",
    "center_of_mass_jacobian", "centroidal_momentum", "centroidal_momentum_matrix", "kinetic_energy",
    "potential_energy", "elastic_energy", "operational_space_inertia", "operational_space_inverse", "constraint_errors",
    "constraint_jacobian", "constraint_bias", "loop_configurations", "loop_jacobian", "limit_jacobian",
    "constraint_terms", "constrained_dynamics", "constrained_motion", "inverse_dynamics", "drive_forces",
    "constrained_dynamics_by_multipliers", "constrained_dynamics_by_null_space", "constrained_dynamics_by_kkt",
    "constrained_motion_by_multipliers", "constrained_motion_by_null_space", "constrained_motion_by_kkt",
    "onto_constraints", "consistent_velocity", "constrained_reactions",
    *NEED_CONTACTS,
}  # fmt: skip
"""Algorithms that know flexible bodies; all others refuse them."""


def spec(name: str) -> Spec:
    """The row of an algorithm."""
    known = SPECS | PAPER_FORMS
    if name not in known:
        raise UnknownNameError("algorithm", name, known)
    return known[name]
