"""Operational-space inertia of a set of frames (Khatib): Λ = (J M⁻¹ Jᵀ)⁻¹."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from bough.algorithms.blocks import SmallFactor
from bough.algorithms.crba import crba
from bough.algorithms.jacobian import jacobian
from bough.algorithms.kinematics import Reference
from bough.factor import diagonal, ltdl, solve_Lt
from bough.model import Frame, Mechanism
from bough.scalar import Array, Bool, Part, Scalar, array, either, loop, maximum

__all__ = ["operational_space_inertia", "operational_space_inverse"]

DEPENDENT = 1e-10
"""A pivot of J M⁻¹ Jᵀ this much smaller than the largest one counts as zero."""


def operational_space_inverse(
    m: Mechanism, q: Array, frames: Sequence[Frame], reference: Reference
) -> tuple[Array, Array]:
    """J M⁻¹ Jᵀ, dense (6k x 6k), and the pivots of M. It exists whether or not the frames can move in all ways."""
    lower, pivots = _lower(m, q, frames, reference)
    return _symmetric(lower), pivots


def operational_space_inertia(
    m: Mechanism, q: Array, frames: Sequence[Frame], reference: Reference
) -> tuple[Array, Array, Bool]:
    """Λ, dense (6k x 6k), the pivots of M, and whether some of J M⁻¹ Jᵀ vanishes."""
    lower, pivots = _lower(m, q, frames, reference)
    small, rows = SmallFactor(lower), len(lower)
    columns = [small.solve([1.0 if k == i else 0.0 for k in range(rows)]) for i in range(rows)]
    largest = reduce(maximum, small.pivots)
    dependent = reduce(either, [pivot <= largest * DEPENDENT for pivot in small.pivots])
    return _symmetric(columns), pivots, dependent


def _lower(m: Mechanism, q: Array, frames: Sequence[Frame], reference: Reference) -> tuple[list[list[Scalar]], Array]:
    """The lower triangle of J M⁻¹ Jᵀ, and the pivots of M. With M = LᵀDL it is Yᵀ D⁻¹ Y, where Y = L⁻ᵀ Jᵀ."""
    tree = m.coupling.dof_tree
    factor = ltdl(tree, crba(m, q))
    D = diagonal(tree, factor)
    jacobians = [jacobian(m, q, frame, reference) for frame in frames]
    Y = [solve_Lt(tree, factor, Part(J, k * tree.n), unit=True) for J in jacobians for k in range(6)]
    return [[_dot(Y[i], Y[j], D, tree.n) for j in range(i + 1)] for i in range(len(Y))], D


def _symmetric(lower: Sequence[Sequence[Scalar]]) -> Array:
    """A dense symmetric matrix from its lower triangle."""
    n = len(lower)
    result = array(n * n)
    for i in range(n):
        for j in range(i + 1):
            for place in {i * n + j, j * n + i}:
                result[place] = lower[i][j]
    return result


def _dot(a: Array, b: Array, D: Array, n: int) -> Scalar:
    """Σ aₖ bₖ / Dₖ."""
    return loop(n, lambda k, total: total + a[k] * b[k] / D[k], 0.0)
