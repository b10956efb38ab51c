"""Derivatives by central differences of the eighth order, and the motion of a mechanism over a short time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bough

__all__ = ["along", "derivative", "gradient", "move"]

OFFSETS = np.array([-4, -3, -2, -1, 1, 2, 3, 4])
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])

ANGLE = 0.03
"""What a mechanism may turn in one step. Truncation is of the order of ANGLE⁸, rounding of 1e-16 / ANGLE."""


def derivative(function: Callable[[float], Any], step: float = 2e-2) -> Any:
    """The derivative of a function of a number at 0."""
    return sum(w * np.array(function(float(k * step))) for k, w in zip(OFFSETS, WEIGHTS, strict=True)) / step


def along(model: bough.Model, function: Callable[[Any, Any], Any], q: Any, v: Any, a: Any | None = None) -> Any:
    """The rate of function(q, v) as the mechanism moves with velocity v and acceleration a (zero if not given)."""
    rate = np.zeros_like(v) if a is None else a
    total = np.abs(v).sum(axis=-1).max() + np.sqrt(np.abs(rate).sum(axis=-1).max())
    return derivative(lambda t: function(bough.integrate(model, q, t * v), v + t * rate), ANGLE / max(total, 1e-3))


def gradient(model: bough.Model, function: Callable[[Any], Any], q: Any) -> Any:
    """The derivatives of function(q), an array (..., k), with respect to each degree of freedom: (..., k, nv)."""
    directions = np.eye(model.nv)
    rows = derivative(lambda t: function(bough.integrate(model, q[..., None, :], t * directions)), ANGLE)
    return np.swapaxes(rows, -1, -2)


def move(model: bough.Model, q: Any, v: Any, tau: Any, time: float, steps: int) -> tuple[Any, Any]:
    """The state after some time, by a Runge-Kutta method of the fourth order on the manifold of configurations.

    It is the commutator-free method of Celledoni, Marthinsen and Owren: on a vector space the classical one.
    """
    h = time / steps
    for _ in range(steps):
        a1 = bough.aba(model, q, v, tau)
        v2, q2 = v + h / 2 * a1, bough.integrate(model, q, h / 2 * v)
        a2 = bough.aba(model, q2, v2, tau)
        v3, q3 = v + h / 2 * a2, bough.integrate(model, q, h / 2 * v2)
        a3 = bough.aba(model, q3, v3, tau)
        v4, q4 = v + h * a3, bough.integrate(model, q2, h * v3 - h / 2 * v)
        a4 = bough.aba(model, q4, v4, tau)
        first, second = 3 * v + 2 * v2 + 2 * v3 - v4, -v + 2 * v2 + 2 * v3 + 3 * v4
        q = bough.integrate(model, bough.integrate(model, q, h / 12 * first), h / 12 * second)
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q, v
