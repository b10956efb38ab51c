"""Complementarity: forces of equalities, one-sided conditions and friction, exactly by pivoting or by Gauss-Seidel."""

from bough.complementarity.conditions import NONE, Conditions
from bough.complementarity.contact_rows import ContactRows
from bough.complementarity.gauss_seidel import gauss_seidel
from bough.complementarity.pivoting import Answer, pivoting
from bough.complementarity.principal import LARGE, SOLVED, UNSOLVED, principal
from bough.complementarity.reduction import CONFLICT, scale, smallest
from bough.complementarity.residual import residual
from bough.complementarity.settling import (
    BROKEN,
    UNMET,
    WIDER,
    concluded,
    prepared,
    settled_by_pivoting,
    settled_by_sweeps,
)

__all__ = [
    "BROKEN", "CONFLICT", "LARGE", "NONE", "SOLVED", "UNMET", "UNSOLVED", "WIDER", "Answer", "Conditions",
    "ContactRows", "concluded", "gauss_seidel", "pivoting", "prepared", "principal", "residual", "scale",
    "settled_by_pivoting", "settled_by_sweeps", "smallest",
]  # fmt: skip
