"""Factors that users make of their own arrays, read before machine code sees them."""

from __future__ import annotations

from typing import Any

from bough.errors import ModelError, UnknownNameError
from bough.kernel.arguments import FloatArray, as_floats, require_finite
from bough.kernel.treematrix import as_tree
from bough.lagrange import System
from bough.tree import Tree

__all__ = ["read_factor", "read_system_factor"]

KINDS = ("ltl", "ltdl", "udut", "uut")


def read_factor(kind: Any, packed: Any, tree: Any) -> tuple[Tree, FloatArray]:
    """The tree and the rows of a `Factor`, or an error that says what is wrong with its parts."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise UnknownNameError("kind of factor", kind, KINDS)
    tree = as_tree(tree)
    meaning = f"{tree.n} rows with {tree.packed_size} entries on and below the diagonal"
    return tree, _held(packed, tree.packed_size, meaning)


def read_system_factor(system: Any, packed: Any) -> dict[str, object]:
    """The parts of a `SystemFactor`, or an error that says what is wrong with them."""
    if not isinstance(system, System):
        raise ModelError(f"the system is a {type(system).__name__}, expected a bough.maximal.System")
    size = system.factor_size
    return {"system": system, "packed": _held(packed, size, f"the blocks of a factor with {size} entries")}


def _held(packed: Any, size: int, meaning: str) -> FloatArray:
    """A read-only copy (*batch, size) of finite numbers, float64 or float32."""
    a = as_floats("packed", packed, (size,), meaning)
    require_finite("packed", a)
    held = a.copy(order="C")
    held.setflags(write=False)
    return held
