"""Models with loops and with laws between coordinates: closed configurations, and motion that keeps them closed.

A loop comes from a file, `bough.Builder.loop` or `bough.Model.with_loop`, any other constraint from
`bough.Model.with_constraint`. `assemble` finds a configuration in which all
are closed; `bough.forward_dynamics` and `bough.inverse_dynamics` heed them, and with ``full=True`` tell their forces.
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
