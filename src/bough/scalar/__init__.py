"""Scalars: the table of operations, symbolic and counting scalars, functions of scalars, control primitives."""

from bough.scalar.control import (
    Array,
    Control,
    Rows,
    Table,
    activate,
    array,
    gather,
    gather_index,
    loop,
    rows,
    switch,
)
from bough.scalar.counting import Count, Counted, Tally, part
from bough.scalar.functions import (
    absolute,
    atan2,
    both,
    cos,
    either,
    maximum,
    minimum,
    negation,
    select,
    sin,
    sqrt,
)
from bough.scalar.ops import INDEX_OPS, OPS, Kind, Op
from bough.scalar.structure import leaves, map_leaves, rebuild, shape
from bough.scalar.symbolic import Bool, Index, Scalar, Symbolic, SymbolicIndex, fold

__all__ = [
    "INDEX_OPS", "OPS", "Array", "Bool", "Control", "Count", "Counted", "Index", "Kind", "Op", "Rows", "Scalar",
    "Symbolic", "SymbolicIndex", "Table", "Tally", "absolute", "activate", "array", "atan2", "both", "cos", "either",
    "fold", "gather", "gather_index", "leaves", "loop", "map_leaves", "maximum", "minimum", "negation", "part",
    "rebuild", "rows", "select", "shape", "sin", "sqrt", "switch",
]  # fmt: skip
