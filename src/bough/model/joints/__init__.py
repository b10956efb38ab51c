"""Joints: one contract, one file per type."""

from bough.model.joints.cylindrical import Cylindrical
from bough.model.joints.fixed import Fixed
from bough.model.joints.free import Free
from bough.model.joints.helical import Helical
from bough.model.joints.joint import Joint
from bough.model.joints.mimic import Mimic
from bough.model.joints.planar import Planar
from bough.model.joints.prismatic import Prismatic
from bough.model.joints.revolute import Revolute
from bough.model.joints.spherical import Spherical
from bough.model.joints.translational import Translational
from bough.model.joints.universal import Universal

__all__ = [
    "Cylindrical", "Fixed", "Free", "Helical", "Joint", "Mimic", "Planar", "Prismatic", "Revolute", "Spherical",
    "Translational", "Universal",
]  # fmt: skip
