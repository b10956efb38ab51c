"""Mass matrices that are regular only with loops: bodies without mass, or almost, on joints that loops hold.

Where L q̈ = c, M q̈ = f + Lᵀ λ and (M + Lᵀ W L) q̈ = f + Lᵀ W c + Lᵀ λ say the same, for any weights W. The second matrix
is regular if every motion either has inertia or is held by a loop: whatever is unique can be computed from it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.closed_loops import LIGHT
from bough.errors import SingularError
from bough.kernel.arguments import FloatArray
from bough.kernel.factors import small_pivots, vanishing_pivots
from bough.kernel.functions import run
from bough.model import Model

__all__ = ["light", "made_regular", "massless"]

LEAST = 1e-13
"""An eigenvalue of the matrix, with its diagonal scaled to ones, that counts as zero."""


def light(model: Model, q: FloatArray) -> NDArray[np.bool_]:
    """In which states (...) some joint of the tree moves almost nothing that has inertia."""
    packed = run(model, "crba_packed", {"q": q}, check=False)["M"]
    return np.asarray(small_pivots(packed, model.dof_tree, LIGHT).any(axis=-1))


def massless(model: Model, q: FloatArray) -> NDArray[np.bool_]:
    """In which states (...) some joint of the tree moves nothing that has inertia."""
    packed = run(model, "crba_packed", {"q": q}, check=False)["M"]
    return np.asarray(vanishing_pivots(packed, model.dof_tree)[0].any(axis=-1))


def made_regular(
    model: Model, q: FloatArray, M: FloatArray, L: FloatArray, groups: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """M + Lᵀ W L (..., n, n) and Lᵀ W (..., n, rows), where W is zero unless some joint is light.

    Raises
    ------
    SingularError
        If that matrix is singular too; the message names a joint.
    """
    held = light(model, q)[..., np.newaxis]
    weighted = np.swapaxes(L, -1, -2) * np.where(held, _weights(M, L, groups), 0.0)[..., np.newaxis, :]
    whole = M + weighted @ L
    if held.any():
        _require_regular(model, whole, massless(model, q))
    return whole, weighted


def _weights(M: FloatArray, L: FloatArray, groups: Sequence[int]) -> FloatArray:
    """The inertia that each group of rows moves, by the diagonal of M."""
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    largest = diagonal.max(axis=-1, keepdims=True, initial=0.0)
    mobility = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > LIGHT * largest)
    number = np.asarray(groups, dtype=int)
    squares = np.einsum("...rn,...n->...r", L * L, mobility) @ np.equal.outer(number, number).astype(float)
    some = np.broadcast_to(np.where(largest > 0.0, largest, 1.0), squares.shape)
    return np.asarray(np.divide(1.0, squares, out=some.copy(), where=squares > 0.0))


def _require_regular(model: Model, whole: FloatArray, singular: NDArray[np.bool_]) -> None:
    for place in np.argwhere(singular):
        matrix = whole[tuple(place)]
        scale = np.sqrt(np.diagonal(matrix))
        if (scale > 0.0).all():
            values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
            if values[0] > LEAST:
                continue
            k = int(np.argmax(np.abs(vectors[:, 0])))
        else:
            k = int(np.argmin(scale))
        where = f" in state {place.tolist()}" if place.size else ""
        raise SingularError(
            f"joint {model.dof_names[k]!r} moves nothing that has inertia{where}, and no loop holds it: its motion "
            "cannot be told. Give the bodies beyond it mass and inertia, or the joint an armature"
        )
