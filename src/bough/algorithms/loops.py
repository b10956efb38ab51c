"""Constraints beside the tree: how far each is from being met, its Jacobian, and what velocities add.

A loop joint holds its successor to its predecessor, each placed on a body. With X the placement of the one in the other
and V the velocity of the one relative to the other, both in coordinates of the successor, the joint allows V = S(x) ẋ.
Its reactions T, Tᵀ S = 0, give the constraint Tᵀ V = 0 and with the Jacobian of V its rows of L v = 0. Whatever moves
both sides alike cancels, so L has columns on the two paths up to the last common ancestor only, which may as well rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from bough.model import Attachment, BodyRecord, Equality, Frame, Loop, Mechanism, Placement, combine
from bough.model.joints.closing import displacement, least_squares
from bough.scalar import Array, Index, Scalar, array, loop, select
from bough.scalar.tolerances import ROUNDING
from bough.spatial import REST, ZERO, Force, Motion, Transform
from bough.tree.scans import ancestors

__all__ = [
    "Closing",
    "Terms",
    "closings",
    "constraint_terms",
    "loop_drives",
    "loop_motions",
    "loop_rates",
    "row_groups",
]

Rule: TypeAlias = Callable[[Motion], Sequence[Scalar]]


@dataclass(frozen=True)
class Terms:
    """All constraints of a model, row by row: error e, matrix L (rows x nv), L v, and the rest of L v̇ + bias."""

    errors: list[Scalar]
    matrix: Array
    rates: list[Scalar]
    bias: list[Scalar]


@dataclass(frozen=True, slots=True)
class Seen:
    """A frame as seen from a body: placement, velocity, and its rate at v̇ = 0; both in coordinates of the frame."""

    X: Transform
    v: Motion
    a: Motion


@dataclass(frozen=True)
class Side:
    """One side of a loop: where it is placed, and how many bodies are below the common ancestor."""

    body: int
    X: Transform
    count: int


def constraint_terms(m: Mechanism, q: Array, v: Array | None) -> Terms:
    """The rows of all constraints in order; without v, rates and bias are zero."""
    own_q, own_v = m.coupling.own_q(q), None if v is None else m.coupling.own_v(v)
    constraints = m.model.constraints
    total = sum(constraint.rows for constraint in constraints)
    own = array(total * m.own_nv)
    terms = Terms([], own, [], [])
    for constraint in constraints:
        if isinstance(constraint, Loop):
            _loop_terms(m, own_q, own_v, constraint, terms)
        else:  # of model coordinates: filled in below
            terms.errors.append(0.0)
            terms.rates.append(0.0)
            terms.bias.append(0.0)
    result = Terms(terms.errors, m.coupling.reduced_rows(own, total), terms.rates, terms.bias)
    row = 0
    for constraint in constraints:
        if isinstance(constraint, Equality):
            _law_terms(m, q, v, constraint, row, result)
        row += constraint.rows
    return result


@dataclass(frozen=True)
class Closing:
    """A loop in some configuration: its two sides, where the successor is as seen from each, and its own x."""

    loop: Loop
    before: Side
    after: Side
    X_before: Transform
    x: list[Scalar]

    @property
    def subspace(self) -> tuple[Motion, ...]:
        """S(x) in the canonical axes of the successor's side."""
        return self.loop.joint.canonical.subspace(self.loop.joint.parameters, self.x)

    @property
    def reactions(self) -> tuple[Force, ...]:
        """T(x) in the same axes."""
        return self.loop.joint.canonical.reactions(self.loop.joint.parameters, self.x)


def closings(m: Mechanism, q: Array) -> list[Closing]:
    """All loops of a mechanism in the configuration q."""
    own_q, found = m.coupling.own_q(q), []
    for constraint in m.model.loops:
        before, after = _sides(m, constraint)
        X = _climb(m, own_q, None, before).X.inverse.then(_climb(m, own_q, None, after).X)
        x = constraint.joint.canonical.nearest(constraint.joint.parameters, X)
        found.append(Closing(constraint, before, after, before.X.then(X), x))
    return found


def loop_motions(m: Mechanism, q: Array) -> tuple[list[Scalar], Array]:
    """The loop joints' own configurations x, one behind the other, and B with ẋ = B v where loops are closed."""
    own_q, n = m.coupling.own_q(q), m.own_nv
    total = sum(constraint.joint.nv for constraint in m.model.loops)
    matrix, row = array(total * n), 0
    configurations: list[Scalar] = []
    for c in closings(m, q):
        along = partial(least_squares, c.subspace)
        _columns(m, own_q, c.after, c.after.X, along, row, 1.0, matrix)
        _columns(m, own_q, c.before, c.X_before, along, row, -1.0, matrix)
        configurations += c.x
        row += c.loop.joint.nv
    return configurations, m.coupling.reduced_rows(matrix, total)


def loop_rates(m: Mechanism, q: Array, v: Array) -> tuple[list[Scalar], list[Scalar]]:
    """The loop joints' own velocities ẋ, one behind the other, and what velocities add to their accelerations, Ḃ v."""
    q, v = m.coupling.own_q(q), m.coupling.own_v(v)
    rates: list[Scalar] = []
    bias: list[Scalar] = []
    for constraint in m.model.loops:
        moving = _moving(m, q, v, constraint)
        S = constraint.joint.canonical.subspace(constraint.joint.parameters, moving.x)
        rates += least_squares(S, moving.V)
        bias += least_squares(S, moving.V_dot)
    return rates, bias


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
    """A number for each row. Rows of one loop and one unit (m or rad) have the same: rank tests measure them alike."""
    groups: list[int] = []
    for constraint in m.model.constraints:
        new = max(groups, default=-1) + 1
        if isinstance(constraint, Equality):
            groups.append(new)
        else:
            joint = constraint.joint.canonical
            forces = joint.reactions(constraint.joint.parameters, joint.neutral())
            groups += [new + (force.linear == ZERO) for force in forces]
    return groups


def _law_terms(m: Mechanism, q: Array, v: Array | None, law: Equality, row: int, terms: Terms) -> None:
    """The row of y - p(x) = 0 for two coordinates y and x: [1, -p′], and -p″ ẋ² beside it."""
    model, n = m.model, m.model.nv
    value, slope, curve = 0.0, 0.0, 0.0  # type: Scalar, Scalar, Scalar
    rate: Scalar = 0.0 if v is None else v[model.v_slice(law.joint).start]
    if law.other is None:
        value = law.polynomial[0]
    else:
        x = q[model.q_slice(law.other).start] - law.other_zero
        for c in reversed(law.polynomial):
            curve = curve * x + slope * 2.0
            slope = slope * x + value
            value = value * x + c
        column = model.v_slice(law.other).start
        terms.matrix[row * n + column] = -slope
        if v is not None:
            rate = rate - slope * v[column]
            terms.bias[row] = -(curve * (v[column] * v[column]))
    place = row * n + model.v_slice(law.joint).start
    terms.matrix[place] = terms.matrix[place] + 1.0
    terms.errors[row] = q[model.q_slice(law.joint).start] - law.zero - value
    terms.rates[row] = rate


def _loop_terms(m: Mechanism, q: Array, v: Array | None, constraint: Loop, terms: Terms) -> None:
    """The rows of one loop."""
    joint, parameters = constraint.joint.canonical, constraint.joint.parameters
    (before, after), moving = _sides(m, constraint), _moving(m, q, v, constraint)
    T = joint.reactions(parameters, moving.x)
    e = displacement(joint.transform(parameters, moving.x).inverse.then(moving.X))
    row = len(terms.errors)
    _columns(m, q, after, after.X, lambda motion: _components(motion, T), row, 1.0, terms.matrix)
    _columns(m, q, before, before.X.then(moving.X), lambda motion: _components(motion, T), row, -1.0, terms.matrix)
    terms.errors.extend(e.dot(t) for t in T)
    terms.rates.extend(moving.V.dot(t) for t in T)
    terms.bias.extend(moving.V_dot.dot(t) for t in T)


@dataclass(frozen=True)
class _Moving:
    """How the successor of a loop moves relative to its predecessor: X, x, V, and S ẍ at v̇ = 0."""

    X: Transform
    x: list[Scalar]
    V: Motion
    V_dot: Motion


def _moving(m: Mechanism, q: Array, v: Array | None, constraint: Loop) -> _Moving:
    joint, parameters = constraint.joint.canonical, constraint.joint.parameters
    p, s = (_climb(m, q, v, side) for side in _sides(m, constraint))
    X = p.X.inverse.then(s.X)
    x = joint.nearest(parameters, X)
    carried = X.to_child(p.v)
    V = s.v - carried
    V_dot = s.a - X.to_child(p.a) + s.v.cross(carried)
    if not joint.is_constant:  # where S turns, T turns with it: Ṫᵀ V = -Tᵀ Ṡ ẋ
        x_dot = least_squares(joint.subspace(parameters, x), V)
        V_dot = V_dot - combine(joint.subspace_rate(parameters, x, x_dot), x_dot)
    return _Moving(X, x, V, V_dot)


def _sides(m: Mechanism, constraint: Loop) -> tuple[Side, Side]:
    """Both sides in the canonical axes of the joint."""
    ends = (constraint.predecessor, constraint.successor)
    paths = [m.tree.path(end.body) if end.body else () for end in ends]
    common = sum(a == b for a, b in zip(*paths, strict=False))
    turn = Placement.of(constraint.joint.alignment, (0.0, 0.0, 0.0), constraint.name)

    def side(end: Attachment, count: int) -> Side:
        return Side(end.body, m.frame(Frame("", end.body, end.placement.then(turn))), count)

    first, second = (side(end, len(path) - common) for end, path in zip(ends, paths, strict=True))
    return first, second


def _climb(m: Mechanism, q: Array, v: Array | None, side: Side) -> Seen:
    """The frame of a side as seen from the common ancestor."""

    def rule(body: BodyRecord, seen: Seen) -> Seen:
        X = body.transform(q).then(seen.X)
        if v is None:
            return Seen(X, REST, REST)
        moved = seen.X.to_child(combine(body.subspace(q), body.of_v(v)))
        rate = seen.X.to_child(combine(body.subspace_rate(q, v), body.of_v(v)))
        return Seen(X, seen.v + moved, seen.a + rate - seen.v.cross(moved))

    seen = Seen(side.X, REST, REST)
    if not side.count:
        return seen
    body = m.at(side.body)
    return ancestors(m, body, rule, rule(body, seen), side.count - 1)


def _columns(
    m: Mechanism, q: Array, side: Side, X: Transform, entries: Rule, row: int, sign: float, matrix: Array
) -> None:
    """Write the entries of each motion of a side's bodies, in which the successor is placed by X, as a column."""
    n = m.own_nv

    def put(body: BodyRecord, X: Transform) -> Transform:
        for c, s in enumerate(body.subspace(q)):
            for r, value in enumerate(entries(X.to_child(s))):
                matrix[body.v_start + ((row + r) * n + c)] = value * sign
        return body.transform(q).then(X)

    if side.count:
        body = m.at(side.body)
        ancestors(m, body, put, put(body, X), side.count - 1)


def _components(motion: Motion, T: Sequence[Force]) -> list[Scalar]:
    """The power of each force on a motion, zero where that is rounding."""
    result = []
    for t in T:
        value = motion.dot(t)
        angular = motion.angular.dot(motion.angular) * t.angular.dot(t.angular)
        linear = motion.linear.dot(motion.linear) * t.linear.dot(t.linear)
        result.append(select(value * value <= (angular + linear) * ROUNDING**2, 0.0, value))
    return result
