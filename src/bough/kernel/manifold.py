"""Configurations as points of a manifold: their derivatives are along motions, not along configuration variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bough.algorithms.configuration import configuration_rate, difference
from bough.model import Mechanism
from bough.model.joints import Joint, Mimic
from bough.model.joints.contract import is_from_outside
from bough.model.joints.reversed import Reversed
from bough.program import Program, pulled_back, pushed_forward, trace
from bough.scalar import Array, Scalar, Table, array, filled, gather, keeps_loops

__all__ = ["Ambient", "Manifold", "Space", "manifold_of"]


@dataclass(frozen=True)
class Manifold:
    """Where configurations q ⊕ δ are: rates of q along motions δ, and motions that lead from one q to another.

    Parameters
    ----------
    size, motions
        Numbers of a configuration, and of a motion.
    rate
        Over scalars, how fast q changes along a motion: takes q and δ.
    difference
        Over scalars, the motion from one configuration to another.
    squares
        If rates along different degrees of freedom are perpendicular to each other, one over the square of their
        length, for each number of q they change; None if that is not known.
    """

    size: int
    motions: int
    rate: Callable[[Array, Array], Array]
    difference: Callable[[Array, Array], Array]
    squares: Table | None = None

    def rates(self, q: Array, motion: Array) -> Array:
        """The rates of q along a motion."""
        return self.rate(q, motion)

    def along_motions(self, q: Array, weights: Array) -> Array:
        """Derivatives by motions, from derivatives by the numbers of q."""
        program = self._traced(lambda q, x: {"y": self.rate(q, x)}, self.motions)
        still = array(self.motions)  # rates are linear in motions: any would do
        return pulled_back(program, {"q": q, "x": still}, {"y": weights}, ["x"])[1]["x"]

    def motion(self, q: Array, rates: Array) -> Array:
        """The motion along which q changes at some rates."""
        if self.squares is not None:
            return self.along_motions(q, self._scaled(rates, self.squares))
        program = self._traced(lambda q, x: {"y": self.difference(q, x)}, self.size)
        return pushed_forward(program, {"q": q, "x": q}, {"x": [rates]}, ["y"])[1]["y"][0]

    def along_numbers(self, q: Array, weights: Array) -> Array:
        """Derivatives by the numbers of q, from derivatives by motions."""
        if self.squares is not None:
            return self._scaled(self.rate(q, weights), self.squares)
        program = self._traced(lambda q, x: {"y": self.difference(q, x)}, self.size)
        return pulled_back(program, {"q": q, "x": q}, {"y": weights}, ["x"])[1]["x"]

    def _scaled(self, values: Array, factors: Table) -> Array:
        return filled(self.size, lambda k: values[k] * gather(factors, k))

    def _traced(self, rule: Callable[..., Any], size: int) -> Program:
        return trace("motions", rule, {"q": self.size, "x": size}, rolled=keeps_loops())


@dataclass(frozen=True)
class Ambient:
    """An array whose derivatives are by its own numbers; of a quaternion what turns it counts, not what stretches it.

    Parameters
    ----------
    size
        Numbers of the array.
    quaternions
        Where quaternions begin.
    """

    size: int
    quaternions: tuple[int, ...] = ()

    @property
    def motions(self) -> int:
        """Numbers of a direction."""
        return self.size

    def rates(self, q: Array, motion: Array) -> Array:
        """The part of rates that leaves quaternions of unit length so."""
        return self._across(q, motion)

    def along_motions(self, q: Array, weights: Array) -> Array:
        """The part of derivatives that belongs to quaternions of unit length."""
        return self._across(q, weights)

    def motion(self, q: Array, rates: Array) -> Array:
        """Rates of a result, as they are."""
        return rates

    def along_numbers(self, q: Array, weights: Array) -> Array:
        """Weights of a result, as they are."""
        return weights

    def _across(self, q: Array, x: Array) -> Array:
        if not self.quaternions:
            return x
        result: Any = array(self.size)
        inside = {start + k for start in self.quaternions for k in range(4)}
        for k in range(self.size):
            if k not in inside:
                result[k] = x[k]
        for start in self.quaternions:
            along: Scalar = 0.0
            for k in range(start, start + 4):
                along = along + q[k] * x[k]
            for k in range(start, start + 4):
                result[k] = x[k] - q[k] * along
        made: Array = result
        return made


Space: TypeAlias = Manifold | Ambient
"""In which directions an array can change."""


def manifold_of(m: Mechanism) -> Manifold | None:
    """That of a mechanism's configurations; None if q ⊕ δ is q + δ."""
    if all(_adds(item.joint) for item in m.model.joints):
        return None
    moving = [item.joint for item in m.model.joints if not isinstance(item.joint, Mimic)]
    squares = np.ones(m.model.nq)
    for start, joint in zip(np.cumsum([0, *(joint.nq for joint in moving)]), moving, strict=False):
        for k in joint.quaternions:
            squares[start + k : start + k + 4] = 4.0  # a quaternion turns half as fast as what it turns
    return Manifold(
        m.model.nq,
        m.model.nv,
        lambda q, v: configuration_rate(m, q, v),
        lambda a, b: difference(m, a, b),
        None if any(map(is_from_outside, moving)) else Table("squares", squares),
    )


def _adds(joint: Joint) -> bool:
    inner = joint.joint if isinstance(joint, Reversed) else joint
    return type(inner).integrate is Joint.integrate and type(inner).rate is Joint.rate
