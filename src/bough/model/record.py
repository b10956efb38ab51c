"""What the rules of the algorithms see of a body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bough.model.joints import Joint
from bough.scalar import Array, Index, Scalar, gather, gather_index
from bough.spatial import (
    REST,
    Deformed,
    Force,
    MassMoments,
    Matrix,
    ModeMoments,
    Motion,
    RigidInertia,
    Symmetric,
    Transform,
    Vector,
    as_factors,
)

if TYPE_CHECKING:
    from bough.model.mechanism import Mechanism

__all__ = [
    "BORDER", "INERTIA", "ORIGIN", "REGROUPED", "REST_OF_ROW", "ROTATION", "SECOND", "BodyRecord", "Kind", "combine",
]  # fmt: skip

# where things lie in the row of constants of a body
ROTATION, ORIGIN, INERTIA, REGROUPED, SECOND, BORDER, REST_OF_ROW = 0, 9, 12, 22, 32, 38, 50


@dataclass(frozen=True)
class Kind:
    """What bodies have in common that run the same code."""

    joint: Joint
    is_root: bool
    is_leaf: bool
    has_armature: bool
    parameters: int  # of the joint
    is_regrouped: bool  # what is left of the inertia has neither mass nor moments along z
    is_given: bool  # some of its constants are parameters of the mechanism


class BodyRecord:
    """What a rule knows of its body: constants, its joint, and its part of q, v and forces."""

    def __init__(self, mechanism: Mechanism, kind: int, index: Index) -> None:
        described = mechanism.kind_list[kind]
        self.kind = kind
        self.index = index
        self.is_root = described.is_root
        self.is_leaf = described.is_leaf
        self.has_armature = described.has_armature
        self.joint = described.joint
        self.nv = described.joint.nv
        self.modes = described.joint.elastic_count
        self.is_station = described.joint.is_station
        self._is_regrouped = described.is_regrouped
        self._is_given = described.is_given
        self._count = described.parameters
        self._mechanism = mechanism

    @property
    def placement(self) -> Transform:
        """Placement of the joint frame in the parent body, both inside."""
        return Transform(as_factors(self._matrix(ROTATION)), Vector.of(self._constants(ORIGIN, 3)))

    @property
    def inertia(self) -> RigidInertia:
        """Inertia of the body in its inside frame."""
        mass, *moment = self._constants(INERTIA, 4)
        return RigidInertia(mass, Vector.of(moment), Symmetric(*self._constants(INERTIA + 4, 6)))

    def inertia_of(self, deformed: Deformed | None) -> RigidInertia:
        """Inertia of the body in its inside frame, of a flexible one as it is deformed."""
        return self.inertia if deformed is None else deformed.inertia(self.inertia)

    @property
    def regrouped_inertia(self) -> RigidInertia:
        """An inertia for which joint forces, accelerations and the mass matrix are the same, in the inside frame."""
        mass, moment = self._regrouped_moments
        return RigidInertia(mass, moment, Symmetric(*self._constants(REGROUPED + 4, 6)))

    @property
    def regrouped_moments(self) -> MassMoments:
        """The regrouped inertia by its moments of mass: ∫dm, ∫r dm and ∫r rᵀ dm."""
        mass, moment = self._regrouped_moments
        xx, yx, yy, zx, zy, zz = self._constants(SECOND, 6)
        return MassMoments(mass, moment, Symmetric(xx, yx, yy, zx, zy, 0.0 if self._is_regrouped else zz))

    @property
    def _regrouped_moments(self) -> tuple[Scalar, Vector]:
        mass, x, y, z = self._constants(REGROUPED, 4)
        return (0.0, Vector(x, y, 0.0)) if self._is_regrouped else (mass, Vector(x, y, z))

    @property
    def border(self) -> Transform:
        """Placement of the author's body frame in the inside one."""
        return Transform(as_factors(self._matrix(BORDER)), Vector.of(self._constants(BORDER + 9, 3)))

    @property
    def armature(self) -> list[Scalar]:
        """Armature of each degree of freedom."""
        return self._constants(REST_OF_ROW, self.nv) if self.has_armature else [0.0] * self.nv

    @property
    def parameters(self) -> list[Scalar]:
        """Parameters of the joint."""
        return self._constants(REST_OF_ROW + self.nv, self._count)

    def transform(self, q: Array) -> Transform:
        """Placement of the body in its parent, λXᵢ."""
        return self.placement.before(self.joint.transform(self.parameters, self.of_q(q)))

    def subspace(self, q: Array) -> tuple[Motion, ...]:
        """The columns of S, called hᵢ in the papers."""
        return self.joint.subspace(self.parameters, self.of_q(q))

    def subspace_rate(self, q: Array, v: Array) -> tuple[Motion, ...]:
        """Rates of the columns of S as seen from the body."""
        return self.joint.subspace_rate(self.parameters, self.of_q(q), self.of_v(v))

    def of_q(self, q: Array) -> list[Scalar]:
        """The body's part of own configurations."""
        start = gather_index(self._mechanism.q_starts, self.index)
        return [q[start + k] for k in range(self.joint.nq)]

    def of_v(self, v: Array) -> list[Scalar]:
        """The body's part of own velocities, accelerations or forces."""
        start = self.v_start
        return [v[start + k] for k in range(self.nv)]

    def put_q(self, q: Array, values: Sequence[Scalar]) -> None:
        """Write the body's part of own configurations."""
        start = gather_index(self._mechanism.q_starts, self.index)
        for k, value in enumerate(values):
            q[start + k] = value

    def put_v(self, v: Array, values: Sequence[Scalar]) -> None:
        """Write the body's part of own velocities, accelerations or forces."""
        start = self.v_start
        for k, value in enumerate(values):
            v[start + k] = value

    def put_force(self, tau: Array, values: Sequence[Scalar]) -> None:
        """Write the body's part of own forces; on coordinates of a flexible body forces add up, with its stations'."""
        start = self.v_start
        for k, value in enumerate(values):
            tau[start + k] = tau[start + k] + value if self.shares else value

    def put_entry(self, matrix: Array, row: int, column: int, value: Scalar) -> None:
        """Write an entry of a column of the body in a matrix whose rows, of own velocities, begin at `row`.

        Entries of the coordinates of a flexible body add up: those of its stations, and its own.
        """
        place = self.v_start + (row + column)
        matrix[place] = matrix[place] + value if self.shares else value

    @property
    def shares(self) -> bool:
        """Whether other bodies have the same coordinates: those of a flexible body are also its stations'."""
        return self.modes > 0 or self.is_station

    @property
    def mode_moments(self) -> ModeMoments:
        """What the modes of a flexible body add to its moments of mass."""
        return self.joint.mode_moments(self.parameters)

    def deformed(self, q: Array) -> Deformed | None:
        """A flexible body with its elastic coordinates; None for a rigid body."""
        return self.mode_moments.at(self.of_q(q)) if self.modes else None

    def external_force(self, f_ext: Array) -> Force:
        """The external force on the body: given linear first in the author's body frame, returned in the inside one."""
        x = [f_ext[self.index * 6 + k] for k in range(6)]
        return self.border.force_to_parent(Force(Vector.of(x[3:]), Vector.of(x[:3])))

    @property
    def damping(self) -> list[Scalar]:
        """Damping of each degree of freedom."""
        if self._is_given:
            return self._constants(self._losses, self.nv)
        return [gather(self._mechanism.damping, self.v_start + k) for k in range(self.nv)]

    def spring(self, q: Array) -> list[Scalar]:
        """Forces of the joint's spring."""
        return [-(k * x) for k, x in self._stretched(q)]

    def spring_energy(self, q: Array) -> Scalar:
        """Energy of the joint's spring: ½ Σ stiffness × stretch²."""
        total: Scalar = 0.0
        for k, x in self._stretched(q):
            total = total + k * (x * x)
        return total * 0.5

    def _stretched(self, q: Array) -> list[tuple[Scalar, Scalar]]:
        """Stiffness and stretch of the joint's spring, for each degree of freedom."""
        if self._is_given:
            stiffness = self._constants(self._losses + self.nv, self.nv)
            rest = self._constants(self._losses + 2 * self.nv, self.joint.nq)
        else:
            start = gather_index(self._mechanism.q_starts, self.index)
            rest = [gather(self._mechanism.rest, start + k) for k in range(self.joint.nq)]
            stiffness = [gather(self._mechanism.stiffness, self.v_start + k) for k in range(self.nv)]
        stretch = self.joint.stretch(self.parameters, rest, self.of_q(q))
        return list(zip(stiffness, stretch, strict=True))

    @property
    def v_start(self) -> Index:
        """Where the body's part of own velocities begins."""
        return gather_index(self._mechanism.v_starts, self.index)

    @property
    def _losses(self) -> int:
        """Where damping begins in the row of a body with parameters; stiffness and rest follow."""
        return REST_OF_ROW + self.nv + self._count

    def _constants(self, first: int, count: int) -> list[Scalar]:
        if self._is_given:
            rows, start = self._mechanism.given.rows, gather_index(self._mechanism.given_starts, self.index)
            return [rows[start + (first + k)] for k in range(count)]
        start = gather_index(self._mechanism.constant_starts, self.index)
        return [gather(self._mechanism.constants, start + (first + k)) for k in range(count)]

    def _matrix(self, first: int) -> Matrix:
        x = self._constants(first, 9)
        return Matrix(Vector.of(x[:3]), Vector.of(x[3:6]), Vector.of(x[6:]))


def combine(columns: Sequence[Motion], factors: Sequence[Scalar]) -> Motion:
    """S x: the sum of motions times factors."""
    total = REST
    for column, factor in zip(columns, factors, strict=True):
        total = total + column * factor
    return total
