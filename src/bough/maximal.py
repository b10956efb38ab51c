"""Maximal coordinates: every body has all of its own, constraints hold them together, multipliers are their forces.

`multipliers` solves a `System` of bodies and constraints in linear time; `of_model` is such a system for a model. A
`Linkage` is made of named bodies (the kinds are in `bodies`) and constraints (those in `constraints`, or your own).
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
