"""Derivatives of inverse dynamics, O(n d): what each joint position, velocity and acceleration does to joint forces.

The recursions are those of Carpentier & Mansard (2018) and of Singh, Russell & Wensing (2022), in link coordinates.
With u and w of a joint (`directions`), the forces on all bodies that it carries change by

    δf = Iᶜ w + 2 Bᶜ u,    with  B = ½ (v ×* I - I v × + (I v) ×̄*)  of each body, summed as Iᶜ is,

so one pass from the tips to the base with Iᶜ, 2 Bᶜ and fᶜ has all it takes. Forces feel no constant velocity that all
bodies have in common. Each joint therefore takes the point of its parent at its origin to be at rest: of the
velocity of the parent only ω is left, linear velocities are needed across a joint alone, and u and w of a turn about z
have two and five entries. What goes from a body to its parent is told that the parent sees it move faster by V.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.algorithms.directions import Direction, JointMotion
from bough.model import BodyRecord, Mechanism
from bough.scalar import Array, Index, Part, Scalar, array
from bough.spatial import (
    NO_FORCE,
    NO_INERTIA,
    ZERO,
    CoriolisInertia,
    Force,
    MassMoments,
    Matrix,
    Motion,
    RigidInertia,
    Transform,
    Vector,
    cross_matrix,
    rate_matrix,
    unit_directions,
)
from bough.tree.scans import ancestors, inward, outward

__all__ = ["Derivatives", "Moving", "advanced", "of_free_roots", "rnea_derivatives"]


@dataclass(frozen=True)
class Derivatives:
    """∂τ/∂q (in the tangent space), ∂τ/∂q̇ and ∂τ/∂q̈ = M: dense, row by row (nv x nv).

    `stacked` has all three, one behind the other, where there are no followers.
    """

    stacked: Array
    q: Array
    v: Array
    a: Array


@dataclass(frozen=True, slots=True)
class Moving:
    """How a body moves, passed to its children: ω, ω̇, A and a′ as in `rnea`, and its velocity along its own joint."""

    w: Vector
    wd: Vector
    A: Matrix
    a: Vector
    v_J: Vector


@dataclass(frozen=True, slots=True)
class Link:
    """What the backward pass needs of a body."""

    X: Transform
    directions: tuple[Direction, ...]
    f: Force
    B2: CoriolisInertia  # 2 B
    V2: Vector  # 2 V, in the parent


@dataclass(frozen=True, slots=True)
class Composite:
    """Inertia, 2 B and force of a subtree, in the coordinates of its root."""

    I_c: RigidInertia
    B2: CoriolisInertia
    f: Force


@dataclass(frozen=True, slots=True)
class Column:
    """What one degree of freedom of a body does to the bodies that carry it, moved towards the root together.

    Iᶜ S with the couple 2 Bᶜᵀ S: what moves them is felt here. Changes of the force by its position, and velocity.
    """

    a: Force
    couple: Vector
    q: Force
    v: Force

    def change(self, w: Motion, u: Motion) -> Scalar:
        """How the force on this degree of freedom changes with the motion of what carries it."""
        return w.dot(self.a) + u.angular.dot(self.couple)


STILL = Matrix(ZERO, ZERO, ZERO)


def rnea_derivatives(m: Mechanism, q: Array, v: Array, a: Array, f_ext: Array | None = None) -> Derivatives:
    """Derivatives of the joint forces that give accelerations a; external forces stay with their bodies."""
    q, v, a = m.coupling.own_q(q), m.coupling.own_v(v), m.coupling.own_v(a)
    n = m.own_nv
    stacked = array(3 * n * n)
    by_q, by_v, by_a = (Square(n, Part(stacked, k * n * n)) for k in range(3))

    def forward(body: BodyRecord, parent: Moving) -> tuple[Moving, Link]:
        joint = JointMotion(body, q, v, a)
        up, moving = advanced(joint, parent)
        rest = body.regrouped_moments
        f = rest.force(moving.A, moving.a)
        if f_ext is not None:
            f = f - body.external_force(f_ext)
        V2 = parent.v_J * 2.0 + parent.w.cross(joint.X.translation * 2.0)
        return moving, Link(joint.X, _directions(joint, up, moving), f, _twice_B(rest, moving), V2)

    def backward(body: BodyRecord, children: Composite) -> tuple[Composite | None, None]:
        link = links[body]
        I_c, B2, f = body.regrouped_inertia + children.I_c, link.B2 + children.B2, link.f + children.f
        columns = []
        for c, d in enumerate(link.directions):
            felt, slowed = I_c.times(d.S), B2.transposed_times(d.S).angular
            δf, δf_v = I_c.times(d.w) + B2.times(d.u), I_c.times(d.w_v) + B2.times(d.S)
            for r, (row, rotor) in enumerate(zip(link.directions, body.armature, strict=True)):
                turned: Scalar = d.S_q[r].dot(f) if d.S_q else 0.0
                place = body.v_start + r, body.v_start + c
                by_q[place] = row.S.dot(δf) + turned
                by_v[place] = row.S.dot(δf_v)
                by_a[place] = row.S.dot(felt) + rotor if r == c else row.S.dot(felt)
            # seen from other bodies, the force also turns with the body
            columns.append(Column(felt, slowed, δf + d.S.cross_force(f), δf_v))

        def above(j: BodyRecord, columns: tuple[Column, ...]) -> tuple[Column, ...]:
            for c, x in enumerate(columns):
                put(j, body.v_start + c, x)
            return columns if j.is_root else _to_parent(links[j], columns)

        if body.is_root:
            return None, None
        ancestors(m, body, above, _to_parent(link, columns))
        return _composite_to_parent(link, Composite(I_c, B2, f)), None

    def put(j: BodyRecord, c: Index, x: Column) -> None:
        """The entries of a body and of a degree of freedom that it carries, whose column is moved there."""
        for r, d in enumerate(links[j].directions):
            row = j.v_start + r
            by_q[c, row], by_q[row, c] = x.change(d.w, d.u), d.S.dot(x.q)
            by_v[c, row], by_v[row, c] = x.change(d.w_v, d.S), d.S.dot(x.v)
            by_a[c, row] = by_a[row, c] = d.S.dot(x.a)

    links = outward(m, forward, _base(m))
    inward(m, backward, Composite(NO_INERTIA, CoriolisInertia(STILL, ZERO), NO_FORCE))
    return Derivatives(stacked, *(m.coupling.reduced_square(x.entries) for x in (by_q, by_v, by_a)))


def _base(m: Mechanism) -> Moving:
    """The base at rest: gravity is a fictitious acceleration -g."""
    return Moving(ZERO, ZERO, STILL, -m.gravity, ZERO)


def of_free_roots(m: Mechanism, q: Array, v: Array, a: Array) -> dict[tuple[int, int], dict[int, Scalar]]:
    """Columns of the derivatives that are M times a few accelerations of a body that floats, known beforehand.

    Turning it with all it carries turns gravity alone, and its linear velocity matters only because it is told in axes
    that turn. For ∂τ/∂q (0) and ∂τ/∂q̇ (1) and each such column, the accelerations by degree of freedom.
    """
    found: dict[tuple[int, int], dict[int, Scalar]] = {}
    for number in m.tree.roots if m.coupling.trivial else ():
        body = m.at(number)
        joint = JointMotion(body, q, v, a)
        if body.has_armature or len(unit_directions(joint.S)) < 6:
            continue
        start = int(m.v_starts.data[number - 1])
        for c, d in enumerate(_directions(joint, *advanced(joint, _base(m)))):
            changes = {0: d.w, 1: d.w_v} if d.S.angular == ZERO else {0: d.w}
            for k, w in changes.items():
                found[k, start + c] = {start + r: w.dot(Force(s.angular, s.linear)) for r, s in enumerate(joint.S)}
    return found


class Square:
    """A matrix of own degrees of freedom, dense, row by row; only entries that can differ from zero are written."""

    def __init__(self, n: int, entries: Array) -> None:
        self.n, self.entries = n, entries

    def __setitem__(self, place: tuple[Index, Index], value: Scalar) -> None:
        row, column = place
        self.entries[row * self.n + column] = value


def advanced(joint: JointMotion, parent: Moving) -> tuple[Moving, Moving]:
    """The motion of the parent in the frame of a body and at its origin, and that of the body: (3) and (4) of RNEA."""
    R, p, v_J, a_J = joint.X.rotation, joint.X.translation, joint.v_J, joint.a_J
    w_up, wd_up = R.transposed_times(parent.w), R.transposed_times(parent.wd)
    up = Moving(w_up, wd_up, rate_matrix(w_up, wd_up), R.transposed_times(parent.a + parent.A.times(p)), ZERO)
    w = w_up + v_J.angular
    wd = wd_up + w_up.cross(v_J.angular) + a_J.angular
    point = up.a + (w_up + w).cross(v_J.linear) + a_J.linear
    return up, Moving(w, wd, rate_matrix(w, wd), point, v_J.linear)


def _directions(joint: JointMotion, up: Moving, own: Moving) -> tuple[Direction, ...]:
    """The degrees of freedom of a joint, where the parent's point at its origin is at rest."""

    def turned(s: Motion) -> Motion:
        return Motion(up.A.times(s.angular), up.a.cross(s.angular) + up.A.times(s.linear))

    return joint.directions(Motion(up.w, ZERO), Motion(up.w + own.w, own.v_J), turned)


def _twice_B(rest: MassMoments, moving: Moving) -> CoriolisInertia:
    """2 B = -2 (ω× Σ + h× v×) of a body, with Σ = ∫ r rᵀ dm."""
    h2, Σ2 = rest.moment * 2.0, Matrix(*(column * 2.0 for column in rest.second.matrix.columns))
    momentum = moving.w.cross(h2) + moving.v_J * (rest.mass * 2.0)
    return CoriolisInertia(STILL - cross_matrix(moving.w) @ Σ2 - cross_matrix(h2) @ cross_matrix(moving.v_J), momentum)


def _composite_to_parent(link: Link, own: Composite) -> Composite:
    X, B2 = link.X, own.B2.to_parent(link.X.rotation, link.X.translation)
    I_c = X.inertia_to_parent(own.I_c)
    # the parent sees all this move faster by V
    angular = B2.angular - cross_matrix(I_c.moment) @ cross_matrix(link.V2)
    return Composite(I_c, CoriolisInertia(angular, B2.momentum + link.V2 * I_c.mass), X.force_to_parent(own.f))


def _to_parent(link: Link, columns: Sequence[Column]) -> tuple[Column, ...]:
    up, R = link.X.force_to_parent, link.X.rotation
    moved = []
    for x in columns:
        felt = up(x.a)
        moved.append(Column(felt, R.times(x.couple) + link.V2.cross(felt.linear), up(x.q), up(x.v)))
    return tuple(moved)
