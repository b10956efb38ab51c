"""Maximal coordinates: bodies with their full set of coordinates, connected by constraints with multipliers.

`multipliers` solves a `System` of bodies and constraints in linear time. `of_model` converts a model to a system. A
`Linkage` consists of named bodies (see `bodies`) and constraints (see `constraints`, or your own).
"""

from bough.kernel.maximal.anticipation import Anticipated, anticipate
from bough.kernel.maximal.linkage import Linkage, LinkageTerms
from bough.kernel.maximal.models import (
    Maximal,
    MaximalLoops,
    dynamics,
    joint_accelerations,
    joint_positions,
    joint_reactions,
    joint_velocities,
    of_loops,
    of_model,
    reaction_multipliers,
)
from bough.kernel.maximal.multipliers import SystemFactor, ldlt, multipliers
from bough.lagrange import Auxiliary, System, bodies, constraints
from bough.rooms import furnish

__all__ = [
    "Anticipated",
    "Auxiliary",
    "Linkage",
    "LinkageTerms",
    "Maximal",
    "MaximalLoops",
    "System",
    "SystemFactor",
    "anticipate",
    "bodies",
    "constraints",
    "dynamics",
    "joint_accelerations",
    "joint_positions",
    "joint_reactions",
    "joint_velocities",
    "ldlt",
    "multipliers",
    "of_loops",
    "of_model",
    "reaction_multipliers",
]

furnish(__name__)
