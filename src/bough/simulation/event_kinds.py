"""Events that most runs want: two shapes begin to touch, a joint reaches its limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError
from bough.model import Geometry, Model
from bough.model.coupling import own_joint
from bough.reading import known_name
from bough.scalar.tolerances import TOUCHING

__all__ = ["distance_to_limits", "points_between"]


def distance_to_limits(model: Model, joint: str) -> Callable[..., float]:
    """How far the coordinates of a joint are from its nearest limit (m or rad); from 1e-6 on, it is reached."""
    entry, map_of = model.joint(joint), model.coupling
    start = sum(own_joint(x.joint).nq for x in model.joints[: model.joint_names.index(joint)])
    low, high = np.array(entry.lower), np.array(entry.upper)
    own = slice(start, start + own_joint(entry.joint).nq)
    source, ratio, offset = map_of.q_source[own], map_of.q_ratio[own], map_of.q_offset[own]
    limited = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
    if not limited.size:
        raise ModelError(f"joint {joint!r} of {model.name!r} has no position limits, expected a joint with limits")

    def distance(time: float, q: NDArray[np.float64], v: NDArray[np.float64]) -> float:
        x = (q[source] * ratio + offset)[limited]
        return float(np.minimum(x - low[limited], high[limited] - x).min()) - TOUCHING

    return distance


def points_between(
    model: Model, shapes: Sequence[tuple[Geometry, Geometry]], first: str | None, second: str | None
) -> list[int]:
    """The contact points of two shapes or bodies, of one with anything, or all; `shapes` has the two of each point."""
    sides = [tuple(_names(model, g) for g in two) for two in shapes]
    known = sorted({name for two in sides for names in two for name in names})
    if first is None and not shapes:
        raise ModelError(
            f"no shapes in the scene of {model.name!r} may touch, expected a pair of shapes, for example with a floor"
        )
    for name in (x for x in (first, second) if x is not None):
        if name not in known and name in model.frame_names:
            raise ModelError(
                f"{name!r} is a frame of {model.name!r} that has no shape which may touch anything, expected a shape, "
                f"or a frame or body that has one: {', '.join(known) or 'there is none in this scene'}"
            )
        known_name(name, "shape or body that may touch something", known)
    named = {x for x in (first, second) if x is not None}
    if len(named) < 2 and (first is None or second is None):
        return [k for k, (one, other) in enumerate(sides) if named <= one | other]
    found = []
    for k, (one, other) in enumerate(sides):
        if (first in one and second in other) or (second in one and first in other):
            found.append(k)
    if not found:
        raise ModelError(
            f"{first!r} and {second!r} cannot touch, expected a pair that may: `left_out` gives the reason"
        )
    return found


def _names(model: Model, g: Geometry) -> set[str]:
    """What a shape may be called by: its own name, its frame, and its body."""
    return {g.name, g.frame, *((model.bodies[g.body - 1].name,) if g.body else ())} - {""}
