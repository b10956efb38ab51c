"""Which candidates are too far apart to touch, told for several of them at once before any is looked at by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from bough.algorithms.narrow_phase import GROUNDS
from bough.algorithms.soft.grip import write_at
from bough.algorithms.soft.layout import ShapeGroup
from bough.scalar import Index, Scalar, Table, do_when, each, gather_index, maximum, unguarded
from bough.spatial import Vector

__all__ = ["can_be_culled", "each_near"]

MOST_TESTED = 200
"""Candidates of a group that are tested in straight code at most: beyond, it would take long to compile."""

PASSED_TOGETHER = 8
"""Candidates that are passed over at once."""

SLACK = 1e-9
"""Part of a distance by which these tests are laxer than those of single candidates, whatever way both are rounded."""


def can_be_culled(group: ShapeGroup) -> bool:
    """Whether there are enough candidates for it, not too many, and on floors whose heights are exact."""
    if not PASSED_TOGETHER < group.count <= MOST_TESTED or group.kinds[1] in GROUNDS:
        return False
    return group.kinds[0] not in GROUNDS or (group.floor is not None and _upright(group.floor.rotation) is not None)


def each_near(group: ShapeGroup, size: int, centres: Sequence[Vector], rule: Callable[[Index], None]) -> None:
    """Run a rule for the candidates of a group that may touch; blocks that are far apart in all states cost little.

    `centres` are those of all shapes, whose places in memory take `size` numbers each. Those of shapes that are near
    each other where masses are taken, and so most of the time, come first.
    """
    count = -(-group.count // PASSED_TOGETHER)
    last = np.minimum(np.arange(PASSED_TOGETHER * count, dtype=np.int64), group.count - 1)
    places = Table("places", last)  # those that fill the last block are never near
    closest, close = unguarded(count, zeros=False), unguarded(PASSED_TOGETHER * count, zeros=False)
    for b in range(count):
        first = b * PASSED_TOGETHER
        own = [_closeness(group, size, centres, k) for k in range(group.count)[first : first + PASSED_TOGETHER]]
        write_at(close, first, own + [0.0] * (PASSED_TOGETHER - len(own)))
        closest[b] = reduce(maximum, own)

    def look(k: Index) -> None:
        do_when(close[k] > 0.0, lambda: rule(gather_index(places, k)))

    def look_at_block(b: Index) -> None:
        do_when(closest[b] > 0.0, lambda: each(PASSED_TOGETHER, lambda j: look(b * PASSED_TOGETHER + j)))

    each(count, look_at_block)


def _closeness(group: ShapeGroup, size: int, centres: Sequence[Vector], k: int) -> Scalar:
    """More than zero where a candidate may touch."""
    reach = float(group.reach.data[k]) * (1.0 + SLACK)
    second = centres[int(group.shapes[1].data[k]) // size]
    if group.kinds[0] not in GROUNDS:
        apart = second - centres[int(group.shapes[0].data[k]) // size]
        return reach * reach - apart.dot(apart)
    assert group.floor is not None
    axis, sign = _upright(group.floor.rotation) or (2, 1.0)
    top = 0.0 if group.heights[0] is None else group.heights[0].top
    return (reach + top) - (second.parts[axis] - group.floor.origin[axis]) * sign


def _upright(rotation: Sequence[float]) -> tuple[int, float] | None:
    """The axis of the world along which the normal of a floor lies, and its sign; None if it is none of them."""
    normal = [float(x) for x in rotation[2::3]]
    return next(((k, x) for k, x in enumerate(normal) if abs(x) == 1.0 and not any(normal[:k] + normal[k + 1 :])), None)
