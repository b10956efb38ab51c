"""What a simulation knows of joints that close loops beside that they do: dry friction and limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.limits import limit_rows, limited_joints, limited_loops
from bough.algorithms.loops import loop_motions
from bough.algorithms.soft.law import Softness as InNumbers
from bough.algorithms.soft.scene import LoopJointRow
from bough.kernel.functions import mechanism
from bough.model import Model, Softness
from bough.simulation.row_masses import inverse_masses, matrix_of

__all__ = ["loop_joints"]


def loop_joints(
    model: Model,
    q: NDArray[np.float64],
    inverse: NDArray[np.float64],
    read_softness: Callable[[Softness], InNumbers],
) -> Iterator[LoopJointRow]:
    """The rows of a model, with inverse masses along them in a configuration q, where M⁻¹ is `inverse`."""
    off = model.simulation.switched_off
    if not model.loops or "equality" in off:
        return
    m, n = mechanism(model), model.nv
    first, closing = len(limited_joints(model)), limited_loops(model)
    turns = sum(loop.joint.nv for loop in model.loops)

    def rows(q: Sequence[float]) -> NDArray[np.float64]:
        """The rates of all coordinates of loop joints, then of those with limits."""
        J: list[Any] = [0.0] * (n * (first + len(closing)))
        if closing:
            limit_rows(m, list(q), None, J)
        slopes = matrix_of(J, first + len(closing), n)[first:]
        return np.concatenate([matrix_of(loop_motions(m, list(q))[1], turns, n), slopes])

    if not closing and not any(x for loop in model.loops for x in loop.friction):
        return
    weights = inverse_masses(model, q, inverse, rows)
    row = 0
    for loop in model.loops if "frictionloss" not in off else ():
        for k, most in enumerate(loop.friction):
            if most > 0.0:
                soft = read_softness(loop.friction_softness)
                yield LoopJointRow(row + k, soft, weights[row + k], most=float(most))
        row += loop.joint.nv
    for number, c in enumerate(closing if "limit" not in off else (), start=first):
        soft = read_softness(c.entry.limit_softness)
        for sign, bound in ((1.0, c.lower), (-1.0, c.upper)):
            if np.isfinite(bound):
                limit = (c.q_start + c.number, sign, float(bound), c.entry.limit_softness.margin)
                yield LoopJointRow(number, soft, weights[turns + number - first], limit=limit)
