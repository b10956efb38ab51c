"""Spatial algebra over scalars: vectors, rotations, motions, forces, inertias, placements."""

from bough.spatial.elastic import Deformed, ModeMoments
from bough.spatial.inertia import (
    NO_ARTICULATED,
    NO_INERTIA,
    ArticulatedInertia,
    CoriolisInertia,
    MassMoments,
    RigidInertia,
    rate_matrix,
)
from bough.spatial.matrix import IDENTITY, Matrix, Symmetric, cross_matrix, from_quaternion
from bough.spatial.motion import NO_FORCE, REST, UNIT_MOTIONS, Force, Motion, unit_directions
from bough.spatial.quaternion import Quaternion, left_jacobian, left_jacobian_inverse
from bough.spatial.rotation import Rotation, about_x, about_y, about_z, as_factors, short_way, turn_about_z
from bough.spatial.transform import STAY, Transform
from bough.spatial.vector import UNITS, ZERO, Vector

__all__ = [
    "IDENTITY",
    "NO_ARTICULATED",
    "NO_FORCE",
    "NO_INERTIA",
    "REST",
    "STAY",
    "UNITS",
    "UNIT_MOTIONS",
    "ZERO",
    "ArticulatedInertia",
    "CoriolisInertia",
    "Deformed",
    "Force",
    "MassMoments",
    "Matrix",
    "ModeMoments",
    "Motion",
    "Quaternion",
    "RigidInertia",
    "Rotation",
    "Symmetric",
    "Transform",
    "Vector",
    "about_x",
    "about_y",
    "about_z",
    "as_factors",
    "cross_matrix",
    "from_quaternion",
    "left_jacobian",
    "left_jacobian_inverse",
    "rate_matrix",
    "short_way",
    "turn_about_z",
    "unit_directions",
]
