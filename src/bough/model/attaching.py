"""Flexible bodies in the builder: a body with elastic coordinates, and one for each of its stations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.model.arguments import read_placement, require_name
from bough.model.flexible.body import FlexibleBody
from bough.model.joints.elastic import Station
from bough.model.parts import Body, JointEntry, Placement
from bough.reading import shown

if TYPE_CHECKING:
    from bough.model.builder import Builder
    from bough.model.model import Model

__all__ = ["add_flexible", "require_all_rigid", "require_rigid", "require_stations"]


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

    Its elastic coordinates are those of a joint of its name, which has their stiffness and damping and does not move
    the body frame. Each station becomes a body called ``name.station``: other bodies, frames, loads and loops go there,
    and none on the flexible body itself. What is fixed to a station adds to its inertia.

    Parameters
    ----------
    name
        Name of the body and of its joint.
    flexible
        A `bough.flexible.Beam` or another `bough.flexible.FlexibleBody`.
    parent
        Name of the body (or frame, or merged body) it is clamped to.
    at, rpy, rotation
        Placement of the body frame in the parent, as in `add`.

    Returns
    -------
    int
        Number of the body; its stations come next.
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


def require_rigid(bodies: Sequence[Body], joints: Sequence[JointEntry], number: int, what: str) -> None:
    """Raise if a body, by its number, is flexible: what it carries is on its stations."""
    if number and joints[number - 1].joint.modes:
        name = bodies[number - 1].name
        stations = [body.name for body in bodies if body.name.startswith(f"{name}.")]
        raise ModelError(f"{what}: body {name!r} is flexible, expected one of its stations: {', '.join(stations)}")


def require_all_rigid(model: Model, what: str) -> None:
    """Raise, naming a body, if a model has flexible bodies; `what` cannot be done with them."""
    for body, entry in zip(model.bodies, model.joints, strict=True):
        if entry.joint.modes:
            raise ModelError(f"{what}: body {body.name!r} is flexible, expected a model of rigid bodies")


def require_stations(parents: Sequence[int], bodies: Sequence[Body], joints: Sequence[JointEntry]) -> None:
    """Raise unless stations, and nothing else, are on flexible bodies, whose frames are where their joints are."""
    for parent, body, entry in zip(parents, bodies, joints, strict=True):
        joint, what = entry.joint, f"joint {entry.name!r}"
        if not isinstance(joint, Station):
            require_rigid(bodies, joints, parent, f"body {body.name!r}")
        elif not parent or joints[parent - 1].joint.modes != joint.count:
            raise ModelError(f"{what} is a station of {joint.count} modes, expected it on a flexible body with as many")
        if (joint.modes or isinstance(joint, Station)) and body.frame != Placement():
            raise ModelError(f"{what}: the frame of the flexible body {body.name!r} is {body.frame}, expected none")
