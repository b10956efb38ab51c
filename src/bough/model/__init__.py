"""Mechanisms: bodies, joints, the frozen model, its builder, and its inside as the algorithms see it."""

from bough.model import topologies
from bough.model.builder import Builder
from bough.model.constraints import Attachment, Equality, Loop, Tie
from bough.model.contacts import Contacts, Touch
from bough.model.flexible import Beam, FlexibleBody, StationShapes
from bough.model.geometry import Geometry
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
from bough.model.mechanism import Mechanism
from bough.model.model import BASE, Model
from bough.model.parameters import NO_PARAMETERS, Parameter, Parameters
from bough.model.parts import Body, Frame, Inertia, JointEntry, Placement
from bough.model.record import BodyRecord, combine
from bough.model.rerooting import Rerooting
from bough.model.sensor import Sensor
from bough.model.simulation import Actuator, ExplicitPair, SimulationData
from bough.model.surface import Softness, Surface

__all__ = [
    "BASE",
    "NO_PARAMETERS",
    "Actuator",
    "Attachment",
    "Beam",
    "Body",
    "BodyRecord",
    "Builder",
    "Contacts",
    "Cylindrical",
    "Equality",
    "ExplicitPair",
    "Fixed",
    "FlexibleBody",
    "Frame",
    "Free",
    "Geometry",
    "Helical",
    "Inertia",
    "Joint",
    "JointEntry",
    "Loop",
    "Mechanism",
    "Mimic",
    "Model",
    "Parameter",
    "Parameters",
    "Placement",
    "Planar",
    "Prismatic",
    "Rerooting",
    "Revolute",
    "Sensor",
    "SimulationData",
    "Softness",
    "Spherical",
    "StationShapes",
    "Surface",
    "Tie",
    "Touch",
    "Translational",
    "Universal",
    "combine",
    "topologies",
]  # fmt: skip
