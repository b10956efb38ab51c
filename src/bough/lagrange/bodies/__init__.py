"""Kinds of bodies in maximal coordinates, for `bough.maximal.Linkage`; your own is a subclass of `Body`."""

from bough.lagrange.bodies.particle import Particle
from bough.lagrange.bodies.rigid import PlanarRigid, Rigid
from bough.lagrange.bodies.scaled import ScaledRigid
from bough.model.ties.body import Body

__all__ = ["Body", "Particle", "PlanarRigid", "Rigid", "ScaledRigid"]
