"""Motion with contacts, friction and joint limits, on any model, loops included.

`Contacts` says which bodies may touch, and its method `at` where and how they do now: a `Touch`, which all functions
take. `dynamics` finds accelerations, `step` goes on in time, `impulses` are those of impacts, and `velocities` is
motion of first order, without inertia.
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
