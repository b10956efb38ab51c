"""Analytic derivatives, exact to rounding, of the functions of `bough` that are called alike.

Those with respect to q are in the tangent space, (..., rows, nv): column k is the rate of the result as q moves along
the k-th degree of freedom, ``bough.integrate(model, q, t * e_k)``, quaternions included.
"""

from bough.kernel.derivatives import acceleration_derivatives as accelerations
from bough.kernel.derivatives import bias_forces_derivatives as bias_forces
from bough.kernel.derivatives import centroidal_momentum_derivatives as centroidal_momentum
from bough.kernel.derivatives import forward_dynamics_derivatives as forward_dynamics
from bough.kernel.derivatives import gravity_forces_derivatives as gravity_forces
from bough.kernel.derivatives import rnea_derivatives as rnea
from bough.kernel.derivatives import velocity_derivatives as velocities
from bough.kernel.second_derivatives import forward_dynamics_second_derivatives as forward_dynamics_second_order
from bough.kernel.second_derivatives import rnea_second_derivatives as rnea_second_order

__all__ = [
    "accelerations",
    "bias_forces",
    "centroidal_momentum",
    "forward_dynamics",
    "forward_dynamics_second_order",
    "gravity_forces",
    "rnea",
    "rnea_second_order",
    "velocities",
]
