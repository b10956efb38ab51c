"""Exact forces by pivoting: equalities are eliminated, the rest is a linear complementarity problem for `lemke`.

Baraff's method (1994) drives the rows to their conditions one after the other. With friction nothing says that it ends;
the path of Lemke's algorithm, on the pyramid as Stewart and Trinkle (1996) and Anitescu and Potra (1997) write it, ends
in a solution for every problem of velocities, and in a ray that names rows for a problem without one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import Conditions
from bough.complementarity.lemke import Path, lemke
from bough.complementarity.reduction import CONFLICT, Problem, reduced
from bough.complementarity.residual import residual

__all__ = ["Solution", "pivoting"]

Numbers = NDArray[np.floating[Any]]

EXACT = 1e-12
"""Forces that fail by less than this, in a problem of magnitude 1, are not improved on."""

PERTURBATIONS = (1e-9, 1e-12, 1e-11, 1e-10)
"""By how much the problems are shifted whose paths are tried in turn, so that ties are rare and what is met
but for rounding counts as met. The answer is not shifted."""

SOFT = 1e-5
"""What is added to the diagonal of a problem of magnitude 1 without a solution, to see which rows give way."""

SOFTENED = 4
"""How many times this is done."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Forces found by `pivoting`; immutable.

    Attributes
    ----------
    f
        Forces, or impulses where a is a velocity, shape (n,); always finite.
    a
        A f + b, shape (n,).
    residual
        By how much each row fails, in the units of a, shape (n,): see `complementarity_residual`.
    conflicts
        Rows, counted from 0, that cannot be met together; empty if all conditions are met.
    reason
        What went wrong, in words; empty if all conditions are met.
    pivots
        How many pivots it took.
    """

    f: Numbers
    a: Numbers
    residual: Numbers
    conflicts: tuple[int, ...]
    reason: str
    pivots: int

    @property
    def solved(self) -> bool:
        """Whether all conditions are met."""
        return not self.conflicts


def pivoting(A: Numbers, b: Numbers, conditions: Conditions, mu: Numbers, slip: Numbers) -> Solution:
    """Forces f with a = A f + b that meet all conditions; if there are none the nearest, and what conflicts."""
    reduction = reduced(A, b, conditions, mu, slip)
    problem = reduction.problem
    conflicts = reduction.conflicts.tolist()
    reason = "these equalities contradict each other" if conflicts else ""
    f, failing, path, pivots = _best(problem)
    if path.end == "ray":
        f, rows, more = _relaxed(problem, path)
        pivots += more
        conflicts += reduction.rows[rows].tolist()
        reason = "no forces meet these rows together"
    elif failing.max(initial=0) > CONFLICT:
        conflicts += reduction.rows[failing > CONFLICT].tolist()
        reason = f"no solution was found in {pivots} pivots"
    f = reduction.forces(f)
    a = A @ f + b
    return Solution(f, a, residual(A, b, f, conditions, mu, slip), tuple(sorted(conflicts)), reason, pivots)


def _best(problem: Problem) -> tuple[Numbers, Numbers, Path, int]:
    """The best forces of a few paths, by how much they fail, the path they come from, and all pivots."""
    M, q = _complementarity(problem)
    found, pivots = [], 0
    for attempt, size in enumerate(PERTURBATIONS):
        spread = 1 + np.modf(np.arange(1, len(q) + 1) * (attempt + 1) * 0.6180339887498949)[0]
        path = lemke(M, q + size * spread, spread)
        pivots += path.pivots
        f = _forces(problem.conditions, _basic_solution(M, q, path))
        failing = residual(problem.A, problem.b, f, problem.conditions, problem.mu)
        found.append((f, failing, path))
        if failing.max(initial=0) < EXACT or (path.end == "ray" and attempt == 0):  # smaller shifts allow less
            return (*found[-1], pivots)
    return (*min(found, key=lambda entry: float(entry[1].max())), pivots)


def _relaxed(problem: Problem, path: Path) -> tuple[Numbers, NDArray[np.bool_], int]:
    """What to do about a problem without a solution: forces, rows in conflict, pivots.

    Soft inequalities, a + s (f - f₀) ≥ 0 with a small s and with the f₀ of the time before, give way by amounts
    s (f - f₀) that become the least possible in the sense of least squares.
    Given way so far, the conditions have a solution. If soft ones have none either, as when a sliding body jams, the
    forces are zero.
    """
    normal = problem.conditions.of("inequality")
    A, b, pivots = problem.A.copy(), problem.b.copy(), 0
    A[normal, normal] += SOFT
    f = given = np.zeros_like(b)
    for _ in range(SOFTENED):
        before = f
        b[normal] = problem.b[normal] - SOFT * before[normal]
        f, _, soft, more = _best(replace(problem, A=A, b=b))
        pivots += more
        given = SOFT * (f - before)
        if soft.end != "solution":
            break
    else:
        conflicts = np.zeros(len(b), np.bool_)
        conflicts[normal] = given[normal] > CONFLICT
        f, _, path, more = _best(replace(problem, b=problem.b + np.where(conflicts, given, 0)))
        if path.end == "solution":
            return f, conflicts, pivots + more
    ray = _forces(problem.conditions, path.ray)
    return np.zeros_like(b), np.abs(ray) > CONFLICT * np.abs(ray).max(initial=0), pivots


def _complementarity(problem: Problem) -> tuple[Numbers, Numbers]:
    """The problem as w = M z + q, w ≥ 0, z ≥ 0, w z = 0.

    With f = f⁺ - f⁻ on the rows of friction and λ for the speed at which a row slides, the rows of w are
    a (normals), a + λ and -a + λ (against which f⁺ and f⁻ push), and μ fₙ - f⁺ - f⁻ (what friction could do yet).
    """
    conditions, A, b = problem.conditions, problem.A, problem.b
    normal, tangent = conditions.of("inequality"), conditions.of("pyramid")
    k, t = len(normal), len(tangent)
    one, none = np.eye(t), np.zeros((t, t))
    of_normal = np.array(conditions.normals, np.intp)[tangent]
    bound = np.zeros((t, k))
    bound[np.arange(t), np.searchsorted(normal, of_normal)] = problem.mu[of_normal]
    Ann, Ant = A[np.ix_(normal, normal)], A[np.ix_(normal, tangent)]
    Atn, Att = A[np.ix_(tangent, normal)], A[np.ix_(tangent, tangent)]
    M = np.block(
        [[Ann, Ant, -Ant, np.zeros((k, t))], [Atn, Att, -Att, one], [-Atn, -Att, Att, one], [bound, -one, -one, none]]
    )
    return M, np.concatenate([b[normal], b[tangent], -b[tangent], np.zeros(t)])


def _forces(conditions: Conditions, z: Numbers) -> Numbers:
    """The f that z stands for."""
    normal, tangent = conditions.of("inequality"), conditions.of("pyramid")
    k, t = len(normal), len(tangent)
    f = np.zeros(conditions.n)
    f[normal], f[tangent] = z[:k], z[k : k + t] - z[k + t : k + 2 * t]
    return f


def _basic_solution(M: Numbers, q: Numbers, path: Path) -> Numbers:
    """The z where a path ended, from M and q alone: free of what rounding and perturbation did along it."""
    z = np.zeros_like(q)
    basic = np.flatnonzero(path.basic)
    B = M[np.ix_(basic, basic)]
    try:
        z[basic] = np.linalg.solve(B, -q[basic])
    except np.linalg.LinAlgError:
        z[basic] = np.linalg.lstsq(B, -q[basic], rcond=None)[0]
    return z if np.isfinite(z).all() else np.zeros_like(q)
