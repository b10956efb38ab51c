"""Joints define how a body moves relative to its parent: revolute, prismatic, free and so on.

Pass one to `bough.Builder.add`, as in ``builder.add("arm", bough.joints.Revolute("z"))``, or to a loop. To write your
own joint, subclass `Joint`.
"""

from bough.model.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translational,
    Universal,
)
from bough.rooms import furnish

__all__ = [
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "Joint",
    "Mimic",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Translational",
    "Universal",
]

furnish(__name__)
