"""Kinetic and potential energy."""

from __future__ import annotations

from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Scalar, array
from bough.spatial import REST, STAY, Motion, Transform
from bough.tree.scans import outward

__all__ = ["kinetic_energy", "potential_energy"]


def kinetic_energy(m: Mechanism, q: Array, v: Array) -> Array:
    """½ Σ vᵢ · Iᵢ vᵢ over the bodies, plus ½ armature q̇² over the joints (1)."""
    q, v = m.coupling.own_q(q), m.coupling.own_v(v)
    total = array(1)

    def visit(body: BodyRecord, v_parent: Motion) -> tuple[Motion, None]:
        v_i = body.transform(q).to_child(v_parent) + combine(body.subspace(q), body.of_v(v))
        twice: Scalar = v_i.dot(body.inertia.times(v_i))
        for rotor, speed in zip(body.armature, body.of_v(v), strict=True):
            twice = twice + rotor * (speed * speed)
        total[0] = total[0] + twice * 0.5
        return v_i, None

    outward(m, visit, REST)
    return total


def potential_energy(m: Mechanism, q: Array) -> Array:
    """-Σ mᵢ g · cᵢ over the bodies; zero with every centre of mass at the height of the base origin (1)."""
    q = m.coupling.own_q(q)
    total = array(1)

    def visit(body: BodyRecord, parent: Transform) -> tuple[Transform, None]:
        X, I = parent.then(body.transform(q)), body.inertia
        moment = X.rotation.times(I.moment) + X.translation * I.mass
        total[0] = total[0] - moment.dot(m.gravity)
        return X, None

    outward(m, visit, STAY)
    return total
