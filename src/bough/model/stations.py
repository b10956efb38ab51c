"""What flexible bodies allow: what they carry is on their stations, and not everything knows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bough.errors import ModelError
from bough.model.joints.elastic import Station
from bough.model.parts import Body, JointEntry, Placement

if TYPE_CHECKING:
    from bough.model.model import Model

__all__ = ["require_all_rigid", "require_rigid", "require_stations"]


def require_rigid(bodies: Sequence[Body], joints: Sequence[JointEntry], number: int, what: str) -> None:
    """Raise if a body, by its number, is flexible: what it carries is on its stations."""
    if number and joints[number - 1].joint.elastic_count:
        name = bodies[number - 1].name
        stations = [body.name for body in bodies if body.name.startswith(f"{name}.")]
        raise ModelError(f"{what}: body {name!r} is flexible, expected one of its stations: {', '.join(stations)}")


def require_all_rigid(model: Model, what: str) -> None:
    """Raise, naming a body, if a model has flexible bodies; `what` cannot be done with them."""
    for body, entry in zip(model.bodies, model.joints, strict=True):
        if entry.joint.elastic_count:
            raise ModelError(f"{what}: body {body.name!r} is flexible, expected a model of rigid bodies")


def require_stations(parents: Sequence[int], bodies: Sequence[Body], joints: Sequence[JointEntry]) -> None:
    """Raise unless stations, and nothing else, are on flexible bodies, whose frames are where their joints are."""
    for parent, body, entry in zip(parents, bodies, joints, strict=True):
        joint, what = entry.joint, f"joint {entry.name!r}"
        if not isinstance(joint, Station):
            require_rigid(bodies, joints, parent, f"body {body.name!r}")
        elif not parent or joints[parent - 1].joint.elastic_count != joint.count:
            raise ModelError(f"{what} is a station of {joint.count} modes, expected it on a flexible body with as many")
        if (joint.elastic_count or isinstance(joint, Station)) and body.frame != Placement():
            raise ModelError(f"{what}: the frame of the flexible body {body.name!r} is {body.frame}, expected none")
