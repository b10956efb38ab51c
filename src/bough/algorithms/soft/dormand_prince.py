"""A step of the fifth order with an estimate of its error, and the motion within it.

The method is that of Dormand & Prince (1980), for rotations in the form of Munthe-Kaas; within the step the motion is
Shampine's continuous extension of the fourth order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from bough.algorithms.soft.fixed_axes import along_body, along_fixed, chart_rate, moved
from bough.algorithms.soft.scene import SoftScene
from bough.algorithms.soft.states import FASTEST
from bough.algorithms.soft.step import soft_accelerations
from bough.model import Mechanism
from bough.scalar import (
    Array,
    Index,
    Scalar,
    Table,
    absolute,
    both,
    gather,
    indexable,
    maximum,
    plus,
    repeat,
    select,
)

__all__ = ["FAILED_STEP", "trial_step"]

FAILED_STEP = 1e30
"""The error of a step that led nowhere."""

STAGES = 7
A = np.zeros((STAGES, STAGES))
A[1, :1] = 1 / 5
A[2, :2] = 3 / 40, 9 / 40
A[3, :3] = 44 / 45, -56 / 15, 32 / 9
A[4, :4] = 19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729
A[5, :5] = 9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656
A[6, :6] = 35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84
END = A[6]
ERROR = END - np.array([5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40])
BEND = np.array(
    [
        (-5 * 2558722523 / 11282082432, 5 * 31403016 / 11282082432),
        (0, 0),
        (100 * 882725551 / 32700410799, -100 * 15701508 / 32700410799),
        (-25 * 443332067 / 1880347072, 25 * 31403016 / 1880347072),
        (32805 * 23143187 / 199316789632, -32805 * 3489224 / 199316789632),
        (-55 * 29972135 / 822651844, 55 * 7076736 / 822651844),
        (10 * 7414447 / 29380423, -10 * 829305 / 29380423),
    ]
)
"""Weights within a step are those of the cubic through both ends, and θ² (θ - 1)² times these, constant and × θ."""

COEFFICIENTS, ONE = Table("coefficients", A.ravel()), Table("one", np.eye(STAGES).ravel())

Scalars: TypeAlias = tuple[Scalar, ...]
Stage: TypeAlias = tuple[tuple[Scalars, ...], tuple[Scalars, ...], Scalars]
"""Rates of the way and of v of all stages, and the last accelerations; all along fixed axes."""


def trial_step(m: Mechanism, scene: SoftScene, x: Mapping[str, Array]) -> dict[str, Any]:
    """The state after a step of some `length`, the one at a `part` of it, and the error of the step.

    The error is the largest of those of positions (m, rad), and of velocities where it is divided by 1 + their size.
    """
    nq, n = m.model.nq, m.model.nv
    q, v = tuple(x["q"][k] for k in range(nq)), tuple(x["v"][k] for k in range(n))
    h, theta = x["length"][0], x["part"][0]
    start, warm = along_fixed(m, q, v), along_fixed(m, q, [x["a"][k] for k in range(n)])

    def stage(k: Index, carry: Stage) -> Stage:
        ways, rates, warm = carry
        weights = [gather(COEFFICIENTS, k * STAGES + j) for j in range(STAGES)]
        way = _sum(weights, ways, h)
        here, speed = moved(m, q, way, 1.0), plus(start, _sum(weights, rates, h))
        own = (indexable(n, along_body(m, here, values)) for values in (speed, warm))
        body, guess = own
        _, found = soft_accelerations(m, scene, x, indexable(nq, here), body, x["dt"][0], [guess[j] for j in range(n)])
        a = tuple(along_fixed(m, here, found.a))
        new, marks = chart_rate(m, way, speed), [gather(ONE, k * STAGES + j) for j in range(STAGES)]
        ways, rates = (
            tuple(tuple(plus(old, [mark * y for y in value])) for old, mark in zip(all_, marks, strict=True))
            for all_, value in ((ways, new), (rates, a))
        )
        return ways, rates, a

    none: Scalars = (0.0,) * n
    ways, rates, a = repeat(STAGES, stage, ((none,) * STAGES, (none,) * STAGES, tuple(warm)))

    def state_at(weights: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        there = moved(m, q, _sum(weights, ways, h), 1.0)
        return there, along_body(m, there, plus(start, _sum(weights, rates, h)))

    (q1, v1), (q_part, v_part) = state_at(END.tolist()), state_at(_within(theta))
    error = _largest(_sum(ERROR.tolist(), ways, h), _sum(ERROR.tolist(), rates, h), start)
    total: Scalar = error * error
    for value in (*q1, *v1, *q_part, *v_part):
        total = total + value * value
    sound = both(total - total >= 0.0, total < FASTEST * FASTEST)
    last = along_body(m, q1, a)
    new = {"q_after": (q1, q), "v_after": (v1, v), "q_within": (q_part, q), "v_within": (v_part, v)}
    chosen = {key: [select(sound, y, z) for y, z in zip(*two, strict=True)] for key, two in new.items()}
    rest = [select(sound, y, 0.0) for y in last]
    return {**chosen, "a_after": rest, "error": [select(sound, error, FAILED_STEP)]}


def _within(t: Scalar) -> list[Scalar]:
    """Weights of the stages at a part of a step."""
    cubic, bump = t * t * (3.0 - 2.0 * t), t * t * (t - 1.0) * (t - 1.0)
    weights = [cubic * float(b) + bump * (float(c) + float(d) * t) for b, (c, d) in zip(END, BEND, strict=True)]
    weights[0] = weights[0] + t * (t - 1.0) * (t - 1.0)
    weights[6] = weights[6] + t * t * (t - 1.0)
    return weights


def _sum(weights: Sequence[Scalar], rates: Sequence[Sequence[Scalar]], h: Scalar) -> list[Scalar]:
    """H Σ wⱼ kⱼ."""
    total: list[Scalar] = [0.0] * len(rates[0])
    for weight, rate in zip(weights, rates, strict=True):
        total = plus(total, [weight * y for y in rate])
    return [h * y for y in total]


def _largest(way: Sequence[Scalar], speed: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    most: Scalar = 0.0
    for value in way:
        most = maximum(most, absolute(value))
    for value, size in zip(speed, v, strict=True):
        most = maximum(most, absolute(value) / (1.0 + absolute(size)))
    return most
