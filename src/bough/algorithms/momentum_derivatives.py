"""Derivatives of the centroidal momentum.

A change of qⱼ moves all that joint j carries, with its momentum hᶜ, along S, and changes its velocities by u
(`directions`): δh = Iᶜ u + S ×* hᶜ. The centre of mass, about which moments are taken, moves by the linear part of Iᶜ S
over the mass.
"""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.directions import Direction, JointMotion
from bough.algorithms.momentum import centroidal_momentum_matrix
from bough.algorithms.rnea import ZEROS
from bough.model import BodyRecord, Mechanism
from bough.scalar import Array, array
from bough.spatial import NO_FORCE, NO_INERTIA, REST, STAY, Force, Motion, RigidInertia, Transform, Vector
from bough.tree.scans import inward, outward

__all__ = ["momentum_derivatives"]


@dataclass(frozen=True, slots=True)
class Placed:
    """What is needed of a body: its placement in the base, its velocity, and the degrees of freedom of its joint."""

    X: Transform
    v: Motion
    directions: tuple[Direction, ...]


@dataclass(frozen=True, slots=True)
class Carried:
    """Inertia and momentum of a subtree, in base coordinates."""

    I_c: RigidInertia
    h: Force


def momentum_derivatives(m: Mechanism, q: Array, v: Array) -> tuple[Array, Array]:
    """∂h/∂q and ∂h/∂v of the momentum about the centre of mass, linear rows first (6 x nv each)."""
    by_v, n = centroidal_momentum_matrix(m, q), m.own_nv
    q, v = m.coupling.own_q(q), m.coupling.own_v(v)
    by_q, whole = array(6 * n), array(6)

    def place(body: BodyRecord, parent: tuple[Transform, Motion]) -> tuple[tuple[Transform, Motion], Placed]:
        joint = JointMotion(body, q, v, ZEROS)
        X, v_up = parent[0].then(joint.X), joint.X.to_child(parent[1])
        v_i = v_up + joint.v_J
        return (X, v_i), Placed(X, v_i, joint.directions(v_up, v_up + v_i, lambda s: REST))

    def carry(body: BodyRecord, children: Carried) -> tuple[Carried, Carried]:
        at = placed[body]
        I_c = at.X.inertia_to_parent(body.inertia) + children.I_c
        h = at.X.force_to_parent(body.inertia.times(at.v)) + children.h
        if body.is_root:
            for k, x in enumerate((*I_c.moment.parts, *h.linear.parts)):
                whole[k] = whole[k] + x
        return Carried(I_c, h), Carried(I_c, h)

    placed = outward(m, place, (STAY, REST))
    carried = inward(m, carry, Carried(NO_INERTIA, NO_FORCE))
    sums = [whole[k] for k in range(6)]
    per_mass = 1.0 / m.mass
    com, p = Vector.of(sums[:3]) * per_mass, Vector.of(sums[3:])

    def put(body: BodyRecord, parent: None) -> tuple[None, None]:
        at, own = placed[body], carried[body]
        for c, d in enumerate(at.directions):
            s, u = at.X.to_parent(d.S), at.X.to_parent(d.u)
            change, moved = own.I_c.times(u) + s.cross_force(own.h), own.I_c.times(s).linear * per_mass
            about = change.angular - com.cross(change.linear) - moved.cross(p)
            for row, x in enumerate((*change.linear.parts, *about.parts)):
                body.put_entry(by_q, row * n, c, x)
        return None, None

    outward(m, put, None)
    return m.coupling.reduced_rows(by_q, 6), by_v
