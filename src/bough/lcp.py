"""Linear complementarity problems: forces f of equalities, limits, boxes and friction that act on a = A f + b.

`Conditions` says what is asked of each row. `pivoting` solves exactly, `gauss_seidel` by sweeps from a good start, and
`residual` tells by how much given forces fail. No model is needed.
"""

from bough.complementarity import Conditions
from bough.kernel.contact.complementarity import gauss_seidel, pivoting, residual
from bough.kernel.contact.forces import Solution, Swept
from bough.rooms import furnish

__all__ = [
    "Conditions",
    "Solution",
    "Swept",
    "gauss_seidel",
    "pivoting",
    "residual",
]

furnish(__name__)
