"""Unit quaternions, and the exponentials of rotations and of rigid motions.

Functions that divide by an angle switch to their series near zero; the switch leaves an error below rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.scalar import Scalar, atan2, cos, select, sin, sqrt
from bough.spatial.matrix import HasColumns, Matrix, from_quaternion
from bough.spatial.vector import Vector

__all__ = ["Quaternion", "left_jacobian", "left_jacobian_inverse"]

SMALL_SQUARE = 1e-6  # square of the angle below which series are used: their next term is of order SMALL_SQUARE³ / 5000


@dataclass(frozen=True, slots=True)
class Quaternion:
    """A unit quaternion, real part last."""

    x: Scalar
    y: Scalar
    z: Scalar
    w: Scalar

    @staticmethod
    def of(values: Sequence[Scalar]) -> Quaternion:
        """From a sequence of four scalars."""
        x, y, z, w = values
        return Quaternion(x, y, z, w)

    @staticmethod
    def of_rotation(R: HasColumns) -> Quaternion:
        """The quaternion of a rotation matrix; of the two, the one whose largest entry is positive."""
        x, y, z = R.columns
        wx, wy, wz = y.z - z.y, z.x - x.z, x.y - y.x
        xy, xz, yz = x.y + y.x, x.z + z.x, y.z + z.y
        # 4 q² of each entry, and four multiples of q, by its w, x, y and z; that of the largest entry has a safe length
        squares = [
            1.0 + x.x + y.y + z.z,
            1.0 + x.x - y.y - z.z,
            1.0 - x.x + y.y - z.z,
            1.0 - x.x - y.y + z.z,
        ]
        rows = [(wx, wy, wz, squares[0]), (squares[1], xy, xz, wx), (xy, squares[2], yz, wy), (xz, yz, squares[3], wz)]
        largest, best = squares[0], list(rows[0])
        for square, row in zip(squares[1:], rows[1:], strict=True):
            more = square > largest
            largest = select(more, square, largest)
            best = [select(more, a, b) for a, b in zip(row, best, strict=True)]
        return Quaternion.of(best).normalized

    @staticmethod
    def exp(angle: Vector) -> Quaternion:
        """The rotation by a vector: its direction is the axis, its length the angle."""
        square = angle.dot(angle)
        small = square < SMALL_SQUARE
        length = sqrt(select(small, 1.0, square))
        half = length * 0.5
        # sin(θ/2)/θ and cos(θ/2)
        scale = select(small, 0.5 - square * (1.0 / 48.0 - square * (1.0 / 3840.0)), sin(half) / length)
        w = select(small, 1.0 - square * (0.125 - square * (1.0 / 384.0)), cos(half))
        v = angle * scale
        return Quaternion(v.x, v.y, v.z, w)

    @property
    def log(self) -> Vector:
        """The vector of which this rotation is the exponential; of the two, the one of at most half a turn."""
        sign = select(self.w < 0.0, -1.0, 1.0)
        v, w = self.vector * sign, self.w * sign
        square = v.dot(v)
        small = square < SMALL_SQUARE
        length = sqrt(select(small, 1.0, square))
        # 2 arctan(t)/(t w) with t = |v|/w, in which w is not near zero
        safe = select(small, w, 1.0)
        t2 = square / (safe * safe)
        ratio = select(small, (2.0 - t2 * (2.0 / 3.0 - t2 * 0.4)) / safe, 2.0 * atan2(length, w) / length)
        return v * ratio

    def rate(self, angular: Vector) -> Quaternion:
        """How fast the entries change at an angular velocity in body coordinates, half the product of both."""
        v, half = self.vector, angular * 0.5
        turned = half * self.w + v.cross(half)
        return Quaternion(turned.x, turned.y, turned.z, -v.dot(half))

    @property
    def vector(self) -> Vector:
        """The imaginary part."""
        return Vector(self.x, self.y, self.z)

    @property
    def parts(self) -> list[Scalar]:
        """The four components."""
        return [self.x, self.y, self.z, self.w]

    @property
    def conjugate(self) -> Quaternion:
        """The inverse rotation."""
        return Quaternion(-self.x, -self.y, -self.z, self.w)

    @property
    def normalized(self) -> Quaternion:
        """The same direction with unit length."""
        length = sqrt(self.vector.dot(self.vector) + self.w * self.w)
        return Quaternion(self.x / length, self.y / length, self.z / length, self.w / length)

    @property
    def rotation(self) -> Matrix:
        """The rotation matrix."""
        return from_quaternion(self.x, self.y, self.z, self.w)

    def __matmul__(self, other: Quaternion) -> Quaternion:
        a, b = self.vector, other.vector
        v = b * self.w + a * other.w + a.cross(b)
        return Quaternion(v.x, v.y, v.z, self.w * other.w - a.dot(b))


def left_jacobian(angle: Vector, v: Vector) -> Vector:
    """V(ω) v = v + (1 - cos θ)/θ² ω × v + (θ - sin θ)/θ³ ω × (ω × v): displacement of a screw motion."""
    square = angle.dot(angle)
    small = square < SMALL_SQUARE
    safe = select(small, 1.0, square)
    length = sqrt(safe)
    s = sin(length * 0.5)
    a = select(small, 0.5 - square * (1.0 / 24.0 - square / 720.0), 2.0 * s * s / safe)
    b = select(small, 1.0 / 6.0 - square / 120.0, (length - sin(length)) / (safe * length))
    once = angle.cross(v)
    return v + once * a + angle.cross(once) * b


def left_jacobian_inverse(angle: Vector, v: Vector) -> Vector:
    """V(ω)⁻¹ v = v - ω × v / 2 + (1 - (θ/2) cot(θ/2))/θ² ω × (ω × v), for angles up to half a turn."""
    square = angle.dot(angle)
    small = square < SMALL_SQUARE
    safe = select(small, 1.0, square)
    half = sqrt(safe) * 0.5
    c = select(small, 1.0 / 12.0 + square / 720.0, (1.0 - half * cos(half) / sin(half)) / safe)
    once = angle.cross(v)
    return v - once * 0.5 + angle.cross(once) * c
