"""Complementarity: forces of equalities, one-sided conditions and friction, exactly by pivoting or by Gauss-Seidel."""

from bough.complementarity.conditions import NONE, Conditions
from bough.complementarity.gauss_seidel import gauss_seidel
from bough.complementarity.pivoting import Solution, pivoting
from bough.complementarity.residual import residual

__all__ = ["NONE", "Conditions", "Solution", "gauss_seidel", "pivoting", "residual"]
