"""The recursive Newton-Euler algorithm (Featherstone & Orin 2000, section 3.1, in link coordinates)."""

from __future__ import annotations

from dataclasses import dataclass

from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, array
from bough.spatial import NO_FORCE, REST, ZERO, Force, Motion, Transform, Vector
from bough.tree.scans import inward, outward

__all__ = ["ZEROS", "Zeros", "rnea"]


class Zeros:
    """An array of zeros of any length, for arguments that vanish."""

    def __getitem__(self, index: object) -> float:
        return 0.0

    def __setitem__(self, index: object, value: object) -> None:
        raise TypeError("zeros cannot be written")


ZEROS = Zeros()


@dataclass(frozen=True, slots=True)
class Moving:
    """Velocity and acceleration of a body, passed to its children."""

    v: Motion
    a: Motion


@dataclass(frozen=True, slots=True)
class Link:
    """What the backward pass needs of a body."""

    X: Transform
    S: tuple[Motion, ...]
    f: Force


def rnea(
    m: Mechanism, q: Array, v: Array, a: Array, f_ext: Array | None = None, gravity: Vector | None = None
) -> Array:
    """Inverse dynamics: the joint forces tau that produce the accelerations a.

    External forces act on the bodies; `gravity` replaces that of the model.
    """
    q, v, a = m.coupling.own_q(q), m.coupling.own_v(v), m.coupling.own_v(a)
    tau = array(m.own_nv)

    def forward(body: BodyRecord, parent: Moving) -> tuple[Moving, Link]:
        X, S = body.transform(q), body.subspace(q)
        v_J = combine(S, body.of_v(v))
        # vᵢ = ⁱXλ vλ + hᵢ q̇ᵢ                                                              (3)
        v_i = X.to_child(parent.v) + v_J
        # aᵢ = ⁱXλ aλ + ḣᵢ q̇ᵢ + hᵢ q̈ᵢ   with   ḣᵢ q̇ᵢ = h̊ᵢ q̇ᵢ + vᵢ × hᵢ q̇ᵢ                  (4)
        bias = combine(body.subspace_rate(q, v), body.of_v(v)) + v_i.cross(v_J)
        a_i = X.to_child(parent.a) + bias + combine(S, body.of_v(a))
        # fᵢ = Iᵢ aᵢ + vᵢ × Iᵢ vᵢ - fᵢˣ                                                    (5)
        f = body.inertia.force(v_i, a_i)
        if f_ext is not None:
            f = f - body.external_force(f_ext)
        return Moving(v_i, a_i), Link(X, S, f)

    def backward(body: BodyRecord, from_children: Force) -> tuple[Force | None, None]:
        link = links[body]
        # fᴶᵢ = fᵢ + Σ fᴶⱼ over the children j                                             (7)
        f = link.f + from_children
        # τᵢ = hᵢᵀ fᴶᵢ, and the armature turns with the joint                              (8)
        own = zip(link.S, body.armature, body.of_v(a), strict=True)
        body.put_v(tau, [s.dot(f) + rotor * qdd for s, rotor, qdd in own])
        return None if body.is_root else link.X.force_to_parent(f), None

    # gravity is a fictitious acceleration -g of the base
    g = m.gravity if gravity is None else gravity
    links = outward(m, forward, Moving(REST, Motion(ZERO, -g)))
    inward(m, backward, NO_FORCE)
    return m.coupling.reduced(tau)
