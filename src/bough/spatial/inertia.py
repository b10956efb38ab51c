"""Rigid-body and articulated-body inertias."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.scalar import Scalar, part
from bough.spatial.matrix import Matrix, Symmetric, cross_matrix
from bough.spatial.motion import Force, Motion
from bough.spatial.rotation import Rotation
from bough.spatial.vector import ZERO, Vector

__all__ = [
    "NO_ARTICULATED", "NO_INERTIA", "ArticulatedInertia", "CoriolisInertia", "MassMoments", "RigidInertia",
    "rate_matrix",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class RigidInertia:
    """Inertia of a rigid body: mass, first moment m·c, and rotational inertia about the origin of the frame."""

    mass: Scalar
    moment: Vector
    rotational: Symmetric

    @part("inertia additions")
    def __add__(self, other: RigidInertia) -> RigidInertia:
        return RigidInertia(self.mass + other.mass, self.moment + other.moment, self.rotational + other.rotational)

    @part("inertia times motion")
    def times(self, m: Motion) -> Force:
        """I m: momentum of a velocity, or force of an acceleration."""
        h = self.moment
        return Force(self.rotational.times(m.angular) + h.cross(m.linear), m.linear * self.mass + m.angular.cross(h))

    def to_parent(self, R: Rotation, p: Vector) -> RigidInertia:
        """The inertia in the coordinates of a parent frame, in which the present frame is placed by (R, p)."""
        turned = R.times(self.moment)
        if p is ZERO:
            return RigidInertia(self.mass, turned, R.of_symmetric(self.rotational))
        moment = turned + p * self.mass
        # R I Rᵀ - p× turned× - moment× p×, entry by entry
        J = R.of_symmetric(self.rotational)
        both = turned + moment
        dx, dy, dz = p.x * both.x, p.y * both.y, p.z * both.z
        rotational = Symmetric(
            J.xx + (dy + dz),
            J.yx - (turned.y * p.x + p.y * moment.x),
            J.yy + (dx + dz),
            J.zx - (turned.z * p.x + p.z * moment.x),
            J.zy - (turned.z * p.y + p.z * moment.y),
            J.zz + (dx + dy),
        )
        return RigidInertia(self.mass, moment, rotational)

    def rate(self, v: Motion) -> RigidInertia:
        """How fast the inertia of a body that moves with v changes, v ×* I - I v ×, which has no mass."""
        w, p, h, J = v.angular, v.linear, self.moment, self.rotational
        x, y, z = (w.cross(column) for column in J.matrix.columns)  # of ω × J, to which its transpose is added
        dx, dy, dz = p.x * h.x * 2.0, p.y * h.y * 2.0, p.z * h.z * 2.0
        xx, yy = x.x * 2.0, y.y * 2.0
        rotational = Symmetric(
            xx + (dy + dz),
            x.y + y.x - (p.x * h.y + p.y * h.x),
            yy + (dx + dz),
            x.z + z.x - (p.x * h.z + p.z * h.x),
            y.z + z.y - (p.y * h.z + p.z * h.y),
            (dx + dy) - (xx + yy),
        )
        return RigidInertia(0.0, w.cross(h) + p * self.mass, rotational)

    @property
    def articulated(self) -> ArticulatedInertia:
        """The inertia of the rigid body as an articulated-body inertia."""
        zero = 0.0
        linear = Symmetric(self.mass, zero, self.mass, zero, zero, self.mass)
        return ArticulatedInertia(self.rotational, cross_matrix(self.moment), linear)


@dataclass(frozen=True, slots=True)
class MassMoments:
    """Inertia of a rigid body by moments about the origin: mass ∫dm, first ∫r dm and second ∫r rᵀ dm."""

    mass: Scalar
    moment: Vector
    second: Symmetric

    @part("inertia times motion")
    def force(self, A: Matrix, point: Vector) -> Force:
        """The force on a body whose origin has the acceleration `point`, and a point r of it A r more: 33m + 30a.

        A = ω̇× + ω×ω×. With m, h and Σ for the moments, the linear force is m a + A h, and the moment is h × a plus the
        axial vector of A Σ - (A Σ)ᵀ.
        """
        x, y, z = A.columns
        h, S = self.moment, self.second
        linear = point * self.mass + A.times(h)
        moment = Vector(
            S.yx * x.z - S.zx * x.y + S.zy * (z.z - y.y) + S.yy * y.z - S.zz * z.y,
            S.zy * y.x - S.yx * y.z + S.zx * (x.x - z.z) + S.zz * z.x - S.xx * x.z,
            S.zx * z.y - S.zy * z.x + S.yx * (y.y - x.x) + S.xx * x.y - S.yy * y.x,
        )
        return Force(moment + h.cross(point), linear)


def rate_matrix(w: Vector, wd: Vector) -> Matrix:
    """ω̇× + ω×ω×: times r, the acceleration of a point r relative to the origin of its body; 6m + 9a."""
    xx, yy, zz, xy, xz, yz = w.x * w.x, w.y * w.y, w.z * w.z, w.x * w.y, w.x * w.z, w.y * w.z
    return Matrix(
        Vector(-(yy + zz), xy + wd.z, xz - wd.y),
        Vector(xy - wd.z, -(xx + zz), yz + wd.x),
        Vector(xz + wd.y, yz - wd.x, -(xx + yy)),
    )


NO_INERTIA = RigidInertia(0.0, ZERO, Symmetric(0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """A symmetric map from accelerations to forces.

    In blocks: angular force = `angular` ω̇ + `coupling` v̇, linear force = `coupling`ᵀ ω̇ + `linear` v̇.
    """

    angular: Symmetric
    coupling: Matrix
    linear: Symmetric

    @part("inertia additions")
    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        coupling = self.coupling + other.coupling
        return ArticulatedInertia(self.angular + other.angular, coupling, self.linear + other.linear)

    @part("inertia times motion")
    def times(self, m: Motion) -> Force:
        """I m: the force that gives the articulated body the acceleration m."""
        return Force(
            self.angular.times(m.angular) + self.coupling.times(m.linear),
            self.coupling.transposed_times(m.angular) + self.linear.times(m.linear),
        )

    @part("articulated updates")
    def minus_outer(self, U: Sequence[Force], W: Sequence[Force], free: Sequence[int]) -> ArticulatedInertia:
        """I - Σ Uₖ Wₖᵀ, known to be symmetric and to vanish on the unit motions numbered in `free`.

        Those rows and columns are set to exact zeros rather than computed.
        """
        lower = self.lower
        pairs = [(u.parts, w.parts) for u, w in zip(U, W, strict=True)]
        for i, row in enumerate(lower):
            for j in range(i + 1):
                if i in free or j in free:
                    row[j] = 0.0
                    continue
                for u, w in pairs:
                    row[j] = row[j] - u[i] * w[j]
        return ArticulatedInertia.of_lower(lower)

    def to_parent(self, R: Rotation, p: Vector) -> ArticulatedInertia:
        """The inertia in the coordinates of a parent frame, in which the present frame is placed by (R, p)."""
        linear = R.of_symmetric(self.linear)
        turned = R.of_matrix(self.coupling)
        coupling = turned + cross_matrix(p) @ linear.matrix
        # R J Rᵀ + p× turnedᵀ - coupling p×, symmetric: only its lower triangle
        J = R.of_symmetric(self.angular)
        a, b, c = (p.cross(column) for column in turned.T.columns)
        d, e, f = (row.cross(p) for row in coupling.T.columns)  # rows of  coupling · p×
        angular = Symmetric(
            J.xx + (a.x - d.x),
            J.yx + (a.y - e.x),
            J.yy + (b.y - e.y),
            J.zx + (a.z - f.x),
            J.zy + (b.z - f.y),
            J.zz + (c.z - f.z),
        )
        return ArticulatedInertia(angular, coupling, linear)

    @property
    def lower(self) -> list[list[Scalar]]:
        """Rows of the lower triangle of the 6 x 6 matrix, angular part first."""
        J, C, M = self.angular, self.coupling, self.linear
        rows = [[J.xx], [J.yx, J.yy], [J.zx, J.zy, J.zz]]
        for k, column in enumerate(C.columns):
            rows.append([*column.parts, *((M.xx,), (M.yx, M.yy), (M.zx, M.zy, M.zz))[k]])
        return rows

    @staticmethod
    def of_lower(rows: Sequence[Sequence[Scalar]]) -> ArticulatedInertia:
        """The inertia with these rows of the lower triangle of its 6 x 6 matrix."""
        J = Symmetric(rows[0][0], *rows[1], *rows[2])
        C = Matrix(*(Vector.of(row[:3]) for row in rows[3:]))
        return ArticulatedInertia(J, C, Symmetric(rows[3][3], *rows[4][3:], *rows[5][3:]))


NO_ARTICULATED = NO_INERTIA.articulated


@dataclass(frozen=True, slots=True)
class CoriolisInertia:
    """The map B from motions to forces with B v = v ×* I v and B + Bᵀ = v ×* I - I v ×, for a body or a sum of bodies.

    Of its four blocks only two differ from zero: angular force = `angular` ω, linear force = -`momentum` × ω.
    """

    angular: Matrix
    momentum: Vector

    @staticmethod
    def of(inertia: RigidInertia, v: Motion) -> CoriolisInertia:
        """B = ω× (J - ½ tr J) - h× v× for a rigid body that moves with v."""
        w, h, J = v.angular, inertia.moment, inertia.rotational
        half = (J.xx + J.yy + J.zz) * 0.5
        centred = Symmetric(J.xx - half, J.yx, J.yy - half, J.zx, J.zy, J.zz - half).matrix
        angular = cross_matrix(w) @ centred - cross_matrix(h) @ cross_matrix(v.linear)
        return CoriolisInertia(angular, inertia.times(v).linear)

    def __add__(self, other: CoriolisInertia) -> CoriolisInertia:
        return CoriolisInertia(self.angular + other.angular, self.momentum + other.momentum)

    def times(self, m: Motion) -> Force:
        """The force B m of a motion m."""
        return Force(self.angular.times(m.angular), m.angular.cross(self.momentum))

    def transposed_times(self, m: Motion) -> Force:
        """The force Bᵀ m of a motion m."""
        return Force(self.angular.transposed_times(m.angular) + self.momentum.cross(m.linear), ZERO)

    def to_parent(self, R: Rotation, p: Vector) -> CoriolisInertia:
        """The map in the coordinates of a parent frame, in which the present frame is placed by (R, p)."""
        momentum = R.times(self.momentum)
        return CoriolisInertia(R.of_matrix(self.angular) - cross_matrix(p) @ cross_matrix(momentum), momentum)

    def rate(self, v: Motion) -> CoriolisInertia:
        """How fast the map changes if all it is of moves with v, v ×* B - B v ×, but for what that does to B itself."""
        turn = cross_matrix(v.angular)
        angular = turn @ self.angular - self.angular @ turn - cross_matrix(v.linear) @ cross_matrix(self.momentum)
        return CoriolisInertia(angular, v.angular.cross(self.momentum))
