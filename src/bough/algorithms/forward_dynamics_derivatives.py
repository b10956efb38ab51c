"""Derivatives of forward dynamics: those of inverse dynamics at its solution, divided by the mass matrix.

From M(q) q̈ + C(q, q̇) = τ follows ∂q̈ = -M⁻¹ ∂τ, where ∂τ are derivatives of inverse dynamics at the accelerations found
(Carpentier & Mansard 2018), and ∂q̈/∂τ = M⁻¹. All go through the branch-sparse factor that found the accelerations.
"""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.crba import crba
from bough.algorithms.rnea import ZEROS, rnea
from bough.algorithms.rnea_derivatives import of_free_roots, rnea_derivatives
from bough.factor import diagonal, inverse_and_products, ltdl, solve
from bough.model import Mechanism
from bough.scalar import Array, filled

__all__ = ["ForwardDerivatives", "forward_dynamics_derivatives"]


@dataclass(frozen=True)
class ForwardDerivatives:
    """∂q̈/∂q (in the tangent space), ∂q̈/∂q̇ and ∂q̈/∂τ = M⁻¹, one behind the other (3 x nv x nv); the pivots of M."""

    stacked: Array
    pivots: Array


def forward_dynamics_derivatives(
    m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None = None
) -> ForwardDerivatives:
    """Derivatives of the accelerations under joint forces tau; external forces stay with their bodies."""
    tree = m.coupling.dof_tree
    n, factor, bias = tree.n, ltdl(tree, crba(m, q)), rnea(m, q, v, ZEROS, f_ext)
    qdd = solve(tree, factor, filled(n, lambda k: tau[k] - bias[k]), unit=True)
    of_forces = rnea_derivatives(m, q, v, qdd, f_ext)
    known = of_free_roots(m, q, v, qdd)
    stacked = inverse_and_products(tree, factor, (of_forces.q, of_forces.v), -1.0, known)
    return ForwardDerivatives(stacked, diagonal(tree, factor))
