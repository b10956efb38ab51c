"""Operational-space inertia of a set of frames (Khatib): Λ = (J M⁻¹ Jᵀ)⁻¹."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from bough.algorithms.blocks import SmallFactor
from bough.algorithms.jacobian import jacobian
from bough.algorithms.kinematics import Reference
from bough.algorithms.response import TreeResponse, tree_response
from bough.model import Frame, Mechanism
from bough.scalar import Array, Bool, Part, Scalar, array, either, fill, maximum
from bough.scalar.tolerances import SINGULAR_VALUE

__all__ = ["operational_space_inertia", "operational_space_inverse"]


def operational_space_inverse(
    m: Mechanism, q: Array, frames: Sequence[Frame], reference: Reference
) -> tuple[Array, Array]:
    """J M⁻¹ Jᵀ, dense (6k x 6k), and the pivots of M. It exists whether or not the frames can move in all ways."""
    response = _response(m, q, frames, reference)
    return response.A, response.pivots


def operational_space_inertia(
    m: Mechanism, q: Array, frames: Sequence[Frame], reference: Reference
) -> tuple[Array, Array, Bool]:
    """Λ, dense (6k x 6k), the pivots of M, and whether some of J M⁻¹ Jᵀ vanishes."""
    response = _response(m, q, frames, reference)
    rows = response.count
    small = SmallFactor([[response.A[i * rows + j] for j in range(i + 1)] for i in range(rows)])
    columns = [small.solve([1.0 if k == i else 0.0 for k in range(rows)]) for i in range(rows)]
    largest = reduce(maximum, [response.A[i * rows + i] for i in range(rows)])  # a pivot may be no number at all
    dependent = reduce(either, [pivot <= largest * SINGULAR_VALUE**2 for pivot in small.pivots])
    return _symmetric(columns), response.pivots, dependent


def _response(m: Mechanism, q: Array, frames: Sequence[Frame], reference: Reference) -> TreeResponse:
    """Of the Jacobians of all frames, one below the other."""
    size, J = 6 * m.model.nv, array(6 * m.model.nv * len(frames))
    for k, frame in enumerate(frames):
        fill(Part(J, k * size), size, jacobian(m, q, frame, reference).__getitem__)
    return tree_response(m, q, J, 6 * len(frames))


def _symmetric(lower: Sequence[Sequence[Scalar]]) -> Array:
    """A dense symmetric matrix from its lower triangle."""
    n = len(lower)
    result = array(n * n)
    for i in range(n):
        for j in range(i + 1):
            for place in {i * n + j, j * n + i}:
                result[place] = lower[i][j]
    return result
