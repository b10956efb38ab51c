"""Complementarity: forces of equalities, one-sided conditions and friction, exactly by pivoting or by Gauss-Seidel."""

from bough.complementarity.conditions import NO_NORMAL, Conditions
from bough.complementarity.contact_forces import FAR, ContactRows, contact_forces
from bough.complementarity.dantzig import dantzig
from bough.complementarity.demands import Demands
from bough.complementarity.force_solvers import UNMET, by_guesses, by_pivoting, by_sweeps
from bough.complementarity.gauss_seidel import gauss_seidel
from bough.complementarity.pivoting import Answer, pivoting
from bough.complementarity.principal import NOT_SMALLEST, SOLVED, UNSOLVED, principal
from bough.complementarity.reduction import scale, smallest
from bough.complementarity.residual import residual
from bough.scalar.tolerances import FAILING

__all__ = [
    "FAILING", "FAR", "NOT_SMALLEST", "NO_NORMAL", "SOLVED", "UNMET", "UNSOLVED", "Answer", "Conditions", "ContactRows",
    "Demands", "by_guesses", "by_pivoting", "by_sweeps", "contact_forces", "dantzig", "gauss_seidel", "pivoting",
    "principal", "residual", "scale", "smallest",
]  # fmt: skip
