"""The inside of a model: what the algorithms see.

At the border, frames and inertias are those of the author. Inside, the frame of a body is the moving side of its joint,
turned so that the joint is in canonical form (a revolute axis is z) and slid along that axis, inertias are (m, h, I at
the origin), once as they are and once regrouped, and mimic joints have coordinates of their own. Bodies whose joints
have the same canonical form, and which agree in being a root or a leaf, are of one kind.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bough.model.circles import circles
from bough.model.coupling import Coupling, own_joint
from bough.model.equivalent import LOWER, NOTHING, regrouped, slides, turns
from bough.model.joints import Joint
from bough.model.joints.contract import is_from_outside
from bough.model.model import Model
from bough.model.parts import HERE, Frame
from bough.scalar import Array, Index, Scalar, Table, gather, gather_index
from bough.spatial import REST, Force, MassMoments, Matrix, Motion, RigidInertia, Symmetric, Transform, Vector, factored
from bough.tree import Tree

__all__ = ["BodyRecord", "Mechanism", "combine"]

# where things lie in the row of constants of a body
ROTATION, ORIGIN, INERTIA, REGROUPED, SECOND, BORDER, REST_OF_ROW = 0, 9, 12, 22, 32, 38, 50


SYMMETRIC = ((0, 1, 3), (1, 2, 4), (3, 4, 5))
"""Where the entries of a symmetric matrix lie in its lower triangle."""


@dataclass(frozen=True)
class _Kind:
    joint: Joint
    is_root: bool
    is_leaf: bool
    has_armature: bool
    parameters: int

    @property
    def is_regrouped(self) -> bool:
        """Whether what is left of the inertia has neither mass nor moments along z."""
        return self.joint.spins


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
        self._is_regrouped = described.is_regrouped
        self._count = described.parameters
        self._mechanism = mechanism

    @property
    def placement(self) -> Transform:
        """Placement of the joint frame in the parent body, both inside."""
        return Transform(factored(self._matrix(ROTATION)), Vector.of(self._constants(ORIGIN, 3)))

    @property
    def inertia(self) -> RigidInertia:
        """Inertia of the body in its inside frame."""
        mass, *moment = self._constants(INERTIA, 4)
        return RigidInertia(mass, Vector.of(moment), Symmetric(*self._constants(INERTIA + 4, 6)))

    @property
    def regrouped_inertia(self) -> RigidInertia:
        """An inertia for which joint forces, accelerations and the mass matrix are the same, in the inside frame."""
        mass, moment = self._regrouped_moments
        return RigidInertia(mass, moment, Symmetric(*self._constants(REGROUPED + 4, 6)))

    @property
    def regrouped_moments(self) -> MassMoments:
        """The same, by its second moments."""
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
        return Transform(factored(self._matrix(BORDER)), Vector.of(self._constants(BORDER + 9, 3)))

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

    def external_force(self, f_ext: Array) -> Force:
        """The external force on the body: given linear first in the author's body frame, returned in the inside one."""
        x = [f_ext[self.index * 6 + k] for k in range(6)]
        return self.border.force_to_parent(Force(Vector.of(x[3:]), Vector.of(x[:3])))

    @property
    def damping(self) -> list[Scalar]:
        """Damping of each degree of freedom."""
        return [gather(self._mechanism.damping, self.v_start + k) for k in range(self.nv)]

    def spring(self, q: Array) -> list[Scalar]:
        """Forces of the joint's spring."""
        start = gather_index(self._mechanism.q_starts, self.index)
        rest = [gather(self._mechanism.rest, start + k) for k in range(self.joint.nq)]
        stiffness = [gather(self._mechanism.stiffness, self.v_start + k) for k in range(self.nv)]
        stretch = self.joint.stretch(self.parameters, rest, self.of_q(q))
        return [-(k * x) for k, x in zip(stiffness, stretch, strict=True)]

    @property
    def v_start(self) -> Index:
        """Where the body's part of own velocities begins."""
        return gather_index(self._mechanism.v_starts, self.index)

    def _constants(self, first: int, count: int) -> list[Scalar]:
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


class Mechanism:
    """The inside of a model, as a structure for scans."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tree: Tree = model.tree
        self.coupling: Coupling = model.coupling
        self.joints = tuple(own_joint(entry.joint) for entry in model.joints)
        roots, leaves = set(self.tree.roots), set(self.tree.leaves)
        described = [
            _Kind(joint.canonical, i in roots, i in leaves, any(entry.armature), len(joint.parameters))
            for i, (joint, entry) in enumerate(zip(self.joints, model.joints, strict=True), start=1)
        ]
        self.kind_list = tuple(dict.fromkeys(described))
        number = {kind: k for k, kind in enumerate(self.kind_list)}
        self.kinds = tuple(number[kind] for kind in described)
        self.q_starts = Table("q_starts", _starts([joint.nq for joint in self.joints]))
        self.v_starts = Table("v_starts", _starts([joint.nv for joint in self.joints]))
        self.circles = Table("circles", circles(model))
        fixed = self._fixed_constants()
        further = [(*entry.armature, *joint.parameters) for entry, joint in zip(model.joints, self.joints, strict=True)]
        starts = _starts([REST_OF_ROW + len(row) for row in further])
        constants = np.zeros(fixed.size + sum(map(len, further)))
        constants[starts[:, np.newaxis] + np.arange(REST_OF_ROW)] = fixed
        for start, row in zip(starts.tolist(), further, strict=True):
            constants[start + REST_OF_ROW : start + REST_OF_ROW + len(row)] = row
        self.damping, self.stiffness, self.rest = (
            Table(sort, np.array([x for entry in model.joints for x in getattr(entry, sort)], dtype=float))
            for sort in ("damping", "stiffness", "rest")
        )
        self.constant_starts = Table("constant_starts", starts)
        self.constants = Table("constants", constants)

    @cached_property
    def inner(self) -> Mechanism | None:
        """The mechanism whose mass matrix forward dynamics factorises, where it hangs from another body."""
        return Mechanism(self.model.inner) if self.model.inner_root else None

    @property
    def own_nq(self) -> int:
        """Length of own configurations, mimic joints included."""
        return sum(joint.nq for joint in self.joints)

    @property
    def own_nv(self) -> int:
        """Number of own degrees of freedom, mimic joints included."""
        return sum(joint.nv for joint in self.joints)

    @property
    def gravity(self) -> Vector:
        """Acceleration of gravity in the base frame."""
        return Vector(*self.model.gravity)

    @cached_property
    def digest(self) -> str | None:
        """A digest of all that the algorithms see; None if a joint comes from outside the package."""
        loops = [loop.joint for loop in self.model.loops]
        if any(is_from_outside(joint) for joint in (*self.joints, *loops)):
            return None
        c = self.coupling
        arrays = (self.constants.data, self.q_starts.data, self.v_starts.data, c.q_source, c.q_ratio, c.q_offset)
        digest = hashlib.sha256(repr((self.kind_list, self.model.gravity, self.model.constraints)).encode())
        passive = (self.circles.data, self.damping.data, self.stiffness.data, self.rest.data)
        for a in (np.array(self.tree.parents), np.array(self.kinds), *arrays, c.v_source, c.v_ratio, *passive):
            digest.update(repr((a.dtype.str, a.shape)).encode() + a.tobytes())
        if self.inner is not None:
            digest.update(repr((self.model.inner_root, self.inner.digest)).encode())
        return digest.hexdigest()

    def record(self, kind: int, index: Index) -> BodyRecord:
        """The record of a body."""
        return BodyRecord(self, kind, index)

    def at(self, body: int) -> BodyRecord:
        """The record of the body with a given number."""
        return self.record(self.kinds[body - 1], body - 1)

    def frame(self, frame: Frame) -> Transform:
        """Placement of a frame in the inside frame of its body."""
        R, p = (x[frame.body] for x in self.borders)
        return _transform(R @ frame.placement.matrix, R @ frame.placement.vector + p)

    @cached_property
    def alignments(self) -> NDArray[np.float64]:
        """Rotation from the inside frame of each body to the moving side of its joint (N + 1, 3, 3); base first."""
        known = {joint: joint.alignment for joint in dict.fromkeys(self.joints)}
        plain = np.array([np.eye(3), *(known[joint] for joint in self.joints)])
        rotations = np.swapaxes(plain[list(self.tree.parents)], 1, 2) @ self._placements[0] @ plain[1:]
        for i, angle in enumerate(turns(self.tree, self._axial, rotations), start=1):
            if angle:
                c, s = math.cos(angle), math.sin(angle)
                plain[i] = plain[i] @ [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
        return plain

    @property
    def _axial(self) -> list[bool]:
        return [joint.canonical.is_axial for joint in self.joints]

    @cached_property
    def origins(self) -> NDArray[np.float64]:
        """Origin of the inside frame of each body in the moving side of its joint (N + 1, 3); base first."""
        R, p = self._placements
        outer = np.swapaxes(self.alignments[list(self.tree.parents)], 1, 2)
        axes = self.alignments[1:, :, 2:]
        distances = slides(self.tree, self._axial, (outer @ p)[:, :, 0], (outer @ R @ axes)[:, :, 0])
        return np.concatenate([np.zeros((1, 3)), np.reshape(distances, (-1, 1)) * axes[:, :, 0]])

    @cached_property
    def borders(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rotations (N + 1, 3, 3) and origins (N + 1, 3) of the author's body frames in the inside ones; base first."""
        R, p = self._author
        turn = np.swapaxes(self.alignments, 1, 2)
        return _clean(turn @ R), (turn @ (p - self.origins[:, :, np.newaxis]))[:, :, 0] + 0.0

    @property
    def _author(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Placements of the author's body frames in the moving sides: (N + 1, 3, 3), (N + 1, 3, 1); the base first."""
        frames = [HERE, *(body.frame for body in self.model.bodies)]
        return np.array([x.rotation for x in frames]), np.array([x.origin for x in frames])[:, :, np.newaxis]

    @property
    def _placements(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Placements of the joints in the moving sides of their parents: (N, 3, 3), (N, 3, 1)."""
        entries, n = self.model.joints, self.tree.n
        outer_R, outer_p = (x[list(self.tree.parents)] for x in self._author)
        R = np.array([entry.placement.rotation for entry in entries]).reshape(n, 3, 3)
        p = np.array([entry.placement.origin for entry in entries]).reshape(n, 3, 1)
        return _clean(outer_R @ R), outer_R @ p + outer_p

    def _fixed_constants(self) -> NDArray[np.float64]:
        """The row of constants of each body up to armatures and parameters, in the order of the offsets above."""
        n, parents = self.tree.n, list(self.tree.parents)
        inertias = [b.inertia if b.frame == HERE else b.inertia.placed(b.frame) for b in self.model.bodies]
        own, origin = self.alignments[1:], self.origins[1:, :, np.newaxis]
        turn, outer = np.swapaxes(own, 1, 2), np.swapaxes(self.alignments[parents], 1, 2)
        R, p = self._placements
        p = _clean(outer @ (p + R @ origin - self.origins[parents][:, :, np.newaxis]), NOTHING)
        R = _clean(outer @ R @ own)
        mass = np.array([inertia.mass for inertia in inertias]).reshape(n)
        com = turn @ (np.array([inertia.com for inertia in inertias]).reshape(n, 3, 1) - origin)
        central = np.array([inertia.rotational for inertia in inertias]).reshape(n, 6)[:, SYMMETRIC]
        J = _without_rounding(turn @ central @ own + mass[:, np.newaxis, np.newaxis] * _spread(com[:, :, 0]))
        moment = mass[:, np.newaxis] * com[:, :, 0]
        spins = [joint.canonical.spins for joint in self.joints]
        m, h, I = regrouped(self.tree, spins, R, p[:, :, 0], mass, moment, J)
        second = np.trace(I, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] / 2 * np.eye(3) - I
        columns = (
            np.swapaxes(R, 1, 2).reshape(n, 9),
            p.reshape(n, 3),
            *(mass[:, np.newaxis], moment, _lower(J)),
            *(m[:, np.newaxis], h, _lower(I), _lower(second)),
            np.swapaxes(self.borders[0][1:], 1, 2).reshape(n, 9),
            self.borders[1][1:],
        )
        return np.concatenate(columns, axis=1) + 0.0


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *sizes], dtype=np.int64)[:-1]


def _clean(A: NDArray[np.float64], small: float = 4e-16) -> NDArray[np.float64]:
    return np.where(np.abs(A) <= small, 0.0, A)


def _without_rounding(J: NDArray[np.float64]) -> NDArray[np.float64]:
    """Make what inertias (N, 3, 3) lack an exact zero: a point on a skew axis must not resist turning about it."""
    return np.where(np.abs(J) <= 2e-15 * np.abs(J).max(axis=(1, 2), keepdims=True, initial=0.0), 0.0, J)


def _spread(c: NDArray[np.float64]) -> NDArray[np.float64]:
    """|c|² 1 - c cᵀ for points (N, 3): the inertia of unit masses there."""
    square = np.sum(c * c, axis=1)[:, np.newaxis, np.newaxis]
    return np.asarray(square * np.eye(3) - c[:, :, np.newaxis] * c[:, np.newaxis, :])


def _lower(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lower triangles of matrices (N, 3, 3), row by row (N, 6)."""
    lower: NDArray[np.float64] = A[:, *LOWER]
    return lower


def _transform(R: NDArray[np.float64], p: NDArray[np.float64]) -> Transform:
    x, y, z = (float(v) for v in p)
    return Transform(Matrix.of_rows([[float(v) for v in row] for row in _clean(R)]), Vector(x, y, z))
