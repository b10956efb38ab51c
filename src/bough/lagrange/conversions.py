"""From maximal coordinates back to those of the joints."""

from __future__ import annotations

from bough.model import BodyRecord, Mechanism, combine
from bough.model.joints.closing import displacement, dual_forces, nearest_by_steps
from bough.scalar import Array, array
from bough.spatial import REST, STAY, Matrix, Motion, Transform, Vector
from bough.tree.scans import outward

__all__ = ["accelerations", "positions", "velocities"]


def positions(m: Mechanism, placements: Array, q0: Array) -> tuple[Array, Array]:
    """The configuration nearest to q0 at which bodies are so placed, and how far each joint is off: 6 numbers.

    `placements` has a matrix [[R, p], [0, 1]] for each body, 16 numbers, row by row.
    """
    q, rest = array(m.own_nq), array(6 * m.tree.n)

    def visit(body: BodyRecord, parent: Transform) -> tuple[Transform, None]:
        x = [placements[body.index * 16 + k] for k in range(12)]
        X_0 = Transform(Matrix.of_rows((x[0:3], x[4:7], x[8:11])), Vector(x[3], x[7], x[11])).then(body.border.inverse)
        goal = body.placement.inverse.then(parent.inverse.then(X_0))  # of the body in the joint frame
        found = nearest_by_steps(body.joint, body.parameters, body.of_q(q0), goal)
        body.put_q(q, found)
        left = displacement(body.joint.transform(body.parameters, found).inverse.then(goal))
        for k, value in enumerate((*left.linear.parts, *left.angular.parts)):
            rest[body.index * 6 + k] = value
        return X_0, None

    outward(m, visit, STAY)
    return q, rest


def velocities(m: Mechanism, q: Array, motions: Array) -> Array:
    """The joint velocities nearest to given velocities of the bodies: Wᵀ (v - ⁱXλ vλ)."""
    v = array(m.own_nv)

    def visit(body: BodyRecord, parent: Motion) -> tuple[Motion, None]:
        own = _motion(body, motions)
        relative = own - body.transform(q).to_child(parent)
        body.put_v(v, [relative.dot(w) for w in dual_forces(body.subspace(q))])
        return own, None

    outward(m, visit, REST)
    return v


def accelerations(m: Mechanism, q: Array, v: Array, motions: Array) -> Array:
    """The joint accelerations nearest to given accelerations of the bodies: Wᵀ (a - ⁱXλ aλ - Ṡ q̇ - v × S q̇)."""
    a = array(m.own_nv)

    def visit(body: BodyRecord, parent: tuple[Motion, Motion]) -> tuple[tuple[Motion, Motion], None]:
        X, S = body.transform(q), body.subspace(q)
        v_J = combine(S, body.of_v(v))
        v_i = X.to_child(parent[0]) + v_J
        own = _motion(body, motions)
        bias = combine(body.subspace_rate(q, v), body.of_v(v)) + v_i.cross(v_J)
        relative = own - X.to_child(parent[1]) - bias
        body.put_v(a, [relative.dot(w) for w in dual_forces(S)])
        return (v_i, own), None

    outward(m, visit, (REST, REST))
    return a


def _motion(body: BodyRecord, motions: Array) -> Motion:
    """The motion of a body, given in its author's frame, linear part first, in the inside one."""
    x = [motions[body.index * 6 + k] for k in range(6)]
    return body.border.to_parent(Motion(Vector.of(x[3:]), Vector.of(x[:3])))
