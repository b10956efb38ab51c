"""Kinematics: placements, velocities and accelerations of bodies and frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bough.model import BodyRecord, Frame, Mechanism, combine
from bough.scalar import Array, Index, Scalar, array
from bough.spatial import REST, STAY, Motion, Transform
from bough.tree.scans import outward

__all__ = ["Reference", "accelerations", "flat", "in_reference", "placements", "velocities"]

Reference: TypeAlias = Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"]


@dataclass(frozen=True, slots=True)
class Moving:
    """Placement of a body in the base, its velocity and its acceleration in own coordinates."""

    X: Transform
    v: Motion
    a: Motion


STANDING = Moving(STAY, REST, REST)


def _advance(body: BodyRecord, parent: Moving, q: Array, v: Array | None, a: Array | None) -> Moving:
    """The state of a body from that of its parent; gravity plays no part."""
    X = body.transform(q)
    X_0 = parent.X.then(X)
    if v is None:
        return Moving(X_0, REST, REST)
    S = body.subspace(q)
    v_J = combine(S, body.of_v(v))
    v_i = X.to_child(parent.v) + v_J
    if a is None:
        return Moving(X_0, v_i, REST)
    bias = combine(body.subspace_rate(q, v), body.of_v(v)) + v_i.cross(v_J)
    return Moving(X_0, v_i, X.to_child(parent.a) + bias + combine(S, body.of_v(a)))


def each_target(
    m: Mechanism,
    q: Array,
    v: Array | None,
    a: Array | None,
    targets: Sequence[Frame] | None,
    rule: Callable[[Moving], Sequence[Scalar]],
    width: int,
) -> Array:
    """An array with the `width` numbers of ``rule(state)`` for each frame, or for each body if `targets` is None."""
    q = m.coupling.own_q(q)
    v = None if v is None else m.coupling.own_v(v)
    a = None if a is None else m.coupling.own_v(a)
    result = array((m.tree.n if targets is None else len(targets)) * width)

    def put(row: Index, state: Moving) -> None:
        for k, value in enumerate(rule(state)):
            result[row * width + k] = value

    def visit(body: BodyRecord, parent: Moving) -> tuple[Moving, Moving | None]:
        state = _advance(body, parent, q, v, a)
        if targets is not None:
            return state, state
        put(body.index, seen_from(state, body.border))
        return state, None

    states = outward(m, visit, STANDING)
    for row, frame in enumerate(targets or ()):
        state = states[m.at(frame.body)] if frame.body else STANDING
        assert state is not None
        put(row, seen_from(state, m.frame(frame)))
    return result


def seen_from(state: Moving, frame: Transform) -> Moving:
    """The state of a frame fixed to a body."""
    return Moving(state.X.then(frame), frame.to_child(state.v), frame.to_child(state.a))


def placements(m: Mechanism, q: Array, targets: Sequence[Frame] | None) -> Array:
    """Rows of [R p] for each target: 12 numbers, row by row."""

    def rule(state: Moving) -> list[Scalar]:
        rows, p = state.X.rotation.T.columns, state.X.translation.parts
        return [x for row, origin in zip(rows, p, strict=True) for x in (*row.parts, origin)]

    return each_target(m, q, None, None, targets, rule, 12)


def velocities(m: Mechanism, q: Array, v: Array, targets: Sequence[Frame] | None, reference: Reference) -> Array:
    """Velocity of each target, linear part first."""
    return each_target(m, q, v, None, targets, lambda s: flat(in_reference(s.X, s.v, reference)), 6)


def accelerations(
    m: Mechanism, q: Array, v: Array, a: Array, targets: Sequence[Frame] | None, reference: Reference, classical: bool
) -> Array:
    """Acceleration of each target, linear part first: spatial, or with the classical linear part v̇ + ω × v."""

    def rule(state: Moving) -> list[Scalar]:
        X, speed, rate = state.X, state.v, state.a
        if reference == "WORLD":  # bring both there first, for the term ω × v is that of the point at the origin
            X, speed, rate = STAY, X.to_parent(speed), X.to_parent(rate)
        if classical:
            rate = Motion(rate.angular, rate.linear + speed.angular.cross(speed.linear))
        return flat(in_reference(X, rate, reference))

    return each_target(m, q, v, a, targets, rule, 6)


def in_reference(X: Transform, m: Motion, reference: Reference) -> Motion:
    """A motion given in the coordinates of a frame placed by X, in a reference frame."""
    if reference == "LOCAL":
        return m
    if reference == "WORLD":
        return X.to_parent(m)
    return Motion(X.rotation.times(m.angular), X.rotation.times(m.linear))


def flat(m: Motion) -> list[Scalar]:
    """Six numbers, linear part first, as at the border."""
    return [*m.linear.parts, *m.angular.parts]
