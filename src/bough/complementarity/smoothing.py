"""The smooth path of `smooth_program` on NumPy, for problems of magnitude 1 without equalities, as in `reduction`.

Near its end exact Newton steps are tried. It may begin at forces that are known, and be followed again from nearer by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.complementarity.reduction import Numbers, Problem
from bough.complementarity.smooth_program import HALVINGS, PATH_STEPS, Walk, clipped, positive_part, shortened
from bough.scalar.tolerances import RESIDUAL, ROUNDING

__all__ = ["corrected", "failures", "smooth_path", "worst"]

NEWTON_WORK, LATER_WORK = 1.6e9, 1.1e9
"""Of all paths no more steps than take so many multiplications, the first number from zero, the second from where to
start."""

CLOSE, CLOSE_TO_START = (0.05,), (0.2, 0.05)
"""How near the paths that are tried in turn are followed: forces may fail by this part of √τ."""

LATER = 1e-3
"""The τ to begin with where a good start is known: that of a problem with pyramids within the cones, say."""

CORRECTIONS = 8
"""Exact steps that are tried in a row; if these are good, there is no need to go to the end of the path."""

ROUGH, AGAIN = 1e-2, 0.03
"""Forces that fail by less may be so near that exact steps lead to a solution; again for so much less τ."""


def failures(problem: Problem, f: Numbers) -> Numbers:
    """By how much f differs from P(f - a / size), in units of a, row by row: zero where all conditions are met."""
    return np.asarray(problem.size * np.abs(f - _Rounded(problem, f, 0.0).forces))


def worst(problem: Problem, f: Numbers) -> float:
    """By how much the worst row fails; infinite if that is no number."""
    most = float(failures(problem, f).max(initial=0.0))
    return most if most >= 0.0 else np.inf


def smooth_path(problem: Problem, start: Numbers | None = None) -> tuple[Numbers, int]:
    """The best forces that smooth paths lead to, from zero or from where to start, and the number of Newton steps."""
    best = begin = np.zeros_like(problem.b) if start is None else start
    tau, tries, work = (1.0, CLOSE, NEWTON_WORK) if start is None else (LATER, CLOSE_TO_START, LATER_WORK)
    most, steps = min(len(tries) * PATH_STEPS, int(work / max(len(best), 1) ** 3)), 0
    with np.errstate(all="ignore"):
        for close in tries:
            f, more = _path(problem, begin, tau, close, min(PATH_STEPS, most - steps))
            steps += more
            best = min(best, f, key=lambda f: worst(problem, f))
            if worst(problem, best) < RESIDUAL or steps >= most:
                break
    return best, steps


def _path(problem: Problem, f: Numbers, tau: float, close: float, most: int) -> tuple[Numbers, int]:
    """The best forces of one path, and the number of steps."""
    best = on_path = f
    walk: Any = Walk(tau)
    least, tried, steps = worst(problem, f), tau, 0
    while steps < most and least > ROUNDING and walk.tau > ROUNDING**2:
        f, failing, is_shorter = _damped_step(problem, f, walk.tau)
        near, steps = failing < close * np.sqrt(walk.tau), steps + 1
        walk, lost = walk.after_step(near, is_shorter)
        on_path, f = f if near else on_path, on_path if lost else f
        found, rough = f, worst(problem, f)
        if is_near := rough < RESIDUAL or (rough < ROUGH and walk.tau < AGAIN * tried):
            tried = walk.tau
            found, more = corrected(problem, f)
            steps, rough = steps + more, worst(problem, found)
        if rough < least:
            best, least = found, rough
        if is_near and least < RESIDUAL:  # rounding allows no more
            break
    return best, steps


def corrected(problem: Problem, f: Numbers) -> tuple[Numbers, int]:
    """The best of the forces that a few exact Newton steps lead to, and the number of steps."""
    best, least, steps = f, worst(problem, f), 0
    with np.errstate(all="ignore"):
        while steps < CORRECTIONS and least > ROUNDING:
            f = f + _Rounded(problem, f, 0.0).direction(f)
            failing = worst(problem, f)
            steps += 1
            if failing < least:
                best, least = f, failing
            elif not failing < 1e3 * max(least, RESIDUAL):
                break
    return best, steps


def _damped_step(problem: Problem, f: Numbers, tau: float) -> tuple[Numbers, float, bool]:
    """Forces after a Newton step, by how much they fail in the mean, and whether that is less than before."""
    rounded = _Rounded(problem, f, tau)
    failing, direction, length = rounded.off(f), rounded.direction(f), 1.0
    for _ in range(HALVINGS):
        further = f + length * direction
        less = _Rounded(problem, further, tau).off(further)
        if less < (1.0 - 0.1 * length) * failing:
            return further, less, True
        length /= 2
    return f, failing, False


class _Rounded:
    """Forces f - a / size put within bounds that are rounded off by τ, and how they follow them."""

    def __init__(self, problem: Problem, f: Numbers, tau: float) -> None:
        self._problem, conditions, four = problem, problem.conditions, 4.0 * tau
        w: Any = f - (problem.A @ f + problem.b) / problem.size
        # how forces follow their own w, that of their normals, and for cones that of the other row
        self.forces, self._own, self._links = w.copy(), np.ones_like(w), np.zeros_like(w)
        forces, own, links = self.forces, self._own, self._links
        self._across: Any = 0.0
        rows = conditions.inequality
        forces[rows], own[rows] = positive_part(w[rows], four)
        if (rows := conditions.box).size:
            half: Any = problem.limits[rows] / 2.0
            short, own[rows], _ = clipped(w[rows] - half, half, four)
            forces[rows] = half + short
        radius: Any = problem.mu * forces[conditions.normal]  # read at rows of friction
        if (rows := conditions.pyramid).size:
            forces[rows], own[rows], links[rows] = clipped(w[rows], radius[rows], four)
        if (i := conditions.cones).size:
            both, slopes, self._across, along, turned = shortened(w[i], w[i + 1], radius[i], four)
            for k in range(2):
                forces[i + k], own[i + k], links[i + k] = both[k], slopes[k], along * turned[k]
        links *= problem.mu * own[conditions.normal]

    def off(self, f: Numbers) -> float:
        """By how much forces differ from these, in the mean."""
        return float(np.sqrt(np.mean((f - self.forces) ** 2)))

    def direction(self, f: Numbers) -> Numbers:
        """The Newton step: with S the slopes of P it is (1 + S (A / size - 1))⁻¹ (P - f); zero if there is none."""
        B, conditions, rows = self._problem.coupling, self._problem.conditions, self._problem.conditions.tangents
        K = self._own[:, None] * B
        K[rows] += self._links[rows, None] * B[conditions.normal[rows]]
        if (i := conditions.cones).size:
            K[i] += self._across[:, None] * B[i + 1]
            K[i + 1] += self._across[:, None] * B[i]
        K.flat[:: len(K) + 1] += 1.0
        try:
            step = np.linalg.solve(K, self.forces - f)
        except np.linalg.LinAlgError:
            return np.zeros_like(f)
        return step if np.isfinite(step).all() else np.zeros_like(f)
