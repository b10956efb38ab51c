"""Derivatives of the velocity and acceleration of a frame, by what each joint does to the bodies that it carries."""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.directions import Direction, JointMotion
from bough.algorithms.kinematics import STANDING, Moving, Reference, flat, seen_from
from bough.algorithms.rnea import ZEROS
from bough.model import BodyRecord, Frame, Mechanism
from bough.scalar import Array, array
from bough.spatial import REST, ZERO, Motion, Transform
from bough.tree.scans import Kept, ancestors, outward

__all__ = ["acceleration_derivatives", "velocity_derivatives"]


@dataclass(frozen=True, slots=True)
class Link:
    """Placement of a body in its parent, its state, and the degrees of freedom of its joint."""

    X: Transform
    state: Moving
    directions: tuple[Direction, ...]


def velocity_derivatives(m: Mechanism, q: Array, v: Array, frame: Frame, reference: Reference) -> list[Array]:
    """∂V/∂q and ∂V/∂v = J of the velocity V of a frame, linear rows first (6 x nv each)."""
    return _columns(m, q, v, None, frame, reference, classical=False)


def acceleration_derivatives(
    m: Mechanism, q: Array, v: Array, a: Array, frame: Frame, reference: Reference, classical: bool
) -> list[Array]:
    """∂A/∂q, ∂A/∂v and ∂A/∂a = J of the acceleration A of a frame, linear rows first (6 x nv each).

    The acceleration is spatial, or classical, with ω × v in its linear part.
    """
    return _columns(m, q, v, a, frame, reference, classical)


def _columns(
    m: Mechanism, q: Array, v: Array, a: Array | None, frame: Frame, reference: Reference, classical: bool
) -> list[Array]:
    n, links = m.own_nv, _links(m, q, v, ZEROS if a is None else a)
    results = [array(6 * n) for _ in range(2 if a is None else 3)]

    def put(body: BodyRecord, X: Transform) -> Transform:
        """Columns of a body in which the frame is placed by X; returns the placement in its parent."""
        for c, d in enumerate(links[body].directions):
            s, u, w, w_v = (X.to_child(x) for x in (d.S, d.u, d.w, d.w_v))
            changes = _changes(at, s, u, w, w_v, reference, classical)
            for result, change in zip(results, changes[:2] if a is None else changes[2:], strict=True):
                for row, value in enumerate(flat(change)):
                    body.put_entry(result, row * n, c, value)
        return X if body.is_root else links[body].X.then(X)

    if frame.body:
        body = m.at(frame.body)
        at = seen_from(links[body].state, m.frame(frame))
        ancestors(m, body, put, put(body, m.frame(frame)))
    return [m.coupling.reduced_rows(result, 6) for result in results]


def _links(m: Mechanism, q: Array, v: Array, a: Array) -> Kept[Link]:
    """The forward pass: states of bodies as in `kinematics`, and the degrees of freedom of their joints."""
    q, v, a = m.coupling.own_q(q), m.coupling.own_v(v), a if a is ZEROS else m.coupling.own_v(a)

    def visit(body: BodyRecord, parent: Moving) -> tuple[Moving, Link]:
        joint = JointMotion(body, q, v, a)
        v_up, a_up = joint.X.to_child(parent.v), joint.X.to_child(parent.a)
        state = Moving(parent.X.then(joint.X), v_up + joint.v_J, a_up + v_up.cross(joint.v_J) + joint.a_J)

        def turned(s: Motion) -> Motion:
            return a_up.cross(s) + v_up.cross(v_up.cross(s))

        return state, Link(joint.X, state, joint.directions(v_up, v_up + state.v, turned))

    return outward(m, visit, STANDING)


def _changes(
    at: Moving, s: Motion, u: Motion, w: Motion, w_v: Motion, reference: Reference, classical: bool
) -> list[Motion]:
    """How velocity and acceleration of a frame change with one degree of freedom: V by q, V by v, A by q, v and a.

    All that is given is in the frame, whose state is `at`.
    """
    speed, rate = at.v, at.a
    by_q, by_v = w + u.cross(speed), w_v + s.cross(speed)
    # in axes other than its own, both also turn, or move, with the frame
    carried = {"LOCAL": REST, "WORLD": s, "LOCAL_WORLD_ALIGNED": Motion(s.angular, ZERO)}[reference]
    u, by_q = u + carried.cross(speed), by_q + carried.cross(rate)
    if reference == "WORLD":
        to_base = at.X.to_parent
        speed, s, u, by_q, by_v = to_base(speed), to_base(s), to_base(u), to_base(by_q), to_base(by_v)
    if classical:
        by_q, by_v = _classical(speed, u, by_q), _classical(speed, s, by_v)
    found = [u, s, by_q, by_v, s]
    if reference == "LOCAL_WORLD_ALIGNED":
        R = at.X.rotation
        found = [Motion(R.times(x.angular), R.times(x.linear)) for x in found]
    return found


def _classical(v: Motion, u: Motion, change: Motion) -> Motion:
    """The change of the classical acceleration from that of the spatial one, where v changes by u: ω × v more."""
    return Motion(change.angular, change.linear + u.angular.cross(v.linear) + v.angular.cross(u.linear))
