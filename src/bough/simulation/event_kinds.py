"""Events that most runs want: two shapes begin to touch, a joint reaches its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError
from bough.kernel.arguments import FloatArray
from bough.model import Geometry, Model
from bough.model.coupling import own_joint
from bough.reading import known_name
from bough.scalar.lazy import cached_property
from bough.scalar.tolerances import TOUCHING

if TYPE_CHECKING:
    from bough.simulation.prepared import Prepared

__all__ = ["Apart", "DistanceToLimits", "points_between"]


@dataclass(frozen=True)
class DistanceToLimits:
    """How far the coordinates of a joint are from its nearest limit (m or rad); from 1e-6 on, it is reached."""

    model: Model
    joint: str

    def __post_init__(self) -> None:
        if not self._limited[0].size:
            raise ModelError(
                f"joint {self.joint!r} of {self.model.name!r} has no position limits, expected a joint with limits"
            )

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model, "joint": self.joint}

    @cached_property
    def _limited(self) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], tuple[Any, Any]]:
        """Of the coordinates with limits: places in q, ratios and offsets, and the limits."""
        model, map_of, entry = self.model, self.model.coupling, self.model.joint(self.joint)
        start = sum(own_joint(x.joint).nq for x in model.joints[: model.joint_names.index(self.joint)])
        low, high = np.array(entry.lower), np.array(entry.upper)
        some = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        own = start + some
        return map_of.q_source[own], map_of.q_ratio[own], map_of.q_offset[own], (low[some], high[some])

    def __call__(self, time: float, q: FloatArray, v: FloatArray) -> float:
        """Of one state."""
        source, ratio, offset, (low, high) = self._limited
        x = q[source] * ratio + offset
        return float(np.minimum(x - low, high - x).min()) - TOUCHING


@dataclass(frozen=True)
class Apart:
    """Whether some contact points of a simulation are apart, 1, or touch or push, -1."""

    sim: Prepared
    points: tuple[int, ...]

    def __call__(self, time: float, q: FloatArray, v: FloatArray) -> float:
        """Of one state."""
        begin = {"a": self.sim._zeros}  # whether something pushes does not need the impulses that hold
        found, points = self.sim._measured(q, v, begin, "argument of contacts"), [*self.points]
        return -1.0 if (found.depths[points] > 0.0).any() or found.forces[points].any() else 1.0


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
