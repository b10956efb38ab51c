"""The papers behind bough: their tables and figures with operation counts, and their algorithms for comparison.

`pages` lists the papers and their parts, `names` and `measured` list the tables and figures, and `report` recomputes
one, like ``bough paper`` on the command line. `mass_matrix_by_rnea` and `global_form` compute the mass matrix in other
ways, for comparison, not for speed.
"""

from bough.algorithms.global_forms import global_form
from bough.cost.paper import measured, names, pages, report
from bough.kernel.dynamics import mass_matrix_by_rnea
from bough.rooms import furnish

__all__ = [
    "global_form",
    "mass_matrix_by_rnea",
    "measured",
    "names",
    "pages",
    "report",
]

furnish(__name__)
