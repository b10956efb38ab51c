"""Which method of motion with constraints has the fewest operations on a mechanism."""

from __future__ import annotations

from functools import lru_cache

from bough.algorithms.closed_loops import TIME_CONSTANT, LoopMethod, constrained_dynamics
from bough.algorithms.clusters import cluster_parts
from bough.algorithms.saddle_tree import saddle_tree
from bough.model import Mechanism
from bough.scalar import Control, Counted, Tally, activate

__all__ = ["COUNTED_UP_TO", "cheapest_method", "method_operations"]

COUNTED_UP_TO = 64
"""Up to so many degrees of freedom and rows operations are counted. Beyond, programs are loops that do not see zeros:
methods 1 and 2 are estimated from their trees, and method 3, whose matrices are full then, is not considered."""

HOPELESS = 0.4
"""Nor is it where making its rows orthogonal alone takes this part of what method 1 takes in all, as estimated."""


def method_operations(m: Mechanism) -> dict[LoopMethod, int]:
    """The operations of each method that is considered: counted if the mechanism is small, else estimated."""
    m, soon, last = m.plain, saddle_tree(m, "soon"), saddle_tree(m, "last")
    if max(soon.n, soon.count) > COUNTED_UP_TO:
        return {"kkt": soon.operations, "multipliers": last.operations}
    considered: tuple[LoopMethod, ...] = ("kkt", "multipliers", "null_space")
    return {method: _count_operations(m, method) for method in considered if method != "null_space" or _promises(m)}


def cheapest_method(m: Mechanism) -> LoopMethod:
    """The method with the fewest operations: method 1 or 3, since method 2 never takes fewer than the former."""
    m = m.plain
    return "null_space" if _promises(m) and _count_operations(m, "null_space") < _count_operations(m, "kkt") else "kkt"


def _promises(m: Mechanism) -> bool:
    """Whether method 3 is considered."""
    soon = saddle_tree(m, "soon")
    orthogonal = sum(2 * len(columns) * len(rows) ** 2 for columns, rows in cluster_parts(m))
    return max(soon.n, soon.count) <= COUNTED_UP_TO and orthogonal <= HOPELESS * soon.operations


@lru_cache(maxsize=64)
def _count_operations(m: Mechanism, method: LoopMethod) -> int:
    tally = Tally()
    m = Mechanism(m.model) if m.parameters else m
    q, v, tau = ([Counted(tally) for _ in range(size)] for size in (m.model.nq, m.model.nv, m.model.nv))
    with activate(Control()):  # whatever is being traced
        constrained_dynamics(m, q, v, tau, None, 1.0 / TIME_CONSTANT, None, method).motion  # noqa: B018 (is counted)
    return tally.count.total
