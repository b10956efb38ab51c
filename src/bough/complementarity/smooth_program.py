"""Forces along a smooth path over scalars: as `bough.complementarity.smoothing` does on NumPy, which says what it is.

For programs: where guesses lead nowhere, as for bodies that lie on more contacts than their motion can tell apart, the
path finds forces that fail by little, and mostly guesses from there find exact ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.complementarity.conditions import NO_NORMAL, Kind
from bough.complementarity.demands import Demands
from bough.complementarity.elimination import Run, Stored, solved
from bough.complementarity.smoothing import LEAST_SHRINK, SHRINK, STEPS_BEFORE_LESS
from bough.scalar import (
    Array,
    Bool,
    Index,
    Scalar,
    Table,
    absolute,
    array,
    both,
    do_when,
    each,
    either,
    fill,
    gather_index,
    loop,
    maximum,
    minimum,
    negation,
    rows,
    select,
    sqrt,
)
from bough.scalar.tolerances import ROUNDING

__all__ = ["follow_smooth_path"]

PATH_STEPS, HALVINGS = 80, 7
"""Newton steps at most, and how often one is halved if forces fail by more after it."""

CLOSE_BY = 3e-3
"""How near the path is followed: forces may fail by this part of √τ."""

NEAR_ENOUGH, SLOWEST = 1e-10, 0.9
"""Forces that fail by less, in a problem of magnitude 1, end the path; and by what τ is multiplied at least."""

FAR = 1e30
"""A bound this large is none."""


@dataclass(frozen=True)
class _Walk:
    """How far a path has come."""

    tau: Scalar
    reached: Scalar  # the least τ so far whose forces were found
    shrink: Scalar
    since: Scalar  # steps since τ changed
    least: Scalar  # by how much the best forces fail


def follow_smooth_path(demands: Demands, f: Array, a: Array, scale: Scalar, runs: Sequence[Run]) -> None:
    """Let f be the best forces of a path from none, and a theirs; `scale` is the magnitude of b, rows weighed."""
    n, rounded = demands.n, _Rounded(demands, scale, runs)
    best, on_path, failing = array(n), array(n), array(n)
    fill(f, n, lambda i: 0.0)
    fill(a, n, lambda i: demands.b[i])

    def worst() -> Scalar:
        demands.fail(f, a, failing)
        none: Scalar = 0.0
        return loop(n, lambda i, most: maximum(most, failing[i] / (demands.size(i) * rounded.unit[i])), none)

    def turn(_: Index, walk: _Walk) -> _Walk:
        since = walk.since + 1.0
        fails, shorter = _damped_step(rounded, f, a, walk.tau)
        near = fails < CLOSE_BY * sqrt(walk.tau)
        lost = both(negation(near), either(negation(shorter), since > STEPS_BEFORE_LESS))
        do_when(near, lambda: _copy(n, f, on_path))
        do_when(lost, lambda: _copy(n, on_path, f))  # back to the path, and on by less; at first by more
        demands.values(f, a)
        quick = select(since <= 2.0, maximum(walk.shrink * walk.shrink, LEAST_SHRINK), walk.shrink)
        slow = minimum(sqrt(walk.shrink), SLOWEST)
        back = select(walk.reached > 0.0, walk.reached * slow, walk.tau * 10.0)
        most = worst()
        do_when(most < walk.least, lambda: _copy(n, f, best))
        return _Walk(
            select(near, walk.tau * quick, select(lost, back, walk.tau)),
            select(near, walk.tau, walk.reached),
            select(near, quick, select(lost, slow, walk.shrink)),
            select(either(near, lost), 0.0, since),
            minimum(walk.least, most),
        )

    def over(walk: _Walk) -> Bool:
        return either(walk.least < NEAR_ENOUGH, walk.tau < ROUNDING**2)

    loop(PATH_STEPS, turn, _Walk(1.0, 0.0, SHRINK, 0.0, worst()), until=over)
    _copy(n, best, f)
    demands.values(f, a)


def _damped_step(rounded: _Rounded, f: Array, a: Array, tau: Scalar) -> tuple[Scalar, Bool]:
    """Make a Newton step, by how much forces fail in the mean then, and whether that is less than before."""
    demands, n = rounded.demands, rounded.demands.n
    before = rounded.put(f, a, tau, True)
    direction = rounded.direction(f)
    at, after, then = array(n), array(n), array(n)
    fill(at, n, lambda i: f[i] + direction[i])
    demands.values(at, then)

    def halve(_: Index, tried: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        length = tried[0] * 0.5
        fill(at, n, lambda i: f[i] + length * direction[i])
        fill(after, n, lambda i: a[i] + length * (then[i] - a[i]))
        return length, rounded.put(at, after, tau, False)

    def is_less(tried: tuple[Scalar, Scalar]) -> Bool:
        return tried[1] < (1.0 - 0.1 * tried[0]) * before

    whole: tuple[Scalar, Scalar] = (2.0, before)
    tried = loop(HALVINGS, halve, whole, until=is_less)
    shorter = is_less(tried)
    do_when(shorter, lambda: _copy(n, at, f))
    return select(shorter, tried[1], before), shorter


class _Rounded:
    """Forces f - a / size put within bounds that are rounded off by τ, and how they follow them."""

    def __init__(self, demands: Demands, scale: Scalar, runs: Sequence[Run]) -> None:
        self.demands, self.runs, n = demands, runs, demands.n
        self.forces, self.own, self.links, self.across = (array(n) for _ in range(4))
        self.size, self.unit = array(n), array(n)  # of forces

        def row(kind: Kind, i: Index, normal: Index, count: Scalar) -> Scalar:
            width = 2 if kind == "cone" else 1
            size = demands.cone_size(i) if kind == "cone" else demands.size(i)
            for k in range(width):
                self.size[i + k], self.unit[i + k] = size, scale / sqrt(size)
            return count + float(width)

        fill(self.unit, n, lambda i: scale)
        fill(self.size, n, lambda i: 1.0)
        none: Scalar = 0.0
        self.count = demands.each(row, none)

    def put(self, f: Array, a: Array, tau: Scalar, slopes: bool) -> Scalar:
        """Fill in forces, and slopes; returns by how much f differs, in the mean."""
        demands, forces = self.demands, self.forces

        def row(kind: Kind, i: Index, normal: Index, total: Scalar) -> Scalar:
            size, unit = self.size[i], self.unit[i]
            w, four = f[i] - a[i] / size, 4.0 * tau * (unit * unit)
            if kind == "cone":
                self._put_cone(i, normal, w, f[i + 1] - a[i + 1] / size, four, slopes)
            elif kind == "equality":
                forces[i], self.own[i] = w, 1.0
            elif kind == "inequality":
                root = sqrt(w * w + four)
                forces[i], self.own[i] = (w + root) * 0.5, (1.0 + w / root) * 0.5
            elif kind == "box":
                self._put_box(i, w, four)
            else:
                low, high = demands.slopes(i, normal)
                middle, half, load = (low + high) * 0.5, (high - low) * 0.5, forces[normal]
                short, own, along = _clipped(w - middle * load, half * load, four)
                forces[i], self.own[i] = middle * load + short, own
                self.links[i] = (middle * (1.0 - own) + half * along) * self.own[normal]
            for k in range(2 if kind == "cone" else 1):
                off = (f[i + k] - forces[i + k]) / unit
                total = total + off * off
            return total

        none: Scalar = 0.0
        return sqrt(demands.each(row, none) / maximum(self.count, 1.0))

    def _put_box(self, i: Index, w: Scalar, four: Scalar) -> None:
        assert self.demands.bounds is not None
        low, high = self.demands.bounds[i * 2], self.demands.bounds[i * 2 + 1]
        bounded = both(low > -FAR, high < FAR)
        half = select(bounded, (high - low) * 0.5, 0.0)
        middle = select(bounded, (high + low) * 0.5, 0.0)
        short, own, _ = _clipped(w - middle, half, four)
        within = both(low < w, w < high)
        self.forces[i] = select(bounded, middle + short, maximum(low, minimum(high, w)))
        self.own[i] = select(bounded, own, select(within, 1.0, 0.0))

    def _put_cone(self, i: Index, normal: Index, x: Scalar, y: Scalar, four: Scalar, slopes: bool) -> None:
        length = sqrt(x * x + y * y)
        mu = self.demands.mu[normal]
        short, bent, along = _clipped(length, mu * self.forces[normal], four)
        inverse = 1.0 / select(length > 0.0, length, 1.0)
        turned = select(length > 0.0, short * inverse, bent)
        self.forces[i], self.forces[i + 1] = turned * x, turned * y
        if slopes:
            x, y, follows = x * inverse, y * inverse, along * mu * self.own[normal]
            self.own[i], self.own[i + 1] = turned + (bent - turned) * x * x, turned + (bent - turned) * y * y
            self.across[i] = self.across[i + 1] = (bent - turned) * x * y
            self.links[i], self.links[i + 1] = follows * x, follows * y

    def direction(self, f: Array) -> Array:
        """The Newton step: with S the slopes it is (1 + S (A / size - 1))⁻¹ (forces - f), A not quite singular."""
        demands, n, conditions = self.demands, self.demands.n, self.demands.conditions
        A, K = demands.A, rows(n * (n + 1))
        normals = Table("normal_or_self", np.where(conditions.normal == NO_NORMAL, np.arange(n), conditions.normal))
        second = np.zeros(n, np.int64)
        second[conditions.cones], second[conditions.cones + 1] = 1, -1
        others = Table("other_row_of_cone", np.arange(n) + second)

        def equation(i: Index) -> None:
            normal, other = gather_index(normals, i), gather_index(others, i)
            parts = [(i, self.own[i])]
            if conditions.tangents.size:
                parts.append((normal, self.links[i]))
            if conditions.cones.size:
                parts.append((other, self.across[i]))
            weights = [(k * n, weight / self.size[k]) for k, weight in parts]

            def entry(j: Index) -> Scalar:
                total: Scalar = 0.0
                for start, weight in weights:
                    total = total + weight * A[start + j]
                return total

            start = i * (n + 1)
            each(n, lambda j: K.put(start + j, entry(j)))
            K.put(start + i, K.get(start + i) + 1.0)
            for k, weight in parts:
                K.put(start + k, K.get(start + k) - weight * (1.0 - ROUNDING))
            K.put(start + n, self.forces[i] - f[i])

        demands.where_on(equation)
        return solved(
            Stored(K), n, lambda k, pivot: 1.0 / select(absolute(pivot) > 0.0, pivot, 1.0), self.runs, demands.on
        )


def _clipped(w: Scalar, most: Scalar, four: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """A number within ± most, rounded off by τ, of which `four` is four times as much; its slopes by both."""
    up, down = w + most, w - most
    high, low = sqrt(up * up + four), sqrt(down * down + four)
    rise, fall = up / high, down / low
    return (high - low) * 0.5, (rise - fall) * 0.5, (rise + fall) * 0.5


def _copy(n: int, source: Array, target: Array) -> None:
    fill(target, n, lambda i: source[i])
