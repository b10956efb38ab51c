"""What a model is made of, as users give it: inertias, placements, joints with their limits, frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ModelError
from bough.model.joints import Joint
from bough.model.joints.reading import read_floats

__all__ = [
    "HERE", "Body", "Frame", "Inertia", "JointEntry", "Placement", "Vec3", "require_inertia", "require_placement",
]  # fmt: skip

Vec3: TypeAlias = tuple[float, float, float]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a frame is in another: rotation (3, 3, child to parent coordinates) and origin (3,) in metres."""

    rotation: tuple[Vec3, Vec3, Vec3]
    origin: Vec3

    @staticmethod
    def of(rotation: ArrayLike, origin: ArrayLike, what: str) -> Placement:
        """From arrays, checked. A matrix within 1e-6 of a rotation is replaced by the nearest one."""
        p = read_floats(origin, f"{what}: the position", "three finite numbers (metres)")
        R = read_floats(rotation, f"{what}: the rotation", "a finite (3, 3) matrix")
        if p.shape != (3,) or not _finite(p):
            raise ModelError(f"{what}: the position is {origin!r}, expected three finite numbers (metres)")
        if R.shape != (3, 3) or not _finite(R):
            raise ModelError(f"{what}: the rotation is {rotation!r}, expected a finite (3, 3) matrix")
        if _is_rotation(*R.tolist()):
            return Placement._made(R, p)
        error = np.abs(R @ R.T - np.eye(3)).max() if np.abs(R).max() < 2.0 else np.inf
        if error > 1e-6 or np.linalg.det(R) < 0:
            raise ModelError(f"{what}: the matrix {R.tolist()} is not a rotation (orthogonal, determinant 1)")
        if error > 1e-14:
            left, _, right = np.linalg.svd(R)
            R = left @ right
        return Placement._made(R, p)

    @staticmethod
    def _made(R: Floats, p: Floats) -> Placement:
        """From a rotation and an origin. Entries within rounding of 0 and ±1 are made exact."""
        a, b, c = R.tolist()
        x, y, z = p.tolist()
        return Placement((_row(a), _row(b), _row(c)), (x + 0.0, y + 0.0, z + 0.0))

    @staticmethod
    def by_joint(joint: Joint, q: Sequence[float]) -> Placement:
        """Where a joint holds its body in the joint frame at a configuration, both in the author's axes."""
        X, turn = joint.canonical.transform(joint.parameters, q), joint.alignment
        R = np.array([column.parts for column in X.rotation.columns], dtype=float).T
        return Placement._made(turn @ R @ turn.T, turn @ np.array(X.translation.parts, dtype=float))

    @property
    def matrix(self) -> Floats:
        """The rotation as an array."""
        return np.array(self.rotation)

    @property
    def vector(self) -> Floats:
        """The origin as an array."""
        return np.array(self.origin)

    @property
    def inverse(self) -> Placement:
        """Where the other frame is in this one."""
        return self if self is HERE else Placement._made(self.matrix.T, -self.matrix.T @ self.vector)

    def then(self, inner: Placement) -> Placement:
        """Placement of the frame that `inner` places in this one."""
        if self is HERE:
            return inner
        if inner is HERE:
            return self
        return Placement._made(self.matrix @ inner.matrix, self.matrix @ inner.vector + self.vector)


HERE = Placement(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, 0.0))


def _exact(x: float) -> float:
    """Make what is within rounding of 0 and ±1 exact, so that it folds away."""
    size = abs(x)
    return 0.0 if size < 4e-16 else math.copysign(1.0, x) if abs(size - 1.0) < 4e-16 else x


def _row(values: Sequence[float]) -> Vec3:
    x, y, z = map(_exact, values)
    return (x, y, z)


# Models may have 100 000 bodies, and NumPy is slow on small arrays, so what plainly passes is accepted by these.


def _finite(a: Floats) -> bool:
    return all(map(math.isfinite, a.ravel().tolist()))


def _is_rotation(a: Sequence[float], b: Sequence[float], c: Sequence[float], rounding: float = 1e-14) -> bool:
    """Whether three rows are orthonormal to rounding and right-handed."""
    for u, v, one in ((a, a, 1.0), (a, b, 0.0), (a, c, 0.0), (b, b, 1.0), (b, c, 0.0), (c, c, 1.0)):
        if not abs(u[0] * v[0] + u[1] * v[1] + u[2] * v[2] - one) <= rounding:
            return False
    return a[0] * (b[1] * c[2] - b[2] * c[1]) > a[1] * (b[0] * c[2] - b[2] * c[0]) - a[2] * (b[0] * c[1] - b[1] * c[0])


def _is_inertia(J: Floats) -> bool:
    """Whether a matrix is exactly symmetric, with positive moments none of which exceeds the sum of the others."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = J.tolist()
    half = (xx + yy + zz) / 2.0
    return (
        (xy, xz, yz) == (yx, zx, zy)
        and _is_positive(xx, yy, zz, xy, xz, yz)
        and _is_positive(half - xx, half - yy, half - zz, -xy, -xz, -yz)
    )


def _is_positive(xx: float, yy: float, zz: float, xy: float, xz: float, yz: float) -> bool:
    """Whether a symmetric matrix is positive definite by more than rounding: its leading minors are positive."""
    scale = max(xx, yy, zz)
    minor = xx * yy - xy * xy
    whole = zz * minor - yz * (xx * yz - xy * xz) + xz * (xy * yz - yy * xz)
    return xx > 1e-12 * scale and minor > 1e-12 * scale * scale and whole > 1e-12 * scale * scale * scale


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass (kg), centre of mass (m) and rotational inertia about it (kg m²: xx yx yy zx zy zz), in the body frame."""

    mass: float
    com: Vec3
    rotational: tuple[float, float, float, float, float, float]

    @staticmethod
    def of(mass: float, com: ArrayLike, inertia: ArrayLike, what: str) -> Inertia:
        """Checked; `inertia` is a number, three principal moments or a (3, 3) matrix, about the centre of mass."""
        made = Inertia.read(mass, com, inertia, what)
        flaw = made.flaw
        if flaw is not None:
            raise ModelError(f"{what}: {flaw}")
        return made

    @staticmethod
    def read(mass: float, com: ArrayLike, inertia: ArrayLike, what: str) -> Inertia:
        """From numbers, finite and symmetric, but not always those of a rigid body: `flaw` tells."""
        m = read_floats(mass, f"{what}: the mass", "a number (kg)")
        c = read_floats(com, f"{what}: the centre of mass", "three finite numbers (metres)")
        J = read_floats(inertia, f"{what}: the inertia", "a number, three, or a (3, 3) matrix")
        if m.shape != () or not _finite(m) or m < 0:
            raise ModelError(f"{what}: the mass is {mass}, expected a finite number that is not negative (kg)")
        if c.shape != (3,) or not _finite(c):
            raise ModelError(f"{what}: the centre of mass is {com!r}, expected three finite numbers (metres)")
        if J.shape not in ((), (3,), (3, 3)) or not _finite(J):
            raise ModelError(f"{what}: the inertia is {inertia!r}, expected a finite number, three, or a (3, 3) matrix")
        J = J if J.ndim == 2 else np.diag(np.broadcast_to(J, 3))
        if np.abs(J - J.T).max() > 1e-9 * np.abs(J).max() + 1e-15 * float(m):
            raise ModelError(f"{what}: the inertia {J.tolist()} is not symmetric")
        return Inertia._made(float(m), c, (J + J.T) / 2)

    @property
    def flaw(self) -> str | None:
        """Why no rigid body has this inertia, or None.

        Rounding is forgiven: moments may be negative by as much as shifting the origin costs, and break the triangle
        inequality in the fourth digit, as those of flat bodies do in files with few digits.
        """
        if _is_inertia(self.matrix):
            return None
        moments = np.linalg.eigvalsh(self.matrix)
        x, y, z = self.com
        scale, shift = float(np.abs(moments).max()), 1e-15 * self.mass * (1.0 + x * x + y * y + z * z)
        if moments[0] < -1e-9 * scale - shift:
            return f"the inertia has the negative principal moment {moments[0]:g} kg m²"
        if moments[2] > moments[0] + moments[1] + 1e-4 * scale + shift:
            return (
                f"the principal moments {moments.tolist()} kg m² break the triangle inequality "
                "(none may exceed the sum of the others): no rigid body has them"
            )
        return None

    @staticmethod
    def _made(mass: float, c: Floats, J: Floats) -> Inertia:
        (xx, _, _), (yx, yy, _), (zx, zy, zz) = J.tolist()
        x, y, z = c.tolist()
        return Inertia(mass, (x + 0.0, y + 0.0, z + 0.0), (xx, yx, yy, zx, zy, zz))

    @property
    def matrix(self) -> Floats:
        """The rotational inertia as an array (3, 3)."""
        xx, yx, yy, zx, zy, zz = self.rotational
        return np.array([[xx, yx, zx], [yx, yy, zy], [zx, zy, zz]])

    def about_origin(self) -> Floats:
        """The rotational inertia about the origin of the body frame (3, 3)."""
        return self.matrix + _parallel(self.mass, np.array(self.com))

    def placed(self, at: Placement) -> Inertia:
        """The same inertia seen from the frame in which `at` places the present one."""
        R = at.matrix
        return Inertia._made(self.mass, R @ np.array(self.com) + at.vector, R @ self.matrix @ R.T)

    def plus(self, other: Inertia) -> Inertia:
        """Two bodies as one."""
        mass = self.mass + other.mass
        if mass == 0.0:
            return Inertia._made(0.0, np.array(self.com), self.matrix + other.matrix)
        com = (self.mass * np.array(self.com) + other.mass * np.array(other.com)) / mass
        J = sum((x.matrix + _parallel(x.mass, np.array(x.com) - com) for x in (self, other)), start=np.zeros((3, 3)))
        return Inertia._made(mass, com, J)

    def minus(self, part: Inertia) -> Inertia:
        """What is left of a body without one of its parts; differences within rounding are nothing."""
        mass = self.mass - part.mass
        if mass <= 1e-12 * self.mass:
            mass = 0.0
        whole = self.about_origin() - part.about_origin()
        com = np.zeros(3)
        if mass > 0.0:
            com = (self.mass * np.array(self.com) - part.mass * np.array(part.com)) / mass
        J = whole - _parallel(mass, com)
        if np.abs(J).max() <= 1e-12 * np.abs(self.about_origin()).max():
            J = np.zeros((3, 3))
        return Inertia._made(mass, com, (J + J.T) / 2)


def _parallel(mass: float, c: Floats) -> Floats:
    return np.asarray(mass * ((c @ c) * np.eye(3) - np.outer(c, c)))


def require_placement(placement: object, what: str) -> None:
    """Raise unless it is a placement of finite numbers, with a rotation; the message says of what."""
    if placement is HERE:
        return
    if not isinstance(placement, Placement):
        raise ModelError(f"{what}: the placement is {placement!r}, expected a Placement")
    try:
        (a, b, c), p = placement.rotation, placement.origin
        sound = len(a) == len(b) == len(c) == len(p) == 3 and all(map(math.isfinite, p))
        sound = sound and _is_rotation(a, b, c, 1e-9)
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise ModelError(
            f"{what}: the placement is {placement!r}, expected three finite numbers (metres) and a (3, 3) "
            "rotation (orthogonal, determinant 1)"
        )


def require_inertia(inertia: object, what: str) -> None:
    """Raise unless it is an inertia of finite numbers whose mass is not negative; the message says of what.

    Files may say moments that no rigid body has (see `Inertia.flaw`); where users give them, they are refused.
    """
    if not isinstance(inertia, Inertia):
        raise ModelError(f"{what}: the inertia is {inertia!r}, expected an Inertia")
    try:
        sound = len(inertia.com) == 3 and len(inertia.rotational) == 6
        sound = sound and all(map(math.isfinite, (inertia.mass, *inertia.com, *inertia.rotational)))
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise ModelError(f"{what}: the inertia is {inertia!r}, expected finite numbers: a mass, three and six of them")
    if inertia.mass < 0.0:
        raise ModelError(f"{what}: the mass is {inertia.mass}, expected a finite number that is not negative (kg)")


@dataclass(frozen=True, slots=True)
class Body:
    """A moving body.

    `frame` places the body frame in the moving side of the body's joint. Whatever is said of a body (its inertia,
    joints and frames on it, forces that act on it) is in the body frame.
    """

    name: str
    inertia: Inertia
    frame: Placement = HERE


@dataclass(frozen=True, slots=True)
class Frame:
    """A named frame fixed to a body (0 is the base).

    `inertia` is that part of the body's inertia that came with a link on a fixed joint, in this frame, where it was
    asked to be kept: for the record, since the body has it already.
    """

    name: str
    body: int
    placement: Placement
    inertia: Inertia | None = None


@dataclass(frozen=True, slots=True)
class JointEntry:
    """The joint of one body: its type, where its fixed side sits on the parent, and its limits and losses.

    `lower` and `upper` bound q, `rest` is where a spring is at rest (length nq); the others are per degree of freedom
    (length nv). Limits, damping (N m s/rad or N s/m), dry friction (N m or N) and the stiffness of springs (N m/rad or
    N/m) are carried for simulation and control; the dynamics functions use `armature` (kg m² or kg), which is added to
    the diagonal of the mass matrix.
    """

    name: str
    joint: Joint
    placement: Placement
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]
    damping: tuple[float, ...]
    friction: tuple[float, ...]
    armature: tuple[float, ...]
    stiffness: tuple[float, ...]
    rest: tuple[float, ...]
