"""What a Newton step factorises: M, stiffened by contacts with the world and by rows on single velocities.

Both ways end with the pivots of LᵀDL. Where paths to the root are long, articulated inertias in the axes of the world
are the shorter one: impedances of contacts are added to inertias of bodies, and neither M nor what contacts add to it
is written down. Elsewhere it is M itself, whose rows are short.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from bough.algorithms.soft.contacts import Contacts
from bough.algorithms.soft.grip import Grip, write_at
from bough.algorithms.soft.world import ENTRIES, WorldTree
from bough.factor import ltdl, solve
from bough.model import Mechanism
from bough.scalar import Array, Index, Scalar, array, blank, indexable, keeping_loops, repeat, unguarded
from bough.spatial import REST, ArticulatedInertia, Force, Motion
from bough.tree import Tree

__all__ = [
    "LONG_PATHS", "ArticulatedBodies", "Diagonal", "PackedMatrix", "Solve", "articulated_bodies", "diagonal_place",
]  # fmt: skip

LONG_PATHS = 7.0
"""Velocities from one to the root, on the average, from which on articulated inertias are the shorter way."""

Scalars: TypeAlias = tuple[Scalar, ...]
Solve: TypeAlias = Callable[[Sequence[Scalar]], Scalars]
Diagonal: TypeAlias = Sequence[tuple[int, Scalar]]
"""Numbers to be added to entries of the diagonal, by velocities."""


def diagonal_place(tree: Tree, k: int) -> int:
    """Where an entry of the diagonal lies in packed path rows, counted from 0."""
    return int(tree.packed_starts[k]) + int(tree.depths[k]) - 1


def _stiffen(grip: Grip, K: Array) -> None:
    grip.add_impedance(grip.answer(grip.read("x")).W, K)


@dataclass(frozen=True)
class PackedMatrix:
    """M in packed path rows."""

    tree: Tree  # of velocities
    M: Array
    world: WorldTree

    def factor(self, contacts: Contacts, more: Diagonal) -> Solve:
        """What solves with the matrix, contacts with the world and numbers on its diagonal added."""
        tree, H = self.tree, array(self.tree.packed_size)
        stiff = self._with_contacts(contacts)
        for k in range(tree.packed_size):
            H[k] = stiff[k]
        for place, value in ((diagonal_place(tree, k), value) for k, value in more):
            H[place] = H[place] + value
        factor = ltdl(tree, H)

        def solution(b: Sequence[Scalar]) -> Scalars:
            x = solve(tree, factor, indexable(tree.n, b), unit=True)
            return tuple(x[k] for k in range(tree.n))

        return solution

    def _with_contacts(self, contacts: Contacts) -> Array:
        """M with what contacts with the world add, where there are some in some state."""
        coupling = self.world.coupling
        if not contacts.layout.touched:
            return self.M
        size = coupling.full_tree.packed_size
        with keeping_loops():
            H = unguarded(size, zeros=False)  # where a state is done, zero is added
        for k in range(size):
            H[k] = self.M[k] if coupling.trivial else 0.0

        def add(_: Index, nothing: tuple[()]) -> tuple[()]:
            with keeping_loops():
                K = array(contacts.impedance_size)
            contacts.each(lambda grip: _stiffen(grip, K), between=False)
            self.world.add_impedances(K, contacts.layout.touched, H)
            return nothing

        stiff = contacts.stiffness(between=False)
        repeat(1, add, (), until=lambda _: stiff <= 0.0)
        if coupling.trivial:
            return H
        more = coupling.reduced_matrix(H)
        return [self.M[k] + more[k] for k in range(self.tree.packed_size)]


@dataclass(frozen=True)
class ArticulatedBodies:
    """M as inertias of bodies in the axes of the world, by their numbers, and what its diagonal has beside them."""

    world: WorldTree
    inertias: Sequence[ArticulatedInertia | None]  # None: no mass
    diagonal: Diagonal
    pressed: Mapping[int, Scalar]  # of bodies that may touch the world: zero where they do not
    touching: Scalar  # zero where none of them does

    def factor(self, contacts: Contacts, more: Diagonal) -> Solve:
        """What solves with the matrix, contacts with the world and numbers on its diagonal added.

        Body by body towards the root, U = I s of a joint and D = s · U are kept, and I - U Uᵀ / D is what its parent
        feels (Featherstone 1983); a joint with several velocities is as many joints.
        """
        world, total, K = self.world, list(self.inertias), self._stiffened(contacts)
        extra: dict[int, Scalar] = {}
        for k, value in (*self.diagonal, *more):
            extra[k] = extra[k] + value if k in extra else value
        joints: list[list[_Joint]] = []
        for i in range(len(world.parents), 0, -1):
            felt, parent, start = total[i], world.parents[i - 1], world.starts[i - 1]
            if i in self.pressed:
                felt = _with_impedance(felt, K, i, self.pressed[i])
            own: list[_Joint] = []
            for k, s in reversed(list(enumerate(world.bodies[i].S, start=start))):
                U = Force(REST.angular, REST.linear) if felt is None else felt.times(s)
                inverse = 1.0 / (s.dot(U) + extra.get(k, 0.0))
                W = U * inverse
                own.append(_Joint(k, s, W, inverse))
                felt = None if felt is None else felt.minus_outer([U], [W], ())
            joints.append(own)
            up = total[parent]
            if parent and felt is not None:
                total[parent] = felt if up is None else up + felt
        return lambda b: self._solved(joints, b)

    def _stiffened(self, contacts: Contacts) -> Array:
        """Impedances of the contacts of bodies with the world, in memory; anything for those that do not touch it."""
        with keeping_loops():
            K = blank(contacts.impedance_size)

        def clear(body: int, _: Index, nothing: tuple[()]) -> tuple[()]:
            write_at(K, body * ENTRIES, [0.0] * ENTRIES)
            return nothing

        def stiffen(_: Index, nothing: tuple[()]) -> tuple[()]:
            for b, pressed in sorted(self.pressed.items()):
                repeat(1, partial(clear, b), (), until=lambda _, pressed=pressed: pressed <= 0.0)  # type: ignore[misc]
            contacts.each(lambda grip: _stiffen(grip, K), between=False)
            return nothing

        if self.pressed:
            repeat(1, stiffen, (), until=lambda _: self.touching <= 0.0)
        return K

    def _solved(self, joints: Sequence[Sequence[_Joint]], b: Sequence[Scalar]) -> Scalars:
        """The solution: forces that joints lack towards the root, and from there accelerations."""
        world, count = self.world, len(self.world.parents)
        lacking: list[Force | None] = [None] * (count + 1)
        pushed: dict[int, Scalar] = {}
        for i, own in zip(range(count, 0, -1), joints, strict=True):
            force, parent = lacking[i], world.parents[i - 1]
            for joint in own:
                left = pushed[joint.k] = b[joint.k] if force is None else b[joint.k] - joint.s.dot(force)
                force = joint.W * left if force is None else force + joint.W * left
            up = lacking[parent]
            lacking[parent] = force if up is None or force is None else up + force
        motions: list[Motion] = [REST]
        x: dict[int, Scalar] = {}
        for i, own in zip(range(1, count + 1), reversed(joints), strict=True):
            motion = motions[world.parents[i - 1]]
            for joint in reversed(own):
                x[joint.k] = pushed[joint.k] * joint.inverse - motion.dot(joint.W)
                motion = motion + joint.s * x[joint.k]
            motions.append(motion)
        return tuple(x[k] for k in range(len(x)))


@dataclass(frozen=True)
class _Joint:
    """Of one velocity: its number, the direction s, U / D and 1 / D."""

    k: int
    s: Motion
    W: Force
    inverse: Scalar


def _with_impedance(felt: ArticulatedInertia | None, K: Array, body: int, pressed: Scalar) -> ArticulatedInertia:
    """An inertia with the impedance of a body, which is in memory, added where the body is pressed."""
    before: Scalars = (0.0,) * ENTRIES if felt is None else tuple(x for row in felt.lower for x in row)

    def add(_: Index, entries: Scalars) -> Scalars:
        return tuple(x + K[body * ENTRIES + k] for k, x in enumerate(entries))

    found = repeat(1, add, before, until=lambda _: pressed <= 0.0)
    entries = iter(found)
    return ArticulatedInertia.of_lower([[next(entries) for _ in range(k + 1)] for k in range(6)])


def articulated_bodies(m: Mechanism, world: WorldTree, contacts: Contacts, more: Diagonal) -> ArticulatedBodies:
    """M of a mechanism without followers in a configuration, with numbers added to its diagonal."""
    inertias: list[ArticulatedInertia | None] = [None]
    diagonal = list(more)
    for i, start in enumerate(world.starts, start=1):
        body = m.at(i)
        own = body.regrouped_inertia
        numbers = (own.mass, *own.moment.parts, *own.rotational.matrix.columns[0].parts, own.rotational.yy)
        weightless = all(isinstance(x, float) and not x for x in (*numbers, own.rotational.zy, own.rotational.zz))
        inertias.append(None if weightless else world.bodies[i].X.inertia_to_parent(own).articulated)
        diagonal += enumerate(body.armature, start=start)
    return ArticulatedBodies(world, inertias, diagonal, contacts.pressed(), contacts.stiffness(between=False))
