"""What each algorithm takes and gives: one row per algorithm, for running it and for counting it."""

from bough.errors import UnknownNameError
from bough.kernel.specs.constraints import CONSTRAINTS
from bough.kernel.specs.contact import CONTACT, LEVELS
from bough.kernel.specs.maximal import MAXIMAL
from bough.kernel.specs.spec import OPTIONAL, Options, Spec
from bough.kernel.specs.trees import FORMS, TREES

__all__ = ["NEED_CONTACTS", "NEED_FRAMES", "OPTIONAL", "PAPER_FORMS", "SEARCHING", "SPECS", "Options", "Spec", "spec"]

SPECS: dict[str, Spec] = {row.name: row for row in (*TREES, *CONSTRAINTS, *MAXIMAL, *CONTACT)}
PAPER_FORMS: dict[str, Spec] = {row.name: row for row in FORMS}
"""Other forms of some of them, as the papers write them."""

NEED_FRAMES = ("jacobian", "jacobian_packed", "jacobian_rate", "operational_space_inertia", "operational_space_inverse")
NEED_CONTACTS = tuple(row.name for row in CONTACT)
SEARCHING = tuple(name for name, *_ in LEVELS)
"""Algorithms that search, so that what they do depends on the state; each states a problem first, ``…_problem``."""


def spec(name: str) -> Spec:
    """The row of an algorithm."""
    known = SPECS | PAPER_FORMS
    if name not in known:
        raise UnknownNameError("algorithm", name, known)
    return known[name]
