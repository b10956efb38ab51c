"""Motion with contacts, friction and joint limits, on any model, loops included.

`Contacts` says which bodies may touch, and its method `at` where and how they do now: a `Touch`, which all functions
take. `dynamics` finds accelerations, `step` goes on in time, `impulses` are those of impacts, and `velocities` is
motion of first order, without inertia.
"""

from bough.kernel.contact.kinematics import contact_axes as axes
from bough.kernel.contact.kinematics import contact_bias as bias
from bough.kernel.contact.kinematics import contact_jacobian as jacobian
from bough.kernel.contact.motion import contact_dynamics as dynamics
from bough.kernel.contact.motion import contact_impulses as impulses
from bough.kernel.contact.motion import contact_step as step
from bough.kernel.contact.motion import contact_velocities as velocities
from bough.model.contacts import Contacts, Touch

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
