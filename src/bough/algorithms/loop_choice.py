"""Which method of motion with constraints has the fewest operations on a mechanism."""

from __future__ import annotations

from functools import lru_cache

from bough.algorithms.closed_loops import TIME_CONSTANT, LoopMethod, constrained_dynamics
from bough.algorithms.clusters import cluster_parts
from bough.algorithms.saddle_tree import saddle_tree
from bough.model import Mechanism
from bough.scalar import Control, Counted, Tally, activate

__all__ = ["MOST", "cheapest_method", "method_operations"]

MOST = 64
"""Up to so many degrees of freedom and rows operations are counted. Beyond, programs are loops that do not see zeros:
methods 1 and 2 are estimated from their trees, and method 3, whose matrices are full then, is not considered."""

HOPELESS = 0.4
"""Nor is it where making its rows orthogonal alone takes this part of what method 1 takes in all, as estimated."""


@lru_cache(maxsize=64)
def method_operations(m: Mechanism) -> dict[LoopMethod, int]:
    """The operations of each method that is considered: counted if the mechanism is small, else estimated."""
    soon, last = saddle_tree(m, "soon"), saddle_tree(m, "last")
    if max(soon.n, soon.count) > MOST:
        return {"kkt": soon.operations, "multipliers": last.operations}
    plain = Mechanism(m.model) if m.parameters else m
    orthogonal = sum(2 * len(columns) * len(rows) ** 2 for columns, rows in cluster_parts(m))
    counted: dict[LoopMethod, int] = {"kkt": _counted(plain, "kkt")}
    alike = soon.operations == last.operations  # then nothing is eliminated after multipliers, but others
    counted["multipliers"] = counted["kkt"] if alike else _counted(plain, "multipliers")
    if orthogonal <= HOPELESS * soon.operations:
        counted["null_space"] = _counted(plain, "null_space")
    return counted


def cheapest_method(m: Mechanism) -> LoopMethod:
    """The method with the fewest operations; of equal ones the first."""
    costs = method_operations(m)
    return min(costs, key=lambda method: costs[method])


def _counted(m: Mechanism, method: LoopMethod) -> int:
    tally = Tally()
    q, v, tau = ([Counted(tally) for _ in range(size)] for size in (m.model.nq, m.model.nv, m.model.nv))
    with activate(Control()):  # whatever is being traced
        constrained_dynamics(m, q, v, tau, None, 1.0 / TIME_CONSTANT, None, method).motion  # noqa: B018 (is counted)
    return tally.count.total
