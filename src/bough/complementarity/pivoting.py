"""Exact forces by pivoting: equalities are eliminated, the rest is a linear complementarity problem for `lemke`.

Baraff's method (1994) drives the rows to their conditions one after the other. With friction nothing says that it ends;
the path of Lemke's algorithm, on the pyramid as Stewart and Trinkle (1996) and Anitescu and Potra (1997) write it, ends
in a solution for every problem of velocities, and in a ray that names rows for a problem without one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import Conditions
from bough.complementarity.cones import corners, more_corners, step
from bough.complementarity.lemke import Path, lemke
from bough.complementarity.linear import basic_forces, forces, linear
from bough.complementarity.reduction import CONFLICT, RANK, Problem, reduced
from bough.complementarity.residual import residual

__all__ = ["Answer", "pivoting"]

Numbers = NDArray[np.floating[Any]]

EXACT = 1e-12
"""Forces that fail by less than this, in a problem of magnitude 1, are not improved on."""

ATTEMPTS = ((1e-9, 0), (1e-9, 10), (1e-10, 1), (1e-8, 1))
"""By how much the problems are shifted whose paths are tried in turn, so that ties are rare and what is met but for
rounding counts as met (the answer is not shifted), and after how many pivots numbers are computed anew."""

RAYS = 2
"""If so many paths have ended in rays, there is no solution."""

SMALL = 40
"""Number of variables beyond which numbers are computed anew less often: it takes as long as many pivots."""

NEAR = 1e-7
"""What differs by less from zero, in a problem of magnitude 1, may be zero."""

SOFT = 1e-5
"""What is added to the diagonal of a problem of magnitude 1 without a solution, to see which rows give way."""

SOFTENED = 4
"""How many times this is done."""

ROUNDS, STEPS = 12, 12
"""So many times corners are added to cones, with so many Newton steps each time."""

UNSOLVED = "no solution was found in {} pivots"


class Answer(NamedTuple):
    """Forces; rows that cannot be met together, none if all conditions are met; what went wrong, in words; pivots."""

    f: Numbers
    conflicts: NDArray[np.bool_]
    reason: str
    pivots: int


def pivoting(
    A: Numbers,
    b: Numbers,
    conditions: Conditions,
    mu: Numbers,
    slip: Numbers | None = None,
    bounds: Numbers | None = None,
) -> Answer:
    """Forces f with a = A f + b that meet all conditions; if there are none the nearest, and what conflicts.

    `mu` is read at the rows of friction, `bounds` (n, 2) at the rows of boxes.
    """
    whole, base, sign = _from_zero(A, b, conditions, mu, bounds)
    reduction = reduced(whole, np.zeros(conditions.n) if slip is None else slip)
    problem = reduction.problem
    reason = "these equalities contradict each other" if reduction.conflicts.size else ""
    f, failing, path, pivots = _round(problem)
    rows = failing > CONFLICT
    if path.end == "ray":
        f, rows, more = _relaxed(problem, path)
        pivots += more
        reason = "no forces meet these rows together" if rows.any() else reason
    elif rows.any():
        reason = UNSOLVED.format(pivots)
    conflicts = np.zeros(conditions.n, np.bool_)
    conflicts[reduction.conflicts], conflicts[reduction.rows[rows]] = True, True
    f = base + sign * reduction.forces(f)
    if bounds is not None:  # but for rounding they are within
        f[conditions.box] = np.clip(f[conditions.box], *bounds[conditions.box].T)
    return Answer(f, conflicts, reason, pivots)


def _from_zero(
    A: Numbers, b: Numbers, conditions: Conditions, mu: Numbers, bounds: Numbers | None
) -> tuple[Problem, Numbers, Numbers]:
    """The problem for (f - base) sign, in which boxes begin at zero; those that end nowhere are not boxes any more."""
    n, rows = conditions.n, conditions.box
    base, sign, limits = np.zeros(n), np.ones(n), np.zeros(n)
    if rows.size == 0 or bounds is None:
        return Problem(A, b, conditions, mu, limits, corners(conditions)), base, sign
    low, high = bounds[rows, 0], bounds[rows, 1]
    begins, ends = np.isfinite(low), np.isfinite(high)
    base[rows] = np.where(begins, low, np.where(ends, high, 0))
    sign[rows] = np.where(ends & ~begins, -1, 1)
    limits[rows] = np.where(begins & ends, high - np.where(begins, low, 0), 0)
    kinds = list(conditions.kinds)
    for row, sides in zip(rows.tolist(), (begins.astype(int) + ends).tolist(), strict=True):
        kinds[row] = ("equality", "inequality", "box")[sides]
    made = Conditions(kinds, conditions.normals)
    shifted = Problem(sign[:, None] * A * sign, sign * (b + A @ base), made, mu, limits, corners(made))
    return shifted, base, sign


def _round(problem: Problem, attempts: int = len(ATTEMPTS)) -> tuple[Numbers, Numbers, Path, int]:
    """What `_best` gives, with more and more corners in the place of cones."""
    f, failing, path, pivots = _best(problem, attempts=attempts)
    for _ in range(ROUNDS if problem.conditions.cones.size else 0):
        if path.end != "solution" or failing.max(initial=0) < CONFLICT:
            break
        problem = replace(problem, corners=more_corners(problem, f))
        better, less, further, more = _best(problem, attempts=attempts)
        pivots += more
        if further.end != "solution":
            break
        f, failing = better, less
    return f, failing, path, pivots


def _best(
    problem: Problem, enough: float = EXACT, known: Path | None = None, attempts: int = len(ATTEMPTS)
) -> tuple[Numbers, Numbers, Path, int]:
    """The best forces of a few paths, by how much they fail, the path they come from, and all pivots.

    The first that fail by less than what is enough are taken; those of the end of a path that is known come before all.
    """
    M, q = linear(problem)
    if known is not None:
        f, failing = _refined(problem, basic_forces(problem, M, q, known))
        if failing.max(initial=0) < enough:
            return f, failing, known, 0
    found, pivots = [], 0
    for attempt, (shift, fresh) in enumerate(ATTEMPTS[:attempts]):
        spread = 1 + np.modf(np.arange(1, len(q) + 1) * (attempt + 1) * 0.6180339887498949)[0]
        path = lemke(M, q + shift * spread, spread, fresh * max(1, len(q) // SMALL))
        pivots += path.pivots
        f, failing = _refined(problem, basic_forces(problem, M, q, path))
        found.append((f, failing, path))
        if path.end == "solution" and (failing.max(initial=0) < enough or problem.conditions.cones.size):
            return (*found[-1], pivots)
        if sum(entry[2].end == "ray" for entry in found) >= RAYS:
            break
    best = min(found, key=lambda entry: float(entry[1].max()))
    if best[1].max() > CONFLICT:
        best = next((entry for entry in found if entry[2].end == "ray"), best)
    return (*best, pivots)


def _refined(problem: Problem, f: Numbers) -> tuple[Numbers, Numbers]:
    """The forces and by how much they fail, once all that is zero but for rounding is so, redundant rows among it."""
    A, b, conditions, mu = problem.A, problem.b, problem.conditions, problem.mu
    failing = _failing(problem, f)
    if failing.max(initial=0) < EXACT:
        return f, failing
    if conditions.cones.size:
        return _stepped(problem, f, failing)
    zero = np.abs(A @ f + b) < NEAR
    free = f > NEAR
    # friction at its limit follows its normal
    tangent, normals = conditions.pyramid, conditions.normal[conditions.pyramid]
    slides = np.abs(f[tangent]) > mu[tangent] * f[normals] - NEAR
    free[tangent] = ~slides
    follow = np.eye(len(f))
    follow[tangent[slides], normals[slides]] = np.sign(f[tangent[slides]]) * mu[tangent[slides]]
    # and a force at the end of its box stays there
    full, box = np.zeros_like(f), conditions.box
    ends = box[f[box] > problem.limits[box] - NEAR]
    full[ends], free[ends] = problem.limits[ends], False
    follow = follow[:, free]
    better = full + follow @ f[free]
    better += follow @ np.linalg.lstsq(A[zero] @ follow, -(A[zero] @ better + b[zero]), rcond=RANK)[0]
    less = _failing(problem, better)
    return (better, less) if less.max() < failing.max() else (f, failing)


def _stepped(problem: Problem, f: Numbers, failing: Numbers) -> tuple[Numbers, Numbers]:
    """The forces that steps lead to and by how much they fail, or those that are given if steps lead nowhere."""
    better = f
    for _ in range(STEPS):
        better = step(problem, better)
        less = _failing(problem, better)
        if less.max() < EXACT or not np.isfinite(less).all():
            break
    return (better, less) if less.max() < CONFLICT else (f, failing)


def _relaxed(problem: Problem, path: Path) -> tuple[Numbers, NDArray[np.bool_], int]:
    """What to do about a problem without a solution, whose path ended in a ray: forces, rows in conflict, pivots.

    Soft inequalities, a + s (f - f₀) ≥ 0 with a small s and with the f₀ of the time before, give way by amounts
    s (f - f₀) that become the least possible in the sense of least squares. Given way so far, the conditions have a
    solution. If soft ones have none either, as when a sliding body jams, the forces are zero.
    """
    normal = problem.conditions.inequality
    A, b, pivots = problem.A.copy(), problem.b.copy(), 0
    A[normal, normal] += SOFT
    f = before = np.zeros_like(b)
    soft: Path | None = None
    for _ in range(SOFTENED):
        before = f
        b[normal] = problem.b[normal] - SOFT * before[normal]
        f, _, soft, more = _best(replace(problem, A=A, b=b), CONFLICT, soft)  # mostly it ends where it did before
        pivots += more
        if soft.end != "solution":
            break
    else:
        given, gave = np.zeros_like(b), SOFT * (f - before)[normal]
        given[normal] = np.where(gave > CONFLICT, gave, 0)
        easier = replace(problem, b=problem.b + given)
        small, failing, end, more = _round(easier, 1)
        if end.end != "solution":  # there is one, though with larger forces
            small, failing = _refined(easier, _without(easier, f, f - before))
        if end.end == "solution" or failing.max() < CONFLICT:
            return small, (given > 0) | (failing > CONFLICT), pivots + more
        pivots += more
    ray, f = np.abs(forces(problem, path.ray)), np.zeros_like(b)
    box = problem.conditions.box
    if box.size:  # these always have forces
        alone = Problem(
            problem.A[box[:, None], box],
            problem.b[box],
            Conditions.boxes(box.size),
            problem.mu[box],
            problem.limits[box],
            corners=(),
        )
        f[box], _, _, more = _best(alone)
        pivots += more
    return f, (ray > CONFLICT * ray.max()) | (_failing(problem, f) > CONFLICT), pivots


def _without(problem: Problem, f: Numbers, idle: Numbers) -> Numbers:
    """Forces without as much as may go of those that change nothing."""
    conditions, mu = problem.conditions, problem.mu
    normal, tangent, box = conditions.inequality, conditions.pyramid, conditions.box

    def room(f: Numbers, limits: Numbers) -> Numbers:
        """How far forces are from each of their bounds."""
        most = mu[tangent] * f[conditions.normal[tangent]]
        return np.concatenate([f[normal], most - f[tangent], most + f[tangent], f[box], limits[box] - f[box]])

    there, taken = room(f, problem.limits), room(idle, np.zeros_like(f))
    bounding = taken > NEAR * taken.max(initial=0)
    part = np.min(there[bounding] / taken[bounding], initial=np.inf)
    return np.asarray(f - part * idle) if 0 < part < np.inf else f


def _failing(problem: Problem, f: Numbers) -> Numbers:
    bounds = np.stack([np.zeros_like(problem.limits), problem.limits], axis=-1)
    return residual(problem.A, problem.b, f, problem.conditions, problem.mu, bounds=bounds)
