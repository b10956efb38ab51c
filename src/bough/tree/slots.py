"""Places for what bodies hand to each other: taken while it is needed, then used again, so that few are needed.

On the way out a body leaves something for its children, on the way in its children leave something for it. Either way
its place is in use between its own turn and the turn of its last child. Depth first that is a place for each level of a
tree at most, and two for a chain, which stay in the fastest memory however many bodies there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.tree.tree import IntArray, Tree

__all__ = ["Slots", "slots"]


@dataclass(frozen=True, eq=False)
class Slots:
    """The order of bodies, and their places; arrays have an entry for each body, places count from 1."""

    order: IntArray  # indices of bodies (number less one), parents first
    own: IntArray  # place of each body; 0 for one without children
    up: IntArray  # place of its parent; 0 on the base
    so_far: IntArray  # on the way in, where the sum of the children before it is: `up`, or 0 for the first
    count: int  # number of places, 0 included


def slots(tree: Tree) -> Slots:
    """The places of a tree, bodies taken depth first."""
    order = tree.depth_first()[1] - 1
    own, so_far = np.zeros((2, tree.n + 1), dtype=np.int64)
    parents = (0, *tree.parents)
    free: list[int] = []
    count = 1
    for body in (order[::-1] + 1).tolist():
        parent = parents[body]
        so_far[body] = own[parent]
        if parent and not own[parent]:
            if not free:
                free.append(count)
                count += 1
            own[parent] = free.pop()
        if own[body]:
            free.append(int(own[body]))
    up = own[np.array(tree.parents, dtype=np.int64)]
    return Slots(order, own[1:], up, so_far[1:], count)
