"""Factor and solution in one: one pass over the nodes less than `factor` and `solve` in turn."""

from __future__ import annotations

from typing import Any

from bough.lagrange.factor import go_back
from bough.lagrange.pair import Pair
from bough.lagrange.system import System
from bough.scalar import Array, array
from bough.tree.scans import inward

__all__ = ["multipliers"]


def multipliers(
    system: System,
    mass: Array,
    jacobian: Array,
    force: Array,
    c: Array,
    compliance: Array | None = None,
    part: float = 0.0,
) -> tuple[Array, Array]:
    """The solution x = [v̇, λ] of H x = [force, c], and the verdicts of `factor`."""
    verdicts, sums = array(system.tree.n), array(system.sums_size)

    def forward(pair: Pair, _: tuple[()]) -> tuple[tuple[()], Any]:
        body, constraint = pair.nodes(mass, jacobian, compliance, force, c)
        D = constraint.factor(body.factor(pair.sum_D(sums)))
        pair.add(sums, D, constraint.forward(body.forward(pair.sum_soln(sums))))
        verdicts[pair.index] = pair.verdict(part, body, constraint)
        return (), pair.for_way_back(body, constraint)

    kept = inward(system, forward, ())
    return go_back(system, lambda pair: pair.nodes_on_way_back(kept[pair])), verdicts
