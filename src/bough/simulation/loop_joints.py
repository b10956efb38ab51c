"""What a simulation knows of joints that close loops beside that they do: dry friction and limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.limits import limit_rows, limited_joints, limited_loops
from bough.algorithms.loops import loop_motions
from bough.algorithms.soft.law import Softness as InNumbers
from bough.algorithms.soft.scene import LoopJointRow
from bough.kernel.functions import mechanism
from bough.model import Model, Softness

__all__ = ["loop_joints"]

LEAST_WEIGHT = 1e-15


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
    B = _matrix(loop_motions(m, list(q))[1], sum(loop.joint.nv for loop in model.loops), n)
    J: list[Any] = [0.0] * (n * (first + len(closing)))
    if closing:
        limit_rows(m, list(q), None, J)
    slopes = _matrix(J, first + len(closing), n)

    def weight(row: NDArray[np.float64]) -> float:
        return max(float(row @ inverse @ row), LEAST_WEIGHT)

    row = 0
    for loop in model.loops if "frictionloss" not in off else ():
        for k, most in enumerate(loop.friction):
            if most > 0.0:
                soft = read_softness(loop.friction_softness)
                yield LoopJointRow(row + k, soft, weight(B[row + k]), most=float(most))
        row += loop.joint.nv
    for number, c in enumerate(closing if "limit" not in off else (), start=first):
        soft = read_softness(c.entry.limit_softness)
        for sign, bound in ((1.0, c.lower), (-1.0, c.upper)):
            if np.isfinite(bound):
                limit = (c.q_start + c.number, sign, float(bound), c.entry.limit_softness.margin)
                yield LoopJointRow(number, soft, weight(slopes[number]), limit=limit)


def _matrix(values: Any, rows: int, columns: int) -> NDArray[np.float64]:
    return np.array([values[k] for k in range(rows * columns)], dtype=float).reshape(rows, columns)
