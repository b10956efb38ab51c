"""Kinetic energy, potential energy, and that of springs."""

from __future__ import annotations

from bough.algorithms.loops import closings
from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Scalar, array
from bough.spatial import REST, STAY, Motion, Transform
from bough.tree.scans import outward

__all__ = ["elastic_energy", "kinetic_energy", "potential_energy"]


def kinetic_energy(m: Mechanism, q: Array, v: Array) -> Array:
    """½ Σ vᵢ · Iᵢ vᵢ over the bodies, plus ½ armature q̇² over the joints (1); modes move points too."""
    q, v = m.coupling.own_q(q), m.coupling.own_v(v)
    total = array(1)

    def visit(body: BodyRecord, v_parent: Motion) -> tuple[Motion, None]:
        v_i = body.transform(q).to_child(v_parent) + combine(body.subspace(q), body.of_v(v))
        deformed = body.deformed(q)
        twice: Scalar = v_i.dot(body.inertia_of(deformed).times(v_i))
        if deformed is not None:
            twice = twice + deformed.energy(body.mode_moments, v_i, body.of_v(v))
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
        X, I = parent.then(body.transform(q)), body.inertia_of(body.deformed(q))
        moment = X.rotation.times(I.moment) + X.translation * I.mass
        total[0] = total[0] - moment.dot(m.gravity)
        return X, None

    outward(m, visit, STAY)
    return total


def elastic_energy(m: Mechanism, q: Array) -> Array:
    """½ Σ stiffness × stretch² over the springs of all joints, those that close loops among them (1)."""
    own, total = m.coupling.own_q(q), array(1)

    def visit(body: BodyRecord, parent: None) -> tuple[None, None]:
        if not body.is_station:  # whose coordinates are those of the flexible body
            total[0] = total[0] + body.spring_energy(own)
        return None, None

    outward(m, visit, None)
    if any(x for c in m.model.loops for x in c.stiffness):
        for constraint, c in closings(m, q):
            stretch = c.closure.joint.stretch(c.closure.parameters, constraint.rest, c.closure.x)
            for stiffness, far in zip(constraint.stiffness, stretch, strict=True):
                total[0] = total[0] + (0.5 * stiffness) * (far * far)
    return total
