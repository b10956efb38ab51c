"""The constraints of a model beside its tree, in maximal coordinates: rows on the bodies, for `anticipation`.

A loop joint with reactions T holds its two sides to Tᵀ V = 0, where V is the velocity of its successor relative to its
predecessor. In maximal coordinates that is a row on the two bodies alone, however long the loop is. A coupling of two
joint coordinates is a row on the bodies of both joints: up to four.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from bough.algorithms.constraint_rows import returning
from bough.algorithms.loops import constraint_terms
from bough.algorithms.ties import tie_rows
from bough.lagrange.auxiliary import Auxiliary
from bough.lagrange.joints import constraint_system, sides
from bough.model import Attachment, BodyRecord, Equality, Frame, Loop, Mechanism, Model, Placement, Tie, combine
from bough.model.constraints import Constraint
from bough.model.joints.closing import displacement, least_squares
from bough.model.tying import position_rows
from bough.scalar import Array, Scalar, array
from bough.spatial import REST, STAY, Force, Motion, Transform
from bough.tree.scans import ancestors

__all__ = ["auxiliary_loops", "loop_system"]


@lru_cache(maxsize=128)
def loop_system(model: Model) -> Auxiliary:
    """The constraints of a model, in order, beside the joints of its tree."""
    return Auxiliary(constraint_system(model), [(_bodies(model, x), x.rows) for x in model.constraints])


def _bodies(model: Model, constraint: Constraint) -> tuple[int, ...]:
    """The bodies that a constraint is on, without the base."""
    if isinstance(constraint, Loop):
        numbers = [constraint.predecessor.body, constraint.successor.body]
        numbers = [] if numbers[0] == numbers[1] else numbers  # they cannot move against each other
    elif isinstance(constraint, Tie):
        own = [model.joint_names.index(name) + 1 for name in constraint.joints]
        numbers = [end.body for end in constraint.bodies] + [b for i in own for b in (model.tree.parents[i - 1], i)]
    else:
        names = [constraint.joint, *([] if constraint.other is None else [constraint.other])]
        own = [model.joint_names.index(name) + 1 for name in names]
        numbers = [body for i in own for body in (model.tree.parents[i - 1], i)]
    return tuple(dict.fromkeys(body for body in numbers if body))


def auxiliary_loops(m: Mechanism, auxiliary: Auxiliary, q: Array, v: Array, rate: float) -> Array:
    """The blocks of Jᵃ, and behind them c with what brings errors back to zero, as `returning` says."""
    turning, on_positions = constraint_terms(m, q, v).turning, position_rows(m.model)
    result, row, block = array(auxiliary.jacobian_size + auxiliary.nc), auxiliary.jacobian_size, 0
    for constraint, (bodies, count) in zip(m.model.constraints, auxiliary.constraints, strict=True):
        found = _rows(m, q, v, constraint)
        for r, (error, speed, bias) in enumerate(zip(found.errors, found.rates, found.bias, strict=True)):
            place = row + r - auxiliary.jacobian_size
            damping = 2.0 if on_positions[place] else 1.0
            result[row + r] = bias + returning(error, speed, turning[place], rate, damping)
        for body in bodies:
            start = int(auxiliary.jacobian_starts[block])
            for r, forces in enumerate(found.forces):
                f = forces[body]
                for k, x in enumerate((*f.linear.parts, *f.angular.parts)):
                    result[start + 6 * r + k] = x
            block += 1
        row += count
    return result


@dataclass(frozen=True)
class _Rows:
    """Rows of a constraint: e, ė, what of ë is not J v̇, and by body the force of a unit multiplier in its frame."""

    errors: list[Scalar]
    rates: list[Scalar]
    bias: list[Scalar]
    forces: list[dict[int, Force]]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A frame as seen from the base: its placement, and its velocity in its own coordinates."""

    X: Transform
    v: Motion


def _seen(m: Mechanism, q: Array, v: Array, body: int, X: Transform) -> _Seen:
    """The frame that is placed by X on a body."""

    def rule(record: BodyRecord, seen: _Seen) -> _Seen:
        moved = seen.X.to_child(combine(record.subspace(q), record.of_v(v)))
        return _Seen(record.transform(q).then(seen.X), seen.v + moved)

    start = _Seen(X, REST)
    if not body:
        return start
    record = m.at(body)
    return ancestors(m, record, rule, rule(record, start))


def _rows(m: Mechanism, q: Array, v: Array, constraint: Constraint) -> _Rows:
    if isinstance(constraint, Tie):
        return _tie(m, q, v, constraint)
    return _loop(m, q, v, constraint) if isinstance(constraint, Loop) else _coupling(m, q, v, constraint)


def _tie(m: Mechanism, q: Array, v: Array, tie: Tie) -> _Rows:
    """The rows of a tie: forces at its frames, and at the joints that it is on."""
    found = tie_rows(m, q, v, tie)
    ons, bias = [_On(m) for _ in range(tie.rows)], list(found.bias)
    for end, (side, seen, forces) in zip(tie.bodies, found.frames, strict=True):
        for r, f in enumerate(forces):
            ons[r].add(end.body, side.X.force_to_parent(f))
            bias[r] = bias[r] - seen.a.dot(f)  # what bodies accelerate by themselves at v̇ = 0 is theirs here
    for name, block in zip(tie.joints, found.joints, strict=True):
        body = m.model.joint_names.index(name) + 1
        W, more = sides(m.at(body).subspace(q))[0], _joint_bias(m, q, v, body)
        for w, column in zip(W, block, strict=True):
            for r, factor in enumerate(column):
                ons[r].add(body, w * factor)
                ons[r].add(m.model.tree.parents[body - 1], m.at(body).transform(q).force_to_parent(w) * -factor)
                bias[r] = bias[r] - more.dot(w) * factor
    errors = [*found.errors, *([0.0] * (tie.rows - len(found.errors)))]
    return _Rows(errors, found.rates, bias, [on.forces for on in ons])


def _joint_bias(m: Mechanism, q: Array, v: Array, body: int) -> Motion:
    """What of the acceleration of a body relative to its parent is not that of the joint's coordinates."""
    record = m.at(body)
    v_J, v_i = combine(record.subspace(q), record.of_v(v)), _seen(m, q, v, body, STAY).v
    return combine(record.subspace_rate(q, v), record.of_v(v)) + v_i.cross(v_J)


def _loop(m: Mechanism, q: Array, v: Array, constraint: Loop) -> _Rows:
    joint, parameters = constraint.joint.canonical, constraint.joint.parameters
    turn = Placement.of(constraint.joint.alignment, (0.0, 0.0, 0.0), constraint.name)

    def placed(end: Attachment) -> Transform:
        return m.frame(Frame("", end.body, end.placement.then(turn)))

    before, after = placed(constraint.predecessor), placed(constraint.successor)
    p, s = (_seen(m, q, v, end.body, X) for end, X in ((constraint.predecessor, before), (constraint.successor, after)))
    X = p.X.inverse.then(s.X)
    x = joint.nearest(parameters, X)
    T = joint.reactions(parameters, x)
    error = displacement(joint.transform(parameters, x).inverse.then(X))
    carried = X.to_child(p.v)
    V, V_dot = s.v - carried, s.v.cross(carried)
    if not joint.is_constant:  # where S turns, T turns with it: Ṫᵀ V = -Tᵀ Ṡ ẋ
        x_dot = least_squares(joint.subspace(parameters, x), V)
        V_dot = V_dot - combine(joint.subspace_rate(parameters, x, x_dot), x_dot)
    rows: list[dict[int, Force]] = []
    for t in T:
        on = _On(m)
        on.add(constraint.successor.body, after.force_to_parent(t))
        on.add(constraint.predecessor.body, before.then(X).force_to_parent(t) * -1.0)
        rows.append(on.forces)
    return _Rows([error.dot(t) for t in T], [V.dot(t) for t in T], [V_dot.dot(t) for t in T], rows)


def _coupling(m: Mechanism, q: Array, v: Array, law: Equality) -> _Rows:
    """The row of y - p(x) = 0 for two joint coordinates y and x."""
    on, model = _On(m), m.model

    def joint(name: str, factor: Scalar) -> tuple[Scalar, Scalar]:
        """Add a joint to the row; its velocity, and what of its acceleration the bodies do not say."""
        body = model.joint_names.index(name) + 1
        record = m.at(body)
        S = record.subspace(q)
        (w,) = sides(S)[0]
        bias = _joint_bias(m, q, v, body)
        on.add(body, w * factor)
        on.add(model.tree.parents[body - 1], record.transform(q).force_to_parent(w) * -factor)
        return record.of_v(v)[0], -bias.dot(w)

    def coordinate(name: str) -> Scalar:
        value: Scalar = q[model.q_slice(name).start]
        return value

    value, slope, curve = law.polynomial[0], 0.0, 0.0  # type: Scalar, Scalar, Scalar
    rate, bias = joint(law.joint, 1.0)
    if law.other is not None:
        value = 0.0
        x = coordinate(law.other) - law.other_zero
        for c in reversed(law.polynomial):
            curve = curve * x + slope * 2.0
            slope = slope * x + value
            value = value * x + c
        speed, more = joint(law.other, -slope)
        rate, bias = rate - slope * speed, bias - slope * more - curve * (speed * speed)
    return _Rows([coordinate(law.joint) - law.zero - value], [rate], [bias], [on.forces])


class _On:
    """The forces of one row on bodies, in the frames of their author."""

    def __init__(self, m: Mechanism) -> None:
        self.forces: dict[int, Force] = {}
        self._m = m

    def add(self, body: int, force: Force) -> None:
        """Add a force in the inside coordinates of a body; nothing for the base."""
        if body:
            own = self._m.at(body).border.force_to_child(force)
            self.forces[body] = self.forces[body] + own if body in self.forces else own
