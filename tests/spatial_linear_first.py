"""Spatial algebra at the border, as NumPy arrays with the linear part first, for tests to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["carried", "cross", "force_to", "inertia"]

Floats = np.ndarray[Any, np.dtype[Any]]


def skew(x: Any) -> Floats:
    a, b, c = x
    return np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])


def cross(v: Any) -> Floats:
    """The matrix of v × on motions; minus its transpose is that on forces."""
    w = skew(v[3:])
    return np.block([[w, skew(v[:3])], [np.zeros((3, 3)), w]])


def carried(X: Floats) -> Floats:
    """The matrix that takes motions of a frame to that in which it is placed by X (4, 4)."""
    R = X[:3, :3]
    return np.block([[R, skew(X[:3, 3]) @ R], [np.zeros((3, 3)), R]])


def force_to(X: Floats, f: Any) -> Floats:
    """A force given in a frame, in that in which the frame is placed by X."""
    return np.asarray(np.linalg.inv(carried(X)).T @ f)


def inertia(body: Any) -> Floats:
    """The inertia of a body in its frame."""
    m = body.inertia.mass
    C = m * skew(body.inertia.com)
    return np.block([[m * np.eye(3), -C], [C, body.inertia.about_origin()]])
