"""Simulation: what shapes, joints and models say of it, and which shapes may touch.

`bough.Scene` puts a model into a world and finds the pairs of shapes that may touch. What is said is in a `Surface` for
each shape, a `Softness` for limits, dry friction and constraints, and `model.simulation`, a `SimulationData` with
options, `Actuator` and `ExplicitPair`.
"""

from bough.model import Actuator, ExplicitPair, SimulationData, Softness, Surface
from bough.simulation.pairs import LeftOut, Pair

__all__ = ["Actuator", "ExplicitPair", "LeftOut", "Pair", "SimulationData", "Softness", "Surface"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
