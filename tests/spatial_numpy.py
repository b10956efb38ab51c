"""Spatial algebra written a second time, as NumPy arrays with the angular part first, for tests to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.scalar import Count, Counted, Tally, leaves, map_leaves
from bough.spatial import ArticulatedInertia, Force, Matrix, Motion, RigidInertia, Symmetric, Transform, Vector
from bough.spatial.rotation import Product

__all__ = ["cost", "cross", "cross_motion", "dense", "motion_matrix", "random_rotation", "random_structure"]

Floats = NDArray[np.float64]


def dense(x: Any) -> Floats:
    """A vector, matrix, motion, force or inertia as an array."""
    if isinstance(x, Vector):
        return np.array([x.x, x.y, x.z], dtype=float)
    if isinstance(x, Matrix | Product):
        return np.column_stack([dense(column) for column in x.columns])
    if isinstance(x, Symmetric):
        return np.array([[x.xx, x.yx, x.zx], [x.yx, x.yy, x.zy], [x.zx, x.zy, x.zz]], dtype=float)
    if isinstance(x, Motion | Force):
        return np.concatenate([dense(x.angular), dense(x.linear)])
    if isinstance(x, RigidInertia):
        h = cross(dense(x.moment))
        return np.block([[dense(x.rotational), h], [h.T, x.mass * np.eye(3)]])
    if isinstance(x, ArticulatedInertia):
        C = dense(x.coupling)
        return np.block([[dense(x.angular), C], [C.T, dense(x.linear)]])
    raise TypeError(type(x).__name__)


def cross(v: Floats) -> Floats:
    """The matrix of v ×."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def cross_motion(v: Floats) -> Floats:
    """The 6 x 6 matrix of v × on motions."""
    w, u = cross(v[:3]), cross(v[3:])
    return np.block([[w, np.zeros((3, 3))], [u, w]])


def motion_matrix(X: Transform) -> Floats:
    """The 6 x 6 matrix that takes motions from child to parent coordinates."""
    R = dense(X.rotation)
    return np.block([[R, np.zeros((3, 3))], [cross(dense(X.translation)) @ R, R]])


def random_rotation(rng: np.random.Generator) -> Matrix:
    """A rotation matrix, from a QR factorisation."""
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Matrix.of_rows((Q * np.linalg.det(Q)).tolist())


def random_structure(rng: np.random.Generator, like: Any) -> Any:
    """A structure of the shape of `like` filled with random floats; rotations are rotations."""
    if isinstance(like, Transform):
        return Transform(random_rotation(rng), random_structure(rng, like.translation))
    numbers = iter(rng.normal(size=len(leaves(like))).tolist())
    return map_leaves(lambda _: next(numbers), like)


def cost(function: Any, *likes: Any) -> Count:
    """Operations of a function on structures all of whose scalars are unknown."""
    tally = Tally()
    function(*(map_leaves(lambda _: Counted(tally), like) for like in likes))
    return tally.count
