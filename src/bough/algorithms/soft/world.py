"""Bodies seen from the world: axes of the world, and for each tree of bodies an origin that moves with its root.

Accelerations and forces of bodies add up without being turned, and numbers stay small however far a robot has walked.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from bough.model import Mechanism
from bough.model.coupling import Coupling
from bough.scalar import Array, Index, Scalar, array, indexable, repeat
from bough.spatial import REST, STAY, ZERO, ArticulatedInertia, Force, Motion, Transform, Vector

__all__ = ["ENTRIES", "BodyInWorld", "WorldTree", "world_tree"]

ENTRIES = 21
"""Entries of the lower triangle of a 6 x 6 matrix."""

FEW_VELOCITIES = 10
"""Up to so many velocities, asking limb by limb costs more than it spares."""

LINEAR_DIAGONAL = 9, 14, 20
"""Those of the linear part that are on the diagonal."""


@dataclass(frozen=True, slots=True)
class BodyInWorld:
    """Where a body is: its axes and its place from the origin of its tree, that origin, and its joint's directions."""

    X: Transform
    origin: Vector
    S: tuple[Motion, ...]

    @property
    def placement(self) -> Transform:
        """Placement of the inside frame of the body in the world."""
        return Transform(self.X.rotation, self.X.translation + self.origin)


WORLD = BodyInWorld(STAY, ZERO, ())


@dataclass(frozen=True)
class WorldTree:
    """All bodies of a mechanism in the world; body 0 is the world."""

    coupling: Coupling
    parents: tuple[int, ...]  # of bodies 1 … N
    starts: tuple[int, ...]  # where the own velocities of bodies 1 … N begin
    bodies: tuple[BodyInWorld, ...]  # with the world

    def motions(self, a: Sequence[Scalar]) -> list[Motion]:
        """What motions a along the joints are of each body, by its number; the world rests."""
        own = self.coupling.own_v(indexable(len(a), a))
        result = [REST]
        for parent, start, body in zip(self.parents, self.starts, self.bodies[1:], strict=True):
            total = result[parent]
            for k, s in enumerate(body.S):
                total = total + s * own[start + k]
            result.append(total)
        return result

    def joint_forces(self, forces: Sequence[Force | None]) -> list[Scalar]:
        """What forces on bodies, by their numbers, are along the joints; None where there is none."""
        total = list(forces)
        result = array(self.coupling.full_tree.n)
        for i in range(len(self.parents), 0, -1):
            force, parent = total[i], self.parents[i - 1]
            if force is None:
                continue
            for k, s in enumerate(self.bodies[i].S):
                result[self.starts[i - 1] + k] = s.dot(force)
            up = total[parent]
            total[parent] = force if up is None else up + force
        reduced = self.coupling.reduced(result)
        return [reduced[k] for k in range(self.coupling.dof_tree.n)]

    def add_impedances(self, K: Array, touched: Iterable[int], H: Array) -> None:
        """Add what impedances of touched bodies, in memory, are along the joints to packed path rows in memory.

        As in the composite-rigid-body algorithm, impedances of bodies that move together add up: K of other bodies has
        to be zero, and is changed. This is done limb by limb, and not at all for limbs where K is zero in all states.
        """
        loaded = set(touched)
        for limb in self._limbs:
            own = [b for b in limb if b in loaded]
            if own:
                weight = reduce(operator.add, [K[b * ENTRIES + k] for b in own for k in LINEAR_DIAGONAL])
                rule = partial(self._add_of_limb, limb, frozenset(own), K, H)
                repeat(1, rule, (), until=lambda _, weight=weight: weight <= 0.0)  # type: ignore[misc]
                loaded.add(self.parents[limb[0] - 1])

    def _add_of_limb(
        self, limb: Sequence[int], loaded: frozenset[int], K: Array, H: Array, _: Index, nothing: tuple[()]
    ) -> tuple[()]:
        total: dict[int, ArticulatedInertia] = {}
        for b in loaded:
            entries = iter([K[b * ENTRIES + k] for k in range(ENTRIES)])
            total[b] = ArticulatedInertia.of_lower([[next(entries) for _ in range(k + 1)] for k in range(6)])
        for i in reversed(limb):
            if i not in total:
                continue
            for k, s in enumerate(self.bodies[i].S):
                self._add_row(self.starts[i - 1] + k, i, k + 1, total[i].times(s), H)
            up = self.parents[i - 1]
            if up in limb:
                total[up] = total[up] + total[i] if up in total else total[i]
            elif up:
                for k, value in enumerate(x for row in total[i].lower for x in row):
                    K[up * ENTRIES + k] = K[up * ENTRIES + k] + value
        return nothing

    def _add_row(self, row: int, body: int, own: int, force: Force, H: Array) -> None:
        """Add what a force on a body is along its first joint directions and those before it to a row."""
        tree, first = self.coupling.full_tree, int(self.coupling.full_tree.packed_starts[row]) - 1
        directions = [(self.starts[body - 1] + k, s) for k, s in enumerate(self.bodies[body].S[:own])]
        while body := self.parents[body - 1]:
            directions += [(self.starts[body - 1] + k, s) for k, s in enumerate(self.bodies[body].S)]
        for column, s in directions:
            place = first + int(tree.depths[column])
            H[place] = H[place] + s.dot(force)

    @property
    def _limbs(self) -> list[list[int]]:
        """Bodies in chains without branches, outer chains first; all bodies of a small tree."""
        if self.coupling.full_tree.n <= FEW_VELOCITIES:
            return [list(range(1, len(self.bodies)))]
        limbs: dict[int, list[int]] = {}  # by the last body of each
        for i, parent in enumerate(self.parents, start=1):
            joined = parent and self.parents.count(parent) == 1
            limbs[i] = [*(limbs.pop(parent) if joined else ()), i]
        return sorted(limbs.values(), reverse=True)


def world_tree(m: Mechanism, q: Array) -> WorldTree:
    """The bodies of a mechanism in the configuration q."""
    q = m.coupling.own_q(q)
    parents = tuple(int(p) for p in m.tree.parents)
    bodies = [WORLD]
    for i, parent in enumerate(parents, start=1):
        record = m.at(i)
        own, S = record.transform(q), record.subspace(q)
        if parent:
            X, origin = bodies[parent].X.then(own), bodies[parent].origin
        else:
            X, origin = Transform(own.rotation, ZERO), own.translation
        bodies.append(BodyInWorld(X, origin, tuple(X.to_parent(s) for s in S)))
    starts = tuple(int(s) for s in m.v_starts.data)
    return WorldTree(m.coupling, parents, starts, tuple(bodies))
