"""Linear-time dynamics with Lagrange multipliers, in maximal coordinates (Baraff 1996)."""

from bough.lagrange.anticipation import SystemResponse
from bough.lagrange.auxiliary import Auxiliary
from bough.lagrange.factor import factor, solve
from bough.lagrange.multipliers import multipliers
from bough.lagrange.system import System

__all__ = ["Auxiliary", "System", "SystemResponse", "factor", "multipliers", "solve"]
