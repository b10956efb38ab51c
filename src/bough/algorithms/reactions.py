"""Whole forces through joints and loops of a mechanism whose motion is known: what each body needs to move as it does.

fᵢ = Iᵢ aᵢ + vᵢ × Iᵢ vᵢ - fᵢˣ, less what loops bring to the body, is what joint i and those of its children carry
(Featherstone & Orin 2000, equations 5 and 7).
"""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.loops import closings
from bough.algorithms.ties import tie_rows
from bough.model import BodyRecord, Loop, Mechanism, Placement, Tie, combine
from bough.model.joints.closing import dual_forces
from bough.scalar import Array, Scalar, array
from bough.spatial import NO_FORCE, REST, ZERO, Force, Matrix, Motion, Transform, Vector, rate_matrix
from bough.tree.scans import inward, outward

__all__ = ["constrained_reactions"]


@dataclass(frozen=True, slots=True)
class Moving:
    """Velocity and acceleration of a body."""

    v: Motion
    a: Motion


@dataclass(frozen=True, slots=True)
class Link:
    """What the backward pass needs of a body."""

    X: Transform
    f: Force


def constrained_reactions(
    m: Mechanism, q: Array, v: Array, a: Array, forces: Array, loop_tau: Array | None, f_ext: Array | None
) -> tuple[Array, Array]:
    """Forces on the bodies from their parents (N, 6), and on the successors of loops (loops, 6); both linear first."""
    from_loops, through = _loop_forces(m, q, forces, loop_tau)
    q, v, a = m.coupling.own_q(q), m.coupling.own_v(v), m.coupling.own_v(a)
    result = array(m.tree.n * 6)

    def forward(body: BodyRecord, parent: Moving) -> tuple[Moving, Link]:
        X, S = body.transform(q), body.subspace(q)
        moved = combine(S, body.of_v(v))
        speed = X.to_child(parent.v) + moved
        rate = combine(body.subspace_rate(q, v), body.of_v(v)) + combine(S, body.of_v(a)) + speed.cross(moved)
        accel = X.to_child(parent.a) + rate
        deformed = body.deformed(q)
        if deformed is None:
            f = body.inertia.times(accel) + speed.cross_force(body.inertia.times(speed))
        else:
            A, point = rate_matrix(speed.angular, accel.angular), accel.linear + speed.angular.cross(speed.linear)
            moving = (speed.angular, A, point, body.of_v(v), body.of_v(a))
            f, _ = deformed.force(body.mode_moments, body.regrouped_moments, *moving)
        f = f - Force.of([from_loops[body.index * 6 + k] for k in range(6)])
        if f_ext is not None:
            f = f - body.external_force(f_ext)
        return Moving(speed, accel), Link(X, f)

    def backward(body: BodyRecord, from_children: Force) -> tuple[Force | None, None]:
        f = links[body].f + from_children
        for k, value in enumerate(_flat(body.border.force_to_child(f))):
            result[body.index * 6 + k] = value
        return None if body.is_root else links[body].X.force_to_parent(f), None

    links = outward(m, forward, Moving(REST, Motion(ZERO, -m.gravity)))
    inward(m, backward, NO_FORCE)
    return result, through


def _loop_forces(m: Mechanism, q: Array, forces: Array, loop_tau: Array | None) -> tuple[Array, Array]:
    """What loops bring to the bodies, in inside frames, angular part first; and their forces at the border."""
    onto, through = array(m.tree.n * 6), array(len(m.model.loops) * 6)
    rows, row = {}, 0
    for constraint in m.model.constraints:
        rows[constraint.name] = row
        row += constraint.rows
    first = 0
    for number, (made, c) in enumerate(closings(m, q)):
        force = NO_FORCE
        for k, t in enumerate(c.closure.reactions):
            force = force + t * forces[rows[made.name] + k]
        if loop_tau is not None:
            for k, w in enumerate(dual_forces(c.closure.subspace)):
                force = force + w * loop_tau[first + k]
        first += made.joint.nv
        for k, value in enumerate(_flat(_successor(made).force_to_parent(force))):
            through[number * 6 + k] = value
        _add(onto, made.successor.body, c.after.X.force_to_parent(force))
        _add(onto, made.predecessor.body, c.X_before.force_to_parent(force) * -1.0)
    for tie in (c for c in m.model.constraints if isinstance(c, Tie)):  # on joints they are as drives, no more
        for end, (side, _, rows_of) in zip(tie.bodies, tie_rows(m, m.coupling.own_q(q), None, tie).frames, strict=True):
            for k, f in enumerate(rows_of):
                _add(onto, end.body, side.X.force_to_parent(f * forces[rows[tie.name] + k]))
    return onto, through


def _successor(loop: Loop) -> Transform:
    """Placement of the loop's moving side, in canonical axes, in the author's frame of the successor."""
    place = loop.successor.placement.then(Placement.of(loop.joint.alignment, (0.0, 0.0, 0.0), loop.name))
    return Transform(Matrix.of_rows(place.matrix.tolist()), Vector(*place.origin))


def _add(onto: Array, body: int, force: Force) -> None:
    if body:
        for k, value in enumerate(force.parts):
            place = (body - 1) * 6 + k
            onto[place] = onto[place] + value


def _flat(f: Force) -> list[Scalar]:
    """Six numbers, linear part first, as at the border."""
    return [*f.linear.parts, *f.angular.parts]
