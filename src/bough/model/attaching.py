"""Flexible bodies in the builder: a body with elastic coordinates, and one for each of its stations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.model.arguments import read_placement, require_name
from bough.model.flexible.body import FlexibleBody
from bough.model.parts import Placement
from bough.reading import shown

if TYPE_CHECKING:
    from bough.model.builder import Builder

__all__ = ["add_flexible"]


def add_flexible(
    builder: Builder,
    name: str,
    flexible: FlexibleBody,
    parent: str = "world",
    *,
    at: ArrayLike | Placement = (0.0, 0.0, 0.0),
    rpy: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
) -> int:
    """Add a flexible body, clamped to its parent, and return its number.

    Its elastic coordinates belong to a joint with the same name, which has their stiffness and damping and does not
    move the body frame. Each station becomes a body called ``name.station``. Attach other bodies, frames, loads and
    loops to stations, not to the flexible body. Parts fixed to a station add to its inertia.

    Parameters
    ----------
    name
        Name of the body and of its joint.
    flexible
        A `bough.flexible.Beam` or another `bough.flexible.FlexibleBody`.
    parent
        Name of the parent (a body, a frame or a merged body) to which it is clamped.
    at, rpy, rotation
        Placement of the body frame in the parent, as in `add`.

    Returns
    -------
    int
        Number of the body. The numbers of its stations follow.
    """
    require_name(name, "a flexible body")
    if not isinstance(flexible, FlexibleBody):
        raise ModelError(f"body {name!r}: it is {shown(flexible)}, expected a bough.flexible.Beam or FlexibleBody")
    names = [f"{name}.{station}" for station, _, _ in flexible.stations]
    for taken in names:
        if taken in builder._places or taken in builder._titles:
            raise ModelError(f"body {name!r}: there is a body, frame or joint {taken!r} already")
    place = read_placement(at, rpy, rotation, f"body {name!r}")
    number = builder.add(
        name, flexible.joint, parent, at=place, inertia=flexible.inertia, stiffness=flexible.stiffness,
        damping=flexible.damping,
    )  # fmt: skip
    for title, (_, origin, station) in zip(names, flexible.stations, strict=True):
        builder.add(title, station, name, at=origin)
    return number
