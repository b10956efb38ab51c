"""Forces along a smooth path: bounds are rounded off, less and less, while Newton steps follow the forces.

Every condition says f = P(f - a / size), for any positive size, where P puts forces within their bounds: it takes the
positive part of normals, clips boxes and pyramids, and shortens what is longer than the radius of a cone. Rounded off
by τ, the positive part of w is (w + √(w² + 4τ)) / 2, and w clipped to ± m is
(√((w + m)² + 4τ) - √((w - m)² + 4τ)) / 2 (Chen, Harker, Kanzow, Smale).
For large τ Newton's method finds the forces at once, and those for less τ are near. For τ = 0 its steps are those of
Alart and Curnier (1991), and they end at the exact forces. Nothing says that the path goes all the way, but it seldom
ends before, whatever the masses, and however many rows are redundant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.reduction import Place, Problem
from bough.scalar.tolerances import RESIDUAL, ROUNDING

__all__ = ["corrected", "failures", "smooth_path", "worst"]

Numbers = NDArray[np.floating[Any]]

NEWTON_WORK, LATER_WORK, STEPS = 1.6e9, 1.1e9, 80
"""Newton steps of a path: so many at most, and of all paths no more than take so many multiplications, the first number
from zero, the second from where to start."""

CLOSE, CLOSE_TO_START = (0.05,), (0.2, 0.05)
"""How near the paths that are tried in turn are followed: forces may fail by this part of √τ."""

LATER = 1e-3
"""The τ to begin with where a good start is known: that of a problem with pyramids within the cones, say."""

SHRINK, LEAST_SHRINK, STEPS_BEFORE_LESS = 0.2, 0.05, 8
"""By what τ is multiplied at first, by what at most once that works well, and after how many steps it does not."""

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
    most, steps = min(len(tries) * STEPS, int(work / max(len(best), 1) ** 3)), 0
    with np.errstate(all="ignore"):
        for close in tries:
            f, more = _path(problem, begin, tau, close, min(STEPS, most - steps))
            steps += more
            best = min(best, f, key=lambda f: worst(problem, f))
            if worst(problem, best) < RESIDUAL or steps >= most:
                break
    return best, steps


def _path(problem: Problem, f: Numbers, tau: float, close: float, most: int) -> tuple[Numbers, int]:
    """The best forces of one path, and the number of steps."""
    best = on_path = f
    least, tried = worst(problem, f), tau
    reached, shrink, since, steps = 0.0, SHRINK, 0, 0
    while steps < most and least > ROUNDING and tau > ROUNDING**2:
        f, failing, is_shorter = _damped_step(problem, f, tau)
        steps, since = steps + 1, since + 1
        if failing < close * np.sqrt(tau):
            on_path, reached = f, tau
            shrink = max(shrink * shrink, LEAST_SHRINK) if since <= 2 else shrink
            tau, since = tau * shrink, 0
        elif not is_shorter or since > STEPS_BEFORE_LESS:  # back to the path, and on by less; at first by more
            f, since = on_path, 0
            shrink = min(np.sqrt(shrink), 0.9)
            tau = reached * shrink if reached else tau * 10.0
        found, rough = f, worst(problem, f)
        if is_near := rough < RESIDUAL or (rough < ROUGH and tau < AGAIN * tried):
            tried = tau
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
            f = f + _direction(problem, f, _Rounded(problem, f, 0.0))
            failing = worst(problem, f)
            steps += 1
            if failing < least:
                best, least = f, failing
            elif not failing < 1e3 * least:
                break
    return best, steps


def _damped_step(problem: Problem, f: Numbers, tau: float) -> tuple[Numbers, float, bool]:
    """Forces after a Newton step, by how much they fail in the mean, and whether that is less than before."""

    def mean(f: Numbers) -> tuple[float, _Rounded]:
        rounded = _Rounded(problem, f, tau)
        return float(np.sqrt(np.mean((f - rounded.forces) ** 2))), rounded

    failing, rounded = mean(f)
    direction, length = _direction(problem, f, rounded), 1.0
    while length > 0.01:
        further = f + length * direction
        less, _ = mean(further)
        if less < (1.0 - 0.1 * length) * failing:
            return further, less, True
        length /= 2
    return f, failing, False


def _direction(problem: Problem, f: Numbers, rounded: _Rounded) -> Numbers:
    """The Newton step: with S the slopes of P it is (1 + S (A / size - 1))⁻¹ (P - f); zero if there is none."""
    K = rounded.slopes_times_coupling()
    K.flat[:: len(K) + 1] += 1.0
    try:
        step = np.linalg.solve(K, rounded.forces - f)
    except np.linalg.LinAlgError:
        return np.zeros_like(f)
    return step if np.isfinite(step).all() else np.zeros_like(f)


class _Rounded:
    """Forces f - a / size put within bounds that are rounded off by τ, and if asked how they follow them."""

    def __init__(self, problem: Problem, f: Numbers, tau: float) -> None:
        self._problem, conditions = problem, problem.conditions
        self._w = w = f - (problem.A @ f + problem.b) / problem.size
        self.forces = forces = w.copy()
        rows = conditions.inequality
        self._root = np.sqrt(w[rows] ** 2 + 4.0 * tau)
        forces[rows] = (w[rows] + self._root) / 2.0
        if (rows := conditions.box).size:
            half = problem.limits[rows] / 2.0
            self._boxes = _Clipped(w[rows] - half, half, tau)
            forces[rows] = half + self._boxes.values
        radius = problem.mu * forces[conditions.normal]  # read at rows of friction
        if (rows := conditions.pyramid).size:
            self._pyramids = _Clipped(w[rows], radius[rows], tau)
            forces[rows] = self._pyramids.values
        if (i := conditions.cones).size:
            self._length = np.hypot(w[i], w[i + 1])
            self._cones = _Clipped(self._length, radius[i], tau)
            short = _ratio(self._cones.values, self._length)
            forces[i], forces[i + 1] = short * w[i], short * w[i + 1]

    def slopes_times_coupling(self) -> Numbers:
        """The matrix of slopes, times that of the problem; in its scratch memory."""
        problem, B = self._problem, self._problem.coupling
        result, room = problem.scratch
        own, links, across = self._slopes()

        def add(rows: Place, factors: Numbers, others: Place) -> None:
            part = B[others]
            result[rows] += np.multiply(factors[:, None], part, out=room[: len(part)])

        np.multiply(own[:, None], B, out=result)
        for rows, normals in problem.follows:
            add(rows, links[rows], normals)
        if problem.conditions.cones.size:
            first, second = problem.cones
            add(first, across, second)
            add(second, across, first)
        return np.asarray(result)

    def _slopes(self) -> tuple[Numbers, Numbers, Numbers]:
        """How forces follow their own w, that of their normals, and for cones that of the other row."""
        problem, conditions, w = self._problem, self._problem.conditions, self._w
        own, along, across = np.ones_like(w), np.zeros_like(w), np.zeros(0)  # along: how forces follow their radius
        rows = conditions.inequality
        own[rows] = (1.0 + _ratio(w[rows], self._root)) / 2.0
        if (rows := conditions.box).size:
            own[rows], _ = self._boxes.slopes()
        if (rows := conditions.pyramid).size:
            own[rows], along[rows] = self._pyramids.slopes()
        if (i := conditions.cones).size:
            length, (bent, follows) = self._length, self._cones.slopes()
            x, y = _ratio(w[i], length), _ratio(w[i + 1], length)
            turned = np.where(length > 0.0, _ratio(self._cones.values, length), bent)
            own[i], own[i + 1] = turned + (bent - turned) * x * x, turned + (bent - turned) * y * y
            across = (bent - turned) * x * y
            along[i], along[i + 1] = follows * x, follows * y
        return own, along * problem.mu * own[conditions.normal], across


class _Clipped:
    """Numbers within ± most, rounded off by τ."""

    def __init__(self, w: Numbers, most: Numbers, tau: float) -> None:
        self._up, self._down = w + most, w - most
        self._high, self._low = np.sqrt(self._up**2 + 4.0 * tau), np.sqrt(self._down**2 + 4.0 * tau)
        self.values = (self._high - self._low) / 2.0

    def slopes(self) -> tuple[Numbers, Numbers]:
        """How they follow what they were, and most."""
        rise, fall = _ratio(self._up, self._high), _ratio(self._down, self._low)
        return (rise - fall) / 2.0, (rise + fall) / 2.0


def _ratio(x: Numbers, y: Numbers) -> Numbers:
    return np.asarray(x / np.where(y > 0.0, y, 1.0))
