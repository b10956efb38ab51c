"""Kinds of constraints in maximal coordinates, for `bough.maximal.Linkage`; your own is a subclass of `Constraint`."""

from bough.lagrange.constraints.joints import Coupled, Jointed
from bough.lagrange.constraints.one_sided import AtLeast, AtMost, Contact
from bough.lagrange.constraints.points import Angle, Coincident, Distance, OnPlane, OnSurface, Path
from bough.lagrange.constraints.tangency import Ellipsoid, HalfSpace, Tangent
from bough.lagrange.constraints.velocities import Rolling, Skate, SpeedRatio
from bough.model.ties.constraint import Constraint, Side

__all__ = [
    "Angle", "AtLeast", "AtMost", "Coincident", "Constraint", "Contact", "Coupled", "Distance", "Ellipsoid",
    "HalfSpace", "Jointed", "OnPlane", "OnSurface", "Path", "Rolling", "Side", "Skate", "SpeedRatio", "Tangent",
]  # fmt: skip
