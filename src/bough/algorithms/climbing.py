"""Frames as seen from a body further down the tree: where they are, how they move, and which joints move them how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bough.algorithms.constraint_rows import Entries
from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Bool, Index, Scalar, maximum, select, sqrt
from bough.scalar.tolerances import ROUNDING, SINGULAR_VALUE
from bough.spatial import REST, Force, Motion, Transform
from bough.tree.scans import upward

__all__ = ["Lever", "Seen", "Side", "climb", "components", "levers_of", "powers", "write_columns"]

MUCH = 0.5
"""A joint that always moves a frame along a direction by so much (m or rad per unit) is felt there."""

Rule: TypeAlias = Callable[[Motion, Scalar], Sequence[Scalar]]
"""Of a motion of the frame, and how far the frame was from any joint on the way to this one, squared."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A frame as seen from a body: placement, velocity, and its rate at v̇ = 0; both in coordinates of the frame."""

    X: Transform
    v: Motion
    a: Motion
    turning: Scalar = 0.0  # square of the fastest angular velocity of a joint on the way


@dataclass(frozen=True)
class Side:
    """One side of a loop: where it is placed, and how many bodies are below the common ancestor."""

    body: Index
    X: Transform
    count: Index
    rests: bool  # whether there are none


def climb(m: Mechanism, q: Array, v: Array | None, side: Side) -> Seen:
    """The frame of a side as seen from the common ancestor."""

    def rule(body: BodyRecord, seen: Seen) -> Seen:
        X = body.transform(q).then(seen.X)
        if v is None:
            return Seen(X, REST, REST)
        own = combine(body.subspace(q), body.of_v(v))
        moved, turning = seen.X.to_child(own), maximum(seen.turning, own.angular.dot(own.angular))
        rate = seen.X.to_child(combine(body.subspace_rate(q, v), body.of_v(v)))
        return Seen(X, seen.v + moved, seen.a + rate - seen.v.cross(moved), turning)

    seen = Seen(side.X, REST, REST)
    return seen if side.rests else upward(m, side.body, side.count, rule, seen)


def write_columns(
    m: Mechanism, q: Array, side: Side, X: Transform, rule: Rule, row: Index, sign: float, entries: Entries
) -> None:
    """Write the entries of each motion of a side's bodies, in which the successor is placed by X, as a column."""

    def put(body: BodyRecord, seen: tuple[Transform, Scalar]) -> tuple[Transform, Scalar]:
        X, reach = seen[0], maximum(seen[1], seen[0].translation.dot(seen[0].translation))
        for c, s in enumerate(body.subspace(q)):
            for r, value in enumerate(rule(X.to_child(s), reach)):
                entries.put(m, row + r, body.v_start + c, value * sign)
        return body.transform(q).then(X), reach

    if not side.rests:
        none: Scalar = 0.0
        upward(m, side.body, side.count, put, (X, none))


def powers(motion: Motion, T: Sequence[Force], reach: Scalar) -> list[Scalar]:
    """The power of each force on a motion."""
    return [motion.dot(t) for t in T]


def components(motion: Motion, T: Sequence[Force], reach: Scalar) -> list[Scalar]:
    """The power of each force on a motion, zero where that is rounding."""
    sizes = _terms(motion, reach)
    found = zip(powers(motion, T, reach), [_size(t, *sizes) * ROUNDING**2 for t in T], strict=True)
    return [select(value * value <= least, 0.0, value) for value, least in found]


def _terms(motion: Motion, reach: Scalar) -> tuple[Scalar, Scalar]:
    """Squares of the size of the terms whose sum is the power of a unit force, and of a unit couple.

    Turning moves a point by as much as it is away.
    """
    turning = motion.angular.dot(motion.angular)
    return motion.linear.dot(motion.linear) + turning * reach, turning


def _size(t: Force, of_force: Scalar, of_couple: Scalar) -> Scalar:
    return of_force * t.linear.dot(t.linear) + of_couple * t.angular.dot(t.angular)


def levers_of(m: Mechanism, q: Array, sides: Sequence[tuple[Side, Transform]], T: Sequence[Force]) -> list[Lever]:
    """For each force how much of the motions of the bodies of both sides has power on it."""
    none: tuple[Scalar, ...] = (0.0,) * len(T)
    most, always, sizes = none, none, (0.0, 0.0)  # type: tuple[Scalar, ...], tuple[Scalar, ...], tuple[Scalar, ...]
    for side, X in sides:

        def rule(body: BodyRecord, seen: _Extent) -> _Extent:
            X, most, always, sizes = seen.X, seen.most, seen.always, seen.sizes
            reach = maximum(seen.reach, X.translation.dot(X.translation))
            for s in body.subspace(q):
                motion = X.to_child(s)
                found = powers(motion, T, reach)
                most = tuple([maximum(a, x * x) for a, x in zip(most, found, strict=True)])
                always = tuple([1.0 if _is_much(x) else known for known, x in zip(always, found, strict=True)])
                sizes = tuple([maximum(a, b) for a, b in zip(sizes, _terms(motion, reach), strict=True)])
            return _Extent(body.transform(q).then(X), reach, most, always, sizes)

        if not side.rests:
            seen = upward(m, side.body, side.count, rule, _Extent(X, 0.0, most, always, sizes))
            most, always, sizes = seen.most, seen.always, seen.sizes
    found = zip(always, most, T, strict=True)
    return [Lever(type(known) is float and known == 1.0, x, _size(t, *sizes)) for known, x, t in found]


@dataclass(frozen=True, slots=True)
class Lever:
    """How much of the motions of a loop has power on a force: squares of the most, and of what it could be."""

    always: bool  # whether it is much in all states
    most: Scalar
    size: Scalar

    @property
    def is_felt(self) -> Bool:
        """Whether any motion has power on it, beyond what parts fit.

        Where none has, the row is rounding, or that of axes which are the same as well as a file tells.
        """
        return True if self.always else self.most > self.size * SINGULAR_VALUE**2

    @property
    def part(self) -> Scalar:
        """The most as a part of what it could be, from 0 to 1."""
        return 1.0 if self.always else sqrt(self.most / select(self.size > 0.0, self.size, 1.0))


def _is_much(x: Scalar) -> bool:
    """Whether it is a constant that no lever makes small."""
    return type(x) is float and abs(x) >= MUCH


@dataclass(frozen=True, slots=True)
class _Extent:
    """A frame as seen from a body, how far it was from any joint so far, and squares of powers and of their terms."""

    X: Transform
    reach: Scalar
    most: tuple[Scalar, ...]
    always: tuple[Scalar, ...]  # 1 where a power is constant, and not small
    sizes: tuple[Scalar, ...]
