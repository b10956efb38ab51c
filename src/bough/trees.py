"""Kinematic trees, and matrices with the sparsity of a tree.

A `Tree` is a parent array; `topologies` makes models on well-known trees. `ltdl`, `ltl`, `udut` and `uut` factorise
matrices without fill-in. `crba_packed` and `jacobian_packed` store only nonzero entries. `rerooting` and `spanning`
find the root and the cut joints with the lowest cost.
"""

from bough.kernel.dynamics import crba_packed
from bough.kernel.factors import Factor, ltdl, ltl, udut, uut
from bough.kernel.kinematics import jacobian_packed
from bough.kernel.rerooting import rerooting
from bough.kernel.spanning import spanning
from bough.kernel.treematrix import TreeMatrix
from bough.model import topologies
from bough.rooms import furnish
from bough.tree import Tree

__all__ = [
    "Factor",
    "Tree",
    "TreeMatrix",
    "crba_packed",
    "jacobian_packed",
    "ltdl",
    "ltl",
    "rerooting",
    "spanning",
    "topologies",
    "udut",
    "uut",
]

furnish(__name__)
