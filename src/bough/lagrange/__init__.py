"""Linear-time dynamics with Lagrange multipliers, in maximal coordinates (Baraff 1996)."""

from bough.lagrange.factor import factor, multipliers, solve
from bough.lagrange.system import System

__all__ = ["System", "factor", "multipliers", "solve"]
