"""The Coriolis matrix C(q, v), with C v the Coriolis and centrifugal forces and Ṁ - 2C skew-symmetric.

C = Σ Jᵢᵀ (Iᵢ J̇ᵢ + Bᵢ Jᵢ) over the bodies, where Bᵢ vᵢ = vᵢ ×* Iᵢ vᵢ and Bᵢ + Bᵢᵀ is the rate of Iᵢ. The sums over
subtrees are formed as in the composite-rigid-body algorithm. (Echeandia & Wensing 2021 give this form.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Scalar, array
from bough.spatial import NO_INERTIA, REST, ZERO, CoriolisInertia, Force, Matrix, Motion, RigidInertia, Transform
from bough.tree.scans import ancestors, inward, outward

__all__ = ["coriolis_matrix"]


@dataclass(frozen=True, slots=True)
class Link:
    """Transform, subspace and its rate (as seen from the base), and B of one body."""

    X: Transform
    S: tuple[Motion, ...]
    S_dot: tuple[Motion, ...]
    B: CoriolisInertia


@dataclass(frozen=True, slots=True)
class Composite:
    """Inertia and B of a subtree as one composite body, in the coordinates of its root."""

    I_c: RigidInertia
    B_c: CoriolisInertia


@dataclass(frozen=True, slots=True)
class Forces:
    """For one column: Iᶜ Ṡ + Bᶜ S, Iᶜ S and Bᶜᵀ S, moved towards the root together."""

    f: Force
    i: Force
    b: Force


def coriolis_matrix(m: Mechanism, q: Array, v: Array) -> Array:
    """C(q, v), dense and row by row (nv x nv)."""
    q, v = m.coupling.own_q(q), m.coupling.own_v(v)
    n = m.own_nv
    C = array(n * n)

    def forward(body: BodyRecord, v_parent: Motion) -> tuple[Motion, Link]:
        X, S = body.transform(q), body.subspace(q)
        v_i = X.to_child(v_parent) + combine(S, body.of_v(v))
        rates = body.subspace_rate(q, v)
        S_dot = tuple(rate + v_i.cross(s) for rate, s in zip(rates, S, strict=True))
        return v_i, Link(X, S, S_dot, CoriolisInertia.of(body.inertia, v_i))

    def put(row: BodyRecord, column: BodyRecord, block: Sequence[Sequence[Scalar]]) -> None:
        for r, values in enumerate(block):
            for c, value in enumerate(values):
                C[(row.v_start + r) * n + (column.v_start + c)] = value

    def backward(body: BodyRecord, children: Composite) -> tuple[Composite | None, None]:
        link = links[body]
        I_c, B_c = body.inertia + children.I_c, link.B + children.B_c
        columns = tuple(
            Forces(I_c.times(s_dot) + B_c.times(s), I_c.times(s), B_c.transposed_times(s))
            for s, s_dot in zip(link.S, link.S_dot, strict=True)
        )
        put(body, body, [[s.dot(x.f) for x in columns] for s in link.S])

        def above(j: BodyRecord, columns: tuple[Forces, ...]) -> tuple[Forces, ...]:
            up = links[j]
            put(j, body, [[s.dot(x.f) for x in columns] for s in up.S])
            pairs = list(zip(up.S, up.S_dot, strict=True))
            put(body, j, [[s_dot.dot(x.i) + s.dot(x.b) for s, s_dot in pairs] for x in columns])
            return columns if j.is_root else _to_parent(up.X, columns)

        if body.is_root:
            return None, None
        ancestors(m, body, above, _to_parent(link.X, columns))
        B_up = B_c.to_parent(link.X.rotation, link.X.translation)
        return Composite(link.X.inertia_to_parent(I_c), B_up), None

    links = outward(m, forward, REST)
    inward(m, backward, Composite(NO_INERTIA, CoriolisInertia(Matrix(ZERO, ZERO, ZERO), ZERO)))
    return m.coupling.reduced_square(C)


def _to_parent(X: Transform, columns: tuple[Forces, ...]) -> tuple[Forces, ...]:
    up = X.force_to_parent
    return tuple(Forces(up(x.f), up(x.i), up(x.b)) for x in columns)
