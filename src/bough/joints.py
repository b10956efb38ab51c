"""Joints, which say how a body moves relative to the one that carries it: revolute, prismatic, free and so on.

Give one to `bough.Builder.add`, as in ``builder.add("arm", bough.joints.Revolute("z"))``, or to a loop. A joint of your
own is a subclass of `Joint`.
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
