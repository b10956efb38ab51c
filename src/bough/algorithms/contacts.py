"""Contacts: how two bodies move relative to each other where they touch, along the normal and two tangents.

With V the velocity of the first body relative to the second, at the origin of the base, the velocity at a point p is
u = V.linear + V.angular × p, and the rows of a contact are n·u, t₁·u and t₂·u. Whatever moves both bodies alike
cancels, so the rows have columns on the two paths up to the last common ancestor only. Along the motion p and n move
too, which is part of what velocities add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.algorithms.constraint_rows import Terms
from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Bool, Scalar, absolute, array, both, select, sqrt
from bough.scalar.tolerances import UNIT_LENGTH
from bough.spatial import REST, STAY, Motion, Transform, Vector
from bough.tree.scans import Kept, ancestors, outward

__all__ = ["AXES", "Place", "contact_axes", "contact_terms", "of_unit_length"]

NEAR_X = 1e-6
"""Within this angle of the x axis (rad) a normal takes its tangents from the y axis."""

AXES = 3
"""The rows of a contact: its normal and two tangents."""


@dataclass(frozen=True)
class Place:
    """Where the contacts are: points and normals, one behind the other, and how these move in space.

    Unless told, a point moves with the first body, and a normal with the second: a corner on a surface.
    """

    points: Array
    normals: Array
    point_velocities: Array | None = None
    normal_velocities: Array | None = None


@dataclass(frozen=True, slots=True)
class Moving:
    """Placement, velocity, and its rate at v̇ = 0 of a body, in base coordinates."""

    X: Transform
    v: Motion
    a: Motion


@dataclass(frozen=True, slots=True)
class Columns:
    """How a body moves, and how its joint moves all that is beyond it, in base coordinates."""

    state: Moving
    J: tuple[Motion, ...]


def contact_axes(n: Vector) -> tuple[Vector, Vector, Vector]:
    """The normal and two tangents, right-handed. The first is the x axis as seen on the surface: t₂ ~ n × x.

    They are continuous in n but for n = ±x, where the y axis takes the place of x.
    """
    side, _ = _across(n, n)
    second = side * (1.0 / sqrt(side.dot(side)))
    return n, second.cross(n), second


def of_unit_length(normals: Array, count: int) -> Bool:
    """Whether all normals have length 1."""
    good: Bool = True
    for k in range(count):
        n = _vector(normals, k)
        good = both(good, absolute(sqrt(n.dot(n)) - 1.0) <= UNIT_LENGTH)
    return good


def contact_terms(
    m: Mechanism, pairs: Sequence[tuple[int, int]], q: Array, v: Array | None, place: Place, axes: int = AXES
) -> Terms:
    """The first `axes` rows of each contact: matrix, J v, and J̇ v. Errors are zero, and so are rates without v."""
    q, v = m.coupling.own_q(q), None if v is None else m.coupling.own_v(v)
    own = array(axes * len(pairs) * m.own_nv)
    rates: list[Scalar] = []
    bias: list[Scalar] = []
    bodies = _body_motions(m, q, v)
    for c, (first, second) in enumerate(pairs):
        p, n = _vector(place.points, c), _vector(place.normals, c)
        directions = contact_axes(n)[:axes]
        for body, other, sign in ((first, second, 1.0), (second, first, -1.0)):
            _columns(m, bodies, (body, other), p, directions, axes * c, sign, own)
        one, two = _state(m, bodies, first), _state(m, bodies, second)
        V, A = one.v - two.v, one.a - two.a
        given, turning = place.point_velocities, place.normal_velocities
        p_dot = one.v.linear + one.v.angular.cross(p) if given is None else _vector(given, c)
        n_dot = two.v.angular.cross(n) if turning is None else _vector(turning, c)
        u, u_dot = V.linear + V.angular.cross(p), A.linear + A.angular.cross(p) + V.angular.cross(p_dot)
        for axis, rate in zip(directions, _axes_rates(n, n_dot), strict=False):
            rates.append(axis.dot(u))
            bias.append(axis.dot(u_dot) + rate.dot(u))
    matrix = m.coupling.reduced_rows(own, axes * len(pairs))
    none: list[Scalar] = [0.0] * len(rates)
    return Terms(len(rates), none, matrix, rates, bias, none)


def _body_motions(m: Mechanism, q: Array, v: Array | None) -> Kept[Columns]:
    """How all bodies move."""

    def visit(body: BodyRecord, parent: Moving) -> tuple[Moving, Columns]:
        X = parent.X.then(body.transform(q))
        J = tuple(X.to_parent(s) for s in body.subspace(q))
        if v is None:
            state = Moving(X, REST, REST)
        else:
            moved = combine(J, body.of_v(v))
            within = combine(body.subspace_rate(q, v), body.of_v(v))
            state = Moving(X, parent.v + moved, parent.a + parent.v.cross(moved) + X.to_parent(within))
        return state, Columns(state, J)

    return outward(m, visit, Moving(STAY, REST, REST))


def _state(m: Mechanism, bodies: Kept[Columns], body: int) -> Moving:
    return bodies[m.at(body)].state if body else Moving(STAY, REST, REST)


def _columns(
    m: Mechanism,
    bodies: Kept[Columns],
    pair: tuple[int, int],
    p: Vector,
    axes: Sequence[Vector],
    row: int,
    sign: float,
    matrix: Array,
) -> None:
    """Write the columns of the joints that move the first of two bodies and not the second."""
    n, (path, other) = m.own_nv, (m.tree.path(body) if body else () for body in pair)
    count = len(path) - sum(a == b for a, b in zip(path, other, strict=False))

    def put(body: BodyRecord, carry: tuple[()]) -> tuple[()]:
        for c, j in enumerate(bodies[body].J):
            velocity = j.linear + j.angular.cross(p)
            for k, axis in enumerate(axes):
                body.put_entry(matrix, (row + k) * n, c, axis.dot(velocity) * sign)
        return carry

    if count:
        body = m.at(pair[0])
        ancestors(m, body, put, put(body, ()), count - 1)


def _across(n: Vector, change: Vector) -> tuple[Vector, Vector]:
    """The direction n × x of the second tangent, or n × y where n is along x; and the same of a change of n."""
    along_x = n.y * n.y + n.z * n.z < NEAR_X**2

    def of(w: Vector) -> Vector:
        return Vector(select(along_x, -w.z, 0.0), select(along_x, 0.0, w.z), select(along_x, w.x, -w.y))

    return of(n), of(change)


def _axes_rates(n: Vector, n_dot: Vector) -> tuple[Vector, Vector, Vector]:
    """How normal and tangents change as the normal does."""
    side, side_dot = _across(n, n_dot)
    scale = 1.0 / sqrt(side.dot(side))
    second = side * scale
    second_dot = (side_dot - second * second.dot(side_dot)) * scale
    return n_dot, second_dot.cross(n) + second.cross(n_dot), second_dot


def _vector(values: Array, k: int) -> Vector:
    return Vector(values[3 * k], values[3 * k + 1], values[3 * k + 2])
