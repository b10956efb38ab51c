"""Analytic derivatives, exact to rounding, of the functions of `bough` with the same names.

Derivatives with respect to q are in the tangent space, (..., rows, nv): column k is the rate of the result as q moves
along degree of freedom k, ``bough.integrate(model, q, t * e_k)``, also for quaternions.
"""

from bough.kernel.derivatives import (
    accelerations,
    bias_forces,
    centroidal_momentum,
    forward_dynamics,
    forward_dynamics_second_order,
    gravity_forces,
    rnea,
    rnea_second_order,
    velocities,
)
from bough.rooms import furnish

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

furnish(__name__)
