"""The articulated-body algorithm (Featherstone & Orin 2000, section 3.3, in link coordinates)."""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.blocks import SmallFactor
from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Scalar, array
from bough.spatial import (
    NO_ARTICULATED,
    NO_FORCE,
    REST,
    ZERO,
    ArticulatedInertia,
    Force,
    Motion,
    Transform,
    unit_directions,
)
from bough.tree.scans import inward, outward

__all__ = ["aba", "times_inverse"]


@dataclass(frozen=True, slots=True)
class Link:
    """What the later passes need of a body: transform, subspace, bias acceleration, bias force."""

    X: Transform
    S: tuple[Motion, ...]
    c: Motion
    p: Force


@dataclass(frozen=True, slots=True)
class Articulated:
    """Articulated-body inertia and bias force that a body hands to its parent, in coordinates of the parent."""

    I_a: ArticulatedInertia
    p_a: Force


@dataclass(frozen=True, slots=True)
class Solved:
    """What the last pass needs of the joint: U = Iᴬ h, the factor of D = hᵀ U, and u = τ - hᵀ p′."""

    U: tuple[Force, ...]
    D: tuple[tuple[Scalar, ...], ...]
    u: tuple[Scalar, ...]


def aba(m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None = None) -> tuple[Array, Array]:
    """Forward dynamics: the accelerations under joint forces tau, and the pivots (the diagonal of D).

    For mechanisms without mimic joints; with them the mass matrix is not that of a tree and the caller solves through
    its factor instead.
    """
    assert m.coupling.trivial
    qdd, pivots = array(m.own_nv), array(m.own_nv)

    def forward(body: BodyRecord, v_parent: Motion) -> tuple[Motion, Link]:
        X, S = body.transform(q), body.subspace(q)
        v_J = combine(S, body.of_v(v))
        v_i = X.to_child(v_parent) + v_J  #                                                   (3)
        c = combine(body.subspace_rate(q, v), body.of_v(v)) + v_i.cross(v_J)  # ḣᵢ q̇ᵢ
        p = v_i.cross_force(body.regrouped_inertia.times(v_i))  # pᵢ = vᵢ × Iᵢ vᵢ - fᵢˣ
        if f_ext is not None:
            p = p - body.external_force(f_ext)
        return v_i, Link(X, S, c, p)

    def backward(body: BodyRecord, children: Articulated) -> tuple[Articulated | None, Solved]:
        X, S, c, p = links[body].X, links[body].S, links[body].c, links[body].p
        I_A = body.regrouped_inertia.articulated + children.I_a  #                                     (12)
        p_prime = p + children.p_a + I_A.times(c)  # p′ = pᴬ + Iᴬ ḣ q̇,  pᴬ = p + Σ pᵃ
        U = tuple(I_A.times(s) for s in S)
        u = tuple(t - s.dot(p_prime) for t, s in zip(body.of_v(tau), S, strict=True))
        rows = [[s.dot(column) for s in S[: k + 1]] for k, column in enumerate(U)]
        for row, rotor in zip(rows, body.armature, strict=True):
            row[-1] = row[-1] + rotor
        D = SmallFactor(rows)
        body.put_v(pivots, D.pivots)
        kept = Solved(U, D.lower, u)
        if body.is_root:
            return None, kept
        # what the sums (12), (13) add for this child, whose own τ belongs in (13):  Iᵃ = Iᴬ - U D⁻¹ Uᵀ,
        # pᵃ = p′ + U D⁻¹ u. Without armature Iᵃ vanishes on the joint's own directions.
        W = times_inverse(D, U)
        free = [] if body.has_armature else unit_directions(S)
        I_a = I_A.minus_outer(U, W, free)
        p_a = p_prime
        for column, x in zip(U, D.solve(u), strict=True):
            p_a = p_a + column * x
        return Articulated(X.articulated_to_parent(I_a), X.force_to_parent(p_a)), kept

    def outwards(body: BodyRecord, a_parent: Motion) -> tuple[Motion, None]:
        link, joint = links[body], solved[body]
        a = link.X.to_child(a_parent)
        # q̈ᵢ = D⁻¹ (u - Uᵀ aλ),   aᵢ = aλ + ḣᵢ q̇ᵢ + hᵢ q̈ᵢ                                   (14), (4)
        rest = [x - a.dot(column) for x, column in zip(joint.u, joint.U, strict=True)]
        acceleration = SmallFactor.stored(joint.D).solve(rest)
        body.put_v(qdd, acceleration)
        return a + link.c + combine(link.S, acceleration), None

    links = outward(m, forward, REST)
    solved = inward(m, backward, Articulated(NO_ARTICULATED, NO_FORCE))
    outward(m, outwards, Motion(ZERO, -m.gravity))
    return qdd, pivots


def times_inverse(D: SmallFactor, U: tuple[Force, ...]) -> list[Force]:
    """The columns of U D⁻¹."""
    rows = [D.solve(row) for row in zip(*(column.parts for column in U), strict=True)]
    return [Force.of(column) for column in zip(*rows, strict=True)]
