"""The inside of a model: what the algorithms see.

At the border, frames and inertias are those of the author. Inside, the frame of a body is the moving side of its joint,
turned so that the joint is in canonical form (a revolute axis is z) and slid along that axis, inertias are (m, h, I at
the origin), once as they are and once regrouped, and mimic joints have coordinates of their own. Bodies whose joints
have the same canonical form, and which agree in being a root or a leaf, are of one kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError, ProgramError
from bough.model.circles import circles
from bough.model.coupling import Coupling, own_joint
from bough.model.digest import model_digest
from bough.model.equivalent import LOWER, NOTHING, regrouped_inertias, slides, span, turns
from bough.model.given import Given, Touched, row_size
from bough.model.inertia import Inertia
from bough.model.model import Model
from bough.model.parameters import NO_PARAMETERS, Parameters, without_values
from bough.model.parts import HERE, Frame
from bough.model.record import REST_OF_ROW, BodyRecord, Kind
from bough.scalar import Array, Index, Scalar, Table
from bough.scalar.lazy import cached_property
from bough.spatial import Matrix, Transform, Vector, as_factors
from bough.tree import Tree

__all__ = ["Mechanism"]

Long: TypeAlias = NDArray[np.longdouble]

SYMMETRIC = ((0, 1, 3), (1, 2, 4), (3, 4, 5))
"""Where the entries of a symmetric matrix lie in its lower triangle."""


class Mechanism:
    """The inside of a model, as a structure for scans.

    Parameters
    ----------
    model
        The model.
    parameters
        Which of its numbers are inputs of the programs. A mechanism with parameters knows its kinds, sizes and digest;
        algorithms run on what `taking` returns.
    slid, regrouped
        Whether frames are turned about and slid along the axes of their joints, and inertias regrouped, so that
        algorithms cost less. All programs are made with both; what each of them saves is counted without.
    """

    def __init__(
        self, model: Model, parameters: Parameters = NO_PARAMETERS, *, slid: bool = True, regrouped: bool = True
    ) -> None:
        self.model, self._slid = model, slid
        self.parameters = parameters
        self.numbers = without_values(model, parameters) if parameters else model
        self.touched = Touched.by(parameters)
        self.tree: Tree = model.tree
        self.coupling: Coupling = model.coupling
        self.joints = tuple(own_joint(entry.joint) for entry in model.joints)
        known = {joint: joint.canonical for joint in dict.fromkeys(self.joints)}
        self._canonical = [known[joint] for joint in self.joints]
        roots, leaves = set(self.tree.roots), set(self.tree.leaves)
        turning, given = set(self.touched.armature), set(self.touched.rows)
        described = [
            Kind(
                canonical,
                is_root=i in roots,
                is_leaf=i in leaves,
                has_armature=any(entry.armature) or i in turning,
                parameters=len(self.joints[i - 1].parameters),
                is_regrouped=regrouped and canonical.spins and not self.touched.holds_inertia(i),
                is_given=i in given,
            )
            for i, (canonical, entry) in enumerate(zip(self._canonical, model.joints, strict=True), start=1)
        ]
        self.kind_list = tuple(dict.fromkeys(described))
        number = {kind: k for k, kind in enumerate(self.kind_list)}
        self.kinds = tuple(number[kind] for kind in described)
        self.q_starts = Table("q_starts", self._shared(_starts([joint.nq for joint in self.joints])))
        self.v_starts = Table("v_starts", self._shared(_starts([joint.nv for joint in self.joints])))
        self.circles = Table("circles", circles(model))
        fixed = self._fixed_constants()
        entries = self.numbers.joints
        further = [
            (*entry.armature, *[0.0] * (canonical.nv - joint.nv), *joint.parameters)
            for entry, joint, canonical in zip(entries, self.joints, self._canonical, strict=True)
        ]
        starts = _starts([REST_OF_ROW + len(row) for row in further])
        constants = np.zeros(fixed.size + sum(map(len, further)))
        constants[starts[:, np.newaxis] + np.arange(REST_OF_ROW)] = fixed
        for start, row in zip(starts.tolist(), further, strict=True):
            constants[start + REST_OF_ROW : start + REST_OF_ROW + len(row)] = row
        self.damping, self.stiffness, self.rest = (
            Table(sort, np.array([x for entry in entries for x in getattr(entry, sort)], dtype=float))
            for sort in ("damping", "stiffness", "rest")
        )
        self.constant_starts = Table("constant_starts", starts)
        self.constants = Table("constants", constants)
        self.loop_sides: Mapping[str, tuple[Transform, Transform]] = {}  # by name, where they are not the model's
        self.given_starts = Table("given_starts", self._given_starts())

    def taking(self, values: Mapping[str, Array]) -> Mechanism:
        """The same mechanism with these values of its parameters, scalars of any sort: what algorithms run on.

        Parameters
        ----------
        values
            An array of scalars for each parameter, by name, in the order of its entries. While a program is traced,
            they are inputs, and this is called before anything is computed.
        """
        made = copy(self)
        if self.inner is not None:
            made.inner = self.inner.taking(values)
        made.given = Given(made, values)
        return made

    def with_constants(self, of_bodies: Table, of_loops: Mapping[str, tuple[Transform, Transform]]) -> Mechanism:
        """A mechanism built alike with other constants: those of the bodies, and where sides of loops are on these."""
        made = copy(self)
        made.constants, made.loop_sides, made.plain = of_bodies, of_loops, self
        return made

    @cached_property
    def plain(self) -> Mechanism:
        """The mechanism whose constants are the numbers of the model."""
        return self

    @cached_property
    def given(self) -> Given:
        """The values of the parameters, and what follows from them."""
        raise ProgramError(f"the parameters {self.parameters.names} of {self.model.name!r} have no values yet")

    @cached_property
    def inner(self) -> Mechanism | None:
        """The mechanism whose mass matrix forward dynamics factorises, where it hangs from another body.

        There is none where that would turn round what is a parameter.
        """
        body = self.model.inner_root
        if not body or self.touched.placed or self.model.tree.path(body)[0] in self.touched.armature:
            return None
        return Mechanism(self.model.inner, Parameters.of(self.model.inner, self.parameters))

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
        return self.given.gravity if self.parameters else Vector(*self.model.gravity)

    @property
    def mass(self) -> Scalar:
        """Total mass of the moving bodies."""
        return self.given.mass if self.parameters else self.model.mass

    @cached_property
    def digest(self) -> str | None:
        """What tells its programs from those of other mechanisms; None if a joint comes from outside the package."""
        said = model_digest(self.numbers)
        return said if said is None or not self.parameters else f"{said} {self.parameters.digest}"

    @cached_property
    def most_modes(self) -> int:
        """The largest number of elastic coordinates of a body; 0 if all are rigid."""
        return max((kind.joint.elastic_count for kind in self.kind_list), default=0)

    def record(self, kind: int, index: Index) -> BodyRecord:
        """The record of a body."""
        return BodyRecord(self, kind, index)

    def at(self, body: int) -> BodyRecord:
        """The record of the body with a given number."""
        return self.record(self.kinds[body - 1], body - 1)

    def frame(self, frame: Frame) -> Transform:
        """Placement of a frame in the inside frame of its body."""
        if self.parameters and frame.name in self.given.frames:
            return self.given.frames[frame.name]
        R, p = (x[frame.body] for x in self.borders)
        return _transform(R @ frame.placement.matrix, R @ frame.placement.vector + p)

    def border(self, body: int) -> Transform:
        """Placement of the author's body frame in the inside one; the base has number 0."""
        R, p = (x[body] for x in self.borders)
        X = _transform(R, p)
        return Transform(as_factors(X.rotation), X.translation) if isinstance(X.rotation, Matrix) else X

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
        placed = self.touched.placed
        return [self._slid and joint.is_axial and i not in placed for i, joint in enumerate(self._canonical, start=1)]

    @cached_property
    def origins(self) -> NDArray[np.float64]:
        """Origin of the inside frame of each body in the moving side of its joint (N + 1, 3); base first."""
        R, p = self._placements
        outer = np.swapaxes(self.alignments[list(self.tree.parents)], 1, 2)
        axes = self.alignments[1:, :, 2:]
        spans = [span(inertia, axis) for inertia, axis in zip(self._inertias, axes[:, :, 0], strict=True)]
        distances = slides(self.tree, self._axial, (outer @ p)[:, :, 0], (outer @ R @ axes)[:, :, 0], spans)
        return np.concatenate([np.zeros((1, 3)), np.reshape(distances, (-1, 1)) * axes[:, :, 0]])

    @cached_property
    def borders(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rotations (N + 1, 3, 3) and origins (N + 1, 3) of the author's body frames in the inside ones; base first."""
        R, p = self._author
        turn = np.swapaxes(self.alignments, 1, 2)
        origins = (turn @ (p - self.origins[:, :, np.newaxis]))[:, :, 0]
        return _clean(turn @ R).astype(float), origins.astype(float) + 0.0

    @property
    def _author(self) -> tuple[Long, Long]:
        """Placements of the author's body frames in the moving sides: (N + 1, 3, 3), (N + 1, 3, 1); the base first."""
        frames = [HERE, *(body.frame for body in self.numbers.bodies)]
        return _long([x.rotation for x in frames], 3, 3), _long([x.origin for x in frames], 3, 1)

    @property
    def _placements(self) -> tuple[Long, Long]:
        """Placements of the joints in the moving sides of their parents: (N, 3, 3), (N, 3, 1)."""
        placements = [entry.placement for entry in self.numbers.joints]
        outer_R, outer_p = (x[list(self.tree.parents)] for x in self._author)
        R, p = _long([x.rotation for x in placements], 3, 3), _long([x.origin for x in placements], 3, 1)
        return _clean(outer_R @ R), outer_R @ p + outer_p

    @cached_property
    def _inertias(self) -> list[Inertia]:
        """Inertias of the bodies in the moving sides of their joints."""
        return [b.inertia if b.frame == HERE else b.inertia.placed(b.frame) for b in self.numbers.bodies]

    def _shared(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where coordinates of bodies begin, with those of stations where the flexible body's do."""
        for i, (canonical, parent) in enumerate(zip(self._canonical, self.tree.parents, strict=True)):
            if canonical.is_station:
                starts[i] = starts[parent - 1]
        return starts

    def _given_starts(self) -> NDArray[np.int64]:
        """Where the row of each body with parameters begins among those rows."""
        starts = np.zeros(self.tree.n, dtype=np.int64)
        rows = self.touched.rows
        starts[[i - 1 for i in rows]] = _starts([row_size(self.joints[i - 1]) for i in rows])
        return starts

    @np.errstate(all="ignore")
    def _fixed_constants(self) -> NDArray[np.float64]:
        """The row of constants of each body up to armatures and parameters, in the order of the offsets above."""
        n, parents, inertias = self.tree.n, list(self.tree.parents), self._inertias
        own, origin = self.alignments[1:], self.origins[1:, :, np.newaxis]
        turn, outer = np.swapaxes(own, 1, 2), np.swapaxes(self.alignments[parents], 1, 2)
        R, p = self._placements
        p = _clean(outer @ (p + R @ origin - self.origins[parents][:, :, np.newaxis]), NOTHING)
        R = _clean(outer @ R @ own)
        mass = _long([inertia.mass for inertia in inertias])
        com = turn @ (_long([inertia.com for inertia in inertias], 3, 1) - origin)
        central = _long([inertia.rotational for inertia in inertias], 6)[:, SYMMETRIC]
        J = _without_rounding(turn @ central @ own + mass[:, np.newaxis, np.newaxis] * _spread(com[:, :, 0]))
        moment = mass[:, np.newaxis] * com[:, :, 0]
        spins = [self.kind_list[kind].is_regrouped for kind in self.kinds]
        m, h, I = regrouped_inertias(self.tree, spins, R, p[:, :, 0], mass, moment, J)
        second = np.trace(I, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] / 2 * np.eye(3) - I
        columns = (
            np.swapaxes(R, 1, 2).reshape(n, 9),
            p.reshape(n, 3),
            *(mass[:, np.newaxis], moment, _lower(J)),
            *(m[:, np.newaxis], h, _lower(I), _lower(second)),
            np.swapaxes(self.borders[0][1:], 1, 2).reshape(n, 9),
            self.borders[1][1:],
        )
        rows = np.concatenate(columns, axis=1).astype(float) + 0.0
        for body in np.flatnonzero(~np.isfinite(rows).all(axis=1)):
            name = self.model.bodies[body].name
            raise ModelError(f"body {name!r}: its moments about the joint, or those of what it carries, are not finite")
        return rows


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *sizes], dtype=np.int64)[:-1]


def _long(numbers: Sequence[object], *shape: int) -> Long:
    """An array (N, *shape) in the longest floats there are: what is made of the model's numbers is rounded once."""
    return np.array(numbers, dtype=np.longdouble).reshape(len(numbers), *shape)


def _clean(A: NDArray[Any], small: float = 4e-16) -> NDArray[Any]:
    return np.where(np.abs(A) <= small, 0.0, A)


def _without_rounding(J: Long) -> Long:
    """Make what inertias (N, 3, 3) lack an exact zero: a point on a skew axis must not resist turning about it."""
    return np.where(np.abs(J) <= 2e-15 * np.abs(J).max(axis=(1, 2), keepdims=True, initial=0.0), 0.0, J)


def _spread(c: Long) -> Long:
    """|c|² 1 - c cᵀ for points (N, 3): the inertia of unit masses there."""
    square = np.sum(c * c, axis=1)[:, np.newaxis, np.newaxis]
    return np.asarray(square * np.eye(3) - c[:, :, np.newaxis] * c[:, np.newaxis, :])


def _lower(A: NDArray[Any]) -> NDArray[Any]:
    """The lower triangles of matrices (N, 3, 3), row by row (N, 6)."""
    lower: NDArray[Any] = A[:, *LOWER]
    return lower


def _transform(R: NDArray[np.float64], p: NDArray[np.float64]) -> Transform:
    x, y, z = (float(v) for v in p)
    return Transform(Matrix.of_rows([[float(v) for v in row] for row in _clean(R)]), Vector(x, y, z))
