"""Convert states q and v to and from the layouts of Pinocchio, MuJoCo and Drake.

To exchange models, use files: `bough.load` and `bough.save`.
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
