"""The inside of a model: what the algorithms see.

At the border, frames and inertias are those of the author. Inside, the frame of a body is the moving side of its joint,
turned so that the joint is in canonical form (a revolute axis is z), inertias are (m, h, I at the origin), and mimic
joints have coordinates of their own. Bodies whose joints have the same canonical form, and which agree in being a root
or a leaf, are of one kind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bough.model.coupling import Coupling, own_joint
from bough.model.joints import Joint
from bough.model.joints.contract import is_from_outside
from bough.model.model import Model
from bough.model.parts import HERE, Frame
from bough.scalar import Array, Index, Scalar, Table, gather, gather_index
from bough.spatial import REST, ZERO, Force, Matrix, Motion, RigidInertia, Symmetric, Transform, Vector
from bough.tree import Tree

__all__ = ["BodyRecord", "Mechanism", "combine"]

Floats = NDArray[np.float64]

# where things lie in the row of constants of a body
ROTATION, ORIGIN, MASS, MOMENT, ROTATIONAL, BORDER, BORDER_ORIGIN, REST_OF_ROW = 0, 9, 12, 13, 16, 22, 31, 34


@dataclass(frozen=True)
class _Kind:
    joint: Joint
    is_root: bool
    is_leaf: bool
    has_armature: bool
    has_offset: bool
    parameters: int


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
        self._has_offset = described.has_offset
        self._count = described.parameters
        self._mechanism = mechanism

    @property
    def placement(self) -> Transform:
        """Placement of the joint frame in the parent body, both inside."""
        return Transform(self._matrix(ROTATION), Vector.of(self._constants(ORIGIN, 3)))

    @property
    def inertia(self) -> RigidInertia:
        """Inertia of the body in its inside frame."""
        (mass,) = self._constants(MASS, 1)
        return RigidInertia(mass, Vector.of(self._constants(MOMENT, 3)), Symmetric(*self._constants(ROTATIONAL, 6)))

    @property
    def border(self) -> Transform:
        """Placement of the author's body frame in the inside one."""
        origin = Vector.of(self._constants(BORDER_ORIGIN, 3)) if self._has_offset else ZERO
        return Transform(self._matrix(BORDER), origin)

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
        return self.placement.then(self.joint.transform(self.parameters, self.of_q(q)))

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
            _Kind(joint.canonical, i in roots, i in leaves, any(entry.armature), any(origin), len(joint.parameters))
            for i, (joint, entry, origin) in enumerate(
                zip(self.joints, model.joints, self.borders[1][1:], strict=True), start=1
            )
        ]
        self.kind_list = tuple(dict.fromkeys(described))
        number = {kind: k for k, kind in enumerate(self.kind_list)}
        self.kinds = tuple(number[kind] for kind in described)
        self.q_starts = Table("q_starts", _starts([joint.nq for joint in self.joints]))
        self.v_starts = Table("v_starts", _starts([joint.nv for joint in self.joints]))
        rows = self._constant_rows()
        self.constant_starts = Table("constant_starts", _starts([len(row) for row in rows]))
        self.constants = Table("constants", np.array([x for row in rows for x in row], dtype=float))

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
        if any(is_from_outside(joint) for joint in self.joints):
            return None
        c = self.coupling
        arrays = (self.constants.data, self.q_starts.data, self.v_starts.data, c.q_source, c.q_ratio, c.q_offset)
        digest = hashlib.sha256(repr((self.kind_list, self.model.gravity)).encode())
        for a in (np.array(self.tree.parents), np.array(self.kinds), *arrays, c.v_source, c.v_ratio):
            digest.update(repr((a.dtype.str, a.shape)).encode() + a.tobytes())
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
    def alignments(self) -> Floats:
        """Rotation from the inside frame of each body to the moving side of its joint (N, 3, 3)."""
        known = {joint: joint.alignment for joint in dict.fromkeys(self.joints)}
        return np.array([known[joint] for joint in self.joints]).reshape(-1, 3, 3)

    @cached_property
    def borders(self) -> tuple[Floats, Floats]:
        """Rotations (N + 1, 3, 3) and origins (N + 1, 3) of the author's body frames in the inside ones; base first."""
        turn = np.swapaxes(self.alignments, 1, 2)
        R = np.array([body.frame.rotation for body in self.model.bodies]).reshape(-1, 3, 3)
        p = np.array([body.frame.origin for body in self.model.bodies]).reshape(-1, 3, 1)
        origins = np.concatenate([np.zeros((1, 3)), (turn @ p)[..., 0]]) + 0.0
        return np.concatenate([np.eye(3)[None], _clean(turn @ R)]), origins

    def _constant_rows(self) -> list[list[float]]:
        """The row of constants of each body, in the order of the offsets above."""
        model, n = self.model, self.tree.n
        own, turn = self.alignments, np.swapaxes(self.alignments, 1, 2)
        parent_R, parent_p = (x[list(self.tree.parents)] for x in self.borders)
        R = np.array([entry.placement.rotation for entry in model.joints]).reshape(n, 3, 3)
        p = np.array([entry.placement.origin for entry in model.joints]).reshape(n, 3, 1)
        inertias = [body.inertia if body.frame == HERE else body.inertia.placed(body.frame) for body in model.bodies]
        mass = np.array([inertia.mass for inertia in inertias]).reshape(n, 1)
        com = np.array([inertia.com for inertia in inertias]).reshape(n, 3, 1)
        J = np.array([inertia.about_origin() for inertia in inertias]).reshape(n, 3, 3)
        J = _without_rounding(turn @ J @ own)
        columns = (
            np.swapaxes(_clean(parent_R @ R @ own), 1, 2).reshape(n, 9),
            (parent_R @ p).reshape(n, 3) + parent_p,
            mass,
            mass * (turn @ com).reshape(n, 3),
            J[:, [0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]],
            np.swapaxes(self.borders[0][1:], 1, 2).reshape(n, 9),
            self.borders[1][1:],
        )
        fixed = (np.concatenate(columns, axis=1) + 0.0).tolist()
        pairs = zip(fixed, model.joints, self.joints, strict=True)
        return [[*row, *entry.armature, *joint.parameters] for row, entry, joint in pairs]


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *sizes], dtype=np.int64)[:-1]


def _clean(R: Floats) -> Floats:
    return np.where(np.abs(R) < 4e-16, 0.0, R)


def _without_rounding(J: Floats) -> Floats:
    """Make what inertias (N, 3, 3) lack an exact zero: a point on a skew axis must not resist turning about it."""
    return np.where(np.abs(J) <= 2e-15 * np.abs(J).max(axis=(1, 2), keepdims=True, initial=0.0), 0.0, J)


def _transform(R: Floats, p: Floats) -> Transform:
    x, y, z = (float(v) for v in p)
    return Transform(Matrix.of_rows([[float(v) for v in row] for row in _clean(R)]), Vector(x, y, z))
