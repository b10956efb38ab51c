"""Limits of joints: which coordinates have some, their rows, and the one-sided conditions that they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeAlias

import numpy as np

from bough.algorithms.joint_bounds import Bounds, bounded_names
from bough.algorithms.loops import loop_motions, loop_rates
from bough.errors import ModelError
from bough.model import JointEntry, Loop, Mechanism, Model
from bough.model.coupling import own_joint
from bough.model.joints import Mimic
from bough.scalar import Array, Index, Part, Scalar, derivative, dot, fill

__all__ = [
    "LimitSides", "LimitTerms", "Limited", "limit_gaps", "limit_rows", "limit_sides", "limited_joints", "limited_loops",
]  # fmt: skip


@dataclass(frozen=True)
class Limited:
    """A coordinate with a limit: whose it is, which of the joint's, and where the joint's q and v begin.

    Those of joints that close loops begin among the coordinates and velocities of all such joints. What limits it may
    be the limit of a mimic joint that follows it; the names say which.
    """

    entry: JointEntry | Loop
    number: int
    q_start: int
    v_start: int
    lower: float
    upper: float
    names: tuple[str, str]  # of both limits


@lru_cache(maxsize=128)
def limited_joints(model: Model) -> tuple[Limited, ...]:
    """The coordinates of joints of the tree that have a limit."""
    return _limited_coordinates(model.joints, _followers(model))


@lru_cache(maxsize=128)
def limited_loops(model: Model) -> tuple[Limited, ...]:
    """The coordinates of joints that close loops that have a limit."""
    return _limited_coordinates(model.loops, {})


Followers: TypeAlias = dict[int, list[tuple[JointEntry, float, float]]]
"""By place in q the mimic joints that follow it, with ratio and offset."""


def _followers(model: Model) -> Followers:
    found: Followers = {}
    coupling, place = model.coupling, 0
    for entry in model.joints:
        if isinstance(entry.joint, Mimic):
            law = (entry, float(coupling.q_ratio[place]), float(coupling.q_offset[place]))
            found.setdefault(int(coupling.q_source[place]), []).append(law)
        place += own_joint(entry.joint).nq
    return found


def _limited_coordinates(entries: Iterable[JointEntry | Loop], followers: Followers) -> tuple[Limited, ...]:
    """Each number of q may have limits, but for those of quaternions, of which no one means anything by itself."""
    found, q, v = [], 0, 0
    for entry in entries:
        joint = entry.joint
        turned = {k + j for k in joint.quaternions for j in range(4)}
        for k in range(joint.nq):
            lower, upper = _narrowed_limits(entry, k, followers.get(q + k, ()))
            if k not in turned and (math.isfinite(lower[0]) or math.isfinite(upper[0])):
                found.append(Limited(entry, k, q, v, lower[0], upper[0], (lower[1], upper[1])))
        q, v = q + joint.nq, v + joint.nv
    return tuple(found)


Limit: TypeAlias = tuple[float, str]


def _narrowed_limits(
    entry: JointEntry | Loop, k: int, followers: Iterable[tuple[JointEntry, float, float]]
) -> tuple[Limit, Limit]:
    """The limits of a coordinate, with names: its own or, where tighter, those that its followers' ranges leave it."""
    name = entry.name if entry.joint.nq == 1 else f"{entry.name}[{k}]"
    lower: Limit = (entry.lower[k], f"lower limit of {name}")
    upper: Limit = (entry.upper[k], f"upper limit of {name}")
    for other, ratio, offset in followers:
        if ratio == 0.0:
            continue
        ends = [((other.lower[0] - offset) / ratio, f"lower limit of {other.name}")]
        ends.append(((other.upper[0] - offset) / ratio, f"upper limit of {other.name}"))
        low, high = sorted(ends, key=lambda end: end[0])
        lower, upper = max(lower, low, key=lambda end: end[0]), min(upper, high, key=lambda end: end[0])
    if lower[0] > upper[0]:
        raise ModelError(
            f"joint {name!r} cannot obey the {lower[1]}, {lower[0]:g} for it, and the {upper[1]}, {upper[0]:g} for it: "
            "expected limits of mimic joints that leave the joint they follow a range"
        )
    return lower, upper


@dataclass(frozen=True)
class LimitTerms:
    """Of all coordinates c with limits: ċ, what velocities add to c̈, and the slopes ∂ċ/∂v for the v of their joints."""

    rates: list[Scalar]
    bias: list[Scalar]
    slopes: list[Scalar]


def limit_rows(m: Mechanism, q: Array, v: Array | None, J: Array) -> LimitTerms:
    """Write the rows of all coordinates with limits, joints of the tree first."""
    model, n = m.model, m.model.nv
    terms = LimitTerms([], [], [])
    chosen = limited_joints(model)
    for i, c in enumerate(chosen):
        x, speeds = [q[c.q_start + k] for k in range(c.entry.joint.nq)], None
        if v is not None:
            speeds = [v[c.v_start + k] for k in range(c.entry.joint.nv)]
        for k, slope in enumerate(_add(terms, c, x, speeds, None)):
            J[i * n + (c.v_start + k)] = slope
    closing = limited_loops(model)
    if closing:
        configurations, B = loop_motions(m, q)
        rates, bends = (None, None) if v is None else loop_rates(m, q, v)
        for i, c in enumerate(closing, start=len(chosen)):
            here = slice(c.v_start, c.v_start + c.entry.joint.nv)
            x = configurations[c.q_start : c.q_start + c.entry.joint.nq]
            parts = (None, None) if rates is None or bends is None else (rates[here], bends[here])
            slopes, columns = _add(terms, c, x, *parts), [Part(B, k * n) for k in range(here.start, here.stop)]
            fill(Part(J, i * n), n, partial(_combination, slopes, columns))
    return terms


def _combination(factors: list[Scalar], rows: list[Part], k: Index) -> Scalar:
    return dot(factors, [row[k] for row in rows])


def _add(
    terms: LimitTerms, c: Limited, x: list[Scalar], v: list[Scalar] | None, rest: list[Scalar] | None
) -> list[Scalar]:
    """The terms of one coordinate, from the configuration of its joint, its velocity, and its v̇ beside J v̇.

    With ẋ = T(x) v, one coordinate has the row of T, and Ṫ v besides: T is what `rate` says, Ṫ how that changes.
    """
    joint, parameters, k = c.entry.joint.canonical, c.entry.joint.parameters, c.number

    def rates(x: tuple[Scalar, ...], v: Sequence[Scalar]) -> tuple[Scalar, ...]:
        return tuple(joint.rate(parameters, x, v))

    units = [[1.0 if i == j else 0.0 for i in range(joint.nv)] for j in range(joint.nv)]
    slopes = [rates(tuple(x), unit)[k] for unit in units]
    terms.slopes.extend(slopes)
    if v is None:
        terms.rates.append(0.0)
        terms.bias.append(0.0)
        return slopes
    moving, bent = derivative(lambda y: rates(y, v), tuple(x), rates(tuple(x), v))
    terms.rates.append(moving[k])
    terms.bias.append(bent[k] if rest is None else bent[k] + dot(slopes, rest))
    return slopes


# ---- sides ---------------------------------------------------------------------------------------------------------


class LimitSides:
    """The finite limits of a model: one-sided conditions, gap ≥ 0 with gap = sign × (q - bound).

    Those of joints that close loops follow those of the tree; their coordinates come behind q. Rows are those of
    `limit_rows`. Sides of velocity limits come last: sign × v + bound ≥ 0.
    """

    def __init__(self, model: Model, positions: bool, speeds: Bounds) -> None:
        sides: list[tuple[int, float, int, float, str]] = []
        slopes: list[tuple[int, int]] = []
        tree, closing = (limited_joints(model), limited_loops(model)) if positions else ((), ())
        for row, c in enumerate([*tree, *closing]):
            q_start, v_start = (0, 0) if row < len(tree) else (model.nq, model.nv)
            for sign, bound, name in zip((1.0, -1.0), (c.lower, c.upper), c.names, strict=True):
                if np.isfinite(bound):
                    sides.append((row, sign, q_start + c.q_start + c.number, bound, name))
            slopes += [(row, v_start + c.v_start + j) for j in range(c.entry.joint.nv)]
        self.positions = len(sides)  # how many sides are of positions
        for row, (k, most) in enumerate(speeds, start=len(tree) + len(closing)):
            for sign, which in ((1.0, "lower"), (-1.0, "upper")):
                sides.append((row, sign, k, most, f"{which} velocity limit of {bounded_names(model)[k]}"))
            slopes.append((row, k))
        self.names: tuple[str, ...]
        rows, signs, coordinates, bounds, self.names = zip(*sides, strict=True) if sides else ((),) * 5
        # the row of each among the coordinates with limits, 1 for a lower limit and -1 for an upper one, where it is
        # among the coordinates, and its bound
        self.rows, self.signs = np.array(rows, np.intp), np.array(signs, np.float64)
        self.coordinates, self.bounds = np.array(coordinates, np.intp), np.array(bounds, np.float64)
        self.slopes = tuple(
            np.array(slopes, np.intp).reshape(-1, 2).T
        )  # rows and velocities; loop joints' come behind v

    def speeds(self) -> list[tuple[float, int, float]]:
        """Sign, place in v or behind it, and bound of each side of a velocity limit."""
        parts = (part[self.positions :].tolist() for part in (self.signs, self.coordinates, self.bounds))
        return list(zip(*parts, strict=True))


@lru_cache(maxsize=128)
def limit_sides(model: Model, positions: bool = True, speeds: Bounds = ()) -> LimitSides:
    """The finite limits of all joints, those of positions if asked for, and then bounds of velocities."""
    return LimitSides(model, positions, speeds)


def limit_gaps(m: Mechanism, q: Array) -> list[Scalar]:
    """How far each side of a limit is away; see `LimitSides`."""
    nq, sides = m.model.nq, limit_sides(m.model)
    own = loop_motions(m, q)[0] if limited_loops(m.model) else []
    places = list(zip(sides.signs.tolist(), sides.coordinates.tolist(), sides.bounds.tolist(), strict=True))
    return [sign * ((q[c] if c < nq else own[c - nq]) - bound) for sign, c, bound in places]
