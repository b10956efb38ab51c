"""Few contacts between two bodies beside what has the pattern of M: they are solved with, not iterated over.

Mostly no more than one presses, and hardly ever many. With j the row of a normal and w the stiffness along it,
(H + w j jᵀ)⁻¹ is H⁻¹ - c u uᵀ, where u = H⁻¹ j and c = w / (1 + w j · u) (Sherman and Morrison); so one after the
other is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from bough.algorithms.soft.contacts import Contacts
from bough.algorithms.soft.grip import Grip, write_at
from bough.algorithms.soft.stiffened import Solve
from bough.algorithms.soft.world import WorldTree
from bough.scalar import Array, Index, Scalar, both, dot, keeping_loops, repeat, select, unguarded, when

__all__ = ["with_few_between"]

Scalars: TypeAlias = tuple[Scalar, ...]

MOST_TAKEN = 4
"""Normals that are solved with; conjugate gradients take the others."""

WAITS, TAKEN = 1.0, -1.0
"""What y of a contact says of its normal, where that presses."""


def with_few_between(solve: Solve, contacts: Contacts, world: WorldTree) -> tuple[Solve, Scalar]:
    """What solves with the first normals of contacts between bodies that press too, and how many rows are left.

    Of each contact that touches it is known from then on how stiff what is left of it is (`Grip.left`), and whether y
    of its normal is `TAKEN`.
    """
    n, touching, none = len(contacts.rates), contacts.stiffness(between=True), 0.0  # type: int, Scalar, Scalar
    with keeping_loops():
        ways, parts = (unguarded(size * MOST_TAKEN, zeros=False) for size in (n, 1))

    def taken_off(count: Scalar, b: Sequence[Scalar], x: Scalars) -> Scalars:
        """H⁻¹ b from what the factor makes of b, with so many normals."""

        def turn(k: Index, carry: tuple[Scalars, Scalar]) -> tuple[Scalars, Scalar]:
            x, left = carry
            u = [ways[k * n + i] for i in range(n)]
            back = parts[k] * dot(u, b)
            return tuple(value - back * way for value, way in zip(x, u, strict=True)), left - 1.0

        return repeat(MOST_TAKEN, turn, (x, count), until=lambda carry: carry[1] <= 0.0)[0]

    def look(grip: Grip, found: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        waiting, rows = found
        W = grip.answer(grip.read("x")).W
        presses, stiffness = W[0][0] > 0.0, W[0][0] + _beside_the_normal(W)
        grip.write("y", [select(presses, WAITS, 0.0), *[0.0] * (grip.law.rows - 1)])
        grip.leave(stiffness)
        return waiting + select(presses, 1.0, 0.0), rows + select(stiffness > 0.0, float(grip.law.rows), 0.0)

    def take(grip: Grip, forces: Array, found: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        says, *others = grip.read("y")
        is_next = both(found[0] <= 0.0, says > 0.0)

        def this(found: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
            W = grip.answer(grip.read("x")).W
            grip.write("y", [select(is_next, TAKEN, says), *others])  # that of all states is written
            grip.leave(_beside_the_normal(W))
            grip.add_forces([1.0, *[0.0] * len(others)], forces)
            return W[0][0], found[1] - (0.0 if others else 1.0)  # others are coupled with the normal: all are left

        return when(is_next, this, found)

    def one(k: Index, carry: tuple[Scalar, Scalar, Scalar]) -> tuple[Scalar, Scalar, Scalar]:
        waiting, taken, rows = carry
        forces, (w, rows) = contacts.forces(take, (none, rows), between=True, left=True)
        j = world.joint_forces(forces)
        u = taken_off(taken, j, solve(j))
        write_at(ways, k * n, u)
        parts[k] = w / (1.0 + w * dot(j, u))
        return waiting - 1.0, taken + 1.0, rows

    def all_of_them(_: Index, __: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        waiting, rows = contacts.sum(look, (none, none), between=True)
        return repeat(MOST_TAKEN, one, (waiting, none, rows), until=lambda carry: carry[0] <= 0.0)[1:]

    taken, rows = repeat(1, all_of_them, (none, none), until=lambda _: touching <= 0.0)
    return lambda b: taken_off(taken, b, solve(b)), rows


def _beside_the_normal(W: Sequence[Sequence[Scalar]]) -> Scalar:
    """How stiff the other rows of a contact are together."""
    total: Scalar = 0.0
    for k, values in enumerate(W[1:], start=1):
        total = total + values[k]
    return total
