"""Exact forces by pivoting: equalities are eliminated, the rest is a linear complementarity problem for `lemke`.

Baraff's method (1994) drives the rows to their conditions one after the other. With friction nothing says that it ends;
the path of Lemke's algorithm, on the pyramid as Stewart and Trinkle (1996) and Anitescu and Potra (1997) write it, ends
in a solution for every problem of velocities, and in a ray that names rows for a problem without one. Cones are left to
`smoothing`; where that does not lead to a solution, pyramids within them are taken, and Newton steps from there on.

Work is bounded: some half a second for a hundred contacts, and as much again to tell what conflicts. It is counted in
operations, so that answers do not depend on the clock, and what is not decided by then is said to be so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import Conditions, Kind
from bough.complementarity.lemke import Path, basic_forces, forces, lemke, linear
from bough.complementarity.reduction import Numbers, Problem, Reduction, reduced
from bough.complementarity.smoothing import corrected, failures, smooth_path, worst
from bough.scalar.tolerances import RESIDUAL, ROUNDING

__all__ = ["Answer", "is_undecided", "pivoting"]

ATTEMPTS = ((1e-9, 0), (1e-9, 10), (1e-10, 1), (1e-8, 1))
"""By how much the problems are shifted whose paths are tried in turn, so that ties are rare and what is met but for
rounding counts as met (the answer is not shifted), and after how many pivots numbers are computed anew."""

PIVOT_WORK = 4.8e8
"""Multiplications after which no more paths are tried, and the last one is given up."""

RAYS = 2
"""If so many paths have ended in rays, there is no solution."""

FRESH_OFTEN_UP_TO = 40
"""Number of variables beyond which numbers are computed anew less often: it takes as long as many pivots."""

GIVING_WAY = 1e-5
"""What rows without a solution give way by per force, to see which do: its square is above `VANISHING`."""

NEAR = 1e-7
"""What of a ray is below this part of its largest force is none: sums of many, and paths, round more than one."""

SOFTENED = 4
"""How many times conditions are made soft, to see which of them give way."""

CONTRADICTION = "these equalities contradict each other"
NO_FORCES = "no forces meet these rows together"
NOT_FOUND = "no solution was found in {} pivots and {} Newton steps, and there may be one"


def is_undecided(reason: str) -> bool:
    """Whether what went wrong leaves open if there is a solution."""
    return reason not in ("", CONTRADICTION, NO_FORCES)


class Answer(NamedTuple):
    """Forces; rows that cannot be met together, none if all conditions are met; what went wrong, in words; pivots."""

    f: Numbers
    conflicts: NDArray[np.bool_]
    reason: str
    pivots: int

    @property
    def undecided(self) -> bool:
        """Whether there may be a solution that was not found."""
        return is_undecided(self.reason)


def by_paths(reduction: Reduction) -> Answer:
    """The best forces of a few paths; if a ray shows that there are none, those of relaxed conditions."""
    problem = reduction.problem
    f, path, pivots, steps = _solve(problem)
    rows = failures(problem, f) > RESIDUAL
    if path.end == "ray":
        f, rows, more = _relaxed(problem, path)
        return Answer(f, rows, NO_FORCES if rows.any() else "", pivots + more)
    return Answer(f, rows, NOT_FOUND.format(pivots, steps) if rows.any() else "", pivots)


def pivoting(
    A: Numbers,
    b: Numbers,
    conditions: Conditions,
    mu: Numbers,
    slip: Numbers | None = None,
    bounds: Numbers | None = None,
    solve: Callable[[Reduction], Answer] = by_paths,
) -> Answer:
    """Forces f with a = A f + b that meet all conditions; if there are none the nearest, and what conflicts.

    `mu` is read at the rows of friction, `bounds` (n, 2) at the rows of boxes. `solve` answers what is left without
    equalities, of magnitude 1.
    """
    whole, base, sign = _from_zero(A, b, conditions, mu, bounds)
    reduction = reduced(whole, np.zeros(conditions.n) if slip is None else slip)
    f, rows, reason, pivots = solve(reduction)
    reason = reason or (CONTRADICTION if reduction.conflicts.size else "")
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
        return Problem(A, b, conditions, mu, limits), base, sign
    low, high = bounds[rows, 0], bounds[rows, 1]
    begins, ends = np.isfinite(low), np.isfinite(high)
    base[rows] = np.where(begins, low, np.where(ends, high, 0))
    sign[rows] = np.where(ends & ~begins, -1, 1)
    limits[rows] = np.where(begins & ends, high - np.where(begins, low, 0), 0)
    kinds = list(conditions.kinds)
    for row, sides in zip(rows.tolist(), (begins.astype(int) + ends).tolist(), strict=True):
        kinds[row] = ("equality", "inequality", "box")[sides]
    made = Conditions(kinds, conditions.normals)
    shifted = Problem(sign[:, None] * A * sign, sign * (b + A @ base), made, mu, limits)
    return shifted, base, sign


def _solve(problem: Problem) -> tuple[Numbers, Path, int, int]:
    """The best forces, the path that led there, all pivots and all Newton steps.

    Cones go along a smooth path first, all else along Lemke's, and then along the other one if need be.
    """
    steps, cones = 0, bool(problem.conditions.cones.size)
    f: Numbers = np.zeros_like(problem.b)
    path = Path("solution", np.zeros(0, np.bool_), np.zeros(0), 0)
    if cones:
        f, steps = smooth_path(problem)
        if worst(problem, f) < RESIDUAL:
            return f, path, 0, steps
    other, path, pivots = _follow(problem)
    is_good = path.end == "solution"
    if worst(problem, other) > RESIDUAL and (is_good or (path.end == "lost" and not cones)):
        f, more = smooth_path(problem, other if is_good else None)
        steps += more
    return min(f, other, key=lambda f: worst(problem, f)), path, pivots, steps


def _follow(problem: Problem, enough: float = ROUNDING, known: Path | None = None) -> tuple[Numbers, Path, int]:
    """The best forces of a few paths of Lemke, the path that led there, and all pivots.

    The first that fail by less than what is enough are taken; those of the end of a path that is known come before all.
    """
    pyramids = _pyramids(problem)
    M, q = linear(pyramids)
    n, left, pivots = len(q), PIVOT_WORK, 0
    found: list[tuple[Numbers, Path]] = []

    def at_end(path: Path) -> Numbers:
        return corrected(problem, basic_forces(pyramids, M, q, path))[0]

    if known is not None and worst(problem, f := at_end(known)) < enough:
        return f, known, 0
    for attempt, (shift, every) in enumerate(ATTEMPTS):
        fresh = every * max(1, n // FRESH_OFTEN_UP_TO)
        cost = max(1.0, n**2 + (n**3 / fresh if fresh else 0.0))
        if found and left < n * cost:
            break
        spread = 1 + np.modf(np.arange(1, n + 1) * (attempt + 1) * 0.6180339887498949)[0]
        path = lemke(M, q + shift * spread, spread, fresh, min(10 * n, int(left / cost)))
        if path.end == "ray" and not _proves(pyramids, path):
            path = replace(path, end="lost")
        left, pivots = left - path.pivots * cost, pivots + path.pivots
        found.append((at_end(path), path))
        if path.end == "solution" and worst(problem, found[-1][0]) < enough:
            return *found[-1], pivots
        if sum(path.end == "ray" for _, path in found) >= RAYS:
            break
    best = min(found, key=lambda one: worst(problem, one[0]))
    if worst(problem, best[0]) > RESIDUAL:
        best = next((one for one in found if one[1].end == "ray"), best)
    return *best, pivots


def _pyramids(problem: Problem) -> Problem:
    """The problem with a pyramid within each cone."""
    conditions = problem.conditions
    if not conditions.cones.size:
        return problem
    kinds: list[Kind] = ["pyramid" if kind == "cone" else kind for kind in conditions.kinds]
    within = np.array([np.sqrt(0.5) if kind == "cone" else 1.0 for kind in conditions.kinds])
    return replace(problem, conditions=Conditions(kinds, conditions.normals), mu=problem.mu * within)


def _proves(problem: Problem, path: Path) -> bool:
    """Whether a ray shows that there is no solution, or rounding alone has led to it.

    If A is symmetric and positive semidefinite, rays are forces that change no a, and against which b points. There are
    none for b = J v and A = J M⁻¹ Jᵀ. Of other A nothing is known, and rays are believed.
    """
    A, ray = problem.A, forces(problem, path.ray)
    ray /= np.abs(ray).max(initial=0.0) or 1.0
    a = A @ ray
    if np.abs(A - A.T).max(initial=0.0) > RESIDUAL or ray @ a < -NEAR:
        return True
    return bool(np.abs(a).max(initial=0.0) < NEAR and problem.b @ ray < -NEAR)


def _relaxed(problem: Problem, path: Path) -> tuple[Numbers, NDArray[np.bool_], int]:
    """What to do about a problem without a solution, whose path ended in a ray: forces, rows in conflict, pivots.

    Soft inequalities, a + s (f - f₀) ≥ 0 with a small s and with the f₀ of the time before, give way by amounts
    s (f - f₀) that become the least possible in the sense of least squares. Given way so far, the conditions have a
    solution. If soft ones have none either, as when a sliding body jams, the forces are zero.
    """
    pyramids, normal = _pyramids(problem), problem.conditions.inequality
    A, b, pivots = problem.A.copy(), problem.b.copy(), 0
    A[normal, normal] += GIVING_WAY
    f = before = np.zeros_like(b)
    soft: Path | None = None
    for _ in range(SOFTENED):
        before = f
        b[normal] = problem.b[normal] - GIVING_WAY * before[normal]
        f, soft, more = _follow(replace(pyramids, A=A, b=b), RESIDUAL, soft)  # mostly it ends where it did before
        pivots += more
        if soft.end != "solution":
            break
    else:
        given, gave = np.zeros_like(b), GIVING_WAY * (f - before)[normal]
        given[normal] = np.where(gave > RESIDUAL, gave, 0)
        easier = replace(problem, b=problem.b + given)
        small, _, more, _ = _solve(easier)
        pivots += more
        if worst(easier, small) > RESIDUAL:  # there is a solution, though with larger forces
            small, _ = corrected(easier, _without(pyramids, f, f - before))
        if worst(easier, small) < RESIDUAL:
            return small, given > 0, pivots
    ray, f = np.abs(forces(pyramids, path.ray)), np.zeros_like(b)
    box = problem.conditions.box
    if box.size:  # these always have forces
        rows = np.ix_(box, box)
        conditions, mu, limits = Conditions.boxes(box.size), problem.mu[box], problem.limits[box]
        f[box], _, more = _follow(Problem(problem.A[rows], problem.b[box], conditions, mu, limits))
        pivots += more
    return f, (ray > RESIDUAL * ray.max()) | (failures(problem, f) > RESIDUAL), pivots


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
