"""Centre of mass, momentum about it, and the matrices that map velocities to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Scalar, array
from bough.spatial import NO_FORCE, NO_INERTIA, REST, STAY, ZERO, Force, Motion, RigidInertia, Transform, Vector
from bough.tree.scans import inward, outward

__all__ = ["centre_of_mass", "centre_of_mass_jacobian", "centroidal_momentum", "centroidal_momentum_matrix"]


@dataclass(frozen=True, slots=True)
class Placed:
    """Placement of a body and its columns of S, both in the base."""

    X: Transform
    J: tuple[Motion, ...]


@dataclass(frozen=True, slots=True)
class Total:
    """Sums over a subtree, in base coordinates: first moment of mass, and momentum."""

    moment: Vector
    momentum: Force


def centre_of_mass(m: Mechanism, q: Array) -> Array:
    """Position of the centre of mass in the base (3)."""
    return _filled(_totals(m, q, None)[0].parts)


def centroidal_momentum(m: Mechanism, q: Array, v: Array) -> Array:
    """Momentum about the centre of mass along the base axes (6), linear part first."""
    com, momentum = _totals(m, q, v)
    return _filled([*momentum.linear.parts, *(momentum.angular - com.cross(momentum.linear)).parts])


def centre_of_mass_jacobian(m: Mechanism, q: Array) -> Array:
    """J with: velocity of the centre of mass = J v. Row by row (3 x nv)."""
    whole = 1.0 / m.mass

    def column(f: Force) -> list[Scalar]:
        return list((f.linear * whole).parts)

    return _by_columns(m, q, column, 3)


def centroidal_momentum_matrix(m: Mechanism, q: Array) -> Array:
    """A with: momentum about the centre of mass = A v. Row by row, linear rows first (6 x nv)."""
    com, _ = _totals(m, q, None)

    def column(f: Force) -> list[Scalar]:
        return [*f.linear.parts, *(f.angular - com.cross(f.linear)).parts]

    return _by_columns(m, q, column, 6)


def _totals(m: Mechanism, q: Array, v: Array | None) -> tuple[Vector, Force]:
    """Centre of mass, and momentum about the base origin."""
    q = m.coupling.own_q(q)
    v = None if v is None else m.coupling.own_v(v)
    sums = array(9)

    def visit(body: BodyRecord, parent: tuple[Transform, Motion]) -> tuple[tuple[Transform, Motion], Total]:
        X, v_i = body.transform(q), REST
        X_0 = parent[0].then(X)
        deformed = body.deformed(q)
        I = body.inertia_of(deformed)
        momentum = NO_FORCE
        if v is not None:
            v_i = X.to_child(parent[1]) + combine(body.subspace(q), body.of_v(v))
            own = I.times(v_i)
            if deformed is not None:
                own = own + deformed.momentum(body.mode_moments, body.of_v(v))
            momentum = X_0.force_to_parent(own)
        moment = X_0.rotation.times(I.moment) + X_0.translation * I.mass
        return (X_0, v_i), Total(moment, momentum)

    def total(body: BodyRecord, of_children: Total) -> tuple[Total | None, None]:
        own = totals[body]
        moment, momentum = own.moment + of_children.moment, own.momentum + of_children.momentum
        if body.is_root:
            for k, x in enumerate((*moment.parts, *momentum.parts)):
                sums[k] = sums[k] + x
            return None, None
        return Total(moment, momentum), None

    totals = outward(m, visit, (STAY, REST))
    inward(m, total, Total(ZERO, NO_FORCE))
    values = [sums[k] for k in range(9)]
    return Vector.of(values[:3]) * (1.0 / m.mass), Force.of(values[3:])


def _by_columns(m: Mechanism, q: Array, column: Callable[[Force], Sequence[Scalar]], rows: int) -> Array:
    """A matrix whose column for a degree of freedom follows from the momentum that its unit velocity gives."""
    q, n = m.coupling.own_q(q), m.own_nv
    result = array(rows * n)

    def place(body: BodyRecord, parent: Transform) -> tuple[Transform, Placed]:
        X = parent.then(body.transform(q))
        return X, Placed(X, tuple(X.to_parent(s) for s in body.subspace(q)))

    def compose(body: BodyRecord, of_children: RigidInertia) -> tuple[RigidInertia, None]:
        own = placed[body]
        deformed = body.deformed(q)
        I_c = own.X.inertia_to_parent(body.inertia_of(deformed)) + of_children
        elastic = () if deformed is None else deformed.columns(body.mode_moments)
        for c, j in enumerate(own.J):
            f = own.X.force_to_parent(elastic[c]) if elastic else I_c.times(j)
            for r, value in enumerate(column(f)):
                body.put_entry(result, r * n, c, value)
        return I_c, None

    placed = outward(m, place, STAY)
    inward(m, compose, NO_INERTIA)
    return m.coupling.reduced_rows(result, rows)


def _filled(values: Sequence[Scalar]) -> Array:
    result = array(len(values))
    for k, value in enumerate(values):
        result[k] = value
    return result
