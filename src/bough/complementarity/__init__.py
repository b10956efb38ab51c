"""Complementarity: forces of equalities, one-sided conditions and friction, exactly by pivoting or by Gauss-Seidel."""

from bough.complementarity.conditions import FAR, NO_NORMAL, Conditions
from bough.complementarity.contact_forces import (
    UNMET,
    ContactRows,
    ForceProblem,
    by_guesses,
    by_pivoting,
    by_sweeps,
    contact_forces,
)
from bough.complementarity.dantzig import dantzig
from bough.complementarity.demands import Demands, gauss_seidel, residual
from bough.complementarity.pivoting import Answer, pivoting
from bough.complementarity.principal import SOLVED, principal

__all__ = [
    "FAR", "NO_NORMAL", "SOLVED", "UNMET", "Answer", "Conditions", "ContactRows", "Demands", "ForceProblem",
    "by_guesses", "by_pivoting", "by_sweeps", "contact_forces", "dantzig", "gauss_seidel", "pivoting", "principal",
    "residual",
]  # fmt: skip
