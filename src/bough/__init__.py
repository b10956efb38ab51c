"""bough: the dynamics of mechanisms, trees of rigid bodies with joints, exploiting their branches.

Load a model from a file with `load`, build one with `Builder`, or take one of `robots` or `topologies`, then ask:
``bough.rnea(model, q, v, a)``, ``bough.crba(model, q)``, ``bough.aba(model, q, v, tau)``. Arrays may have any leading
batch axes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bough.__about__ import __version__
from bough.backends.threads import get_num_threads, set_num_threads
from bough.complementarity import Conditions
from bough.errors import (
    AssemblyError,
    BoughError,
    DriveError,
    FiniteError,
    LoadError,
    LoadWarning,
    ModelError,
    PatternError,
    ProgramError,
    SaveError,
    ShapeError,
    SingularError,
    TreeError,
    UnknownNameError,
)
from bough.kernel import cache
from bough.kernel.compile import get_backend, set_backend
from bough.kernel.configuration import difference, integrate, interpolate, neutral, normalize, random
from bough.kernel.contact.complementarity import Solution, Swept, complementarity_residual, gauss_seidel, pivoting
from bough.kernel.contact.kinematics import contact_axes, contact_bias, contact_jacobian
from bough.kernel.contact.motion import contact_dynamics, contact_impulses, contact_step, contact_velocities
from bough.kernel.contact.scene import ContactMotion
from bough.kernel.counting import count
from bough.kernel.dynamics import (
    aba,
    bias_forces,
    coriolis_forces,
    coriolis_matrix,
    crba,
    crba_packed,
    factorize,
    gravity_forces,
    mass_matrix_by_rnea,
    mass_matrix_inverse,
    passive_forces,
    rnea,
)
from bough.kernel.factors import Factor, ltdl, ltl, udut
from bough.kernel.forward_dynamics import forward_dynamics
from bough.kernel.function import Function
from bough.kernel.inverse_dynamics import DriveForces, inverse_dynamics
from bough.kernel.kinematics import (
    accelerations,
    center_of_mass,
    center_of_mass_jacobian,
    centroidal_momentum,
    centroidal_momentum_matrix,
    jacobian,
    jacobian_packed,
    jacobian_rate,
    kinetic_energy,
    operational_space_inertia,
    placements,
    potential_energy,
    velocities,
)
from bough.kernel.layouts import from_drake, from_mujoco, from_pinocchio, to_drake, to_mujoco, to_pinocchio
from bough.kernel.loops.assembly import assemble, consistent_velocity, onto_constraints
from bough.kernel.loops.constrained import (
    constraint_bias,
    constraint_errors,
    constraint_jacobian,
    constraint_rank,
    loop_configurations,
    loop_jacobian,
)
from bough.kernel.loops.reactions import ConstrainedReactions, constrained_reactions
from bough.kernel.maximal.anticipation import Anticipated, anticipate
from bough.kernel.maximal.models import (
    Maximal,
    MaximalLoops,
    joint_accelerations,
    joint_positions,
    joint_reactions,
    joint_velocities,
    maximal,
    maximal_dynamics,
    maximal_loops,
    reaction_multipliers,
)
from bough.kernel.maximal.multipliers import SystemFactor, ldlt, multipliers
from bough.kernel.motion import Motion
from bough.kernel.named import compile, function
from bough.kernel.placements import exp_placements, log_placements
from bough.kernel.rerooting import rerooting
from bough.kernel.spanning import spanning
from bough.kernel.treematrix import TreeMatrix
from bough.lagrange import Auxiliary, System
from bough.model import (
    Builder,
    Contacts,
    Cylindrical,
    Equality,
    Fixed,
    Free,
    Geometry,
    Helical,
    Inertia,
    Joint,
    Loop,
    Mimic,
    Model,
    Parameters,
    Placement,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translational,
    Universal,
    topologies,
)
from bough.scalar import Count
from bough.tree import Tree

if TYPE_CHECKING:
    from bough import robots
    from bough.algorithms.global_forms import global_form
    from bough.cost import paper
    from bough.cost.explain import explain
    from bough.cost.info import info
    from bough.formats.load import load, problems
    from bough.formats.save import save
    from bough.kernel.maximal.linkage import Linkage
    from bough.kernel.maximal.linkage_motion import LinkageTerms, LinkedMotion
    from bough.lagrange import bodies, constraints

__all__ = [
    "Anticipated",
    "AssemblyError",
    "Auxiliary",
    "BoughError",
    "Builder",
    "Conditions",
    "ConstrainedReactions",
    "ContactMotion",
    "Contacts",
    "Count",
    "Cylindrical",
    "DriveError",
    "DriveForces",
    "Equality",
    "Factor",
    "FiniteError",
    "Fixed",
    "Free",
    "Function",
    "Geometry",
    "Helical",
    "Inertia",
    "Joint",
    "Linkage",
    "LinkageTerms",
    "LinkedMotion",
    "LoadError",
    "LoadWarning",
    "Loop",
    "Maximal",
    "MaximalLoops",
    "Mimic",
    "Model",
    "ModelError",
    "Motion",
    "Parameters",
    "PatternError",
    "Placement",
    "Planar",
    "Prismatic",
    "ProgramError",
    "Revolute",
    "SaveError",
    "ShapeError",
    "SingularError",
    "Solution",
    "Spherical",
    "Swept",
    "System",
    "SystemFactor",
    "Translational",
    "Tree",
    "TreeError",
    "TreeMatrix",
    "Universal",
    "UnknownNameError",
    "__version__",
    "aba",
    "accelerations",
    "anticipate",
    "assemble",
    "bias_forces",
    "bodies",
    "cache",
    "center_of_mass",
    "center_of_mass_jacobian",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "compile",
    "complementarity_residual",
    "consistent_velocity",
    "constrained_reactions",
    "constraint_bias",
    "constraint_errors",
    "constraint_jacobian",
    "constraint_rank",
    "constraints",
    "contact_axes",
    "contact_bias",
    "contact_dynamics",
    "contact_impulses",
    "contact_jacobian",
    "contact_step",
    "contact_velocities",
    "coriolis_forces",
    "coriolis_matrix",
    "count",
    "crba",
    "crba_packed",
    "difference",
    "exp_placements",
    "explain",
    "factorize",
    "forward_dynamics",
    "from_drake",
    "from_mujoco",
    "from_pinocchio",
    "function",
    "gauss_seidel",
    "get_backend",
    "get_num_threads",
    "global_form",
    "gravity_forces",
    "info",
    "integrate",
    "interpolate",
    "inverse_dynamics",
    "jacobian",
    "jacobian_packed",
    "jacobian_rate",
    "joint_accelerations",
    "joint_positions",
    "joint_reactions",
    "joint_velocities",
    "kinetic_energy",
    "ldlt",
    "load",
    "log_placements",
    "loop_configurations",
    "loop_jacobian",
    "ltdl",
    "ltl",
    "mass_matrix_by_rnea",
    "mass_matrix_inverse",
    "maximal",
    "maximal_dynamics",
    "maximal_loops",
    "multipliers",
    "neutral",
    "normalize",
    "onto_constraints",
    "operational_space_inertia",
    "paper",
    "passive_forces",
    "pivoting",
    "placements",
    "potential_energy",
    "problems",
    "random",
    "reaction_multipliers",
    "rerooting",
    "rnea",
    "robots",
    "save",
    "set_backend",
    "set_num_threads",
    "spanning",
    "to_drake",
    "to_mujoco",
    "to_pinocchio",
    "topologies",
    "udut",
    "velocities",
]


def __getattr__(name: str) -> Any:
    """What few programs need is loaded when first asked for."""
    if name == "paper":
        from bough.cost import paper

        return paper
    if name == "explain":
        from bough.cost.explain import explain

        return explain
    if name == "info":
        from bough.cost.info import info

        return info
    if name in ("load", "problems"):
        from bough.formats import load as loading

        return getattr(loading, name)
    if name == "save":
        from bough.formats.save import save

        return save
    if name == "global_form":
        from bough.algorithms.global_forms import global_form

        return global_form
    if name == "Linkage":
        from bough.kernel.maximal.linkage import Linkage

        return Linkage
    if name in ("LinkageTerms", "LinkedMotion"):
        from bough.kernel.maximal import linkage_motion

        return getattr(linkage_motion, name)
    if name == "bodies":
        return import_module("bough.lagrange.bodies")
    if name == "constraints":
        return import_module("bough.lagrange.constraints")
    if name == "robots":
        return import_module("bough.robots")
    raise AttributeError(f"module 'bough' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All names, those not loaded yet among them."""
    return sorted({*globals(), *__all__})
