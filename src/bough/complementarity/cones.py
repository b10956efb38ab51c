"""Cones of friction beside Lemke's path: corners that stand for them, and steps from there to the cones themselves.

A cone with corners is a problem that the path solves as it does pyramids. From its forces Newton steps lead to those of
the round cone, if corners are near where forces and sliding point; where they do not, corners are put there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import Conditions
from bough.complementarity.reduction import RANK, Problem

__all__ = ["corners", "more_corners", "step"]

Numbers = NDArray[np.floating[Any]]
Corners = tuple[tuple[float, ...], ...]

EIGHT = tuple((2 * np.pi * np.arange(8) / 8).tolist())
"""The angles of the corners that a cone has at first."""

CLOSE = 1e-7
"""Corners so close (rad) are one, and what is shorter, in a problem of magnitude 1, points nowhere."""


def corners(conditions: Conditions) -> Corners:
    """The angles of corners that are taken first, for each cone."""
    return (EIGHT,) * len(conditions.cones)


def more_corners(problem: Problem, f: Numbers) -> Corners:
    """Corners where forces point and against which contacts slide, beside those there are."""
    a, found = problem.A @ f + problem.b, []
    for first, angles in zip(problem.conditions.cones.tolist(), problem.corners, strict=True):
        more = list(angles)
        for x, y in (f[first : first + 2], -a[first : first + 2]):
            angle = float(np.arctan2(y, x))
            apart = np.abs(np.remainder(np.array(more) - angle + np.pi, 2 * np.pi) - np.pi)
            if np.hypot(x, y) > CLOSE and apart.min() > CLOSE:
                more.append(angle)
        found.append(tuple(more))
    return tuple(found)


def step(problem: Problem, f: Numbers) -> Numbers:
    """Forces after one step of the semismooth Newton method of `principal`, without equalities; redundant rows get the
    smallest changes.
    """
    A, conditions, mu = problem.A, problem.conditions, problem.mu
    diagonal, a = np.diagonal(A), A @ f + problem.b
    size = np.where(diagonal > 0, diagonal, 1)
    wanted = f - a / size
    K, right = A.copy(), -a

    def hold(rows: NDArray[np.intp], forces: Numbers) -> None:
        """Forces that do not follow from a = 0."""
        K[rows], right[rows] = 0, size[rows] * (forces - f[rows])
        K[rows, rows] = size[rows]

    normal, box, tangent = conditions.inequality, conditions.box, conditions.pyramid
    hold(some := normal[wanted[normal] <= 0], np.zeros(len(some)))
    within = np.clip(wanted, 0, problem.limits)
    hold(some := box[within[box] != wanted[box]], within[some])
    pressed = wanted[conditions.normal] > 0
    bound = mu * np.maximum(f[conditions.normal], 0)
    hold(some := tangent[~pressed[tangent]], np.zeros(len(some)))
    some = tangent[pressed[tangent] & (np.abs(wanted[tangent]) >= bound[tangent])]
    hold(some, np.sign(wanted[some]) * bound[some])
    K[some, conditions.normal[some]] -= size[some] * np.sign(wanted[some]) * mu[some]
    for first in conditions.cones.tolist():
        both, n = np.array([first, first + 1]), conditions.normal[first]
        larger = size[both].max()
        pointing = f[both] - a[both] / larger
        length = np.hypot(*pointing)
        if not pressed[first]:
            hold(both, np.zeros(2))
        elif length >= bound[first]:  # see `_Turn`
            d = pointing / (length or 1)
            turn = bound[first] / (length or 1) * (np.eye(2) - np.outer(d, d))
            K[both] = turn @ A[both]
            K[both[:, None], both] += larger * (np.eye(2) - turn)
            K[both, n] -= larger * mu[first] * d
            right[both] = -larger * (f[both] - bound[first] * d)
    return np.asarray(f + np.linalg.lstsq(K, right, rcond=RANK)[0])
