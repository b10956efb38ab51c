"""Rows of constraints that say what must vanish, on bodies, frames and joints of a tree.

The contract is that of linkages (`bough.model.ties.constraint`): rates at unit velocities of one side are its block of
the Jacobian, over six numbers for a frame and nv for a joint. What a frame moves with each joint that carries it turns
these into columns of L. Dual numbers along the motion give the rest of L v̇ + bias, and the acceleration that a frame
has at v̇ = 0 is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bough.algorithms.climbing import Seen, Side, climb, components, write_columns
from bough.algorithms.constraint_rows import Entries, Terms
from bough.model import Frame, Mechanism, Tie
from bough.model.coupling import own_joint
from bough.model.ties.body import WORLD, Scalars
from bough.model.ties.constraint import Side as Held
from bough.model.ties.constraint import Sides, unit_rates
from bough.model.ties.sides import FRAME, JointOfModel, numbers_of
from bough.scalar import Array, Scalar
from bough.spatial import NO_FORCE, Force, Motion, Vector

__all__ = ["TieRows", "tie_columns", "tie_rows", "tie_terms"]

NOW = Held(WORLD, (), (0.0,), (1.0,))
"""The world, behind the sides of every constraint. A model has no time: its constraints do not look at it."""


@dataclass(frozen=True)
class TieRows:
    """A tie in a state: errors, rates, J̇ v, and the frames that it is on, with a force of each row for each of them.

    Forces are in the coordinates of the frame, each that of a unit multiplier. For joints there are blocks of the
    Jacobian, column by column.
    """

    errors: list[Scalar]
    rates: list[Scalar]
    bias: list[Scalar]
    frames: list[tuple[Side, Seen, list[Force]]]
    joints: list[list[list[Scalar]]]


def tie_rows(m: Mechanism, q: Array, v: Array | None, tie: Tie) -> TieRows:
    """The rows of a tie, from configurations and velocities of all joints, followers among them.

    Without v the frames are still: rates are those of constraints that ask for a speed.
    """
    constraint, own = tie.constraint, tie.constraint.parameters
    ends = [_frame(m, q, v, end.body, Frame("", end.body, end.placement)) for end in tie.bodies]
    held: list[Held] = []
    for end, (side, seen) in zip(tie.bodies, ends, strict=True):
        x, u = tuple(numbers_of(seen.X)), (*seen.v.linear.parts, *seen.v.angular.parts)
        held.append(NOW if end.is_world else Held(FRAME, (), x, u if not side.rests else (0.0,) * 6))
    held += [_joint(m, q, v, name) for name in tie.joints]
    sides: Sides = (*held, NOW)
    blocks = [unit_rates(constraint, own, sides, k) if side.body is not WORLD else [] for k, side in enumerate(held)]
    count = len(tie.bodies)
    frames = [
        (side, seen, _forces(block, constraint.rows)) for (side, seen), block in zip(ends, blocks[:count], strict=True)
    ]
    rates, bias = list(constraint.rates(own, sides)), [0.0] * constraint.rows  # type: list[Scalar], list[Scalar]
    if v is not None:
        bias = list(constraint.bias(own, sides))
        for _, seen, forces in frames:
            bias = [b + seen.a.dot(f) for b, f in zip(bias, forces, strict=True)]
    return TieRows(list(constraint.errors(own, sides)), rates, bias, frames, blocks[count:])


def tie_terms(
    m: Mechanism,
    q: Array,
    v: Array | None,
    tie: Tie,
    row: int,
    terms: Terms,
    entries: Entries,
    felt: Callable[[Motion, Sequence[Force], Scalar], list[Scalar]] = components,
) -> None:
    """Write the rows of a tie; `felt` gives the power of forces on a motion."""
    found, entries = tie_rows(m, q, v, tie), replace(entries, adds=True)
    for values, numbers in ((terms.errors, found.errors), (terms.rates, found.rates), (terms.bias, found.bias)):
        for r, value in enumerate(numbers):
            values[row + r] = value
            terms.levers[row + r] = 1.0
    for side, _, forces in found.frames:

        def rule(motion: Motion, reach: Scalar, T: Sequence[Force] = forces) -> list[Scalar]:
            return felt(motion, T, reach)

        write_columns(m, q, side, side.X, rule, row, 1.0, entries)
    for name, block in zip(tie.joints, found.joints, strict=True):
        for c, column in enumerate(block):
            for r, value in enumerate(column):
                entries.put(m, row + r, _starts(m, name)[1] + c, value)


def tie_columns(m: Mechanism, tie: Tie) -> set[int]:
    """The columns of L, from 0, in which the rows of a tie may have entries."""
    bodies = {i for end in tie.bodies if end.body for i in m.tree.path(end.body)}
    own = {int(m.v_starts.data[i - 1]) + k for i in bodies for k in range(m.at(i).nv)}
    for name in tie.joints:
        first = _starts(m, name)[1]
        own |= {first + k for k in range(_canonical(m, name).nv)}
    return {int(m.coupling.v_source[k]) for k in own}


def _frame(m: Mechanism, q: Array, v: Array | None, body: int, frame: Frame) -> tuple[Side, Seen]:
    """A frame as seen from the base."""
    side = Side(body, m.frame(frame), len(m.tree.path(body)) if body else 0, not body)
    return side, climb(m, q, v, side)


def _joint(m: Mechanism, q: Array, v: Array | None, name: str) -> Held:
    joint, (first, start) = _canonical(m, name), _starts(m, name)
    x = tuple(q[first + k] for k in range(joint.nx))
    return Held(
        joint.canonical, joint.parameters, x, tuple(0.0 if v is None else v[start + k] for k in range(joint.nv))
    )


def _canonical(m: Mechanism, name: str) -> JointOfModel:
    return JointOfModel(own_joint(m.model.joint(name).joint))


def _starts(m: Mechanism, name: str) -> tuple[int, int]:
    """Where coordinates and velocities of a joint begin among those of all joints, followers among them."""
    body = m.model.joint_names.index(name)
    return int(m.q_starts.data[body]), int(m.v_starts.data[body])


def _forces(columns: Sequence[Scalars], rows: int) -> list[Force]:
    """The rows of a block of the Jacobian of a frame, given by columns, linear part first; none for the world."""
    if not columns:
        return [NO_FORCE] * rows
    return [Force(Vector.of([c[r] for c in columns[3:]]), Vector.of([c[r] for c in columns[:3]])) for r in range(rows)]
