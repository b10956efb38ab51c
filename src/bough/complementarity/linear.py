"""A problem as a linear complementarity problem: forces are sums of pushes that are not negative."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import Conditions
from bough.complementarity.lemke import Path
from bough.complementarity.reduction import Problem

__all__ = ["basic_forces", "forces", "linear"]

Numbers = NDArray[np.floating[Any]]
Rows = NDArray[np.intp]
Corners = tuple[tuple[float, ...], ...]


def linear(problem: Problem) -> tuple[Numbers, Numbers]:
    """The problem as w = M z + q, w ≥ 0, z ≥ 0, w z = 0.

    Pushes are those of normals, f = f⁺ - f⁻ on the rows of pyramids, those towards the corners of cones, and those of
    boxes. With λ for the speed at which a row or a cone slides or a box gives way, z is all pushes, then all λ. Then w
    is the a along each push, but for normals with λ added to it, and what friction and boxes could do yet: μ fₙ less
    all pushes, limit - f.
    """
    parts, conditions = _parts(problem.conditions, problem.corners), problem.conditions
    M = parts.links.copy()
    k = len(parts.rows)
    A = problem.A[:, parts.rows] * parts.along
    if conditions.cones.size:
        A += problem.A[:, parts.mates] * parts.across
        M[:k, :k] += A[parts.mates] * parts.across[:, None]
    M[:k, :k] += A[parts.rows] * parts.along[:, None]
    M[parts.bounds] = problem.mu[parts.friction]
    q = np.zeros(len(M))
    q[:k] = problem.b[parts.rows] * parts.along + problem.b[parts.mates] * parts.across
    q[len(q) - len(conditions.box) :] = problem.limits[conditions.box]
    return M, q


def forces(problem: Problem, z: Numbers) -> Numbers:
    """The f that z stands for."""
    parts, f = _parts(problem.conditions, problem.corners), np.zeros(problem.conditions.n)
    pushes = z[: len(parts.rows)]
    np.add.at(f, parts.rows, parts.along * pushes)
    if problem.conditions.cones.size:
        np.add.at(f, parts.mates, parts.across * pushes)
    return f


def basic_forces(problem: Problem, M: Numbers, q: Numbers, path: Path) -> Numbers:
    """The forces where a path ended, from M and q alone: free of what rounding and perturbation did along it."""
    z = np.zeros_like(q)
    basic = np.flatnonzero(path.basic)
    B = M[basic[:, None], basic]
    try:
        z[basic] = np.linalg.solve(B, -q[basic])
    except np.linalg.LinAlgError:
        z[basic] = np.linalg.lstsq(B, -q[basic], rcond=None)[0]
    return forces(problem, z if np.isfinite(z).all() else np.zeros_like(q))


@dataclass(frozen=True)
class _Parts:
    """What each push acts on, and what links pushes to the rest."""

    rows: Rows  # the row of each
    along: Numbers  # and how much of it acts there
    mates: Rows  # the other row, for cones
    across: Numbers  # and how much acts there
    links: Numbers  # the constant part of M
    friction: Rows  # rows that tell the coefficients of friction
    bounds: tuple[Rows, Rows]  # where these stand in M


@lru_cache(maxsize=64)
def _parts(conditions: Conditions, corners: Corners) -> _Parts:
    normal, tangent, first, box = conditions.inequality, conditions.pyramid, conditions.cones, conditions.box
    angles = np.array([angle for cone in corners for angle in cone])
    cone = np.array([k for k, some in enumerate(corners) for _ in some], np.intp)
    n, t, c, m = len(normal), len(tangent), len(first), len(box)
    rows = np.concatenate([normal, tangent, tangent, first[cone], box])
    mates = np.concatenate([normal, tangent, tangent, first[cone] + 1, box])
    along = np.concatenate([np.ones(n + t), -np.ones(t), np.cos(angles), np.ones(m)])
    across = np.concatenate([np.zeros(n + 2 * t), np.sin(angles), np.zeros(m)])
    # the speed that each push but those of normals is under: one for each row of a pyramid, each cone, each box
    speeds = np.concatenate([np.arange(t), np.arange(t), t + cone, t + c + np.arange(m)])
    pushing, k = np.arange(n, len(rows)), len(rows)
    links = np.zeros((k + t + c + m,) * 2)
    links[pushing, k + speeds], links[k + speeds, pushing] = 1, -1
    friction = np.concatenate([tangent, first])
    bounds = k + np.arange(t + c), np.searchsorted(normal, conditions.normal[friction])
    return _Parts(rows, along, mates, across, links, friction, bounds)
