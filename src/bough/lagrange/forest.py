"""Forests of bodies and constraints: which constraints can be eliminated with the bodies, and from which roots.

A constraint of p rows is eliminated after the body beyond it, which needs at least p dimensions. So not every body may
be the root of a tree of bodies, and not every pair of trees may be joined by a constraint. The world, of dimension 0,
is always a root.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from typing import NamedTuple

from bough.errors import ModelError
from bough.lagrange.factor import ordermatrix

__all__ = ["Edge", "Step", "choose_primary", "elimination_order"]

Edge = tuple[int, int, int]


class Step(NamedTuple):
    """A body, the constraint that leads from it towards the root, and the step of the body at its other end."""

    body: int  # 1 … N
    constraint: int  # 0 … C-1, or -1 for none
    parent: int  # number of a step, from 1; 0 where the constraint leads to the world or there is none


def elimination_order(bodies: Sequence[int], constraints: Sequence[Edge]) -> list[Step]:
    """Bodies, each with its constraint towards the root, parents first: elimination goes from the last to the first."""
    sizes = [0, *bodies]
    around = _neighbours(len(sizes), constraints)
    steps: list[Step] = []
    seen = [False] * len(sizes)
    for start in range(len(sizes)):
        if seen[start]:
            continue
        found, late = _from_root(start, around, sizes, constraints)
        if late and start:  # the last in order has no such one beyond it: if any root will do, this body will
            found, late = _from_root(late.body, around, sizes, constraints)
        if late:
            a, b, p = constraints[late.constraint]
            raise ModelError(
                f"constraint {late.constraint} between bodies {a} and {b} has dimension {p}, and body {late.body} has "
                f"only {sizes[late.body]}: expected at most that, since the other side is tied to the world or to a "
                "smaller body"
            )
        offset = len(steps) - (start == 0)  # the world is no step
        for step in found:
            seen[step.body] = True
            if step.body:
                steps.append(step._replace(parent=step.parent + offset if step.parent else 0))
    return steps


def _neighbours(count: int, constraints: Sequence[Edge]) -> list[list[tuple[int, int]]]:
    """Of each body, the world first, those it is constrained to, and by which constraints."""
    around: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    names = list(range(count))
    for k, (a, b, p) in enumerate(constraints):
        if not p:
            continue
        around[a].append((b, k))
        around[b].append((a, k))
        first, second = _tree(names, a), _tree(names, b)
        if first == second:
            raise ModelError(
                f"constraint {k} between bodies {a} and {b} closes a loop, expected constraints without loops "
                "(the world, body 0, counts as a body)"
            )
        names[second] = first
    return around


def _from_root(
    root: int, around: Sequence[Sequence[tuple[int, int]]], sizes: Sequence[int], constraints: Sequence[Edge]
) -> tuple[list[Step], Step | None]:
    """The steps of a tree, and the last one whose body has a smaller dimension than its constraint."""
    steps = list(starmap(Step, ordermatrix(root, around)))
    late = (s for s in reversed(steps) if s.constraint >= 0 and sizes[s.body] < constraints[s.constraint][2])
    return steps, next(late, None)


def choose_primary(bodies: Sequence[int], edges: Sequence[Edge | None]) -> list[bool]:
    """For each constraint whether it is primary: pairwise, without loops, and eliminated after the body beyond it.

    Those with most rows are chosen first, then those that come first; an edge is None if it cannot be primary.
    """
    sizes = [0, *bodies]
    names = list(range(len(sizes)))  # of the tree that each body is in, by way of others
    roots: list[set[int]] = [{k} for k in names]  # which bodies may be the root of a tree
    primary = [edge is not None and edge[2] == 0 for edge in edges]
    for k, edge in sorted(enumerate(edges), key=lambda entry: -entry[1][2] if entry[1] else 0):
        if edge is None or not edge[2]:
            continue
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
        primary[k] = True
        possible.sort(key=len)
        if len(possible) == 2:
            possible[1].update(possible[0])
        names[second] = first
        roots[first] = possible[-1]
    return primary


def _tree(names: list[int], k: int) -> int:
    """The tree a body is in; paths are shortened on the way."""
    while names[k] != k:
        names[k] = names[names[k]]
        k = names[k]
    return k
