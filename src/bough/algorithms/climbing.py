"""Frames as seen from a body further down the tree: where they are, how they move, and which joints move them how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bough.algorithms.constraint_rows import Entries
from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Index, Scalar, maximum, select
from bough.scalar.tolerances import ROUNDING, SINGULAR_VALUE
from bough.spatial import REST, Force, Motion, Transform
from bough.tree.scans import upward

__all__ = ["Seen", "Side", "climb", "components", "powers", "write_columns"]

Rule: TypeAlias = Callable[[Motion], Sequence[Scalar]]


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

    def put(body: BodyRecord, X: Transform) -> Transform:
        for c, s in enumerate(body.subspace(q)):
            for r, value in enumerate(rule(X.to_child(s))):
                entries.put(m, row + r, body.v_start + c, value * sign)
        return body.transform(q).then(X)

    if not side.rests:
        upward(m, side.body, side.count, put, X)


def powers(motion: Motion, T: Sequence[Force]) -> list[Scalar]:
    """The power of each force on a motion."""
    return [motion.dot(t) for t in T]


def components(motion: Motion, T: Sequence[Force]) -> list[Scalar]:
    """The power of each force on a motion, zero where that is rounding.

    Of a couple that is what real parts do not fit any better than: axes of a planar mechanism that a file tells to nine
    digits are not parallel, and all rows of couples of a loop together would be nothing but that.
    """
    result = []
    for t in T:
        value, is_couple = motion.dot(t), all(type(x) is float and x == 0.0 for x in t.linear.parts)
        angular = motion.angular.dot(motion.angular) * t.angular.dot(t.angular)
        linear = motion.linear.dot(motion.linear) * t.linear.dot(t.linear)
        least = SINGULAR_VALUE if is_couple else ROUNDING
        result.append(select(value * value <= (angular + linear) * least**2, 0.0, value))
    return result
