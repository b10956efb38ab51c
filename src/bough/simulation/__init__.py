"""Simulation: its data in models, and its results.

`bough.Scene` puts a model into a world and finds the pairs of shapes that may touch. A shape has a `Surface`; limits,
dry friction and constraints have a `Softness`; and `model.simulation` is a `SimulationData` with options, `Actuator`
and `ExplicitPair`. A run returns a `bough.Trajectory`, with `Sample` and `Energy` over time.
"""

from bough.model import Actuator, ExplicitPair, Sensor, SimulationData, Softness, Surface
from bough.rooms import furnish
from bough.simulation.contact_forces import ContactForces
from bough.simulation.events import Event, Occurrence
from bough.simulation.hulls import Hull
from bough.simulation.pairs import LeftOut, Pair
from bough.simulation.poses import lowest_point, on_the_floor
from bough.simulation.rollout import Rollout
from bough.simulation.state import State
from bough.simulation.sweep import Sweep
from bough.simulation.trajectory_samples import Energy, Sample

__all__ = [
    "Actuator", "ContactForces", "Energy", "Event", "ExplicitPair", "Hull", "LeftOut", "Occurrence", "Pair", "Rollout",
    "Sample", "Sensor", "SimulationData", "Softness", "State", "Surface", "Sweep", "lowest_point", "on_the_floor",
]  # fmt: skip

furnish(__name__)
