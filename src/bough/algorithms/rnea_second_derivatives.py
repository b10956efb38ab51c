"""Second derivatives of inverse dynamics, O(n d²): Singh, Russell & Wensing (2022).

Of three degrees of freedom whose entry differs from zero, c is carried by j and j by l. A change along c moves all that
c carries as one body, so it changes what is summed over that, seen from the bodies that carry it, at the rates

    İ = S ×* Iᶜ - Iᶜ S ×    and    Ḃ = S ×* 2Bᶜ - 2Bᶜ S × + 2B[Iᶜ](u),    with S and u of c,

where B[I](u) is B of a body with inertia I that moves with u; both are linear in what c carries. A change along l
changes u and w of j, seen from the bodies that j carries, by u_l × S_j and w_l × S_j + 2 u_l × u_j. With this all
entries are products of motions of l and a few forces that depend on c and j alone. All is in the frame of the root,
where nothing needs to be moved from body to body.

Degrees of freedom of one joint turn its body, and thereby each other: those by which a force or its derivative is
differentiated count as carrying that of the force, and the later one as carrying the earlier one. What is different
where the subspace of a joint changes with its position is in `bends`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bough.algorithms.bends import Bends, add_bends, bent
from bough.algorithms.triples import Carried, Composite, Direction, Pair, Paths, Tensors
from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Index, each, rows
from bough.spatial import NO_FORCE, NO_INERTIA, REST, STAY, ZERO, CoriolisInertia, Matrix, Motion, Transform
from bough.tree.scans import inward, outward

__all__ = ["rnea_second_derivatives"]


@dataclass(frozen=True, slots=True)
class Moving:
    """A body in the frame of its root: placement, velocity and acceleration."""

    X: Transform
    v: Motion
    a: Motion


@dataclass(frozen=True, slots=True)
class Link:
    """A body, and how the degrees of freedom of its joint bend each other."""

    own: Composite
    bends: Bends


STILL = Matrix(ZERO, ZERO, ZERO)


def rnea_second_derivatives(m: Mechanism, q: Array, v: Array, a: Array, f_ext: Array | None = None) -> Tensors:
    """∂²τ/∂q∂q, ∂²τ/∂v∂v, ∂²τ/∂q∂v and ∂M/∂q, one behind the other (4 x nv x nv x nv).

    Entry (i, j, k) of the first is the rate of ∂τᵢ/∂qⱼ along degree of freedom k, which for degrees of freedom of one
    joint depends on their order. Of the third, j is of q and k of v. External forces stay with their bodies.
    """
    q, v, a = m.coupling.own_q(q), m.coupling.own_v(v), m.coupling.own_v(a)
    moving, carried = rows(m.own_nv), rows(m.own_nv)

    def forward(body: BodyRecord, up: Moving) -> tuple[Moving, Link]:
        X = body.transform(q)
        if body.is_root:  # the base is at rest: gravity is a fictitious acceleration -g
            up, X = Moving(STAY, REST, Motion(ZERO, X.rotation.transposed_times(-m.gravity))), STAY
        X = up.X.then(X)
        S, bends = tuple(X.to_parent(s) for s in body.subspace(q)), ()  # type: tuple[Motion, ...], Bends
        v_J, rate = combine(S, body.of_v(v)), X.to_parent(combine(body.subspace_rate(q, v), body.of_v(v)))
        if body.joint.is_constant:
            directions = _directions(S, v_J, up)
        else:
            directions, bends = bent(body, q, v, a, X, up.v, up.a)
        for k, d in enumerate(directions):
            moving.put(body.v_start + k, d)
        own = Moving(X, up.v + v_J, up.a + up.v.cross(v_J) + rate + combine(S, body.of_v(a)))
        I = X.inertia_to_parent(body.regrouped_inertia)
        f = I.times(own.a) + own.v.cross_force(I.times(own.v))
        if f_ext is not None:
            f = f - X.force_to_parent(body.external_force(f_ext))
        return own, Link(Composite(I, CoriolisInertia.of(I, own.v * 2.0), f), bends)

    def backward(body: BodyRecord, children: Composite) -> tuple[Composite | None, Composite | None]:
        own = links[body].own
        I, B2, f = own.I + children.I, own.B2 + children.B2, own.f + children.f
        for k in range(body.nv):
            d: Direction = moving.get(body.v_start + k)
            of_q = I.times(d.w) + B2.times(d.u) + d.S.cross_force(f)
            of_v = I.times(d.u * 2.0 + d.more) + B2.times(d.S)
            B_dot = B2.rate(d.S) + CoriolisInertia.of(I, d.u * 2.0)
            couple = B2.transposed_times(d.S).angular
            carried.put(body.v_start + k, Carried(I.rate(d.S), B_dot, I.times(d.S), couple, of_q, of_v))
        whole = Composite(I, B2, f)
        return None if body.is_root else whole, whole if links[body].bends else None

    links = outward(m, forward, Moving(STAY, REST, REST))
    wholes = inward(m, backward, Composite(NO_INERTIA, CoriolisInertia(STILL, ZERO), NO_FORCE))
    paths, found = Paths(m), Tensors(m)

    def of_carried(c: Index) -> None:
        x: Carried = carried.get(c)

        def of_same_joint(j: Index) -> None:
            twin = moving.get(c).S.cross_force(carried.get(j).felt)
            with_third(j, replace(Pair.of(x, moving.get(j)), twin=twin), False)

        def with_third(j: Index, pair: Pair, below: bool) -> None:
            paths.same_joint(j, lambda l: found.put(c, j, l, pair, moving.get(l), below, False))
            paths.above(j, lambda l: found.put(c, j, l, pair, moving.get(l), below, True))

        paths.same_joint(c, of_same_joint)
        paths.above(c, lambda j: with_third(j, Pair.of(x, moving.get(j)), True))

    each(m.own_nv, of_carried)
    if not all(kind.joint.is_constant for kind in m.kind_list):
        add_bends(m, links, wholes, moving, carried, paths, found)
    return found


def _directions(S: Sequence[Motion], v_J: Motion, up: Moving) -> tuple[Direction, ...]:
    """The degrees of freedom of a joint whose subspace is constant."""
    found = []
    for s in S:
        u = up.v.cross(s)
        found.append(Direction(s, u, up.a.cross(s) + up.v.cross(u), v_J.cross(s) if len(S) > 1 else REST))
    return tuple(found)
