"""Trees: parent arrays and what follows from them alone.

`Tree` holds a parent array and answers questions about it; `elimination_tree` finds the tree of a sparse symmetric
matrix; `named` builds the topologies of the papers; `costs` evaluates their closed-form operation counts.
"""

from __future__ import annotations

from bough.tree import costs, named
from bough.tree.elimination import elimination_tree
from bough.tree.tree import Tree

__all__ = ["Tree", "costs", "elimination_tree", "named"]
