"""What a joint needs to close a loop, for joints that do not say it themselves.

A loop joint has no coordinates of its own in q: its configuration follows from where its two sides are, and its forces
are those that do no work on its motions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bough.scalar import Index, Scalar, dot, loop, select, sqrt
from bough.spatial import UNIT_MOTIONS, Force, Motion, Quaternion, Transform, Vector, unit_directions

if TYPE_CHECKING:
    from bough.model.joints.joint import Joint

__all__ = ["Closure", "displacement", "dual_forces", "least_squares", "nearest_by_steps", "workless"]

GAUSS_NEWTON_STEPS = 10
"""Gauss-Newton steps from any configuration: one is exact for screws, ten leave rounding for the rest."""


@dataclass(frozen=True)
class Closure:
    """A joint between two sides that move: its coordinates, and what is left of the motion that it does not allow."""

    joint: Joint
    parameters: Sequence[Scalar]
    X: Transform  # of the moving side in the fixed one
    x: Sequence[Scalar]  # the configuration nearest to that
    V: Motion  # velocity of the moving side relative to the fixed one, in axes of the former
    turning: Motion  # what velocities add to the rate of V, less Ṡ ẋ

    @staticmethod
    def of(joint: Joint, parameters: Sequence[Scalar], X: Transform, carried: Motion, after: Motion) -> Closure:
        """From the velocities of the fixed side, carried along, and of the moving one, both in axes of the latter."""
        x, V, turning = joint.nearest(parameters, X), after - carried, after.cross(carried)
        if not joint.is_constant:  # where S turns, T turns with it: Ṫᵀ V = -Tᵀ Ṡ ẋ
            rates = least_squares(joint.subspace(parameters, x), V)
            for s, rate in zip(joint.subspace_rate(parameters, x, rates), rates, strict=True):
                turning = turning - s * rate
        return Closure(joint, parameters, X, x, V, turning)

    @property
    def subspace(self) -> tuple[Motion, ...]:
        """S(x)."""
        return self.joint.subspace(self.parameters, self.x)

    @property
    def reactions(self) -> tuple[Force, ...]:
        """T(x): its rows are Tᵀ V = 0."""
        return self.joint.reactions(self.parameters, self.x)

    @property
    def error(self) -> Motion:
        """How far the moving side is from where the joint, at x, would have it."""
        return displacement(self.joint.transform(self.parameters, self.x).inverse.then(self.X))


def displacement(X: Transform) -> Motion:
    """How far a placement is from the identity: its rotation vector (rad) and its translation (m)."""
    return Motion(Quaternion.of_rotation(X.rotation).log, X.translation)


def nearest_by_steps(joint: Joint, parameters: Sequence[Scalar], q: Sequence[Scalar], X: Transform) -> list[Scalar]:
    """The configuration in which a joint places its body nearest to X, by Gauss-Newton steps from q."""

    def step(k: Index, q: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        left = displacement(joint.transform(parameters, q).inverse.then(X))
        return tuple(joint.integrate(parameters, q, least_squares(joint.subspace(parameters, q), left)))

    start: tuple[Scalar, ...] = tuple(q)
    found = loop(GAUSS_NEWTON_STEPS, step, start)
    return list(found)


def least_squares(S: Sequence[Motion], m: Motion) -> list[Scalar]:
    """The x for which S x is nearest to m, by orthogonal columns (rad and m count alike)."""
    rest, columns = _six(m), [_six(s) for s in S]
    if len(unit_directions(S)) == len(S):
        return [dot(column, rest) for column in columns]
    R: list[list[Scalar]] = []
    right: list[Scalar] = []
    for k, column in enumerate(columns):
        square = dot(column, column)
        R.append([dot(column, other) / square for other in columns[k + 1 :]])
        right.append(dot(column, rest) / square)
        rest = [a - b * right[k] for a, b in zip(rest, column, strict=True)]
        for j, factor in enumerate(R[k], start=k + 1):
            columns[j] = [a - b * factor for a, b in zip(columns[j], column, strict=True)]
    x: list[Scalar] = []
    for row, value in zip(reversed(R), reversed(right), strict=True):
        for factor, known in zip(row, x, strict=True):
            value = value - factor * known
        x.insert(0, value)
    return x


def dual_forces(S: Sequence[Motion]) -> tuple[Force, ...]:
    """The forces W in the span of S with Wᵀ S = 1: that of a drive on each coordinate of a joint."""
    parts = [least_squares(S, unit) for unit in UNIT_MOTIONS]
    return tuple(Force.of([part[k] for part in parts]) for k in range(len(S)))


def workless(S: Sequence[Motion]) -> tuple[Force, ...]:
    """A basis of the forces that do no work on the motions S.

    Unit forces where S is made of unit motions, along x, y, z and about x, y, z in this order; otherwise the rest of
    the orthogonal basis that begins with S, by Householder's reflections.
    """
    units = unit_directions(S)
    if len(units) == len(S):
        left = [k for k in (3, 4, 5, 0, 1, 2) if k not in units]
        return tuple(Force(UNIT_MOTIONS[k].angular, UNIT_MOTIONS[k].linear) for k in left)
    mirrors: list[list[Scalar]] = []
    for k, s in enumerate(S):
        x = _six(s)
        for mirror in mirrors:
            x = _reflected(x, mirror)
        length = sqrt(dot(x[k:], x[k:]))
        mirrors.append([*([0.0] * k), x[k] + select(x[k] < 0.0, -length, length), *x[k + 1 :]])
    forces = []
    for k in range(len(S), 6):
        y: list[Scalar] = [1.0 if j == k else 0.0 for j in range(6)]
        for mirror in reversed(mirrors):
            y = _reflected(y, mirror)
        forces.append(Force(Vector.of(y[:3]), Vector.of(y[3:])))
    return tuple(forces)


def _reflected(x: Sequence[Scalar], mirror: Sequence[Scalar]) -> list[Scalar]:
    factor = 2.0 * dot(x, mirror) / dot(mirror, mirror)
    return [a - b * factor for a, b in zip(x, mirror, strict=True)]


def _six(m: Motion) -> list[Scalar]:
    return [*m.angular.parts, *m.linear.parts]
