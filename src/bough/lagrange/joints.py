"""A tree of joints in maximal coordinates: each body moves by itself, and each joint is a constraint.

A joint with the subspace S lets through the motions S q̇ and resists by forces T λ, with Tᵀ S = 0. The acceleration of
its body, a = ⁱXλ aλ + Ṡ q̇ + v × S q̇ + S q̈, is so held to Tᵀ (a - ⁱXλ aλ) = Tᵀ (Ṡ q̇ + v × S q̇). A joint force τ acts as
W τ, with Wᵀ S = 1. Armature r resists q̈ = Wᵀ (a - ⁱXλ aλ - …) by the force -r q̈: a constraint with rows √r Wᵀ that
gives way, √r q̈ + λ = 0.

Everything is in the frames of the author of the model and, like all at the border, has the linear part first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bough.algorithms import kinematics
from bough.algorithms.rnea import ZEROS
from bough.errors import ModelError
from bough.lagrange.attributes import moments_at_origin
from bough.lagrange.bodies import RIGID
from bough.lagrange.multipliers import multipliers
from bough.lagrange.system import System
from bough.model import BodyRecord, Mechanism, Model, combine
from bough.model.joints.closing import displacement, dual_forces, nearest_by_steps, workless
from bough.model.stations import require_all_rigid
from bough.scalar import Array, Index, Scalar, Table, array, filled, gather, gather_index, select, sqrt
from bough.spatial import NO_FORCE, REST, STAY, ZERO, Force, Matrix, Motion, Transform, Vector
from bough.tree.scans import inward, outward

__all__ = [
    "Constants", "Side", "accelerations", "constraint_system", "constraints", "dynamics", "of_multipliers", "positions",
    "to_multipliers", "velocities",
]  # fmt: skip


@lru_cache(maxsize=128)
def constraint_system(model: Model) -> System:
    """The bodies of a model and, as constraint i-1, joint i, with 6 - nᵢ rows and nᵢ more if it has armature."""
    require_all_rigid(model, "maximal coordinates")
    if not model.coupling.trivial:
        raise ModelError(
            f"model {model.name!r} has mimic joints, which tie together more than two bodies, expected none"
        )
    rows = [6 if any(entry.armature) else 6 - entry.joint.nv for entry in model.joints]
    edges = enumerate(zip(model.tree.parents, rows, strict=True), start=1)
    return System([6] * model.nbodies, [(parent, i, p) for i, (parent, p) in edges])


@dataclass(frozen=True, slots=True)
class Side:
    """What a body hands to those beyond it: its placement in the base, its velocity, and its author's frame in it."""

    X: Transform
    v: Motion
    border: Transform


STANDING = Side(STAY, REST, STAY)


def directions(body: BodyRecord, S: Sequence[Motion]) -> tuple[tuple[Force, ...], tuple[Force, ...]]:
    """How a joint acts and resists, in inside coordinates of its body: W, and the rows T and √r W of its constraint."""
    W = dual_forces(S)
    geared = zip(W, body.armature, strict=True) if body.has_armature else ()
    return W, (*workless(S), *(w * sqrt(rotor) for w, rotor in geared))


def constraints(m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None) -> dict[str, Array]:
    """The blocks of J, the forces on the bodies, and c."""
    system, rows_at = _system(m)
    jacobian, force, c = (array(size) for size in (system.jacobian_size, system.nv, system.nc))
    blocks = Table("block_starts", system.jacobian_starts[:-1])

    def forward(body: BodyRecord, parent: Side) -> tuple[Side, tuple[Transform, Force, Force]]:
        X, S = body.transform(q), body.subspace(q)
        X_0 = parent.X.then(X)
        v_J = combine(S, body.of_v(v))
        v_i = X.to_child(parent.v) + v_J
        bias = combine(body.subspace_rate(q, v), body.of_v(v)) + v_i.cross(v_J)
        active, resisting = directions(body, S)
        start = gather_index(rows_at, body.index)
        first, second = (gather_index(blocks, body.index * 2 + side) for side in (0, 1))
        for r, t in enumerate(resisting):
            c[start + r] = -bias.dot(t)
            _write(jacobian, second + 6 * r, body.border.force_to_child(t))
            if not body.is_root:
                _write(jacobian, first + 6 * r, parent.border.force_to_child(X.force_to_parent(t)) * -1.0)
        # gravity and what velocities make of inertia
        g = Motion(ZERO, X_0.rotation.transposed_times(m.gravity))
        f = body.inertia.times(g) - v_i.cross_force(body.inertia.times(v_i))
        if f_ext is not None:
            f = f + body.external_force(f_ext)
        return Side(X_0, v_i, body.border), (X, _sum(active, body.of_v(tau)), f)

    def backward(body: BodyRecord, reaction: Force) -> tuple[Force | None, None]:
        X, own, f = through[body]  # the transform of the joint, tau as a force through it, and all others on the body
        _write(force, body.index * 6, body.border.force_to_child(f + own + reaction))
        return None if body.is_root else X.force_to_parent(own) * -1.0, None

    through = outward(m, forward, STANDING)
    inward(m, backward, NO_FORCE)
    return {"jacobian": jacobian, "force": force, "c": c}


def dynamics(m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None) -> Array:
    """Accelerations of the bodies and multipliers of the joints, [a, λ]; regular for bodies with regular inertias."""
    _require_numbers(m, "body", "mass", "com", "inertia", "moments", "payload")
    mass, compliance = Constants("masses", masses(m.model)), compliances(m.model)
    soft = None if compliance is None else Constants("compliance", compliance)
    t = constraints(m, q, v, tau, f_ext)
    return multipliers(constraint_system(m.model), mass, t["jacobian"], t["force"], t["c"], soft)[0]


class Constants:
    """Numbers of a table as an array that is only read."""

    def __init__(self, name: str, values: NDArray[np.float64]) -> None:
        self._table = Table(name, values)

    def __getitem__(self, index: Index) -> Scalar:
        return gather(self._table, index)

    def __setitem__(self, index: Index, value: Scalar) -> None:
        raise TypeError("constants cannot be written")


def _require_numbers(m: Mechanism, *sorts: str) -> None:
    """Refuse parameters of a mechanism that are read from its model here."""
    for p in m.parameters:
        if p.what in sorts:
            raise ModelError(f"{p.name!r} cannot be a parameter in maximal coordinates, which take it from the model")


@lru_cache(maxsize=128)
def masses(model: Model) -> NDArray[np.float64]:
    """Inertias of the bodies in their frames, linear part first, (N·36,)."""
    blocks = [RIGID.mass(moments_at_origin(body.inertia), ()) for body in model.bodies]
    return _constant([x for block in blocks for row in block for x in row])


@lru_cache(maxsize=128)
def compliances(model: Model) -> NDArray[np.float64] | None:
    """1 in the rows of armature, 0 in all others, (nc,); None if no joint has armature."""
    rows = [[0.0] * (6 - e.joint.nv) + [1.0] * (e.joint.nv if any(e.armature) else 0) for e in model.joints]
    return _constant([x for row in rows for x in row]) if any(map(any, rows)) else None


def _constant(values: Sequence[Scalar]) -> NDArray[np.float64]:
    a = np.array(values, np.float64)
    a.setflags(write=False)
    return a


def of_multipliers(m: Mechanism, q: Array, tau: Array, lam: Array) -> Array:
    """The whole force through each joint, on its body: W τ + T λ, armature included."""
    system, rows_at = _system(m)
    result = array(system.nv)

    def visit(body: BodyRecord, parent: None) -> tuple[None, None]:
        (active, resisting), start = directions(body, body.subspace(q)), gather_index(rows_at, body.index)
        factors = [lam[start + r] for r in range(len(resisting))]
        f = _sum((*active, *resisting), (*body.of_v(tau), *factors))
        _write(result, body.index * 6, body.border.force_to_child(f))
        return None, None

    outward(m, visit, None)
    return result


def to_multipliers(m: Mechanism, q: Array, tau: Array, reactions: Array) -> Array:
    """The multipliers of given forces through the joints."""
    system, rows_at = _system(m)
    result = array(system.nc)

    def visit(body: BodyRecord, parent: None) -> tuple[None, None]:
        S, f, start = body.subspace(q), body.external_force(reactions), gather_index(rows_at, body.index)
        values = [Motion(t.angular, t.linear).dot(f) for t in workless(S)]  # which are orthonormal
        if body.has_armature:
            for s, t, rotor in zip(S, body.of_v(tau), body.armature, strict=True):
                root = sqrt(rotor)
                geared = root > 0.0
                values.append(select(geared, (s.dot(f) - t) / select(geared, root, 1.0), 0.0))
        for r, value in enumerate(values):
            result[start + r] = value
        return None, None

    outward(m, visit, None)
    return result


def _system(m: Mechanism) -> tuple[System, Table]:
    """The system of a mechanism, and where the rows of each joint begin."""
    _require_numbers(m, "armature")
    system = constraint_system(m.model)
    return system, Table("row_starts", system.c_starts[:-1])


def _sum(forces: Sequence[Force], factors: Sequence[Scalar]) -> Force:
    total = NO_FORCE
    for f, x in zip(forces, factors, strict=True):
        total = total + f * x
    return total


def _write(values: Array, start: Index, f: Force) -> None:
    """Put six numbers, linear part first."""
    for k, x in enumerate((*f.linear.parts, *f.angular.parts)):
        values[start + k] = x


# ---- and back --------------------------------------------------------------------------------------------------------


def positions(m: Mechanism, placements: Array, q0: Array) -> tuple[Array, Array]:
    """The configuration nearest to q0 for such placements of bodies (4, 4), and how far each joint is off (6)."""
    q, rest = array(m.own_nq), array(6 * m.tree.n)

    def visit(body: BodyRecord, parent: Transform) -> tuple[Transform, None]:
        x = [placements[body.index * 16 + k] for k in range(12)]
        X_0 = Transform(Matrix.of_rows((x[0:3], x[4:7], x[8:11])), Vector(x[3], x[7], x[11])).then(body.border.inverse)
        goal = body.placement.inverse.then(parent.inverse.then(X_0))  # of the body in the joint frame
        found = nearest_by_steps(body.joint, body.parameters, body.of_q(q0), goal)
        body.put_q(q, found)
        left = displacement(body.joint.transform(body.parameters, found).inverse.then(goal))
        for k, value in enumerate((*left.linear.parts, *left.angular.parts)):
            rest[body.index * 6 + k] = value
        return X_0, None

    outward(m, visit, STAY)
    return q, rest


def velocities(m: Mechanism, q: Array, motions: Array) -> Array:
    """The joint velocities nearest to given velocities of the bodies: Wᵀ (v - ⁱXλ vλ)."""
    v = array(m.own_nv)

    def visit(body: BodyRecord, parent: Motion) -> tuple[Motion, None]:
        x = [motions[body.index * 6 + k] for k in range(6)]
        own = body.border.to_parent(Motion(Vector.of(x[3:]), Vector.of(x[:3])))
        relative = own - body.transform(q).to_child(parent)
        body.put_v(v, [relative.dot(w) for w in dual_forces(body.subspace(q))])
        return own, None

    outward(m, visit, REST)
    return v


def accelerations(m: Mechanism, q: Array, v: Array, motions: Array) -> Array:
    """The joint accelerations nearest to given accelerations of the bodies, less those that velocities make."""
    still = kinematics.accelerations(m, q, v, ZEROS, None, "LOCAL", False)
    return velocities(m, q, filled(6 * m.tree.n, lambda k: motions[k] - still[k]))
