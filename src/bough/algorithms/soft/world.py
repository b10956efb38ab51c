"""Bodies seen from the world: axes of the world, and for each tree of bodies an origin that moves with its root.

Accelerations and forces of bodies add up without being turned, and numbers stay small however far a robot has walked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.model import Mechanism
from bough.model.coupling import Coupling
from bough.scalar import Array, Scalar, array, indexable
from bough.spatial import REST, STAY, ZERO, ArticulatedInertia, Force, Motion, Transform, Vector

__all__ = ["BodyInWorld", "WorldTree", "world_tree"]


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

    def impedances(self, K: Sequence[ArticulatedInertia | None]) -> Array:
        """What impedances of bodies are along the joints, as packed path rows of the tree of velocities.

        As in the composite-rigid-body algorithm: impedances of bodies that move together add up.
        """
        total = list(K)
        tree = self.coupling.full_tree
        result = array(tree.packed_size)

        def put(row: int, column: int, value: Scalar) -> None:
            result[int(tree.packed_starts[row]) + int(tree.depths[column]) - 1] = value

        for i in range(len(self.parents), 0, -1):
            own, parent = total[i], self.parents[i - 1]
            if own is None:
                continue
            for k, s in enumerate(self.bodies[i].S):
                force, row = own.times(s), self.starts[i - 1] + k
                for other in range(k + 1):
                    put(row, self.starts[i - 1] + other, self.bodies[i].S[other].dot(force))
                j = parent
                while j:
                    for other, direction in enumerate(self.bodies[j].S):
                        put(row, self.starts[j - 1] + other, direction.dot(force))
                    j = self.parents[j - 1]
            up = total[parent]
            total[parent] = own if up is None else up + own
        return self.coupling.reduced_matrix(result)


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
