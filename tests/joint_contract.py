"""The joint contract as numbers: what a joint says of itself, and the same found from its transform alone.

A joint is seen as at the border, in the axes of its author: alignment and parameters are put to use here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bough

__all__ = ["Numeric", "rate", "same_configuration", "subspace_along"]

Floats = np.ndarray[Any, np.dtype[Any]]


class Numeric:
    """A joint as functions from arrays to arrays."""

    def __init__(self, joint: bough.joints.Joint) -> None:
        self.joint, self.inside = joint, joint.canonical
        self.parameters, self.turn = joint.parameters, joint.alignment
        assert (self.inside.nq, self.inside.nv) == (joint.nq, joint.nv)
        assert self.inside.canonical == self.inside
        assert np.allclose(self.turn @ self.turn.T, np.eye(3), atol=1e-15)
        assert np.linalg.det(self.turn) > 0

    def placement(self, q: Any) -> tuple[Floats, Floats]:
        """Rotation (3, 3) and origin (3,) of the body in the joint frame."""
        X = self.inside.transform(self.parameters, _floats(q))
        R = np.array([column.parts for column in X.rotation.columns]).T
        return self.turn @ R @ self.turn.T, self.turn @ np.array(X.translation.parts)

    def subspace(self, q: Any) -> Floats:
        """S (6, nv) in body coordinates, linear rows first."""
        return self._columns(self.inside.subspace(self.parameters, _floats(q)))

    def subspace_rate(self, q: Any, v: Any) -> Floats:
        """The rate of S (6, nv) as seen from the body."""
        return self._columns(self.inside.subspace_rate(self.parameters, _floats(q), _floats(v)))

    def integrate(self, q: Any, v: Any) -> Floats:
        """Where v leads from q."""
        return np.array(self.inside.integrate(self.parameters, _floats(q), _floats(v)))

    def difference(self, q0: Any, q1: Any) -> Floats:
        """What leads from q0 to q1."""
        return np.array(self.inside.difference(self.parameters, _floats(q0), _floats(q1)))

    def random(self, rng: np.random.Generator, lower: Any = -np.inf, upper: Any = np.inf) -> Floats:
        """A random configuration; a single limit holds for all entries."""
        nq = self.joint.nq
        return np.asarray(self.joint.random(rng, np.broadcast_to(lower, nq), np.broadcast_to(upper, nq)))

    def velocity_by_differences(self, q: Any, v: Any) -> Floats:
        """The velocity (6,) of the body relative to its parent in body coordinates, from the transform along v."""
        R, _ = self.placement(q)
        R_dot = rate(lambda t: self.placement(self.integrate(q, np.multiply(v, t)))[0])
        p_dot = rate(lambda t: self.placement(self.integrate(q, np.multiply(v, t)))[1])
        W = R.T @ R_dot
        assert np.allclose(W, -W.T, atol=1e-10), "the transform does not stay a rotation"
        return np.concatenate([R.T @ p_dot, [W[2, 1], W[0, 2], W[1, 0]]])

    def _columns(self, columns: tuple[Any, ...]) -> Floats:
        assert len(columns) == self.joint.nv
        rows = [[*(self.turn @ np.array(s.linear.parts)), *(self.turn @ np.array(s.angular.parts))] for s in columns]
        return np.reshape(np.array(rows, dtype=float), (-1, 6)).T

    def quaternion_slices(self) -> list[slice]:
        """Where the quaternions lie in q."""
        return [slice(k, k + 4) for k in self.joint.quaternions]


def subspace_along(joint: Numeric, q: Any, v: Any, t: float) -> Floats:
    """S after moving from q with v for the time t."""
    return joint.subspace(joint.integrate(q, np.multiply(v, t)))


def rate(f: Callable[[float], Any], h: float = 4e-3) -> Floats:
    """The derivative at zero by central differences of order 8: exact to 1e-12 for smooth functions of size one."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    return np.asarray(sum(w * (np.asarray(f(k * h)) - np.asarray(f(-k * h))) for k, w in weights.items()) / h)


def same_configuration(joint: bough.joints.Joint, q0: Floats, q1: Floats) -> float:
    """The largest difference of two configurations, where a quaternion and its opposite are the same, and so are
    the angles of planar and of continuous joints that are whole turns apart.
    """
    q1 = np.array(q1)
    for k in (2,) if isinstance(joint, bough.joints.Planar) and q1.shape[-1] == 3 else joint.circles:
        q1[..., k] -= 2 * np.pi * np.round((q1[..., k] - q0[..., k]) / (2 * np.pi))
    for k in joint.quaternions:
        part = q1[..., k : k + 4]
        part *= np.where(np.sum(part * q0[..., k : k + 4], axis=-1, keepdims=True) < 0, -1.0, 1.0)
    return float(np.max(np.abs(q1 - q0), initial=0.0))


def _floats(values: Any) -> list[float]:
    return [float(x) for x in np.ravel(values)]
