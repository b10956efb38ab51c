"""Placements of frames as users give them: made from angles, quaternions, matrices and motions, composed, inverted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import FiniteError, ModelError
from bough.model.joints import Joint
from bough.model.joints.reading import read_floats
from bough.reading import instance, shown
from bough.scalar.tolerances import UNIT_LENGTH
from bough.spatial import Matrix, Motion, Quaternion, Transform, Vector

__all__ = ["HERE", "Placement", "Vec3", "all_finite", "require_placement", "rotation_from_rpy"]

Vec3: TypeAlias = tuple[float, float, float]
Floats = NDArray[np.float64]


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Rotation (3, 3) by roll about x, then pitch about y, then yaw about z, all axes fixed (rad)."""
    (cx, sx), (cy, sy), (cz, sz) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
    return np.array(
        [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx],
        ]
    )


@dataclass(frozen=True, slots=True, init=False)
class Placement:
    """Placement of a frame in another frame: rotation (3, 3, child to parent coordinates) and origin (3,) in metres.

    ``A @ B`` composes placements: B places a frame in the frame of A. ``X.inverse`` is the inverse, and
    ``X.act(points)`` transforms points from the child frame to the parent frame. In the methods of models and builders,
    `at` may be a placement.

    Parameters
    ----------
    rotation
        A (3, 3) rotation matrix. A matrix within 1e-6 of a rotation is replaced by the nearest rotation.
    origin
        Position of the origin of the frame, three numbers (m).

    Examples
    --------
    >>> import bough
    >>> X = bough.Placement.from_rpy((0, 0, 3.141592653589793), origin=(1, 0, 0))
    >>> X.act((1, 0, 0))
    array([0., 0., 0.])
    >>> X @ X.inverse == bough.Placement()
    True
    """

    rotation: tuple[Vec3, Vec3, Vec3]
    origin: Vec3

    def __init__(
        self,
        rotation: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        origin: ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        R, p = _checked(rotation, origin, "a placement")
        _set(self, [_row(row) for row in R.tolist()], p.tolist())

    # -- made from other things --------------------------------------------------------------------------------------

    @staticmethod
    def of(rotation: ArrayLike, origin: ArrayLike, what: str) -> Placement:
        """Make a placement from arrays, with checks; errors name `what`. A matrix within 1e-6 of a rotation becomes the
        nearest rotation.
        """
        return Placement._made(*_checked(rotation, origin, what))

    @staticmethod
    def from_rpy(rpy: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Placement:
        """Make a placement from roll about x, then pitch about y, then yaw about z, about fixed axes (rad), as in
        URDF.
        """
        angles = read_floats(rpy, "rpy of a placement", "three finite angles (rad)")
        if angles.shape != (3,) or not all_finite(angles):
            raise ModelError(f"rpy of a placement is {rpy!r}, expected three finite angles (rad)")
        return Placement.of(rotation_from_rpy(*(float(a) for a in angles)), origin, "a placement")

    @staticmethod
    def from_quaternion(quaternion: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Placement:
        """Make a placement from a unit quaternion [x y z w], scalar last, and an origin."""
        q = read_floats(quaternion, "the quaternion of a placement", "four finite numbers (x y z w)")
        if q.shape != (4,) or not all_finite(q):
            raise ModelError(f"the quaternion of a placement is {quaternion!r}, expected four finite numbers (x y z w)")
        length = math.hypot(*q.tolist())
        if not abs(length - 1.0) <= UNIT_LENGTH:
            raise ModelError(f"the quaternion of a placement has length {length:.9g}, expected 1")
        return Placement.of(_rows(Quaternion.of((q / length).tolist()).rotation), origin, "a placement")

    @staticmethod
    def from_matrix(matrix: ArrayLike) -> Placement:
        """Make a placement from a homogeneous (4, 4) matrix, as `bough.placements` returns."""
        X = read_floats(matrix, "the matrix of a placement", "a (4, 4) matrix")
        if X.shape != (4, 4):
            raise ModelError(f"the matrix of a placement has shape {X.shape}, expected (4, 4)")
        if X[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
            raise ModelError(f"the last row of the matrix of a placement is {X[3].tolist()}, expected 0 0 0 1")
        return Placement.of(X[:3, :3], X[:3, 3], "a placement")

    @staticmethod
    def exp(motion: ArrayLike) -> Placement:
        """Return the placement that a frame reaches in unit time at a constant velocity, relative to its start.

        The velocity [vx vy vz ωx ωy ωz] (m, rad) is along the axes of the frame itself, linear part first.
        `bough.exp_placements` does the same for arrays.
        """
        m = read_floats(motion, "the motion", "six finite numbers, linear part first (m, rad)")
        if m.shape != (6,) or not all_finite(m):
            raise ModelError(f"the motion is {motion!r}, expected six finite numbers, linear part first (m, rad)")
        x = m.tolist()
        try:
            X = Transform.exp(Motion(Vector.of(x[3:]), Vector.of(x[:3])))
        except ValueError:  # the sine of infinity
            X = None
        if X is None or not all(map(math.isfinite, X.translation.parts)):
            raise FiniteError(f"the motion is {motion!r}: its exponential is not finite")
        return _set(object.__new__(Placement), _rows(X.rotation), [float(x) for x in X.translation.parts])

    @staticmethod
    def by_joint(joint: Joint, q: Sequence[float]) -> Placement:
        """Return the placement of a body in the joint frame at a configuration, both in the axes of the model."""
        if not isinstance(joint, Joint):
            raise ModelError(f"joint is {shown(joint)}, expected a bough.joints.Joint")
        given = read_floats(q, "q", f"{joint.nq} numbers")
        if given.shape != (joint.nq,) or not np.isfinite(given).all():
            raise ModelError(f"q is {shown(q)}, expected {joint.nq} finite numbers")
        X, turn = joint.canonical.transform(joint.parameters, given.tolist()), joint.alignment
        R = np.array([column.parts for column in X.rotation.columns], dtype=float).T
        return Placement._made(turn @ R @ turn.T, turn @ np.array(X.translation.parts, dtype=float))

    @staticmethod
    def _made(R: Floats, p: Floats) -> Placement:
        """From a rotation and an origin. Entries within rounding of 0 and ±1 are made exact."""
        return _set(object.__new__(Placement), [_row(row) for row in R.tolist()], p.tolist())

    # -- as numbers --------------------------------------------------------------------------------------------------

    @property
    def matrix(self) -> Floats:
        """The rotation as an array (3, 3)."""
        return np.array(self.rotation)

    @property
    def vector(self) -> Floats:
        """The origin as an array (3,)."""
        return np.array(self.origin)

    @property
    def homogeneous(self) -> Floats:
        """The homogeneous (4, 4) matrix, as `bough.placements` returns: it maps [x y z 1] from child to parent
        coordinates.
        """
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.rotation, self.origin
        return X

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The homogeneous matrix (4, 4), where an array is expected."""
        return self.homogeneous if dtype is None else self.homogeneous.astype(dtype)

    @property
    def quaternion(self) -> Floats:
        """The rotation as a unit quaternion [x y z w], with the sign that makes its largest entry positive."""
        return np.array(Quaternion.of_rotation(Matrix.of_rows(self.rotation)).parts, dtype=float)

    @property
    def rpy(self) -> Vec3:
        """Roll, pitch and yaw (rad), exact to rounding, also if roll and yaw rotate about the same axis."""
        (a, b, c), (d, e, f), (g, _, _) = self.rotation
        yaw = math.atan2(d, a) if math.hypot(a, d) > 1e-12 else 0.0
        cz, sz = math.cos(yaw), math.sin(yaw)
        # with the yaw undone, the second row is (0, cos roll, -sin roll): what yaw misses, roll takes up
        return math.atan2(sz * c - cz * f, cz * e - sz * b), math.atan2(-g, cz * a + sz * d), yaw

    @property
    def log(self) -> Floats:
        """The logarithm: the motion (6,), linear part first (m, rad), whose exponential is this placement; at most half
        a turn.

        For exactly half a turn it returns one of the two solutions. `bough.log_placements` does the same for arrays.
        """
        m = Transform(Matrix.of_rows(self.rotation), Vector(*self.origin)).log
        result = np.array([*m.linear.parts, *m.angular.parts], dtype=float)
        if not all_finite(result):
            raise FiniteError(f"the origin {self.origin} of a placement is too far away: its logarithm is not finite")
        return result

    # -- put to use --------------------------------------------------------------------------------------------------

    @property
    def inverse(self) -> Placement:
        """The inverse: the placement of the parent frame in the child frame."""
        return self if self is HERE else Placement._made(self.matrix.T, -self.matrix.T @ self.vector)

    def then(self, inner: Placement) -> Placement:
        """Return the composition with `inner`, a placement in the child frame; also written ``self @ inner``."""
        instance(inner, "inner", Placement)
        if self is HERE:
            return inner
        if inner is HERE:
            return self
        return Placement._made(self.matrix @ inner.matrix, self.matrix @ inner.vector + self.vector)

    def __matmul__(self, inner: Placement) -> Placement:
        return self.then(inner) if isinstance(inner, Placement) else NotImplemented

    def act(self, points: ArrayLike) -> Floats:
        """Transform points (..., 3) from child to parent coordinates (m): R p + origin."""
        p = read_floats(points, "the points", "numbers of shape (..., 3)")
        if p.shape[-1:] != (3,):
            raise ModelError(f"the points have shape {p.shape}, expected (..., 3)")
        if not np.isfinite(p).all():
            raise FiniteError("some of the points are not finite, expected finite numbers (m)")
        return np.asarray(p @ self.matrix.T + self.vector)


def _set(placement: Placement, rows: Sequence[Vec3], origin: Sequence[float]) -> Placement:
    """Give a placement its parts, known to be good."""
    (a, b, c), (x, y, z) = rows, origin
    object.__setattr__(placement, "rotation", (a, b, c))
    object.__setattr__(placement, "origin", (x + 0.0, y + 0.0, z + 0.0))
    return placement


def _checked(rotation: ArrayLike, origin: ArrayLike, what: str) -> tuple[Floats, Floats]:
    """A rotation and an origin as arrays, or an error."""
    p = read_floats(origin, f"{what}: the position", "three finite numbers (metres)")
    R = read_floats(rotation, f"{what}: the rotation", "a finite (3, 3) matrix")
    if p.shape != (3,) or not all_finite(p):
        raise ModelError(f"{what}: the position is {origin!r}, expected three finite numbers (metres)")
    if R.shape != (3, 3) or not all_finite(R):
        raise ModelError(f"{what}: the rotation is {rotation!r}, expected a finite (3, 3) matrix")
    if _is_rotation(*R.tolist()):
        return R, p
    error = np.abs(R @ R.T - np.eye(3)).max() if np.abs(R).max() < 2.0 else np.inf
    if error > UNIT_LENGTH or np.linalg.det(R) < 0:
        raise ModelError(f"{what}: the matrix {R.tolist()} is not a rotation (orthogonal, determinant 1)")
    if error > 1e-14:
        left, _, right = np.linalg.svd(R)
        R = left @ right
    return R, p


def _rows(R: Any) -> list[Vec3]:
    """The rows of a rotation over floats."""
    x, y, z = R.columns
    return [(x.x, y.x, z.x), (x.y, y.y, z.y), (x.z, y.z, z.z)]


def _exact(x: float) -> float:
    """Make what is within rounding of 0 and ±1 exact, so that it folds away."""
    size = abs(x)
    return 0.0 if size < 4e-16 else math.copysign(1.0, x) if abs(size - 1.0) < 4e-16 else x


def _row(values: Sequence[float]) -> Vec3:
    x, y, z = map(_exact, values)
    return (x, y, z)


# Models may have 100 000 bodies, and NumPy is slow on small arrays, so what plainly passes is accepted by these.


def all_finite(a: Floats) -> bool:
    """Whether every entry of a small array is finite."""
    return all(map(math.isfinite, a.ravel().tolist()))


def _is_rotation(a: Sequence[float], b: Sequence[float], c: Sequence[float], rounding: float = 1e-14) -> bool:
    """Whether three rows are orthonormal to rounding and right-handed."""
    for u, v, one in ((a, a, 1.0), (a, b, 0.0), (a, c, 0.0), (b, b, 1.0), (b, c, 0.0), (c, c, 1.0)):
        if not abs(u[0] * v[0] + u[1] * v[1] + u[2] * v[2] - one) <= rounding:
            return False
    return a[0] * (b[1] * c[2] - b[2] * c[1]) > a[1] * (b[0] * c[2] - b[2] * c[0]) - a[2] * (b[0] * c[1] - b[1] * c[0])


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


HERE = Placement()
