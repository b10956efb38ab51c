"""Forward dynamics by the joint-space inertia matrix: H q̈ = τ - C, solved with the branch-sparse factor."""

from __future__ import annotations

from bough.algorithms.crba import crba
from bough.algorithms.rerooted import solve_rerooted
from bough.algorithms.rnea import ZEROS, rnea
from bough.factor import diagonal, ltdl, solve
from bough.model import Mechanism
from bough.scalar import Array, Index, array, loop

__all__ = ["forward_dynamics_by_crba"]


def forward_dynamics_by_crba(
    m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None = None
) -> tuple[Array, Array]:
    """The accelerations under joint forces tau, and the pivots D of H = LᵀDL (Featherstone 2005, eq. 1)."""
    tree = m.coupling.dof_tree
    C = rnea(m, q, v, ZEROS, f_ext)
    right = array(tree.n)

    def subtract(k: Index, carry: tuple[()]) -> tuple[()]:
        right[k] = tau[k] - C[k]
        return carry

    loop(tree.n, subtract, ())
    if m.inner is not None:
        return solve_rerooted(m, m.inner, q, right)
    factor = ltdl(tree, crba(m, q))
    return solve(tree, factor, right, unit=True), diagonal(tree, factor)
