"""Models with loops and with laws between coordinates: closed configurations, and motion that keeps them closed.

A loop comes from a file, `bough.Builder.loop` or `bough.Model.with_loop`. `assemble` finds a configuration in which all
are closed, `dynamics` the accelerations, and `motion` the forces of the loops besides.
"""

from bough.kernel.loops.assembly import assemble, consistent_velocity
from bough.kernel.loops.assembly import onto_constraints as project
from bough.kernel.loops.constrained import ConstrainedMotion
from bough.kernel.loops.constrained import constrained_dynamics as dynamics
from bough.kernel.loops.constrained import constrained_motion as motion
from bough.kernel.loops.constrained import constraint_bias as bias
from bough.kernel.loops.constrained import constraint_errors as errors
from bough.kernel.loops.constrained import constraint_jacobian as jacobian
from bough.kernel.loops.constrained import loop_configurations as coordinates
from bough.kernel.loops.constrained import loop_jacobian as coordinate_jacobian
from bough.kernel.loops.reactions import ConstrainedReactions
from bough.kernel.loops.reactions import constrained_reactions as reactions
from bough.model.constraints import Equality, Loop

__all__ = [
    "ConstrainedMotion",
    "ConstrainedReactions",
    "Equality",
    "Loop",
    "assemble",
    "bias",
    "consistent_velocity",
    "coordinate_jacobian",
    "coordinates",
    "dynamics",
    "errors",
    "jacobian",
    "motion",
    "project",
    "reactions",
]
