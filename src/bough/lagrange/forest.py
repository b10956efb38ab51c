"""Which constraints are primary: pairwise, without loops, and such that every body can be eliminated before its own.

A constraint of p rows is eliminated after the body beyond it, which needs at least p dimensions (see `ordermatrix`). So
not every body may be the root of a tree of bodies, and not every pair of trees may be joined by a constraint.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["choose_primary"]

Edge = tuple[int, int, int]


def choose_primary(bodies: Sequence[int], edges: Sequence[Edge | None]) -> list[bool]:
    """For each constraint whether it is primary.

    Parameters
    ----------
    bodies
        Dimensions of bodies 1 … N.
    edges
        Of each constraint (a, b, p): two bodies, 0 for the world, and the number of rows; None if it cannot be primary.
        Those with most rows are chosen first, then those that come first.
    """
    sizes = [0, *bodies]
    names = list(range(len(sizes)))  # of the tree that each body is in, by way of others
    roots: list[set[int]] = [{k} for k in names]  # which bodies may be the root of a tree
    chosen = [edge is not None and edge[2] == 0 for edge in edges]
    order = sorted((k for k, edge in enumerate(edges) if edge is not None and edge[2]), key=lambda k: -_rows(edges[k]))
    for k in order:
        edge = edges[k]
        assert edge is not None
        a, b, p = edge
        first, second = _tree(names, a), _tree(names, b)
        if first == second:
            continue
        possible = []  # with the root in one tree, the other one hangs from it by the constraint
        if sizes[b] >= p and b in roots[second]:
            possible.append(roots[first])
        if sizes[a] >= p and a in roots[first]:
            possible.append(roots[second])
        if not possible:
            continue
        chosen[k] = True
        possible.sort(key=len)
        if len(possible) == 2:
            possible[1].update(possible[0])
        names[second] = first
        roots[first] = possible[-1]
    return chosen


def _rows(edge: Edge | None) -> int:
    return 0 if edge is None else edge[2]


def _tree(names: list[int], k: int) -> int:
    """The tree a body is in; paths are shortened on the way."""
    while names[k] != k:
        names[k] = names[names[k]]
        k = names[k]
    return k
