"""The two joints of flexible bodies: one has the elastic coordinates, the others say how they move places of the body.

A flexible body is clamped to its parent. Its joint, `Elastic`, does not move its frame at all; it has the elastic
coordinates, and tells how they act on the moments of mass. What the body carries is not on its frame but on stations,
bodies on joints of type `Station`, which move with the same coordinates: by small displacements and rotations that the
modes have there, and to second order along the beam, which gets shorter as it bends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bough.errors import ModelError
from bough.model.joints.joint import Joint, Scalars
from bough.scalar import Scalar, cos, sin
from bough.spatial import (
    REST,
    STAY,
    ZERO,
    Matrix,
    ModeMoments,
    Motion,
    Rotation,
    Transform,
    Vector,
    about_x,
    about_y,
    about_z,
)

__all__ = ["Elastic", "Station"]


@dataclass(frozen=True)
class Elastic(Joint):
    """The elastic coordinates of a flexible body, as `bough.Builder.add_flexible` makes them: q = amplitudes of modes.

    Parameters
    ----------
    count
        Number of elastic coordinates.
    further
        Number of shapes beyond the modes, along which points move to second order.
    reach
        Amplitudes to which random configurations go.
    moments
        For each shape f ∫ f dm and ∫ r fᵀ dm, for each pair (k, l) of shapes ∫ f_l f_kᵀ dm, matrices column by column;
        then for each further shape its amplitude to second order, a symmetric matrix of the modes.
    """

    count: int
    further: int = 0
    reach: tuple[float, ...] = field(default=(), repr=False)
    moments: tuple[float, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        n = self.count + self.further
        size = n * (12 + 9 * n) + self.further * self.count**2
        if min(self.count, self.further + 1) < 1 or len(self.reach) not in (0, self.count):
            raise ModelError(f"{self!r} has {len(self.reach)} amplitudes, expected one for each of its modes")
        if len(self.moments) not in (0, size):
            raise ModelError(f"{self!r} has {len(self.moments)} moments, expected {size}")

    @property
    def nq(self) -> int:
        return self.count

    @property
    def nv(self) -> int:
        return self.count

    @property
    def elastic_count(self) -> int:
        return self.count

    @property
    def canonical(self) -> Joint:
        return Elastic(self.count, self.further)

    @property
    def parameters(self) -> tuple[float, ...]:
        return self.moments

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return STAY

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return (REST,) * self.count

    def mode_moments(self, parameters: Scalars) -> ModeMoments:
        """What the modes add to the moments of mass."""
        n, m = self.count + self.further, self.count
        of_shape = _cut(parameters[: 12 * n], 12)
        pairs = _cut(_cut(parameters[12 * n : 12 * n + 9 * n * n], 9), n)
        curves = _cut(_cut(parameters[12 * n + 9 * n * n :], m), m)
        return ModeMoments(
            tuple(Vector.of(x[:3]) for x in of_shape),
            tuple(_matrix(x[3:]) for x in of_shape),
            tuple(tuple(_matrix(x) for x in row) for row in pairs),
            tuple(tuple(tuple(row) for row in C) for C in curves),
        )


@dataclass(frozen=True)
class Station(Joint):
    """A place of a flexible body: it has no coordinates of its own, but moves with those of the body that carries it.

    Parameters
    ----------
    count
        Number of elastic coordinates of the flexible body.
    shapes
        For each mode displacement and rotation (three numbers each), then for each pair of modes the displacement ψ to
        second order: ½ Σ ψ_ab x_a x_b.
    """

    count: int
    shapes: tuple[float, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.shapes) != self.count * (6 + 3 * self.count):
            raise ModelError(f"{self!r} has {len(self.shapes)} numbers, expected {self.count * (6 + 3 * self.count)}")

    nq = 0
    nv = 0

    @property
    def canonical(self) -> Joint:
        return _Carried(self.count)

    @property
    def parameters(self) -> tuple[float, ...]:
        return self.shapes

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        raise ModelError("a station moves with the elastic coordinates of its body, and not by a joint of its own")

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        raise ModelError("a station moves with the elastic coordinates of its body, and not by a joint of its own")


@dataclass(frozen=True)
class _Carried(Joint):
    """A station inside: its coordinates are those of the flexible body."""

    count: int
    is_station = True

    @property
    def nq(self) -> int:
        return self.count

    @property
    def nv(self) -> int:
        return self.count

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        p = ZERO
        for x, (move, slope) in zip(q, self._moves(parameters, q), strict=True):
            p = p + (move + slope) * (x * 0.5)
        return Transform(_rotation(*self._angles(parameters, q)), p)

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        angles = self._angles(parameters, q)
        R, turn = _rotation(*angles), _rates(*angles)
        slopes = [R.transposed_times(slope) for _, slope in self._moves(parameters, q)]
        return tuple(Motion(turn.times(r), s) for r, s in zip(self._turns(parameters), slopes, strict=True))

    def subspace_rate(self, parameters: Scalars, q: Scalars, v: Scalars) -> tuple[Motion, ...]:
        S, turns = self.subspace(parameters, q), self._turns(parameters)
        (a, b, c), (da, db, dc) = self._angles(parameters, q), self._angles(parameters, v)
        R, turn = _rotation(a, b, c), _second_rates(a, b, da, db)
        w = _rates(a, b, c).times(Vector(da, db, dc))
        bends = [_sum(row, v) for row in self._seconds(parameters)]
        return tuple(
            Motion(turn.times(r), R.transposed_times(bend) - w.cross(s.linear))
            for r, bend, s in zip(turns, bends, S, strict=True)
        )

    def _moves(self, parameters: Scalars, q: Scalars) -> list[tuple[Vector, Vector]]:
        """For each mode its displacement at rest, and ∂p/∂x with elastic coordinates q."""
        moves = [Vector.of(parameters[6 * k : 6 * k + 3]) for k in range(self.count)]
        seconds = self._seconds(parameters)
        return [(move, move + _sum(row, q)) for move, row in zip(moves, seconds, strict=True)]

    def _turns(self, parameters: Scalars) -> list[Vector]:
        return [Vector.of(parameters[6 * k + 3 : 6 * k + 6]) for k in range(self.count)]

    def _angles(self, parameters: Scalars, q: Scalars) -> tuple[Scalar, Scalar, Scalar]:
        return _sum(self._turns(parameters), q).parts

    def _seconds(self, parameters: Scalars) -> list[list[Vector]]:
        at = [6 * self.count + 3 * k for k in range(self.count * self.count)]
        vectors = [Vector.of(parameters[start : start + 3]) for start in at]
        return [vectors[self.count * a : self.count * (a + 1)] for a in range(self.count)]


def _rotation(a: Scalar, b: Scalar, c: Scalar) -> Rotation:
    """Rz(c) Ry(b) Rx(a)."""
    return about_z(cos(c), sin(c)).before(about_y(cos(b), sin(b))).before(about_x(cos(a), sin(a)))


def _rates(a: Scalar, b: Scalar, c: Scalar) -> Matrix:
    """Angular velocity, in the turned frame, for unit rates of the angles of R = Rz(c) Ry(b) Rx(a)."""
    y = Vector(0.0, cos(a), -sin(a))
    z = Vector(-sin(b), sin(a) * cos(b), cos(a) * cos(b))
    return Matrix(Vector(1.0, 0.0, 0.0), y, z)


def _second_rates(a: Scalar, b: Scalar, da: Scalar, db: Scalar) -> Matrix:
    """The rate of `_rates`."""
    y = Vector(0.0, -sin(a) * da, -cos(a) * da)
    z = Vector(
        -cos(b) * db, cos(a) * cos(b) * da - sin(a) * sin(b) * db, -(sin(a) * cos(b) * da) - cos(a) * sin(b) * db
    )
    return Matrix(ZERO, y, z)


def _sum(vectors: Sequence[Vector], factors: Scalars) -> Vector:
    total = ZERO
    for vector, factor in zip(vectors, factors, strict=True):
        total = total + vector * factor
    return total


def _cut(x: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [x[k : k + size] for k in range(0, len(x), size)]


def _matrix(x: Scalars) -> Matrix:
    return Matrix(Vector.of(x[:3]), Vector.of(x[3:6]), Vector.of(x[6:]))
