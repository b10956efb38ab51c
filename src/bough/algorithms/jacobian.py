"""Jacobians of frames and their rates, in the three reference frames."""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.kinematics import Reference, flat
from bough.model import BodyRecord, Frame, Mechanism, combine
from bough.scalar import Array, array
from bough.spatial import REST, STAY, Motion, Transform, Vector
from bough.tree.scans import ancestors, outward

__all__ = ["jacobian", "jacobian_rate"]


@dataclass(frozen=True, slots=True)
class Moving:
    """Placement and velocity of a body, both in base coordinates."""

    X: Transform
    v: Motion


@dataclass(frozen=True, slots=True)
class Columns:
    """The body's columns of the WORLD Jacobian and their rates, and its state."""

    state: Moving
    J: tuple[Motion, ...]
    J_dot: tuple[Motion, ...]


def jacobian(m: Mechanism, q: Array, frame: Frame, reference: Reference) -> Array:
    """J with: velocity of the frame in the reference frame = J v. Row by row, linear rows first (6 x nv)."""
    return _local(m, q, frame) if reference == "LOCAL" else _both(m, q, None, frame, reference)


def _local(m: Mechanism, q: Array, frame: Frame) -> Array:
    """J in the frame itself: walking from it to the root, each body says how it moves the frame."""
    q, n = m.coupling.own_q(q), m.own_nv
    result = array(6 * n)

    def put(body: BodyRecord, X: Transform) -> Transform:
        """Columns of a body in which the frame is placed by X; returns the placement in its parent."""
        for c, s in enumerate(body.subspace(q)):
            for row, value in enumerate(flat(X.to_child(s))):
                body.put_entry(result, row * n, c, value)
        return X if body.is_root else body.transform(q).then(X)

    if frame.body:
        body = m.at(frame.body)
        ancestors(m, body, put, put(body, m.frame(frame)))
    return m.coupling.reduced_rows(result, 6)


def jacobian_rate(m: Mechanism, q: Array, v: Array, frame: Frame, reference: Reference) -> Array:
    """The time derivative of J along the motion (6 x nv)."""
    return _both(m, q, v, frame, reference)


def _both(m: Mechanism, q: Array, v: Array | None, frame: Frame, reference: Reference) -> Array:
    q = m.coupling.own_q(q)
    v = None if v is None else m.coupling.own_v(v)
    n = m.own_nv
    result = array(6 * n)

    def visit(body: BodyRecord, parent: Moving) -> tuple[Moving, Columns]:
        X = parent.X.then(body.transform(q))
        J = tuple(X.to_parent(s) for s in body.subspace(q))
        if v is None:
            state = Moving(X, REST)
            return state, Columns(state, J, ())
        v_0 = parent.v + combine(J, body.of_v(v))
        # the columns move with the body, and within it where the subspace is not constant
        rates = body.subspace_rate(q, v)
        J_dot = tuple(v_0.cross(j) + X.to_parent(rate) for j, rate in zip(J, rates, strict=True))
        state = Moving(X, v_0)
        return state, Columns(state, J, J_dot)

    columns = outward(m, visit, Moving(STAY, REST))

    def put(body: BodyRecord, at: Transform, v_0: Motion) -> None:
        own = columns[body]
        for c in range(body.nv):
            if v is None:
                column = _in_reference(own.J[c], at, reference)
            else:
                column = _rate_in_reference(own.J[c], own.J_dot[c], at, v_0, reference)
            for row, value in enumerate(flat(column)):
                body.put_entry(result, row * n, c, value)

    if frame.body:
        body = m.at(frame.body)
        at = columns[body].state.X.then(m.frame(frame))
        v_0 = columns[body].state.v
        put(body, at, v_0)

        def above(ancestor: BodyRecord, carry: tuple[()]) -> tuple[()]:
            put(ancestor, at, v_0)
            return carry

        ancestors(m, body, above, ())
    return m.coupling.reduced_rows(result, 6)


def _in_reference(j: Motion, at: Transform, reference: Reference) -> Motion:
    """A column given in base coordinates, in the reference frame."""
    if reference == "WORLD":
        return j
    if reference == "LOCAL":
        return at.to_child(j)
    return Motion(j.angular, j.linear + j.angular.cross(at.translation))


def _rate_in_reference(j: Motion, j_dot: Motion, at: Transform, v: Motion, reference: Reference) -> Motion:
    """The rate of a column: what changes is the column, and what it is seen from."""
    if reference == "WORLD":
        return j_dot
    if reference == "LOCAL":
        return at.to_child(j_dot - v.cross(j))
    p = at.translation
    p_dot: Vector = v.linear + v.angular.cross(p)
    return Motion(j_dot.angular, j_dot.linear + j_dot.angular.cross(p) + j.angular.cross(p_dot))
