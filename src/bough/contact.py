"""Exact rigid contact with friction and joint limits, on any model, including loops.

`Contacts` lists pairs of bodies that may touch. Its method `at` returns a `Touch` (points, normals, friction, gaps),
which all functions take. `dynamics` computes accelerations, `step` makes a time step, `impulses` computes impacts, and
`velocities` computes first-order motion without inertia.
"""

from bough.kernel.contact.kinematics import axes, bias, jacobian
from bough.kernel.contact.motion import dynamics, impulses, step, velocities
from bough.model.contacts import Contacts, Touch
from bough.rooms import furnish

__all__ = [
    "Contacts",
    "Touch",
    "axes",
    "bias",
    "dynamics",
    "impulses",
    "jacobian",
    "step",
    "velocities",
]

furnish(__name__)
