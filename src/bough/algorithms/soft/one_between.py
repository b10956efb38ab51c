"""One contact between two bodies beside what has the pattern of M: it is solved with, not iterated over.

Mostly no more than one presses. With j the row of its normal and w the stiffness along it, (H + w j jᵀ)⁻¹ is
H⁻¹ - c u uᵀ, where u = H⁻¹ j and c = w / (1 + w j · u) (Sherman and Morrison).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from bough.algorithms.soft.contacts import Contacts
from bough.algorithms.soft.grip import Grip
from bough.algorithms.soft.stiffened import Solve
from bough.algorithms.soft.world import WorldTree
from bough.scalar import Array, Index, Scalar, both, dot, repeat, select

__all__ = ["with_one_between"]

Scalars: TypeAlias = tuple[Scalar, ...]


def with_one_between(solve: Solve, contacts: Contacts, world: WorldTree) -> tuple[Solve, Scalar]:
    """What solves with the normal of the first contact between bodies that presses too, and how stiff the rest is.

    y of each contact that touches is 1 from then on where its normal is the one that is taken, and 0 elsewhere.
    """
    held, none = contacts.stiffness(between=True), 0.0  # type: Scalar, Scalar
    nothing: Scalars = (0.0,) * len(contacts.rates)

    def take(grip: Grip, forces: Array, found: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        stiffness, rest = found
        W = grip.answer(grip.read("x")).W
        is_first = both(stiffness <= 0.0, W[0][0] > 0.0)
        row = [select(is_first, 1.0, 0.0), *[0.0] * (grip.law.rows - 1)]
        grip.write("y", row)
        grip.add_forces(row, forces)
        rest = rest + select(is_first, 0.0, W[0][0])
        for k, values in enumerate(W[1:], start=1):
            rest = rest + values[k]
        return select(is_first, W[0][0], stiffness), rest

    def one(_: Index, __: tuple[Scalars, Scalar, Scalar]) -> tuple[Scalars, Scalar, Scalar]:
        forces, (w, rest) = contacts.forces(take, (none, none), between=True)
        j = world.joint_forces(forces)
        u = solve(j)
        return u, w / (1.0 + w * dot(j, u)), rest

    u, c, rest = repeat(1, one, (nothing, none, none), until=lambda _: held <= 0.0)

    def solution(b: Sequence[Scalar]) -> Scalars:
        back = c * dot(u, b)
        return tuple(x - back * y for x, y in zip(solve(b), u, strict=True))

    return solution, rest
