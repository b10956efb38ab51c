"""Forces along a smooth path: bounds are rounded off, less and less, while Newton steps follow the forces.

Every condition says f = P(f - a / size), for any positive size, where P puts forces within their bounds: it takes the
positive part of normals, clips boxes and pyramids, and shortens what is longer than the radius of a cone. Rounded off
by τ, the positive part of w is (w + √(w² + 4τ)) / 2, and w clipped to ± m is
(√((w + m)² + 4τ) - √((w - m)² + 4τ)) / 2 (Chen, Harker, Kanzow, Smale).
For large τ Newton's method finds the forces at once, and those for less τ are near. For τ = 0 its steps are those of
Alart and Curnier (1991), and they end at the exact forces. Nothing says that the path goes all the way, but it seldom
ends before, whatever the masses, and however many rows are redundant.

What is rounded off, and how τ becomes less, is told here over scalars, then the path for programs: where guesses lead
nowhere, as for bodies that lie on more contacts than their motion can tell apart, it finds forces that fail by little,
and mostly guesses from there find exact ones. `smoothing` follows it on NumPy, with a scalar for all rows of a kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bough.complementarity.conditions import FAR, NO_NORMAL, Kind
from bough.complementarity.demands import ZERO, Demands
from bough.complementarity.elimination import solved
from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    Table,
    absolute,
    array,
    blank,
    both,
    do_when,
    dot,
    either,
    fill,
    gather_index,
    loop,
    maximum,
    minimum,
    negation,
    select,
    sqrt,
)
from bough.scalar.tolerances import ROUNDING

__all__ = ["HALVINGS", "PATH_STEPS", "Walk", "clipped", "follow_smooth_path", "positive_part", "shortened"]

PATH_STEPS, HALVINGS = 80, 7
"""Newton steps at most, and how often one is halved if forces fail by more after it."""

CLOSE_BY = 3e-3
"""How near the path is followed: forces may fail by this part of √τ."""

SHRINK, LEAST_SHRINK, SLOWEST, STEPS_BEFORE_LESS = 0.2, 0.05, 0.9, 8
"""By what τ is multiplied at first, by what at most once that works well, by what at least, and after how many steps
it does not."""

NEAR_ENOUGH = 1e-10
"""Forces that fail by less, in a problem of magnitude 1, end the path."""

Pair: TypeAlias = tuple[Scalar, Scalar]


# ---- what is rounded off, `four` being 4 τ, and the slopes of that ---------------------------------------------------


def positive_part(w: Scalar, four: Scalar) -> tuple[Scalar, Scalar]:
    """The positive part of a number, and its slope."""
    root = sqrt(w * w + four)
    return (w + root) * 0.5, (1.0 + _ratio(w, root)) * 0.5


def clipped(w: Scalar, most: Scalar, four: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """A number within ± most; its slopes by both."""
    up, down = w + most, w - most
    high, low = sqrt(up * up + four), sqrt(down * down + four)
    rise, fall = _ratio(up, high), _ratio(down, low)
    return (high - low) * 0.5, (rise - fall) * 0.5, (rise + fall) * 0.5


def shortened(x: Scalar, y: Scalar, most: Scalar, four: Scalar) -> tuple[Pair, Pair, Scalar, Scalar, Pair]:
    """A vector no longer than most; the slopes of its entries by their own, by the other's, and by most along it."""
    length = sqrt(x * x + y * y)
    short, bent, along = clipped(length, most, four)
    inverse = 1.0 / select(length > 0.0, length, 1.0)
    turned = select(length > 0.0, short * inverse, bent)
    forces, x, y = (turned * x, turned * y), x * inverse, y * inverse
    own = turned + (bent - turned) * x * x, turned + (bent - turned) * y * y
    return forces, own, (bent - turned) * x * y, along, (x, y)


def _ratio(x: Scalar, y: Scalar) -> Scalar:
    return x / select(y > 0.0, y, 1.0)


# ---- the path --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Walk:
    """How far a path has come."""

    tau: Scalar
    reached: Scalar = 0.0  # the least τ so far whose forces were found
    shrink: Scalar = SHRINK
    since: Scalar = 0.0  # steps since τ changed

    def after_step(self, near: Bool, shorter: Bool) -> tuple[Walk, Bool]:
        """How far it is after a Newton step that ended near the path, or made forces fail by less at least.

        Also whether the path is lost: then it goes on from where it was followed last, by less; at first by more.
        """
        since = self.since + 1.0
        lost = both(negation(near), either(negation(shorter), since > STEPS_BEFORE_LESS))
        quick = select(since <= 2.0, maximum(self.shrink * self.shrink, LEAST_SHRINK), self.shrink)
        slow = minimum(sqrt(self.shrink), SLOWEST)
        back = select(self.reached > 0.0, self.reached * slow, self.tau * 10.0)
        after = Walk(
            select(near, self.tau * quick, select(lost, back, self.tau)),
            select(near, self.tau, self.reached),
            select(near, quick, select(lost, slow, self.shrink)),
            select(either(near, lost), 0.0, since),
        )
        return after, lost


def follow_smooth_path(demands: Demands, f: Array, a: Array, scale: Scalar) -> None:
    """Let f be the best forces of a path from none, and a theirs; `scale` is the magnitude of b, rows weighed."""
    n, rounded = demands.n, _Rounded(demands, scale)
    best, on_path, failing = array(n), array(n), array(n)
    fill(f, n, lambda i: 0.0)
    fill(a, n, lambda i: demands.b[i])

    def worst() -> Scalar:
        demands.fail(f, a, failing)
        return loop(n, lambda i, most: maximum(most, failing[i] / (demands.size(i) * rounded.unit[i])), ZERO)

    def turn(_: Index, so_far: tuple[Walk, Scalar]) -> tuple[Walk, Scalar]:
        walk, least = so_far
        fails, shorter = _damped_step(rounded, f, a, walk.tau)
        near = fails < CLOSE_BY * sqrt(walk.tau)
        after, lost = walk.after_step(near, shorter)
        do_when(near, lambda: _copy(n, f, on_path))
        do_when(lost, lambda: _copy(n, on_path, f))
        demands.values(f, a)
        most = worst()
        do_when(most < least, lambda: _copy(n, f, best))
        return after, minimum(least, most)

    def over(so_far: tuple[Walk, Scalar]) -> Bool:
        return either(so_far[1] < NEAR_ENOUGH, so_far[0].tau < ROUNDING**2)

    loop(PATH_STEPS, turn, (Walk(1.0), worst()), until=over)
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

    def halve(_: Index, tried: Pair) -> Pair:
        length = tried[0] * 0.5
        fill(at, n, lambda i: f[i] + length * direction[i])
        fill(after, n, lambda i: a[i] + length * (then[i] - a[i]))
        return length, rounded.put(at, after, tau, False)

    def is_less(tried: Pair) -> Bool:
        return tried[1] < (1.0 - 0.1 * tried[0]) * before

    whole: Pair = (2.0, before)
    tried = loop(HALVINGS, halve, whole, until=is_less)
    shorter = is_less(tried)
    do_when(shorter, lambda: _copy(n, at, f))
    return select(shorter, tried[1], before), shorter


class _Rounded:
    """Forces f - a / size put within bounds that are rounded off by τ, and how they follow them."""

    def __init__(self, demands: Demands, scale: Scalar) -> None:
        self.demands, n = demands, demands.n
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
        self.count = demands.each(row, ZERO)

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
                forces[i], self.own[i] = positive_part(w, four)
            elif kind == "box":
                low, high = demands.bounds_of(kind, i, normal, f)
                bounded = both(low > -FAR, high < FAR)
                half = select(bounded, (high - low) * 0.5, 0.0)
                middle = select(bounded, (high + low) * 0.5, 0.0)
                short, own, _ = clipped(w - middle, half, four)
                within = select(both(low < w, w < high), 1.0, 0.0)
                forces[i] = select(bounded, middle + short, maximum(low, minimum(high, w)))
                self.own[i] = select(bounded, own, within)
            else:
                low, high = demands.slopes(i, normal)
                middle, half, load = (low + high) * 0.5, (high - low) * 0.5, forces[normal]
                short, own, along = clipped(w - middle * load, half * load, four)
                forces[i], self.own[i] = middle * load + short, own
                self.links[i] = (middle * (1.0 - own) + half * along) * self.own[normal]
            for k in range(2 if kind == "cone" else 1):
                off = (f[i + k] - forces[i + k]) / unit
                total = total + off * off
            return total

        return sqrt(demands.each(row, ZERO) / maximum(self.count, 1.0))

    def _put_cone(self, i: Index, normal: Index, x: Scalar, y: Scalar, four: Scalar, slopes: bool) -> None:
        mu = self.demands.mu[normal]
        forces, own, across, along, turned = shortened(x, y, mu * self.forces[normal], four)
        self.forces[i], self.forces[i + 1] = forces
        if slopes:
            follows = along * mu * self.own[normal]
            for k in range(2):
                self.own[i + k], self.across[i + k], self.links[i + k] = own[k], across, follows * turned[k]

    def direction(self, f: Array) -> Array:
        """The Newton step: with S the slopes it is (1 + S (A / size - 1))⁻¹ (forces - f), A not quite singular."""
        demands, n, conditions = self.demands, self.demands.n, self.demands.conditions
        A, K = demands.A, blank(n * (n + 1))
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
            weights, start = [weight / self.size[k] for k, weight in parts], i * (n + 1)
            sources = [Part(A, k * n) for k, _ in parts]
            fill(Part(K, start), n, lambda j: dot(weights, [source[j] for source in sources]))
            K[start + i] = K[start + i] + 1.0
            for k, weight in parts:
                K[start + k] = K[start + k] - weight * (1.0 - ROUNDING)
            K[start + n] = self.forces[i] - f[i]

        def inverse(_: Index, pivot: Scalar) -> Scalar:
            return 1.0 / select(absolute(pivot) > 0.0, pivot, 1.0)

        demands.where_on(equation)
        return solved(K, n, inverse, demands.runs, demands.on)


def _copy(n: int, source: Array, target: Array) -> None:
    fill(target, n, lambda i: source[i])
