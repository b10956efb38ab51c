"""Rotations as products of cheap factors: turns about z and exchanges of axes.

A turn by an angle moves a vector with four multiplications, a symmetric matrix with eight, and leaves alone what it
does not touch, so that zeros stay zeros; an exchange of axes is free. Most joints are turns, and most placements
exchange axes. A rotation that is neither is a `Matrix`, with the same methods.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bough.scalar import Scalar, Symbolic, absolute, atan2, cos, select, sin
from bough.scalar.lazy import cached_property
from bough.spatial.matrix import IDENTITY, Matrix, Symmetric
from bough.spatial.vector import Vector

__all__ = ["Product", "Rotation", "about_x", "about_y", "about_z", "as_factors", "short_way", "turn_about_z"]


@dataclass(frozen=True)
class Turn:
    """A turn about z, from the cosine and sine of its angle."""

    c: Scalar
    s: Scalar

    @cached_property
    def _squares(self) -> tuple[Scalar, Scalar]:
        """s² and c s."""
        return self.s * self.s, self.c * self.s

    @property
    def inverse(self) -> Turn:
        """The turn back."""
        return Turn(self.c, -self.s)

    def back(self, v: Vector) -> Vector:
        """The vector turned back."""
        return Vector(self.c * v.x + self.s * v.y, self.c * v.y - self.s * v.x, v.z)

    def times(self, v: Vector) -> Vector:
        """The turned vector."""
        return Vector(self.c * v.x - self.s * v.y, self.s * v.x + self.c * v.y, v.z)

    def of_symmetric(self, A: Symmetric) -> Symmetric:
        """R A Rᵀ in 8 multiplications and 7 additions. In the plane of the turn A changes by a symmetric matrix."""
        ss, cs = self._squares
        apart, twice = A.yy - A.xx, A.yx + A.yx
        g, h = ss * apart - cs * twice, ss * twice + cs * apart
        side = self.times(Vector(A.zx, A.zy, A.zz))
        return Symmetric(A.xx + g, A.yx - h, A.yy - g, side.x, side.y, A.zz)

    def of_matrix(self, A: Matrix) -> Matrix:
        """R A Rᵀ in 12 multiplications and 12 additions. In the plane of the turn A changes by a symmetric matrix."""
        ss, cs = self._squares
        apart, both = A.b.y - A.a.x, A.a.y + A.b.x
        g, h = ss * apart - cs * both, ss * both + cs * apart
        below, beside = self.times(Vector(A.a.z, A.b.z, 0.0)), self.times(Vector(A.c.x, A.c.y, A.c.z))
        return Matrix(Vector(A.a.x + g, A.a.y - h, below.x), Vector(A.b.x - h, A.b.y - g, below.y), beside)


@dataclass(frozen=True)
class Axes:
    """An exchange of axes: component i of the result is ± component `places[i]`."""

    places: tuple[int, int, int]
    signs: tuple[float, float, float]

    @property
    def inverse(self) -> Axes:
        """The exchange back."""
        back = [self.places.index(k) for k in range(3)]
        return Axes((back[0], back[1], back[2]), tuple(self.signs[k] for k in back))  # type: ignore[arg-type]

    def times(self, v: Vector) -> Vector:
        """The vector along the new axes."""
        x, y, z = (v.parts[k] if sign > 0 else -v.parts[k] for k, sign in zip(self.places, self.signs, strict=True))
        return Vector(x, y, z)

    def back(self, v: Vector) -> Vector:
        """The vector along the old axes."""
        return self.inverse.times(v)

    def of_symmetric(self, A: Symmetric) -> Symmetric:
        """R A Rᵀ: entries change places and signs, which costs nothing."""
        x, y, z = self.of_matrix(A.matrix).columns
        return Symmetric(x.x, x.y, y.y, x.z, y.z, z.z)

    def of_matrix(self, A: Matrix) -> Matrix:
        """R A Rᵀ: entries change places and signs, which costs nothing."""
        columns = [self.times(A.columns[k]) for k in self.places]
        return Matrix(*(column if sign > 0 else -column for sign, column in zip(self.signs, columns, strict=True)))


@dataclass(frozen=True)
class Product:
    """A rotation as a product of factors, the last of which acts first."""

    factors: tuple[Turn | Axes, ...]

    @property
    def T(self) -> Product:
        """The inverse rotation."""
        return Product(tuple(factor.inverse for factor in reversed(self.factors)))

    @cached_property
    def matrix(self) -> Matrix:
        """The rotation as a matrix: all factors multiplied."""
        return Matrix(*(self.times(column) for column in IDENTITY.columns))

    @property
    def columns(self) -> tuple[Vector, Vector, Vector]:
        """The columns of the matrix."""
        return self.matrix.columns

    def times(self, v: Vector) -> Vector:
        """Rotation times vector."""
        for factor in reversed(self.factors):
            v = factor.times(v)
        return v

    def transposed_times(self, v: Vector) -> Vector:
        """Inverse rotation times vector."""
        for factor in self.factors:
            v = factor.back(v)
        return v

    def of_symmetric(self, A: Symmetric) -> Symmetric:
        """R A Rᵀ for a symmetric matrix A, factor by factor."""
        for factor in reversed(self.factors):
            A = factor.of_symmetric(A)
        return A

    def of_matrix(self, A: Matrix) -> Matrix:
        """R A Rᵀ for any matrix A, factor by factor."""
        for factor in reversed(self.factors):
            A = factor.of_matrix(A)
        return A

    def __matmul__(self, other: Rotation) -> Matrix:
        """The product, multiplied out."""
        return Matrix(*(self.times(column) for column in other.columns))

    def before(self, inner: Rotation) -> Rotation:
        """The product, kept as factors if the other is one too; two turns that meet become one."""
        if not isinstance(inner, Product):
            return self @ inner
        *outer, last = self.factors
        first, *rest = inner.factors
        if isinstance(last, Turn) and isinstance(first, Turn):
            c, s, _ = last.times(Vector(first.c, first.s, 0.0)).parts
            return Product((*outer, Turn(c, s), *rest))
        return Product(self.factors + inner.factors)


Rotation: TypeAlias = Matrix | Product

_TO_Z = {0: Axes((1, 2, 0), (1.0, 1.0, 1.0)), 1: Axes((2, 0, 1), (1.0, 1.0, 1.0)), 2: Axes((0, 1, 2), (1.0, 1.0, 1.0))}
"""Exchanges of axes that bring x, y or z to z."""


def _about(axis: int, c: Scalar, s: Scalar) -> Product:
    to_z = _TO_Z[axis]
    return Product((Turn(c, s),)) if axis == 2 else Product((to_z.inverse, Turn(c, s), to_z))


def about_x(c: Scalar, s: Scalar) -> Product:
    """Rotation about x, from the cosine and sine of the angle."""
    return _about(0, c, s)


def about_y(c: Scalar, s: Scalar) -> Product:
    """Rotation about y, from the cosine and sine of the angle."""
    return _about(1, c, s)


def about_z(c: Scalar, s: Scalar) -> Product:
    """Rotation about z, from the cosine and sine of the angle."""
    return _about(2, c, s)


def turn_about_z(R: Rotation) -> Scalar:
    """The angle of the turn about z that is nearest to a rotation."""
    x, y, _ = R.columns
    return atan2(x.y - y.x, x.x + y.y)


def short_way(angle: Scalar) -> Scalar:
    """The angle of at most half a turn that leads to the same place; itself, to the last digit, if it is one."""
    return select(absolute(angle) <= math.pi, angle, atan2(sin(angle), cos(angle)))


def as_factors(R: Matrix) -> Rotation:
    """A constant rotation as factors if it exchanges axes and turns about one, or about z and then x; else itself."""
    rows = [list(row.parts) for row in R.T.columns]
    if any(isinstance(x, Symbolic) for row in rows for x in row):
        return R
    if all(_is_unit(row) for row in rows):
        return Product((_axes(rows),))
    for k, row in enumerate(rows):
        if _is_unit(row):  # R = (z to ± axis k) · turn · (an axis to z)
            axis = next(j for j in range(3) if row[j])
            to_z, up = _TO_Z[axis], _TO_Z[k]
            turned = [to_z.times(Vector.of(rows[j])) for j in up.places]
            sign = 1.0 if turned[2].z == 1.0 else -1.0
            flip = Axes((0, 1, 2), (1.0, sign, sign))
            last = () if axis == 2 else (to_z,)
            return Product((up.inverse, flip, Turn(turned[0].x, turned[1].x * sign), *last))
    if rows[0][2] == 0:
        return Product((*about_x(rows[2][2], -rows[1][2]).factors, Turn(rows[0][0], -rows[0][1])))
    return R


def _is_unit(row: Sequence[Scalar]) -> bool:
    return sorted(abs(x) for x in row) == [0.0, 0.0, 1.0]  # type: ignore[arg-type]


def _axes(rows: Sequence[Sequence[Scalar]]) -> Axes:
    x, y, z = (next(j for j in range(3) if row[j]) for row in rows)
    return Axes((x, y, z), (float(rows[0][x]), float(rows[1][y]), float(rows[2][z])))
