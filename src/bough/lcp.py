"""Linear complementarity problems: find forces f of equalities, limits, boxes and friction with a = A f + b.

`Conditions` gives the condition of each row. `pivoting` solves exactly, `gauss_seidel` iterates from a warm start, and
`residual` returns the error of given forces. These functions need no model.
"""

from bough.complementarity import Conditions
from bough.kernel.contact.complementarity import Solution, Swept, gauss_seidel, pivoting, residual
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
