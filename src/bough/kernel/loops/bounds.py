"""The limits of joints that an assembly stays within, the step that passes none, and angles that may turn freely.

A coordinate of the tree is never let past its limits: where a step would, it goes to the limit and all others make up
for it. Coordinates that cannot be set by themselves, as those of joints that close loops, are let past; by how much is
an error like those of constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.limits import limited_joints, limited_loops
from bough.errors import AssemblyError
from bough.kernel.arguments import FloatArray
from bough.kernel.functions import algorithm
from bough.kernel.loops.saddle import times
from bough.kernel.table import entry
from bough.model import Equality, Model, Tie
from bough.model.joints import Mimic, Revolute

__all__ = ["Bounds", "free_angles"]

Solve = Callable[[FloatArray, FloatArray], FloatArray]
"""The step for rows (states, rows, nv) and their errors (states, rows)."""

ROUNDS_OF_LIMITS = 20
"""How often a step is found anew because it passes further limits; then it is cut off at them."""


class Bounds:
    """The limits of a model, a row for each coordinate c that has some, where some joints are held."""

    def __init__(self, model: Model, hold: Sequence[str]) -> None:
        self.model, self.hold, self.moving = model, tuple(hold), np.ones(model.nv)
        for name in hold:
            self.moving[model.v_slice(name)] = 0.0
        tree = limited_joints(model)
        rows = [*tree, *limited_loops(model)]
        on_tree = np.arange(len(rows)) < len(tree)
        # the place of each c in q, those of loop joints behind
        self.places = np.array([c.q_start + c.number for c in rows], np.intp) + np.where(on_tree, 0, model.nq)
        self.lower, self.upper = np.array([c.lower for c in rows]), np.array([c.upper for c in rows])
        # those never passed, since each number of q may be set by itself, and those of joints that are held
        free = [c.entry.joint.nq - len(c.entry.joint.quaternions) == c.entry.joint.nv for c in rows]
        self.firm = on_tree & np.array(free, np.bool_)
        self.held = on_tree & np.array([c.entry.name in hold for c in rows], np.bool_)
        self.names = [c.entry.name if c.entry.joint.nq == 1 else f"{c.entry.name}[{c.number}]" for c in rows]

    def clip(self, q: FloatArray) -> FloatArray:
        """The nearest configurations within the limits that can be kept by themselves."""
        set_ = self.firm & ~self.held
        result = q.copy()
        result[:, self.places[set_]] = np.clip(q[:, self.places[set_]], self.lower[set_], self.upper[set_])
        return result

    def excess(self, q: FloatArray) -> FloatArray:
        """By how much coordinates that cannot be set by themselves are past their limits (states, ·)."""
        return self._beyond(self._coordinates(q))[:, ~self.firm]

    def at_limits(self, q: FloatArray) -> NDArray[np.bool_]:
        """Whether each coordinate is at a limit, or past it (states, rows)."""
        c = self._coordinates(q)
        return np.asarray((c <= self.lower) | (c >= self.upper))

    def require_held(self, q: FloatArray, tolerance: float) -> None:
        """Raise, naming the joint, if one is held past its limit."""
        off = np.abs(self._beyond(self._coordinates(q))) * self.held
        if (off > tolerance).any():
            k = int(np.unravel_index(np.argmax(off), off.shape)[1])
            raise AssemblyError(
                f"joint {self.names[k]!r} is held {off.max():.3g} m or rad past its limits, which are "
                f"{self.lower[k]:g} and {self.upper[k]:g}: hold it within them"
            )

    def step(self, q: FloatArray, L: FloatArray, errors: FloatArray, solve: Solve) -> FloatArray:
        """The step for the rows L of constraints, and of limits as far as they count, that passes no limit."""
        if not self.places.size:
            return solve(L, errors)
        c, firm = self._coordinates(q), self.firm
        G = entry(self.model, "limit_jacobian", algorithm)(q, None, True) * self.moving
        goal = np.clip(c, self.lower, self.upper)
        stop = (c != goal) & ~self.held
        for _ in range(ROUNDS_OF_LIMITS):
            # firm ones go to their goals, d = G⁺ (goal - c) + N x with G N = 0; all others are rows as constraints are
            fixed = G[:, firm] * stop[:, firm, np.newaxis]
            inverse = np.linalg.pinv(fixed)
            start = times(inverse, (goal - c)[:, firm] * stop[:, firm])
            N = np.eye(L.shape[-1]) - inverse @ fixed
            rows = np.concatenate([L, G[:, ~firm] * stop[:, ~firm, np.newaxis]], axis=1)
            off = np.concatenate([errors, ((c - goal) * stop)[:, ~firm]], axis=1) + times(rows, start)
            d = start + times(N, solve(rows @ N, off))
            there = c + times(G, d)
            further = ~stop & ~self.held & ((there < self.lower) | (there > self.upper))
            if not further.any():
                break
            goal = np.where(further, np.clip(there, self.lower, self.upper), goal)
            stop |= further
        return d

    def limits_in_words(self, q: FloatArray) -> str:
        """The limits that a configuration (nq) has reached, in words; empty if there are none."""
        reached = self.at_limits(q[np.newaxis])[0]
        c = self._coordinates(q[np.newaxis])[0]
        parts = []
        for k in np.flatnonzero(reached)[:4]:
            which, bound = ("lower", self.lower[k]) if c[k] <= self.lower[k] else ("upper", self.upper[k])
            parts.append(f"{self.names[k]!r} is at its {which} limit {bound:g}")
        return ", ".join(parts)

    def _coordinates(self, q: FloatArray) -> FloatArray:
        if limited_loops(self.model):  # their coordinates come behind q
            q = np.concatenate([q, entry(self.model, "loop_configurations", algorithm)(q, None, True)], axis=-1)
        return q[:, self.places]

    def _beyond(self, c: FloatArray) -> FloatArray:
        return np.asarray(c - np.clip(c, self.lower, self.upper))


@lru_cache(maxsize=128)
def free_angles(model: Model) -> NDArray[np.intp]:
    """Places in q of hinges without limits and springs, which no law, tie or mimic joint is about."""
    counted = {c.entry.name for c in limited_joints(model)}
    for c in model.constraints:
        if isinstance(c, Equality):
            counted |= {c.joint, c.other or c.joint}
        elif isinstance(c, Tie):
            counted |= set(c.joints)
    for own in model.joints:
        if isinstance(own.joint, Mimic):
            counted.add(own.joint.source)
        if any(own.stiffness):
            counted.add(own.name)
    hinges = [own.name for own in model.joints if isinstance(own.joint, Revolute) and own.name not in counted]
    return np.array([model.q_slice(name).start for name in hinges], np.intp)
