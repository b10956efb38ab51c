"""Mass matrices that are regular only with loops: bodies without mass, or almost, on joints that loops hold.

Where L q̈ = c, M q̈ = f + Lᵀ λ and (M + Lᵀ W L) q̈ = f + Lᵀ W c + Lᵀ λ say the same, for any weights W. The second matrix
is regular if every motion either has inertia or is held by a loop: whatever is unique can be computed from it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bough.errors import SingularError
from bough.kernel.arguments import FloatArray
from bough.kernel.factors import small_pivots, vanishing_pivots
from bough.kernel.treematrix import unpacked
from bough.model import Model
from bough.scalar.tolerances import SINGULAR_VALUE

__all__ = ["StateError", "made_regular"]


class StateError(Exception):
    """Something is wrong with one of some states: an error, what it says with a place for where, and which it is."""

    def told(self, states: NDArray[np.bool_]) -> Exception:
        """The error, if the states are those that are true here (*batch), one after the other."""
        kind, text, place = self.args
        where = np.argwhere(states)[place[0]].tolist() if states.ndim else []
        error: Exception = kind(text.format(f" in state {where}" if where else ""))
        return error


def made_regular(
    model: Model, packed: FloatArray, L: FloatArray, groups: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """M + Lᵀ W L (..., n, n) and Lᵀ W (..., n, rows), where W is zero unless some joint moves almost nothing.

    M is given as packed path rows.

    Raises
    ------
    StateError
        If that matrix is singular too; the message names a joint. There is one batch axis then.
    """
    M, tree = unpacked(packed, model.dof_tree), model.dof_tree
    held = small_pivots(packed, tree, SINGULAR_VALUE).any(axis=-1, keepdims=True)
    weighted = np.swapaxes(L, -1, -2) * np.where(held, _weights(M, L, groups), 0.0)[..., np.newaxis, :]
    whole = M + weighted @ L
    if held.any():
        _require_regular(model, whole, np.asarray(vanishing_pivots(packed, tree)[0].any(axis=-1)))
    return whole, weighted


def _weights(M: FloatArray, L: FloatArray, groups: Sequence[int]) -> FloatArray:
    """The inertia that each group of rows moves, by the diagonal of M."""
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    largest = diagonal.max(axis=-1, keepdims=True, initial=0.0)
    mobility = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > SINGULAR_VALUE * largest)
    number = np.asarray(groups, dtype=int)
    squares = np.einsum("...rn,...n->...r", L * L, mobility) @ np.equal.outer(number, number).astype(float)
    some = np.broadcast_to(np.where(largest > 0.0, largest, 1.0), squares.shape)
    return np.asarray(np.divide(1.0, squares, out=some.copy(), where=squares > 0.0))


def _require_regular(model: Model, whole: FloatArray, singular: NDArray[np.bool_]) -> None:
    for place in map(tuple, np.argwhere(singular).tolist()):
        matrix = whole[place]
        scale = np.sqrt(np.diagonal(matrix))
        if (scale > 0.0).all():
            values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
            if values[0] > SINGULAR_VALUE**2:
                continue
            k = int(np.argmax(np.abs(vectors[:, 0])))
        else:
            k = int(np.argmin(scale))
        raise StateError(
            SingularError,
            f"joint {model.dof_names[k]!r} moves nothing that has inertia{{}}, and no loop holds it: its motion "
            "cannot be told. Give the bodies beyond it mass and inertia, or the joint an armature",
            place,
        )
