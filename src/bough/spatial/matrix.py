"""Matrices of three by three scalars: general ones, symmetric ones, rotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bough.scalar import Scalar
from bough.spatial.vector import UNITS, Vector

__all__ = ["IDENTITY", "HasColumns", "Matrix", "Symmetric", "cross_matrix", "from_quaternion"]


class HasColumns(Protocol):
    """A matrix in any form."""

    @property
    def columns(self) -> tuple[Vector, Vector, Vector]:
        """The three columns."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A 3 x 3 matrix, kept by its columns."""

    a: Vector
    b: Vector
    c: Vector

    @staticmethod
    def of_rows(rows: Sequence[Sequence[Scalar]]) -> Matrix:
        """From three rows of three scalars."""
        a, b, c = zip(*rows, strict=True)
        return Matrix(Vector.of(a), Vector.of(b), Vector.of(c))

    @property
    def columns(self) -> tuple[Vector, Vector, Vector]:
        """The three columns."""
        return (self.a, self.b, self.c)

    @property
    def T(self) -> Matrix:
        """The transpose."""
        a, b, c = self.a, self.b, self.c
        return Matrix(Vector(a.x, b.x, c.x), Vector(a.y, b.y, c.y), Vector(a.z, b.z, c.z))

    def __add__(self, other: Matrix) -> Matrix:
        return Matrix(self.a + other.a, self.b + other.b, self.c + other.c)

    def __sub__(self, other: Matrix) -> Matrix:
        return Matrix(self.a - other.a, self.b - other.b, self.c - other.c)

    def times(self, v: Vector) -> Vector:
        """Matrix times vector."""
        a, b, c = self.a, self.b, self.c
        return Vector(
            a.x * v.x + b.x * v.y + c.x * v.z,
            a.y * v.x + b.y * v.y + c.y * v.z,
            a.z * v.x + b.z * v.y + c.z * v.z,
        )

    def transposed_times(self, v: Vector) -> Vector:
        """Transpose of the matrix times vector."""
        return Vector(self.a.dot(v), self.b.dot(v), self.c.dot(v))

    def __matmul__(self, other: HasColumns) -> Matrix:
        a, b, c = other.columns
        return Matrix(self.times(a), self.times(b), self.times(c))

    def before(self, inner: HasColumns) -> Matrix:
        """The product of rotations, multiplied out."""
        return self @ inner

    def of_symmetric(self, A: Symmetric) -> Symmetric:
        """R A Rᵀ, for this rotation R, in 31 multiplications and 28 additions.

        With A = B + zz·1, the matrix B has a zero in its corner, R A Rᵀ = R B Rᵀ + zz·1, and the trace does not change:
        only two rows of B Rᵀ and five inner products are needed.
        """
        rows = self.T
        zz = A.zz
        B = Symmetric(A.xx - zz, A.yx, A.yy - zz, A.zx, A.zy, 0.0)
        y0, y1 = B.times(rows.a), B.times(rows.b)
        xx, yy = rows.a.dot(y0), rows.b.dot(y1)
        corner = (B.xx - xx) + (B.yy - yy)
        return Symmetric(xx + zz, rows.b.dot(y0), yy + zz, rows.c.dot(y0), rows.c.dot(y1), corner + zz)

    def of_matrix(self, A: Matrix) -> Matrix:
        """R A Rᵀ, for this rotation R."""
        return self @ A @ self.T


IDENTITY = Matrix(*UNITS)


@dataclass(frozen=True, slots=True)
class Symmetric:
    """A symmetric 3 x 3 matrix, kept by its lower triangle."""

    xx: Scalar
    yx: Scalar
    yy: Scalar
    zx: Scalar
    zy: Scalar
    zz: Scalar

    def __add__(self, other: Symmetric) -> Symmetric:
        return Symmetric(
            self.xx + other.xx,
            self.yx + other.yx,
            self.yy + other.yy,
            self.zx + other.zx,
            self.zy + other.zy,
            self.zz + other.zz,
        )

    def times(self, v: Vector) -> Vector:
        """Matrix times vector."""
        return Vector(
            self.xx * v.x + self.yx * v.y + self.zx * v.z,
            self.yx * v.x + self.yy * v.y + self.zy * v.z,
            self.zx * v.x + self.zy * v.y + self.zz * v.z,
        )

    @property
    def matrix(self) -> Matrix:
        """The whole matrix, with both triangles."""
        return Matrix(
            Vector(self.xx, self.yx, self.zx), Vector(self.yx, self.yy, self.zy), Vector(self.zx, self.zy, self.zz)
        )


def cross_matrix(v: Vector) -> Matrix:
    """The matrix that multiplies like v ×."""
    zero = 0.0
    return Matrix(Vector(zero, v.z, -v.y), Vector(-v.z, zero, v.x), Vector(v.y, -v.x, zero))


def from_quaternion(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> Matrix:
    """Rotation of a unit quaternion."""
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return Matrix(
        Vector(1.0 - (yy + zz), xy + wz, xz - wy),
        Vector(xy - wz, 1.0 - (xx + zz), yz + wx),
        Vector(xz + wy, yz - wx, 1.0 - (xx + yy)),
    )
