"""Robots to measure on: those of the PyPI package `example-robot-data`, read by Pinocchio and rebuilt for bough."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import bough

__all__ = ["HAND", "ROBOTS", "hand_body", "robot"]

# name → (path below the package's robots, floating base)
ROBOTS: dict[str, tuple[str, bool]] = {
    "panda": ("panda_description/urdf/panda.urdf", False),
    "allegro": ("allegro_hand_description/urdf/allegro_right_hand.urdf", False),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    "icub": ("icub_description/robots/icub.urdf", True),
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),
}

HAND = "hand"
"""The frame whose Jacobian is measured, on the deepest body of each robot."""

PLACE = (0.05, 0.02, 0.1)  # of that frame on its body


def robot(name: str) -> tuple[pin.Model, bough.Model]:
    """A robot in Pinocchio and in bough, with the same joint order and the same extra frame, the last one."""
    path, floating = ROBOTS[name]
    root = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
    arguments = (str(root / path), pin.JointModelFreeFlyer()) if floating else (str(root / path),)
    theirs = pin.buildModelFromUrdf(*arguments)
    model = _rebuilt(theirs, name)
    place = pin.SE3(np.eye(3), np.array(PLACE))
    theirs.addFrame(pin.Frame(HAND, hand_body(model), 0, place, pin.OP_FRAME))
    return theirs, model


def hand_body(model: bough.Model) -> int:
    """The deepest body: the last one of those with the longest path from the base."""
    return max(range(1, model.nbodies + 1), key=lambda body: (model.tree.depths[body - 1], body))


def _rebuilt(model: pin.Model, name: str) -> bough.Model:
    """The same mechanism as a bough model. Continuous joints have one configuration variable there."""
    builder = bough.Builder(name)
    for i in range(1, model.njoints):
        place, inertia = model.jointPlacements[i], model.inertias[i]
        moments = np.asarray(inertia.inertia)
        builder.add(
            _body(model, i),
            _joint(model.joints[i]),
            _body(model, model.parents[i]),
            at=place.translation,
            rotation=place.rotation,
            mass=inertia.mass,
            com=inertia.lever,
            inertia=(moments + moments.T) / 2,
        )
    builder.frame(HAND, _body(model, hand_body(builder.build())), at=PLACE)
    return builder.build()


def _body(model: pin.Model, i: int) -> str:
    return "world" if i == 0 else f"{i} {model.names[i]}"


def _joint(joint: Any) -> bough.joints.Joint:
    kind = joint.shortname().removeprefix("JointModel")
    if kind == "FreeFlyer":
        return bough.joints.Free()
    if kind.endswith("Unaligned"):
        axis = np.asarray(joint.extract().axis)
        return bough.joints.Prismatic(axis) if kind.startswith("Prismatic") else bough.joints.Revolute(axis)
    if kind.startswith("RUB"):
        return bough.joints.Revolute(kind[-1].lower(), continuous=True)
    return {"R": bough.joints.Revolute, "P": bough.joints.Prismatic}[kind[0]](kind[1].lower())
