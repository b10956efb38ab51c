"""What parameters make of the inside of a model: rows of constants with scalars in them, gravity, mass and frames.

A body whose inertia or placement is given keeps its inertia: regrouping would hand it on to all bodies towards the
base. Its frame is neither turned nor slid where its placement is given, since what is simple depends on the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bough.errors import ModelError
from bough.model.joints import Joint
from bough.model.parameters import INERTIAL, PER_DOF, PLACED, Parameter, Parameters
from bough.model.parts import Placement
from bough.model.record import BORDER, INERTIA, ORIGIN, REGROUPED, REST_OF_ROW, ROTATION, SECOND
from bough.scalar import Array, Scalar, blank
from bough.spatial import (
    NO_INERTIA,
    Matrix,
    RigidInertia,
    Rotation,
    Symmetric,
    Transform,
    Vector,
    as_factors,
    from_quaternion,
)

if TYPE_CHECKING:
    from bough.model.mechanism import Mechanism
    from bough.model.model import Model

__all__ = ["Given", "Touched", "row_size"]

Scalars = Sequence[Scalar]


@dataclass(frozen=True)
class Touched:
    """Numbers of the bodies on which parameters act: by their inertia, their placement, their joint in other ways."""

    inertial: frozenset[int]
    placed: frozenset[int]
    armature: frozenset[int]
    joint: frozenset[int]

    @staticmethod
    def by(parameters: Parameters) -> Touched:
        """The bodies on which some parameters act."""

        def of(*sorts: str) -> frozenset[int]:
            placed = [p for p in parameters if p.what in sorts]
            return frozenset(p.body for p in placed if not (p.what in PLACED and p.frame))

        in_rows = [sort for sort in PER_DOF if sort != "friction"]
        return Touched(of(*INERTIAL, "payload"), of(*PLACED), of("armature"), of(*in_rows))

    @property
    def rows(self) -> list[int]:
        """Bodies whose row of constants has scalars in it."""
        return sorted(self.inertial | self.placed | self.joint)

    def holds_inertia(self, body: int) -> bool:
        """Whether the body's inertia is not regrouped."""
        return body in self.inertial or body in self.placed


class Given:
    """The values of the parameters of a mechanism, and all that follows from them.

    Parameters
    ----------
    m
        The mechanism, with numbers in place of them.
    values
        An array of scalars for each parameter, by name.
    """

    def __init__(self, m: Mechanism, values: Mapping[str, Array]) -> None:
        self._model: Model = m.model
        self._values: dict[tuple[str, int, str], list[Scalar]] = {}
        for p in m.parameters:
            self._values[p.what, p.body, p.frame] = _read(p, values)
        own = {i: self._own(i) for i in m.touched.inertial}
        added = {i: self._payload(m, i) for i in m.touched.inertial}
        gravity = self._get("gravity")
        self.gravity = Vector.of(m.numbers.gravity if gravity is None else gravity)
        self.mass: Scalar = m.numbers.mass
        for i in m.touched.inertial:
            self.mass = self.mass + (own[i].mass + added[i].mass)
        self.frames = {
            p.frame: m.border(p.body).then(self._placement(m.model.frame(p.frame).placement, p.body, p.frame))
            for p in m.parameters
            if p.what in PLACED and p.frame
        }
        flat: list[Scalar] = []
        for i in m.touched.rows:
            more = m.border(i).inertia_to_parent(own[i]) + added[i] if i in own else NO_INERTIA
            place = self._joint_placement(m, i) if i in m.touched.placed else None
            flat += self._row(m, i, more, place)
        self.rows = blank(len(flat))
        for k, x in enumerate(flat):
            self.rows[k] = x

    def _row(self, m: Mechanism, i: int, more: RigidInertia, place: Transform | None) -> list[Scalar]:
        """The constants of a body with all that is given, laid out as its record reads them."""
        joint, entry = m.joints[i - 1], m.numbers.joints[i - 1]
        start = int(m.constant_starts.data[i - 1])
        row: list[Scalar] = m.constants.data[start : start + REST_OF_ROW].tolist()
        if place is not None:
            row[ROTATION:ORIGIN] = [x for column in place.rotation.columns for x in column.parts]
            row[ORIGIN:INERTIA] = place.translation.parts
        if more is not NO_INERTIA:
            J = more.rotational
            values = (more.mass, *more.moment.parts, J.xx, J.yx, J.yy, J.zx, J.zy, J.zz)
            for at in (INERTIA, REGROUPED):
                row[at : at + 10] = [x + y for x, y in zip(row[at : at + 10], values, strict=True)]
            xx, yx, yy, zx, zy, zz = row[REGROUPED + 4 : REGROUPED + 10]
            half = (xx + yy + zz) * 0.5
            row[SECOND:BORDER] = [half - xx, -yx, half - yy, -zx, -zy, half - zz]
        armature, damping, stiffness, rest = (
            self._get(sort, i) or getattr(entry, sort) for sort in ("armature", "damping", "stiffness", "rest")
        )
        return [*row, *armature, *joint.parameters, *damping, *stiffness, *rest]

    def friction(self, body: int) -> list[Scalar]:
        """The dry friction of the joint of a body, which is given."""
        return self._values["friction", body, ""]

    def _get(self, what: str, body: int = 0, frame: str = "") -> list[Scalar] | None:
        return self._values.get((what, body, frame))

    def _own(self, i: int) -> RigidInertia:
        """What is given of a body's own inertia, in its frame and about its origin; nothing if nothing is."""
        moments = self._get("moments", i)
        if moments is not None:
            return RigidInertia(moments[0], Vector.of(moments[1:4]), Symmetric(*moments[4:]))
        whole = self._get("body", i)
        if whole is not None:
            return _about_origin(whole)
        mass, com, J = (self._get(what, i) for what in ("mass", "com", "inertia"))
        if mass is None and com is None and J is None:
            return NO_INERTIA
        inertia = self._model.bodies[i - 1].inertia
        central = inertia.rotational if J is None else _symmetric(J)
        return _about_origin([*(mass or [inertia.mass]), *(com or inertia.com), *central])

    def _payload(self, m: Mechanism, i: int) -> RigidInertia:
        """What is added to a body, in its inside frame."""
        total = NO_INERTIA
        for (what, body, frame), values in self._values.items():
            if what == "payload" and body == i:
                X = m.border(i)
                if frame:
                    X = X.then(self._placement(self._model.frame(frame).placement, i, frame))
                total = total + X.inertia_to_parent(_about_origin(values))
        return total

    def _placement(self, at: Placement, body: int, frame: str) -> Transform:
        """A placement with the parts that are given."""
        whole = self._get("placement", body, frame)
        position = self._get("position", body, frame) if whole is None else whole[:3]
        turn = self._get("rotation", body, frame) if whole is None else whole[3:]
        R: Rotation = as_factors(Matrix.of_rows(at.rotation)) if turn is None else from_quaternion(*turn)
        return Transform(R, Vector.of(at.origin if position is None else position))

    def _joint_placement(self, m: Mechanism, i: int) -> Transform:
        """Placement of the inside frame at rest in the inside frame of the parent."""
        inner = Transform(Matrix.of_rows(m.alignments[i].tolist()), Vector.of(m.origins[i].tolist()))
        at = self._placement(self._model.joints[i - 1].placement, i, "")
        return m.border(m.tree.parents[i - 1]).then(at).then(inner)


def row_size(joint: Joint) -> int:
    """Length of the row of a body with parameters: as other rows, and damping, stiffness and rest behind that."""
    return REST_OF_ROW + 3 * joint.nv + len(joint.parameters) + joint.nq


def _read(p: Parameter, values: Mapping[str, Array]) -> list[Scalar]:
    if p.name not in values:
        raise ModelError(f"the parameter {p.name!r} has no value, expected {p.size} numbers: {p.meaning}")
    return [values[p.name][k] for k in range(p.size)]


def _symmetric(J: Scalars) -> list[Scalar]:
    """The lower triangle of the symmetric part of a matrix, row by row."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = J
    return [xx, (yx + xy) * 0.5, yy, (zx + xz) * 0.5, (zy + yz) * 0.5, zz]


def _about_origin(values: Scalars) -> RigidInertia:
    """The rigid-body inertia about the origin, from mass, centre of mass and inertia about that centre."""
    mass, x, y, z, *central = values
    c = Vector(x, y, z)
    h = c * mass
    xx, yy, zz = x * h.x, y * h.y, z * h.z
    J = Symmetric(*central)
    about = Symmetric(
        J.xx + (yy + zz), J.yx - y * h.x, J.yy + (xx + zz), J.zx - z * h.x, J.zy - z * h.y, J.zz + (xx + yy)
    )
    return RigidInertia(mass, h, about)
