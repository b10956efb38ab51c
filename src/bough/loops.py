"""Models with loops and with laws between coordinates: assembly, constraint kinematics and forces.

Loops come from files, `bough.Builder.loop` or `bough.Model.with_loop`; other constraints from
`bough.Model.with_constraint`. `assemble` finds a configuration that satisfies all constraints. `bough.forward_dynamics`
and `bough.inverse_dynamics` include them, and return their forces with ``full=True``.
"""

from bough.kernel.inverse_dynamics import DriveForces
from bough.kernel.loops.assembly import assemble, consistent_velocity, project
from bough.kernel.loops.constrained import (
    ConstrainedReactions,
    bias,
    coordinate_jacobian,
    coordinates,
    errors,
    jacobian,
    rank,
    reactions,
)
from bough.model.constraints import Equality, Loop, Tie
from bough.rooms import furnish

__all__ = [
    "ConstrainedReactions",
    "DriveForces",
    "Equality",
    "Loop",
    "Tie",
    "assemble",
    "bias",
    "consistent_velocity",
    "coordinate_jacobian",
    "coordinates",
    "errors",
    "jacobian",
    "project",
    "rank",
    "reactions",
]

furnish(__name__)
