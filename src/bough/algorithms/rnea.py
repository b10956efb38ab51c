"""The recursive Newton-Euler algorithm (Featherstone & Orin 2000, section 3.1, in link coordinates).

Instead of the spatial acceleration (ω̇, a) it carries that of the point at the origin, a′ = a + ω × v, and the matrix of
the accelerations of all other points about it, A = ω̇× + ω×ω×. Linear velocities are then not needed. Equation (5) reads

    force  = ∫ (a′ + A r) dm     = m a′ + A h,                with m = ∫ dm, h = ∫ r dm, Σ = ∫ r rᵀ dm,
    moment = ∫ r × (a′ + A r) dm = h × a′ + (A Σ - Σ Aᵀ)ˇ,    where (x×)ˇ = x,

which is I a + v ×* I v, since ω × (h × v) + v × (ω × h) = h × (ω × v) by Jacobi's identity.
"""

from __future__ import annotations

from dataclasses import dataclass

from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Scalar, array
from bough.spatial import NO_FORCE, ZERO, Force, Matrix, Motion, Transform, Vector, rate_matrix
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
    """How a body moves, passed to its children: ω, ω̇, A and a′."""

    w: Vector
    wd: Vector
    A: Matrix
    a: Vector


@dataclass(frozen=True, slots=True)
class Link:
    """What the backward pass needs of a body."""

    X: Transform
    S: tuple[Motion, ...]
    f: Force
    felt: tuple[Scalar, ...]  # by the elastic coordinates of the body itself


STILL = Matrix(ZERO, ZERO, ZERO)


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
        R, p = X.rotation, X.translation
        v_J = combine(S, body.of_v(v))
        a_J = combine(body.subspace_rate(q, v), body.of_v(v)) + combine(S, body.of_v(a))
        # vᵢ = ⁱXλ vλ + hᵢ q̇ᵢ, its angular part                                            (3)
        w_up = R.transposed_times(parent.w)
        w = w_up + v_J.angular
        # aᵢ = ⁱXλ aλ + ḣᵢ q̇ᵢ + hᵢ q̈ᵢ, its angular part                                    (4)
        wd = R.transposed_times(parent.wd) + w_up.cross(v_J.angular) + a_J.angular
        # and a′ᵢ: that of the parent's point at the origin, and (2 ω_up + ω_J) × v_J + a_J for the motion of the joint
        point = R.transposed_times(parent.a + parent.A.times(p)) + (w_up + w).cross(v_J.linear) + a_J.linear
        A = rate_matrix(w, wd)
        # fᵢ = Iᵢ aᵢ + vᵢ × Iᵢ vᵢ - fᵢˣ by a′ and A; with Iᵢ regrouped the joint forces are the same  (5)
        deformed, rest = body.deformed(q), body.regrouped_moments
        felt: tuple[Scalar, ...] = ()
        if deformed is None:
            f = rest.force(A, point)
        else:
            f, felt = deformed.force(body.mode_moments, rest, w, A, point, body.of_v(v), body.of_v(a))
        if f_ext is not None:
            f = f - body.external_force(f_ext)
        return Moving(w, wd, A, point), Link(X, S, f, felt)

    def backward(body: BodyRecord, from_children: Force) -> tuple[Force | None, None]:
        link = links[body]
        # fᴶᵢ = fᵢ + Σ fᴶⱼ over the children j                                             (7)
        f = link.f + from_children
        # τᵢ = hᵢᵀ fᴶᵢ, and the armature turns with the joint                              (8)
        own = zip(link.S, body.armature, body.of_v(a), strict=True)
        forces = [s.dot(f) + rotor * qdd for s, rotor, qdd in own]
        body.put_force(tau, [x + y for x, y in zip(forces, link.felt, strict=True)] if body.modes else forces)
        return None if body.is_root else link.X.force_to_parent(f), None

    # gravity is a fictitious acceleration -g of the base
    g = m.gravity if gravity is None else gravity
    links = outward(m, forward, Moving(ZERO, ZERO, STILL, -g))
    inward(m, backward, NO_FORCE)
    return m.coupling.reduced(tau)
