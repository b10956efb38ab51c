"""Kinds of constraints in maximal coordinates, for `bough.maximal.Linkage`; your own is a subclass of `Constraint`."""

from bough.lagrange.constraints.joints import Coupled, Jointed
from bough.lagrange.constraints.points import (
    Angle,
    AtLeast,
    AtMost,
    Coincident,
    Distance,
    OnPlane,
    OnSurface,
    Path,
    Skate,
    SpeedRatio,
)
from bough.lagrange.constraints.tangency import Ellipsoid, HalfSpace, Tangent
from bough.lagrange.constraints.touching import Contact, Rolling
from bough.model.ties.constraint import Constraint, Side

__all__ = [
    "Angle", "AtLeast", "AtMost", "Coincident", "Constraint", "Contact", "Coupled", "Distance", "Ellipsoid",
    "HalfSpace", "Jointed", "OnPlane", "OnSurface", "Path", "Rolling", "Side", "Skate", "SpeedRatio", "Tangent",
]  # fmt: skip
