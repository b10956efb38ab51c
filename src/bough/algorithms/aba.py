"""The articulated-body algorithm (Featherstone & Orin 2000, section 3.3, in link coordinates)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bough.algorithms.blocks import Block, SmallFactor
from bough.algorithms.rnea import ZEROS, rnea
from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Index, Scalar, array, loop
from bough.spatial import (
    NO_ARTICULATED,
    NO_FORCE,
    REST,
    ZERO,
    ArticulatedInertia,
    Deformed,
    Force,
    Motion,
    Transform,
    Vector,
    rate_matrix,
    unit_directions,
)
from bough.tree.scans import inward, outward

__all__ = ["aba", "aba_at_rest", "times_inverse"]


@dataclass(frozen=True, slots=True)
class Link:
    """What the later passes need of a body: transform, subspace, bias acceleration, bias force."""

    X: Transform
    S: tuple[Motion, ...]
    c: Motion
    p: Force
    felt: tuple[Scalar, ...]  # bias forces on the elastic coordinates of the body itself
    deformed: Deformed | None


@dataclass(frozen=True, slots=True)
class Articulated:
    """Articulated-body inertia and bias force that a body hands to its parent, in coordinates of the parent.

    A station also hands on what of it the elastic coordinates move: U, the rows of D, and forces.
    """

    I_a: ArticulatedInertia
    p_a: Force
    U: tuple[Force, ...]
    D: tuple[tuple[Scalar, ...], ...]
    u: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Solved:
    """What the last pass needs of the joint: U = Iᴬ h, the factor of D = hᵀ U, and u = τ - hᵀ p′."""

    U: tuple[Force, ...]
    D: tuple[tuple[Scalar, ...], ...]
    u: tuple[Scalar, ...]


NO_JOINT = Solved((), (), ())
"""Of a station, whose coordinates are solved for at the flexible body."""


def aba_at_rest(m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None = None) -> tuple[Array, Array]:
    """Forward dynamics as `aba` does it, of a mechanism at rest under the forces τ - C: C is RNEA's for q̈ = 0.

    H q̈ = τ - C, so velocities, gravity and external forces are done with once C is known: no bias acceleration is
    carried through Iᴬ or kept for the last pass. That saves a tenth of the operations and a third of what is kept.
    """
    assert m.coupling.trivial
    C, right = rnea(m, q, v, ZEROS, f_ext), array(m.own_nv)

    def subtract(k: Index, carry: tuple[()]) -> tuple[()]:
        right[k] = tau[k] - C[k]
        return carry

    loop(m.own_nv, subtract, ())
    return aba(m, q, ZEROS, right, gravity=ZERO)


def aba(
    m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None = None, gravity: Vector | None = None
) -> tuple[Array, Array]:
    """Forward dynamics: the accelerations under joint forces tau, and the pivots (the diagonal of D).

    For mechanisms without mimic joints; with them the mass matrix is not that of a tree and the caller solves through
    its factor instead. `gravity` replaces that of the model.
    """
    assert m.coupling.trivial
    qdd, pivots = array(m.own_nv), array(m.own_nv)

    def forward(body: BodyRecord, v_parent: Motion) -> tuple[Motion, Link]:
        X, S = body.transform(q), body.subspace(q)
        v_J = combine(S, body.of_v(v))
        v_i = X.to_child(v_parent) + v_J  #                                                   (3)
        c = combine(body.subspace_rate(q, v), body.of_v(v)) + v_i.cross(v_J)  # ḣᵢ q̇ᵢ
        p, felt, deformed = _bias(body, q, v, v_i, f_ext)  # pᵢ = vᵢ × Iᵢ vᵢ - fᵢˣ
        return v_i, Link(X, S, c, p, felt, deformed)

    def backward(body: BodyRecord, children: Articulated) -> tuple[Articulated | None, Solved]:
        X, S, c, p = links[body].X, links[body].S, links[body].c, links[body].p
        deformed = links[body].deformed if body.modes else None
        I = body.regrouped_inertia if deformed is None else deformed.inertia(body.regrouped_inertia)
        I_A = I.articulated + children.I_a  #                                                          (12)
        p_prime = p + children.p_a + I_A.times(c)  # p′ = pᴬ + Iᴬ ḣ q̇,  pᴬ = p + Σ pᵃ
        if deformed is None:
            U = tuple(I_A.times(s) for s in S)
            felt: Iterable[Scalar] = (s.dot(p_prime) for s in S)
            rows = [[s.dot(column) for s in S[: k + 1]] for k, column in enumerate(U)]
        else:
            U, felt, rows = _elastic_terms(body, deformed, links[body].felt, children)
        if body.is_station:
            return _of_station(m, X, I_A, p_prime, U, rows, felt), NO_JOINT
        u = tuple(t - x for t, x in zip(body.of_v(tau), felt, strict=True))
        for row, rotor in zip(rows, body.armature, strict=True):
            row[-1] = row[-1] + rotor
        D = SmallFactor(rows)
        body.put_v(pivots, D.pivots)
        kept = Solved(U, D.lower, u)
        if body.is_root:
            return None, kept
        # what the sums (12), (13) add for this child, whose own τ belongs in (13):  Iᵃ = Iᴬ - U D⁻¹ Uᵀ,
        # pᵃ = p′ + U D⁻¹ u. Without armature Iᵃ vanishes on the joint's own directions.
        free = [] if body.has_armature else unit_directions(S)
        I_a = I_A.minus_outer(U, times_inverse(D, U), free)
        p_a = p_prime
        for column, x in zip(U, D.solve(u), strict=True):
            p_a = p_a + column * x
        return _handed(m, X.articulated_to_parent(I_a), X.force_to_parent(p_a)), kept

    def outwards(body: BodyRecord, a_parent: Motion) -> tuple[Motion, None]:
        link, joint = links[body], solved[body]
        a = link.X.to_child(a_parent)
        if body.is_station:
            return a + link.c + combine(link.S, body.of_v(qdd)), None
        # q̈ᵢ = D⁻¹ (u - Uᵀ aλ),   aᵢ = aλ + ḣᵢ q̇ᵢ + hᵢ q̈ᵢ                                   (14), (4)
        rest = [x - a.dot(column) for x, column in zip(joint.u, joint.U, strict=True)]
        acceleration = SmallFactor.stored(joint.D).solve(rest)
        body.put_v(qdd, acceleration)
        return a + link.c + combine(link.S, acceleration), None

    links = outward(m, forward, REST)
    solved = inward(m, backward, _handed(m, NO_ARTICULATED, NO_FORCE))
    outward(m, outwards, Motion(ZERO, -(m.gravity if gravity is None else gravity)))
    return qdd, pivots


def _bias(
    body: BodyRecord, q: Array, v: Array, v_i: Motion, f_ext: Array | None
) -> tuple[Force, tuple[Scalar, ...], Deformed | None]:
    """What a body needs to move without acceleration, and the elastic coordinates it has; and how these deform it."""
    deformed, w = body.deformed(q), v_i.angular
    felt: tuple[Scalar, ...] = ()
    if deformed is None:
        p = v_i.cross_force(body.regrouped_inertia.times(v_i))
    else:
        moving = (w, rate_matrix(w, ZERO), w.cross(v_i.linear), body.of_v(v), (0.0,) * body.modes)
        p, felt = deformed.force(body.mode_moments, body.regrouped_moments, *moving)
    return p if f_ext is None else p - body.external_force(f_ext), felt, deformed


def _elastic_terms(
    body: BodyRecord, deformed: Deformed, felt: tuple[Scalar, ...], stations: Articulated
) -> tuple[tuple[Force, ...], Iterable[Scalar], list[list[Scalar]]]:
    """U, bias forces and rows of D: elastic coordinates move the points of a body, and what is on its stations."""
    modes = body.mode_moments
    U = tuple(x + y for x, y in zip(deformed.columns(modes), stations.U, strict=False))
    forces = [x + y for x, y in zip(felt, stations.u, strict=False)]
    pairs = zip(deformed.mass(modes), stations.D, strict=False)
    return U, forces, [[x + y for x, y in zip(own, theirs, strict=False)] for own, theirs in pairs]


def _of_station(
    m: Mechanism, X: Transform, I_A: ArticulatedInertia, p: Force, U: Sequence[Force], D: Block, u: Iterable[Scalar]
) -> Articulated:
    columns = [X.force_to_parent(column) for column in U]
    return _handed(m, X.articulated_to_parent(I_A), X.force_to_parent(p), columns, D, [*u])


def _handed(
    m: Mechanism,
    I_a: ArticulatedInertia,
    p_a: Force,
    U: Sequence[Force] = (),
    D: Block = (),
    u: Sequence[Scalar] = (),
) -> Articulated:
    """What a body hands on, with zeros up to the largest number of elastic coordinates of a body."""
    n = m.most_modes
    rows = tuple(tuple(D[k]) if k < len(D) else (0.0,) * (k + 1) for k in range(n))
    return Articulated(I_a, p_a, (*U, *(NO_FORCE,) * (n - len(U))), rows, (*u, *(0.0,) * (n - len(u))))


def times_inverse(D: SmallFactor, U: tuple[Force, ...]) -> list[Force]:
    """The columns of U D⁻¹."""
    rows = [D.solve(row) for row in zip(*(column.parts for column in U), strict=True)]
    return [Force.of(column) for column in zip(*rows, strict=True)]
