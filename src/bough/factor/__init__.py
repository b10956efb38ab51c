"""Factorisations of symmetric positive-definite matrices with a tree's sparsity, over scalars, on packed path rows."""

from bough.factor.columns import inverse_and_products
from bough.factor.inverse import inverse
from bough.factor.ltdl import ltdl
from bough.factor.ltl import ltl
from bough.factor.products import (
    backward,
    diagonal,
    forward,
    margins,
    mul,
    mul_H,
    mul_L,
    mul_Lt,
    solve,
    solve_L,
    solve_Lt,
)
from bough.factor.storage import dense
from bough.factor.udut import udut
from bough.factor.uut import uut

__all__ = [
    "backward",
    "dense",
    "diagonal",
    "forward",
    "inverse",
    "inverse_and_products",
    "ltdl",
    "ltl",
    "margins",
    "mul",
    "mul_H",
    "mul_L",
    "mul_Lt",
    "solve",
    "solve_L",
    "solve_Lt",
    "udut",
    "uut",
]
