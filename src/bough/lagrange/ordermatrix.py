"""A perfect elimination order of the bodies and constraints of a forest (Baraff 1996, `ordermatrix`).

The graph of H = [[M, -Jᵀ], [-J, 0]] has a node for each body and each constraint. Without loops it is a forest, and
eliminating from the leaves to the roots fills nothing in. A constraint is eliminated right after the body beyond it, so
one step of the elimination takes both: a body and the constraint that leads from it towards the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bough.errors import ModelError

__all__ = ["Step", "ordermatrix"]

Edge = tuple[int, int, int]


class Step(NamedTuple):
    """A body, the constraint that leads from it towards the root, and the step of the body at its other end."""

    body: int  # 1 … N
    constraint: int  # 0 … C-1, or -1 for none
    parent: int  # number of a step, from 1; 0 where the constraint leads to the world or there is none


def ordermatrix(bodies: Sequence[int], constraints: Sequence[Edge]) -> list[Step]:
    """The steps, parents first: elimination goes through them from the last to the first.

    A body whose dimension is smaller than that of a constraint on it cannot be eliminated before the constraint: it has
    to be on the side of the root. The world, of dimension 0, always is.

    Raises
    ------
    ModelError
        If the constraints close a loop, or if no choice of roots lets every body be eliminated before its constraint.
    """
    sizes = [0, *bodies]
    around: list[list[tuple[int, int]]] = [[] for _ in sizes]
    for k, (a, b, p) in enumerate(constraints):
        if p:
            around[a].append((b, k))
            around[b].append((a, k))
    steps: list[Step] = []
    seen = [False] * len(sizes)
    for start in range(len(sizes)):
        if seen[start]:
            continue
        found = _preorder(start, around, constraints)
        late = _too_small(found, sizes, constraints)
        if late is not None:  # the last in preorder has no other one beyond it: if any root will do, this body will
            found = [] if start == 0 else _preorder(late.body, around, constraints)
            left = late if start == 0 else _too_small(found, sizes, constraints)
            if left is not None:
                _refuse_order(left, sizes, constraints)
        offset = len(steps) - (1 if start == 0 else 0)  # the world is no step
        for step in found:
            seen[step.body] = True
            if step.body:
                steps.append(step._replace(parent=step.parent + offset if step.parent else 0))
    return steps


def _preorder(root: int, around: Sequence[Sequence[tuple[int, int]]], constraints: Sequence[Edge]) -> list[Step]:
    """The bodies that a root is connected to, depth first."""
    found: list[Step] = []
    number = {root: 0}
    waiting = [Step(root, -1, 0)]
    while waiting:
        step = waiting.pop()
        found.append(step)
        place = len(found)
        for body, k in reversed(around[step.body]):
            if k == step.constraint:
                continue
            if body in number:
                a, b, _ = constraints[k]
                raise ModelError(
                    f"constraint {k} between bodies {a} and {b} closes a loop, expected constraints without loops "
                    "(the world, body 0, counts as a body)"
                )
            number[body] = place
            waiting.append(Step(body, k, place))
    return found


def _too_small(steps: Sequence[Step], sizes: Sequence[int], constraints: Sequence[Edge]) -> Step | None:
    """The last step whose body has a smaller dimension than its constraint."""
    for step in reversed(steps):
        if step.constraint >= 0 and sizes[step.body] < constraints[step.constraint][2]:
            return step
    return None


def _refuse_order(step: Step, sizes: Sequence[int], constraints: Sequence[Edge]) -> None:
    a, b, p = constraints[step.constraint]
    raise ModelError(
        f"constraint {step.constraint} between bodies {a} and {b} has dimension {p}, and body {step.body} has only "
        f"{sizes[step.body]}: expected at most that, since the other side is tied to the world or to a smaller body"
    )
