"""Constraints beside the tree: how far each is from being met, its Jacobian, and what velocities add.

A loop joint holds its successor to its predecessor, each placed on a body. With X the placement of the one in the other
and V the velocity of the one relative to the other, both in coordinates of the successor, the joint allows V = S(x) ẋ.
Its reactions T, Tᵀ S = 0, give the constraint Tᵀ V = 0 and with the Jacobian of V its rows of L v = 0. Whatever moves
both sides alike cancels, so L has columns on the two paths up to the last common ancestor only, which may as well rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.algorithms.climbing import Side, climb, components, levers_of, powers, write_columns
from bough.algorithms.constraint_rows import Entries, Terms, dense_entries
from bough.algorithms.ties import tie_columns, tie_terms
from bough.model import Frame, Joint, Loop, Mechanism, Placement
from bough.model.joints.closing import Closure, least_squares
from bough.model.tying import position_rows
from bough.scalar import (
    Array,
    Filled,
    Index,
    Scalar,
    Symbolic,
    Table,
    array,
    each,
    gather,
    gather_index,
    loop,
    maximum,
    select,
)
from bough.spatial import ZERO, Matrix, Motion, Transform, Vector

__all__ = [
    "Closing",
    "closings",
    "constraint_terms",
    "loop_drives",
    "loop_motions",
    "loop_rates",
    "loop_sides",
    "row_groups",
    "row_supports",
]


def constraint_terms(
    m: Mechanism, q: Array, v: Array | None, into: Entries | None = None, *, rounded: bool = True
) -> Terms:
    """The rows of all constraints in order; L is dense unless told otherwise.

    Without v, bias is zero, and rates are those of constraints that ask for a speed. Rows of loops that no joint
    moves are zero, for who asks for the rank of L. They are constant then: who differentiates wants them as they are,
    not `rounded`.
    """
    own_q, own_v = m.coupling.own_q(q), None if v is None else m.coupling.own_v(v)
    constraints = m.model.constraints
    total = sum(constraint.rows for constraint in constraints)
    entries = into or dense_entries(m, total)
    errors, rates, bias, turning, levers = (array(total) for _ in range(5))
    terms = Terms(total, errors, entries.values, rates, bias, turning, _damping(m), levers)
    starts, alike, row = {}, {}, 0  # type: dict[str, int], dict[object, list[Loop]], int
    for constraint in constraints:
        starts[constraint.name] = row
        row += constraint.rows
        if isinstance(constraint, Loop):
            sides = tuple(side.rests for side in _sides(m, constraint))
            alike.setdefault((constraint.joint.canonical, sides), []).append(constraint)
    for loops in alike.values():
        same = _LoopsAlike(m, loops, [starts[x.name] for x in loops])
        _loops_terms(m, own_q, own_v, same, terms, entries, rounded)
    for constraint in constraints:
        if not isinstance(constraint, Loop):
            tie_terms(
                m,
                own_q,
                own_v,
                constraint.tie,
                starts[constraint.name],
                terms,
                entries,
                components if rounded else powers,
            )
    return terms


def _damping(m: Mechanism) -> Table | None:
    on_positions = position_rows(m.model)
    return None if on_positions.all() else Table("row_damping", np.where(on_positions, 2.0, 1.0))


def row_supports(m: Mechanism) -> list[tuple[list[int], int]]:
    """For each constraint the columns of L, from 0, in which its rows may have entries, and the number of rows."""
    model, supports = m.model, []
    for constraint in model.constraints:
        if not isinstance(constraint, Loop):
            columns = tie_columns(m, constraint.tie)
        else:
            starts, source = m.v_starts.data, m.coupling.v_source
            columns = set()
            paths = [
                m.tree.path(end.body) if end.body else () for end in (constraint.predecessor, constraint.successor)
            ]
            for body in set(paths[0]) ^ set(paths[1]):  # not those above the common ancestor
                first = int(starts[body - 1])
                columns.update(int(k) for k in source[first : first + m.at(body).nv])
        supports.append((sorted(columns), constraint.rows))
    return supports


@dataclass(frozen=True)
class Closing:
    """A loop in some state: its two sides, its joint between them, S ẍ at v̇ = 0, and how fast joints turn."""

    before: Side
    after: Side
    closure: Closure
    V_dot: Motion
    turning: Scalar

    @staticmethod
    def of(
        m: Mechanism, q: Array, v: Array | None, joint: Joint, parameters: Sequence[Scalar], sides: tuple[Side, Side]
    ) -> Closing:
        """From configurations and velocities of all joints, followers among them; without v it is still."""
        p, s = (climb(m, q, v, side) for side in sides)
        X = p.X.inverse.then(s.X)
        closure = Closure.of(joint, parameters, X, X.to_child(p.v), s.v)
        V_dot = s.a - X.to_child(p.a) + closure.turning
        return Closing(*sides, closure, V_dot, maximum(p.turning, s.turning))

    @property
    def X_before(self) -> Transform:
        """Where the successor is on the body of the predecessor."""
        return self.before.X.then(self.closure.X)


def closings(m: Mechanism, q: Array, v: Array | None = None) -> list[tuple[Loop, Closing]]:
    """All loops of a mechanism in a state."""
    q, v = m.coupling.own_q(q), None if v is None else m.coupling.own_v(v)
    joints = [(made, made.joint.canonical, made.joint.parameters) for made in m.model.loops]
    return [(made, Closing.of(m, q, v, joint, own, _sides(m, made))) for made, joint, own in joints]


def loop_motions(m: Mechanism, q: Array) -> tuple[list[Scalar], Array]:
    """The loop joints' own configurations x, one behind the other, and B with ẋ = B v where loops are closed."""
    own_q, row = m.coupling.own_q(q), 0
    entries = dense_entries(m, sum(constraint.joint.nv for constraint in m.model.loops))
    configurations: list[Scalar] = []
    for constraint, c in closings(m, q):

        def along(motion: Motion, _: Scalar, S: Sequence[Motion] = c.closure.subspace) -> list[Scalar]:
            return least_squares(S, motion)

        write_columns(m, own_q, c.after, c.after.X, along, row, 1.0, entries)
        write_columns(m, own_q, c.before, c.X_before, along, row, -1.0, entries)
        configurations += c.closure.x
        row += constraint.joint.nv
    return configurations, entries.values


def loop_rates(m: Mechanism, q: Array, v: Array) -> tuple[list[Scalar], list[Scalar]]:
    """The loop joints' own velocities ẋ, one behind the other, and what velocities add to their accelerations, Ḃ v."""
    found = [(c.closure.subspace, c) for _, c in closings(m, q, v)]
    rates = [x for S, c in found for x in least_squares(S, c.closure.V)]
    return rates, [x for S, c in found for x in least_squares(S, c.V_dot)]


def loop_drives(m: Mechanism, B: Array, forces: Sequence[Scalar]) -> Array:
    """Bᵀ f: the joint forces that stand for forces of the loop joints."""
    n = m.model.nv
    result = array(n)

    def add(k: Index, carry: tuple[()]) -> tuple[()]:
        for row, force in enumerate(forces):
            result[k] = result[k] + B[k + row * n] * force
        return carry

    loop(n, add, ())
    return result


def row_groups(m: Mechanism) -> list[int]:
    """A number for each row. Rows of one loop and one unit (m or rad) have the same: rank tests measure them alike.

    So have all rows of one tie, whose units are not known.
    """
    groups: list[int] = []
    for constraint in m.model.constraints:
        new = max(groups, default=-1) + 1
        if not isinstance(constraint, Loop):
            groups += [new] * constraint.rows
        else:
            joint = constraint.joint.canonical
            forces = joint.reactions(constraint.joint.parameters, joint.neutral())
            groups += [new + (force.linear == ZERO) for force in forces]
    return groups


class _LoopsAlike:
    """Loops with the same kind of joint, both sides of which move or rest alike: they run the same code."""

    def __init__(self, m: Mechanism, loops: Sequence[Loop], rows: Sequence[int]) -> None:
        sides = [_sides(m, constraint) for constraint in loops]
        self.joint, self.count = loops[0].joint.canonical, len(loops)
        self._rests = [side.rests for side in sides[0]]
        self._parameters = len(loops[0].joint.parameters)
        numbers = [
            (row, *(x for side in pair for x in (side.body, side.count))) for row, pair in zip(rows, sides, strict=True)
        ]
        constants = [
            (*given.joint.parameters, *(x for side in pair for x in (*_columns_of(side.X), *side.X.translation.parts)))
            for given, pair in zip(loops, sides, strict=True)
        ]
        self._numbers = Table("loops", np.array(numbers, np.int64).ravel())
        entries = [x for given in constants for x in given]
        scalars = {k: x for k, x in enumerate(entries) if isinstance(x, Symbolic)}
        table = Table("loop_constants", np.array([0.0 if k in scalars else x for k, x in enumerate(entries)], float))
        self._constants = Filled(table, scalars) if scalars else table

    def row(self, k: Index) -> Index:
        """The first row of the k-th loop."""
        return gather_index(self._numbers, k * 5)

    def parameters(self, k: Index) -> tuple[Scalar, ...]:
        """The parameters of the joint of the k-th loop."""
        return tuple(self._read(k, 0, self._parameters))

    def sides(self, k: Index) -> tuple[Side, Side]:
        """The two sides of the k-th loop."""
        return self._side(k, 0), self._side(k, 1)

    def _side(self, k: Index, which: int) -> Side:
        x = self._read(k, self._parameters + 12 * which, 12)
        R = Matrix(Vector.of(x[:3]), Vector.of(x[3:6]), Vector.of(x[6:9]))
        body, count = (gather_index(self._numbers, k * 5 + (1 + 2 * which + i)) for i in range(2))
        return Side(body, Transform(R, Vector.of(x[9:])), count, self._rests[which])

    def _read(self, k: Index, first: int, count: int) -> list[Scalar]:
        size = self._parameters + 24
        return [gather(self._constants, k * size + (first + i)) for i in range(count)]


def _columns_of(X: Transform) -> list[Scalar]:
    return [x for column in X.rotation.columns for x in column.parts]


def _loops_terms(
    m: Mechanism,
    q: Array,
    v: Array | None,
    alike: _LoopsAlike,
    terms: Terms,
    entries: Entries,
    rounded: bool,
) -> None:
    """The rows of loops of one kind."""

    def rows(k: Index) -> None:
        c, row = Closing.of(m, q, v, alike.joint, alike.parameters(k), alike.sides(k)), alike.row(k)
        T, e = c.closure.reactions, c.closure.error
        for r, t in enumerate(T):
            terms.errors[row + r] = e.dot(t)
            terms.rates[row + r] = c.closure.V.dot(t)
            terms.bias[row + r] = c.V_dot.dot(t)
            terms.turning[row + r] = c.turning
        sides = ((c.after, c.after.X), (c.before, c.X_before))
        felt = levers_of(m, q, sides, T) if rounded else []
        for r, lever in enumerate(felt):
            terms.levers[row + r] = lever.part

        def entry(motion: Motion, reach: Scalar) -> list[Scalar]:
            found = powers(motion, T, reach)
            return [select(x.is_felt, y, 0.0) for x, y in zip(felt, found, strict=True)] if rounded else found

        for (side, X), sign in zip(sides, (1.0, -1.0), strict=True):
            write_columns(m, q, side, X, entry, row, sign, entries)

    each(alike.count, rows)


def _sides(m: Mechanism, constraint: Loop) -> tuple[Side, Side]:
    """Both sides in the canonical axes of the joint."""
    ends = (constraint.predecessor, constraint.successor)
    paths = [m.tree.path(end.body) if end.body else () for end in ends]
    common = sum(a == b for a, b in zip(*paths, strict=False))
    counts = [len(path) - common for path in paths]
    placed = zip(ends, m.loop_sides.get(constraint.name) or loop_sides(m, constraint), counts, strict=True)
    first, second = (Side(end.body, X, count, not count) for end, X, count in placed)
    return first, second


def loop_sides(m: Mechanism, constraint: Loop) -> tuple[Transform, Transform]:
    """Where the sides of a loop of the model are on their bodies, inside, in the canonical axes of its joint."""
    turn = Placement.of(constraint.joint.alignment, (0.0, 0.0, 0.0), constraint.name)
    ends = (constraint.predecessor, constraint.successor)
    first, second = (m.frame(Frame("", end.body, end.placement.then(turn))) for end in ends)
    return first, second
