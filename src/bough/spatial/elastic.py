"""Flexible bodies by assumed modes (Book 1984): how elastic coordinates change the moments of mass, and what they feel.

A point that is at r in the body at rest is at r + Σ φₐ xₐ + ½ Σ ψₐᵦ xₐ xᵦ in its frame. The ψ, by which a bent beam is
shorter, are what stiffens one that spins or hangs. They are combinations ψₐᵦ = Σ Cₐᵦₖ eₖ of a few fields, so that
points move along *all* shapes f = (φ, e) as their amplitudes ξ = (x, ½ Σ Cₐᵦₖ xₐ xᵦ) say, and the moments are

    h = ∫ r dm + Σ hₖ ξₖ,   Σ = ∫ r rᵀ dm + …,   ∂Σ/∂ξₖ = Pₖ + Pₖᵀ,   Pₖ = Sₖ + Σ Qₖₗ ξₗ,

with hₖ = ∫ fₖ dm, Sₖ = ∫ r fₖᵀ dm and Qₖₗ = ∫ fₗ fₖᵀ dm. So energies are those of the points, to all orders, and the
mass matrix is positive however much the body bends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.scalar import Scalar, part
from bough.spatial.inertia import MassMoments, RigidInertia
from bough.spatial.matrix import Matrix, Symmetric
from bough.spatial.motion import Force, Motion
from bough.spatial.vector import ZERO, Vector

__all__ = ["Deformed", "ModeMoments"]

Scalars = Sequence[Scalar]
Rows = tuple[tuple[Scalar, ...], ...]


@dataclass(frozen=True, slots=True)
class ModeMoments:
    """What the shapes of a flexible body add to its moments of mass; its modes are the first of them."""

    first: tuple[Vector, ...]  # hₖ
    mixed: tuple[Matrix, ...]  # Sₖ
    second: tuple[tuple[Matrix, ...], ...]  # Qₖₗ
    curves: tuple[Rows, ...]  # Cₐᵦₖ, for each k

    @part("elastic coordinates")
    def at(self, x: Scalars) -> Deformed:
        """The body with these elastic coordinates."""
        slopes = tuple(tuple(_dot(row, x) for row in C) for C in self.curves)
        amplitudes = (*x, *(_dot(row, x) * 0.5 for row in slopes))
        P = tuple(_matrix_sum(Q, amplitudes, S) for S, Q in zip(self.mixed, self.second, strict=True))
        half = [value * 0.5 for value in amplitudes]
        Z = _matrix_sum([a + b for a, b in zip(self.mixed, P, strict=True)], half, NOTHING)
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (column.parts for column in Z.columns)
        second = Symmetric(xx + xx, yx + xy, yy + yy, zx + xz, zy + yz, zz + zz)
        return Deformed(_sum(self.first, amplitudes, ZERO), second, P, slopes)

    @property
    def masses(self) -> Rows:
        """The mass matrix of all shapes."""
        return tuple(tuple(Q.a.x + Q.b.y + Q.c.z for Q in row) for row in self.second)


@dataclass(frozen=True, slots=True)
class Deformed:
    """A flexible body with certain elastic coordinates: what its moments have become."""

    moment: Vector  # h less that of the body at rest
    second: Symmetric  # Σ less that of the body at rest
    mixed: tuple[Matrix, ...]  # Pₖ
    slopes: Rows  # ∂ξ/∂xₐ of the shapes beyond the modes

    @part("elastic coordinates")
    def columns(self, modes: ModeMoments) -> tuple[Force, ...]:
        """Momentum of the body for each unit elastic velocity: the couplings of modes with the motion of the frame."""
        every = [Force(_axial(P), h) for P, h in zip(self.mixed, modes.first, strict=True)]
        result = every[: len(every) - len(self.slopes)]
        for row, further in zip(self.slopes, every[len(result) :], strict=True):
            result = [column + further * slope for column, slope in zip(result, row, strict=True)]
        return tuple(result)

    @part("elastic coordinates")
    def mass(self, modes: ModeMoments) -> Rows:
        """The mass matrix of the elastic coordinates."""
        M, B = modes.masses, self.slopes
        m = len(M) - len(B)
        beyond = [[_dot([row[k] for row in B], masses[m:]) for k in range(m)] for masses in M]
        whole = [[M[i][k] + beyond[i][k] for k in range(m)] for i in range(len(M))]
        return tuple(
            tuple(whole[i][k] + _dot([row[i] for row in B], [row[k] for row in whole[m:]]) for k in range(m))
            for i in range(m)
        )

    @part("elastic coordinates")
    def inertia(self, rest: RigidInertia) -> RigidInertia:
        """The inertia of the body, from that at rest."""
        S, J = self.second, rest.rotational
        J = J + Symmetric(S.yy + S.zz, -S.yx, S.xx + S.zz, -S.zx, -S.zy, S.xx + S.yy)
        return RigidInertia(rest.mass, rest.moment + self.moment, J)

    @part("elastic coordinates")
    def momentum(self, modes: ModeMoments, v: Scalars) -> Force:
        """What elastic velocities v add to the momentum of the body."""
        total = Force(ZERO, ZERO)
        for column, speed in zip(self.columns(modes), v, strict=True):
            total = total + column * speed
        return total

    @part("elastic coordinates")
    def energy(self, modes: ModeMoments, motion: Motion, v: Scalars) -> Scalar:
        """Twice what elastic velocities v add to the kinetic energy of the body, whose frame moves with `motion`."""
        moved = motion.dot(self.momentum(modes, v))
        return moved + moved + _dot([_dot(row, v) for row in self.mass(modes)], v)

    @part("elastic coordinates")
    def force(
        self, modes: ModeMoments, rest: MassMoments, w: Vector, A: Matrix, point: Vector, v: Scalars, a: Scalars
    ) -> tuple[Force, tuple[Scalar, ...]]:
        """The force on a flexible body in motion, and the forces on its elastic coordinates.

        Parameters
        ----------
        modes, rest
            Its modes, and its moments of mass at rest.
        w, A, point
            Angular velocity ω of its frame, ω̇× + ω×ω×, and the acceleration of the origin.
        v, a
            Elastic velocities and accelerations.
        """
        rates = (*v, *(_dot(row, v) for row in self.slopes))
        pulls = zip(self.slopes, modes.curves, strict=True)
        accelerations = (*a, *(_dot(row, a) + _dot([_dot(c, v) for c in C], v) for row, C in pulls))
        moments = MassMoments(rest.mass, rest.moment + self.moment, rest.second + self.second)
        rigid = moments.force(A, point)
        # points move and accelerate in the frame: 2 ω × ḣ + ḧ, and 2 ∫ r × (ω × ṙ) dm + ∫ r × r̈ dm
        h_dot, P_dot = _sum(modes.first, rates, ZERO), _matrix_sum(self.mixed, rates, NOTHING)
        trace = P_dot.a.x + P_dot.b.y + P_dot.c.z
        linear = _sum(modes.first, accelerations, w.cross(h_dot) * 2.0)
        turned = (w * trace - P_dot.transposed_times(w)) * 2.0
        angular = _sum([_axial(P) for P in self.mixed], accelerations, turned)
        # on shape k: hₖ · a′ + tr(A Pₖ) + 2 ω · ∫ ṙ × fₖ dm + Σ mₖₗ ξ̈ₗ; modes feel what is on the shapes they move
        felt = []
        for h, P, row, masses in zip(modes.first, self.mixed, modes.second, modes.masses, strict=True):
            turning = _sum([_axial(Q) * 2.0 for Q in row], rates, ZERO)
            carried = _dot(masses, accelerations)
            pulled = sum((r.dot(c) for r, c in zip(A.T.columns, P.columns, strict=True)), start=0.0)
            felt.append(h.dot(point) + pulled + w.dot(turning) + carried)
        forces = tuple(
            own + _dot([row[k] for row in self.slopes], felt[len(v) :]) for k, own in enumerate(felt[: len(v)])
        )
        return Force(rigid.angular + angular, rigid.linear + linear), forces


NOTHING = Matrix(ZERO, ZERO, ZERO)


def _axial(P: Matrix) -> Vector:
    """∫ r × s dm, from P = ∫ r sᵀ dm."""
    return Vector(P.c.y - P.b.z, P.a.z - P.c.x, P.b.x - P.a.y)


def _dot(a: Scalars, b: Scalars) -> Scalar:
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def _sum(vectors: Sequence[Vector], factors: Scalars, start: Vector) -> Vector:
    for vector, factor in zip(vectors, factors, strict=True):
        start = start + vector * factor
    return start


def _matrix_sum(matrices: Sequence[Matrix], factors: Scalars, start: Matrix) -> Matrix:
    for M, x in zip(matrices, factors, strict=True):
        start = Matrix(start.a + M.a * x, start.b + M.b * x, start.c + M.c * x)
    return start
