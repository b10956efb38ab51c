"""Flexible bodies by assumed modes (Book 1984): how elastic coordinates change the moments of mass, and what they feel.

A point that is at r in the body at rest is at r + Σ φₐ xₐ + ½ Σ ψₐᵦ xₐ xᵦ in its frame. The kinetic energy is taken to
second order in x and ẋ, whatever the motion of the frame is: without ψ that is exact, and with ψ (by which a bent beam
is shorter) it has all that stiffens a beam that spins or hangs. With Σ = ∫ r rᵀ dm and h = ∫ r dm, which depend on x,

    ∂h/∂xₐ = hₐ + Σ gₐᵦ xᵦ,     ∂Σ/∂xₐ = Pₐ + Pₐᵀ,     Pₐ = Sₐ + Σ Qₐᵦ xᵦ,

where hₐ = ∫ φₐ dm, gₐᵦ = ∫ ψₐᵦ dm, Sₐ = ∫ r φₐᵀ dm, Qₐᵦ = ∫ φᵦ φₐᵀ + r ψₐᵦᵀ dm. From these and the modal masses follow
all couplings; (∫ r sᵀ dm)ˇ stands for ∫ r × s dm.
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


@dataclass(frozen=True, slots=True)
class ModeMoments:
    """What the modes of a flexible body add to its moments of mass."""

    first: tuple[Vector, ...]  # hₐ
    shortening: tuple[tuple[Vector, ...], ...]  # gₐᵦ
    mixed: tuple[Matrix, ...]  # Sₐ
    second: tuple[tuple[Matrix, ...], ...]  # Qₐᵦ
    mass: tuple[tuple[Scalar, ...], ...]  # ∫ φₐ · φᵦ dm

    @part("elastic coordinates")
    def at(self, x: Scalars) -> Deformed:
        """The body with these elastic coordinates."""
        first = tuple(_sum(g, x, h) for h, g in zip(self.first, self.shortening, strict=True))
        mixed = tuple(_matrix_sum(Q, x, S) for S, Q in zip(self.mixed, self.second, strict=True))
        half = [value * 0.5 for value in x]
        moment = _sum([a + b for a, b in zip(self.first, first, strict=True)], half, ZERO)
        Z = _matrix_sum([a + b for a, b in zip(self.mixed, mixed, strict=True)], half, NOTHING)
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (column.parts for column in Z.columns)
        second = Symmetric(xx + xx, yx + xy, yy + yy, zx + xz, zy + yz, zz + zz)
        return Deformed(first, mixed, moment, second, self.mass)


@dataclass(frozen=True, slots=True)
class Deformed:
    """A flexible body with certain elastic coordinates: what its moments have become."""

    first: tuple[Vector, ...]  # ∂h/∂xₐ
    mixed: tuple[Matrix, ...]  # Pₐ
    moment: Vector  # h less that of the body at rest
    second: Symmetric  # Σ less that of the body at rest
    mass: tuple[tuple[Scalar, ...], ...]

    @property
    def columns(self) -> tuple[Force, ...]:
        """Momentum of the body for each unit elastic velocity: the couplings of modes with the motion of the frame."""
        return tuple(Force(_axial(P), h) for P, h in zip(self.mixed, self.first, strict=True))

    @part("elastic coordinates")
    def inertia(self, rest: RigidInertia) -> RigidInertia:
        """The inertia of the body, from that at rest."""
        S, J = self.second, rest.rotational
        J = J + Symmetric(S.yy + S.zz, -S.yx, S.xx + S.zz, -S.zx, -S.zy, S.xx + S.yy)
        return RigidInertia(rest.mass, rest.moment + self.moment, J)

    @part("elastic coordinates")
    def momentum(self, v: Sequence[Scalar]) -> Force:
        """What elastic velocities v add to the momentum of the body."""
        total = Force(ZERO, ZERO)
        for column, speed in zip(self.columns, v, strict=True):
            total = total + column * speed
        return total

    @part("elastic coordinates")
    def energy(self, motion: Motion, v: Scalars) -> Scalar:
        """Twice what elastic velocities v add to the kinetic energy of the body, whose frame moves with `motion`."""
        moved = motion.dot(self.momentum(v))
        twice = moved + moved
        for row, speed in zip(self.mass, v, strict=True):
            twice = twice + _scaled(row, v) * speed
        return twice

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
        S = rest.second + self.second
        rigid = MassMoments(rest.mass, rest.moment + self.moment, S).force(A, point)
        # points move and accelerate in the frame: 2 ω × ḣ + ḧ, and 2 ∫ r × (ω × ṙ) dm + ∫ r × r̈ dm
        h_dot, P_dot = _sum(self.first, v, ZERO), _matrix_sum(self.mixed, v, NOTHING)
        trace = P_dot.a.x + P_dot.b.y + P_dot.c.z
        linear = _sum(self.first, a, w.cross(h_dot) * 2.0)
        angular = _sum([_axial(P) for P in self.mixed], a, (w * trace - P_dot.transposed_times(w)) * 2.0)
        for i, row in enumerate(modes.second):
            for j in range(i + 1):
                pair = v[i] * v[j]
                twice = 1.0 if i == j else 2.0
                linear = linear + modes.shortening[i][j] * twice * pair
                angular = angular + (_axial(row[j]) + _axial(modes.second[j][i])) * (0.5 * twice) * pair
        # on mode a: ∂h/∂xₐ · a′ + tr(A Pₐ) + 2 ω · ∫ ṙ × φₐ dm + Σ mₐᵦ ẍᵦ
        rows, felt = A.T.columns, []
        for i, (h, P) in enumerate(zip(self.first, self.mixed, strict=True)):
            turning = _sum([_axial(modes.second[i][j]) - _axial(modes.second[j][i]) for j in range(len(v))], v, ZERO)
            own = h.dot(point) + w.dot(turning) + _scaled(self.mass[i], a)
            felt.append(own + sum((r.dot(c) for r, c in zip(rows, P.columns, strict=True)), start=0.0))
        return Force(rigid.angular + angular, rigid.linear + linear), tuple(felt)


NOTHING = Matrix(ZERO, ZERO, ZERO)


def _axial(P: Matrix) -> Vector:
    """∫ r × s dm, from P = ∫ r sᵀ dm."""
    return Vector(P.c.y - P.b.z, P.a.z - P.c.x, P.b.x - P.a.y)


def _scaled(row: Scalars, x: Scalars) -> Scalar:
    total: Scalar = 0.0
    for value, factor in zip(row, x, strict=True):
        total = total + value * factor
    return total


def _sum(vectors: Sequence[Vector], factors: Scalars, start: Vector) -> Vector:
    for vector, factor in zip(vectors, factors, strict=True):
        start = start + vector * factor
    return start


def _matrix_sum(matrices: Sequence[Matrix], factors: Scalars, start: Matrix) -> Matrix:
    for M, x in zip(matrices, factors, strict=True):
        start = Matrix(start.a + M.a * x, start.b + M.b * x, start.c + M.c * x)
    return start
