"""What users call the functions whose programs have longer names: messages tell what was typed."""

from __future__ import annotations

__all__ = ["PUBLIC_NAMES", "REPLACED_NAMES", "public_name"]

PUBLIC_NAMES = {
    "acceleration_derivatives": "derivatives.accelerations",
    "bias_forces_derivatives": "derivatives.bias_forces",
    "centroidal_momentum_derivatives": "derivatives.centroidal_momentum",
    "forward_dynamics_derivatives": "derivatives.forward_dynamics",
    "forward_dynamics_second_derivatives": "derivatives.forward_dynamics_second_order",
    "gravity_forces_derivatives": "derivatives.gravity_forces",
    "rnea_derivatives": "derivatives.rnea",
    "rnea_second_derivatives": "derivatives.rnea_second_order",
    "velocity_derivatives": "derivatives.velocities",
    "constrained_reactions": "loops.reactions",
    "constraint_bias": "loops.bias",
    "constraint_errors": "loops.errors",
    "constraint_jacobian": "loops.jacobian",
    "loop_configurations": "loops.coordinates",
    "loop_jacobian": "loops.coordinate_jacobian",
    "onto_constraints": "loops.project",
    "contact_bias": "contact.bias",
    "contact_dynamics": "contact.dynamics",
    "contact_impulses": "contact.impulses",
    "contact_jacobian": "contact.jacobian",
    "contact_step": "contact.step",
    "contact_velocities": "contact.velocities",
    "constrained_dynamics": "forward_dynamics",
    "constrained_motion": "forward_dynamics",
    "drive_forces": "inverse_dynamics",
    "maximal": "maximal.of_model",
    "maximal_dynamics": "maximal.dynamics",
    "maximal_loops": "maximal.of_loops",
}
"""Public name, after ``bough.``, by the name of the program; of those that are called alike there is no row."""


REPLACED_NAMES = {
    "ConstrainedMotion": "Motion",
    "ContactMotion": "Motion",
    "constrained_motion": "forward_dynamics, with full=True",
    "constraint_rank": "loops.rank",
    "contact_axes": "contact.axes",
    "complementarity_residual": "lcp.residual",
    "com": "center_of_mass",
    "forward_kinematics": "placements",
    "frame_jacobian": "jacobian",
    "frame_placements": "placements",
    "generalized_gravity": "gravity_forces",
    "inertia_matrix": "crba",
    "load_mjcf": "load",
    "load_urdf": "load",
    "mass_matrix": "crba",
    "nonlinear_effects": "bias_forces",
    "simulate": "Simulation",
}
"""What takes the place of names that are no more, and of those that other libraries have for it."""


def public_name(name: str) -> str:
    """What users type for a function, after ``bough.`` or its room."""
    return PUBLIC_NAMES.get(name.partition("_by_")[0], name)
