"""Factors that users make of their own arrays, read before machine code sees them."""

from __future__ import annotations

from typing import Any

from bough.errors import ModelError, UnknownNameError
from bough.kernel.arguments import FloatArray, held
from bough.kernel.treematrix import as_tree, held_rows
from bough.lagrange import System
from bough.tree import Tree

__all__ = ["read_factor", "read_system_factor"]

KINDS = ("ltl", "ltdl", "udut", "uut")


def read_factor(kind: Any, packed: Any, tree: Any) -> tuple[Tree, FloatArray]:
    """The tree and the rows of a `Factor`, or an error that says what is wrong with its parts."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise UnknownNameError("kind of factor", kind, KINDS)
    tree = as_tree(tree)
    return tree, held_rows("packed", packed, tree)


def read_system_factor(system: Any, packed: Any) -> dict[str, object]:
    """The parts of a `SystemFactor`, or an error that says what is wrong with them."""
    if not isinstance(system, System):
        raise ModelError(f"the system is a {type(system).__name__}, expected a bough.maximal.System")
    size = system.factor_size
    return {"system": system, "packed": held("packed", packed, size, f"the blocks of a factor with {size} entries")}
