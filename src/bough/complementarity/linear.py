"""A problem as a linear complementarity problem: forces are sums of pushes that are not negative."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import Conditions
from bough.complementarity.lemke import Path
from bough.complementarity.reduction import STEADY, Problem

__all__ = ["basic_forces", "forces", "linear"]

Numbers = NDArray[np.floating[Any]]
Rows = NDArray[np.intp]


def linear(problem: Problem) -> tuple[Numbers, Numbers]:
    """The problem as w = M z + q, w ≥ 0, z ≥ 0, w z = 0; it has no cones.

    Pushes are those of normals, f = f⁺ - f⁻ on the rows of pyramids, and those of boxes. With λ for the speed at which
    a row slides or a box gives way, z is all pushes, then all λ. Then w is the a along each push, but for normals with
    λ added to it, and what friction and boxes could do yet: μ fₙ less both pushes, limit - f.
    """
    parts, conditions = _parts(problem.conditions), problem.conditions
    M, k = parts.links.copy(), len(parts.rows)
    M[:k, :k] = problem.A[parts.rows[:, None], parts.rows] * parts.signs * parts.signs[:, None]
    M[parts.bounds] = problem.mu[conditions.pyramid]
    q = np.zeros(len(M))
    q[:k] = problem.b[parts.rows] * parts.signs
    q[len(q) - len(conditions.box) :] = problem.limits[conditions.box]
    return M, q


def forces(problem: Problem, z: Numbers) -> Numbers:
    """The f that z stands for."""
    parts, f = _parts(problem.conditions), np.zeros(problem.conditions.n)
    np.add.at(f, parts.rows, parts.signs * z[: len(parts.rows)])
    return f


def basic_forces(problem: Problem, M: Numbers, q: Numbers, path: Path) -> Numbers:
    """The forces where a path ended, from M and q alone: free of what rounding and perturbation did along it."""
    z = np.zeros_like(q)
    basic = np.flatnonzero(path.basic)
    B = M[basic[:, None], basic]
    try:
        z[basic] = np.linalg.solve(B, -q[basic])
    except np.linalg.LinAlgError:
        z[basic] = np.linalg.solve(B + STEADY * np.eye(len(basic)), -q[basic])
    return forces(problem, z if np.isfinite(z).all() else np.zeros_like(q))


@dataclass(frozen=True)
class _Parts:
    """What each push acts on, and what links pushes to the rest."""

    rows: Rows  # the row of each
    signs: Numbers  # and its direction
    links: Numbers  # the constant part of M
    bounds: tuple[Rows, Rows]  # where coefficients of friction stand in M


@lru_cache(maxsize=64)
def _parts(conditions: Conditions) -> _Parts:
    normal, tangent, box = conditions.inequality, conditions.pyramid, conditions.box
    n, t, m = len(normal), len(tangent), len(box)
    rows = np.concatenate([normal, tangent, tangent, box])
    signs = np.concatenate([np.ones(n + t), -np.ones(t), np.ones(m)])
    # the speed that each push but those of normals is under: one for each row of a pyramid and each box
    speeds = np.concatenate([np.arange(t), np.arange(t), t + np.arange(m)])
    pushing, k = np.arange(n, len(rows)), len(rows)
    links = np.zeros((k + t + m,) * 2)
    links[pushing, k + speeds], links[k + speeds, pushing] = 1, -1
    return _Parts(rows, signs, links, (k + np.arange(t), np.searchsorted(normal, conditions.normal[tangent])))
