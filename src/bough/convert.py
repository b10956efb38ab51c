"""States q and v in the layouts of other libraries, and back: Pinocchio, MuJoCo, Drake.

Models are not converted here: `bough.load` and `bough.save` read and write files.
"""

from bough.kernel.layouts import (
    states_from_drake,
    states_from_mujoco,
    states_from_pinocchio,
    states_to_drake,
    states_to_mujoco,
    states_to_pinocchio,
)
from bough.rooms import furnish

__all__ = [
    "states_from_drake",
    "states_from_mujoco",
    "states_from_pinocchio",
    "states_to_drake",
    "states_to_mujoco",
    "states_to_pinocchio",
]

furnish(__name__)
