"""Complementarity: forces of equalities, one-sided conditions and friction, exactly by pivoting or by Gauss-Seidel."""

from bough.complementarity.conditions import NONE, Conditions
from bough.complementarity.gauss_seidel import gauss_seidel
from bough.complementarity.pivoting import Answer, pivoting
from bough.complementarity.principal import LARGE, SOLVED, principal
from bough.complementarity.reduction import CONFLICT, scale, smallest
from bough.complementarity.residual import residual

__all__ = [
    "CONFLICT", "LARGE", "NONE", "SOLVED", "Answer", "Conditions", "gauss_seidel", "pivoting", "principal", "residual",
    "scale", "smallest",
]  # fmt: skip
