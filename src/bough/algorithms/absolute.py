"""The recursions of Featherstone & Orin 2000, section 3, as they are written there: in absolute coordinates.

All spatial quantities are in the coordinates of the base, so that nothing is transformed from link to link; instead
joint axes and inertias are brought to the base. `rnea_spatial` is the recursive Newton-Euler algorithm as the paper
has it in link coordinates, with spatial accelerations; `rnea` says what it does in their place. These are here to be
counted beside the others; their digits suffer where bodies are far from the base.
"""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.aba import times_inverse
from bough.algorithms.blocks import BlockRows, SmallFactor
from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Scalar, array
from bough.spatial import (
    NO_ARTICULATED,
    NO_FORCE,
    NO_INERTIA,
    REST,
    STAY,
    ZERO,
    ArticulatedInertia,
    Force,
    Motion,
    RigidInertia,
    Transform,
)
from bough.tree.scans import Kept, ancestors, inward, outward

__all__ = ["aba_absolute", "crba_absolute", "rnea_absolute", "rnea_spatial"]


@dataclass(frozen=True, slots=True)
class Moving:
    """A body as its children see it: its placement, velocity and acceleration."""

    X: Transform
    v: Motion
    a: Motion


@dataclass(frozen=True, slots=True)
class Link:
    """What later passes need of a body: its placement where forces are transformed, joint axes, and the force."""

    X: Transform | None
    S: tuple[Motion, ...]
    f: Force


@dataclass(frozen=True, slots=True)
class Placed:
    """The axes of a joint and the inertia of its body, in the base."""

    S: tuple[Motion, ...]
    inertia: RigidInertia


@dataclass(frozen=True, slots=True)
class Biased:
    """What the later passes of ABA need: axes, bias acceleration, inertia and bias force."""

    S: tuple[Motion, ...]
    c: Motion
    inertia: RigidInertia
    p: Force


@dataclass(frozen=True, slots=True)
class Articulated:
    """What a body adds to its parent."""

    I_a: ArticulatedInertia
    p_a: Force


@dataclass(frozen=True, slots=True)
class Solved:
    """What the last pass needs of the joint."""

    U: tuple[Force, ...]
    D: tuple[tuple[Scalar, ...], ...]
    u: tuple[Scalar, ...]


def rnea_absolute(m: Mechanism, q: Array, v: Array, a: Array, f_ext: Array | None = None) -> Array:
    """Inverse dynamics by equations 3, 4, 7 and 8."""
    q, v, a = m.coupling.own_q(q), m.coupling.own_v(v), m.coupling.own_v(a)

    def forward(body: BodyRecord, parent: Moving) -> tuple[Moving, Link]:
        X, S, v_i, c = _moved(body, parent.X, parent.v, q, v)
        a_i = parent.a + c + combine(S, body.of_v(a))  #                                      (4)
        inertia = X.inertia_to_parent(body.regrouped_inertia)
        f = inertia.times(a_i) + v_i.cross_force(inertia.times(v_i))  #                       (5)
        if f_ext is not None:
            f = f - X.force_to_parent(body.external_force(f_ext))
        return Moving(X, v_i, a_i), Link(None, S, f)

    links = outward(m, forward, Moving(STAY, REST, Motion(ZERO, -m.gravity)))
    return _joint_forces(m, links, a)


def rnea_spatial(m: Mechanism, q: Array, v: Array, a: Array, f_ext: Array | None = None) -> Array:
    """The same in link coordinates."""
    q, v, a = m.coupling.own_q(q), m.coupling.own_v(v), m.coupling.own_v(a)

    def forward(body: BodyRecord, parent: tuple[Motion, Motion]) -> tuple[tuple[Motion, Motion], Link]:
        X, S, inertia = body.transform(q), body.subspace(q), body.regrouped_inertia
        v_J = combine(S, body.of_v(v))
        v_i = X.to_child(parent[0]) + v_J  #                                                   (3)
        c = combine(body.subspace_rate(q, v), body.of_v(v)) + v_i.cross(v_J)  # ḣᵢ q̇ᵢ
        a_i = X.to_child(parent[1]) + c + combine(S, body.of_v(a))  #                          (4)
        f = inertia.times(a_i) + v_i.cross_force(inertia.times(v_i))  #                        (5)
        if f_ext is not None:
            f = f - body.external_force(f_ext)
        return (v_i, a_i), Link(X, S, f)

    return _joint_forces(m, outward(m, forward, (REST, Motion(ZERO, -m.gravity))), a)


def _joint_forces(m: Mechanism, links: Kept[Link], a: Array) -> Array:
    """The forces through the joints by equation 7, and their parts along the axes."""
    tau = array(m.own_nv)

    def backward(body: BodyRecord, from_children: Force) -> tuple[Force | None, None]:
        link = links[body]
        f = link.f + from_children  #                                                          (7)
        own = zip(link.S, body.armature, body.of_v(a), strict=True)
        body.put_v(tau, [s.dot(f) + rotor * qdd for s, rotor, qdd in own])  #                   (8)
        if body.is_root:
            return None, None
        return f if link.X is None else link.X.force_to_parent(f), None

    inward(m, backward, NO_FORCE)
    return m.coupling.reduced(tau)


def crba_absolute(m: Mechanism, q: Array) -> Array:
    """The joint-space inertia matrix as packed path rows, by equations 9 and 10."""
    q = m.coupling.own_q(q)
    H = BlockRows(m)

    def place(body: BodyRecord, parent: Transform) -> tuple[Transform, Placed]:
        X = parent.then(body.transform(q))
        S = tuple(X.to_parent(s) for s in body.subspace(q))
        return X, Placed(S, X.inertia_to_parent(body.regrouped_inertia))

    def compose(body: BodyRecord, of_children: RigidInertia) -> tuple[RigidInertia | None, None]:
        S = links[body].S
        I_c = links[body].inertia + of_children  #                                             (9)
        f = tuple(I_c.times(s) for s in S)
        H.put_diagonal(body, [[s.dot(column) for s in S] for column in f], body.armature)

        def row(j: BodyRecord, f: tuple[Force, ...]) -> tuple[Force, ...]:
            H.put(body, j, [[s.dot(column) for s in links[j].S] for column in f])  #           (10)
            return f

        if body.is_root:
            return None, None
        ancestors(m, body, row, f)
        return I_c, None

    links = outward(m, place, STAY)
    inward(m, compose, NO_INERTIA)
    return m.coupling.reduced_matrix(H.packed)


def aba_absolute(m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None = None) -> tuple[Array, Array]:
    """Forward dynamics by equations 3, 12, 13, 14 and 4, and the pivots, for mechanisms without mimic joints."""
    assert m.coupling.trivial
    qdd, pivots = array(m.own_nv), array(m.own_nv)

    def forward(body: BodyRecord, parent: tuple[Transform, Motion]) -> tuple[tuple[Transform, Motion], Biased]:
        X, S, v_i, c = _moved(body, *parent, q, v)
        inertia = X.inertia_to_parent(body.regrouped_inertia)
        p = v_i.cross_force(inertia.times(v_i))
        if f_ext is not None:
            p = p - X.force_to_parent(body.external_force(f_ext))
        return (X, v_i), Biased(S, c, inertia, p)

    def backward(body: BodyRecord, children: Articulated) -> tuple[Articulated | None, Solved]:
        link = links[body]
        I_A = link.inertia.articulated + children.I_a  #                                       (12)
        p_prime = link.p + children.p_a + I_A.times(link.c)
        U = tuple(I_A.times(s) for s in link.S)
        u = tuple(t - s.dot(p_prime) for t, s in zip(body.of_v(tau), link.S, strict=True))
        rows = [[s.dot(column) for s in link.S[: k + 1]] for k, column in enumerate(U)]
        for row, rotor in zip(rows, body.armature, strict=True):
            row[-1] = row[-1] + rotor
        D = SmallFactor(rows)
        body.put_v(pivots, D.pivots)
        if body.is_root:
            return None, Solved(U, D.lower, u)
        I_a, p_a = I_A.minus_outer(U, times_inverse(D, U), []), p_prime
        for column, x in zip(U, D.solve(u), strict=True):
            p_a = p_a + column * x  #                                                          (13)
        return Articulated(I_a, p_a), Solved(U, D.lower, u)

    def outwards(body: BodyRecord, a: Motion) -> tuple[Motion, None]:
        link, joint = links[body], solved[body]
        rest = [x - a.dot(column) for x, column in zip(joint.u, joint.U, strict=True)]
        acceleration = SmallFactor.stored(joint.D).solve(rest)  #                              (14)
        body.put_v(qdd, acceleration)
        return a + link.c + combine(link.S, acceleration), None  #                             (4)

    links = outward(m, forward, (STAY, REST))
    solved = inward(m, backward, Articulated(NO_ARTICULATED, NO_FORCE))
    outward(m, outwards, Motion(ZERO, -m.gravity))
    return qdd, pivots


def _moved(
    body: BodyRecord, X_parent: Transform, v_parent: Motion, q: Array, v: Array
) -> tuple[Transform, tuple[Motion, ...], Motion, Motion]:
    """Placement, axes, velocity (3) and bias acceleration ḣ q̇ of a body, in the base."""
    X = X_parent.then(body.transform(q))
    S = tuple(X.to_parent(s) for s in body.subspace(q))
    v_J = combine(S, body.of_v(v))
    v_i = v_parent + v_J
    rates = body.subspace_rate(q, v)  # as seen from the body
    return X, S, v_i, X.to_parent(combine(rates, body.of_v(v))) + v_i.cross(v_J)
