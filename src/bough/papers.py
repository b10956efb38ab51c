"""The papers bough is made from: their tables and figures beside counts, and forms of theirs to compare with.

`pages` lists the papers and what there is of each, `names` and `measured` the tables and figures, and `report` makes
one anew, as ``bough paper`` does on the command line.
`mass_matrix_by_rnea` and `global_form` are other ways to the mass matrix, there to be compared and not to be fast.
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
