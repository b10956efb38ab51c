"""Frames as seen from a body further down the tree: where they are, how they move, and which joints move them how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bough.algorithms.constraint_rows import Entries
from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Bool, Index, Scalar, maximum, select
from bough.scalar.tolerances import FITS, ROUNDING, SINGULAR_VALUE
from bough.spatial import REST, Force, Motion, Transform
from bough.tree.scans import upward

__all__ = ["Seen", "Side", "climb", "components", "felt_at_all", "powers", "write_columns"]

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
    """The power of each force on a motion, zero where that is rounding.

    Of a couple that is what real parts do not fit any better than: axes of a planar mechanism that a file tells to nine
    digits are not parallel, and all rows of couples of a loop together would be nothing but that.
    """
    result = []
    for t in T:
        value, is_couple = motion.dot(t), all(type(x) is float and x == 0.0 for x in t.linear.parts)
        least = SINGULAR_VALUE if is_couple else ROUNDING
        result.append(select(value * value <= _terms(motion, t, reach) * least**2, 0.0, value))
    return result


def _terms(motion: Motion, t: Force, reach: Scalar) -> Scalar:
    """The square of the size of the terms whose sum the power is: turning moves a point by as much as it is away."""
    turning, moving = motion.angular.dot(motion.angular), motion.linear.dot(motion.linear)
    return turning * t.angular.dot(t.angular) + (moving + turning * reach) * t.linear.dot(t.linear)


def felt_at_all(m: Mechanism, q: Array, sides: Sequence[tuple[Side, Transform]], T: Sequence[Force]) -> list[Bool]:
    """For each force whether any motion of the bodies of both sides has power on it, beyond what parts fit.

    Where none has, the row is rounding, or that of axes which are the same as well as a file tells.
    """
    none = (0.0,) * len(T)
    most, size = none, none  # type: tuple[Scalar, ...], tuple[Scalar, ...]
    for side, X in sides:

        def rule(body: BodyRecord, seen: _Extent) -> _Extent:
            X, most, size = seen.X, seen.most, seen.size
            reach = maximum(seen.reach, X.translation.dot(X.translation))
            for s in body.subspace(q):
                motion = X.to_child(s)
                felt = [motion.dot(t) for t in T]
                most = tuple([maximum(a, x * x) for a, x in zip(most, felt, strict=True)])
                size = tuple([maximum(a, _terms(motion, t, reach)) for a, t in zip(size, T, strict=True)])
            return _Extent(body.transform(q).then(X), reach, most, size)

        if not side.rests:
            found = upward(m, side.body, side.count, rule, _Extent(X, 0.0, most, size))
            most, size = found.most, found.size
    return [largest > terms * FITS**2 for largest, terms in zip(most, size, strict=True)]


@dataclass(frozen=True, slots=True)
class _Extent:
    """A frame as seen from a body, how far it was from any joint so far, and squares: powers, sizes of their terms."""

    X: Transform
    reach: Scalar
    most: tuple[Scalar, ...]
    size: tuple[Scalar, ...]
