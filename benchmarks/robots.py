"""Robots to measure on: those of the PyPI package `example-robot-data`, read by Pinocchio and rebuilt for bough."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import bough

__all__ = ["ROBOTS", "rebuilt", "robot"]

# name → (path below the package's robots, floating base)
ROBOTS: dict[str, tuple[str, bool]] = {
    "panda": ("panda_description/urdf/panda.urdf", False),
    "allegro": ("allegro_hand_description/urdf/allegro_right_hand.urdf", False),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    "icub": ("icub_description/robots/icub.urdf", True),
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),
}


def robot(name: str) -> tuple[pin.Model, bough.Model]:
    """A robot in Pinocchio and in bough, with the same joint order."""
    path, floating = ROBOTS[name]
    root = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
    arguments = (str(root / path), pin.JointModelFreeFlyer()) if floating else (str(root / path),)
    theirs = pin.buildModelFromUrdf(*arguments)
    return theirs, rebuilt(theirs, name)


def rebuilt(model: pin.Model, name: str) -> bough.Model:
    """The same mechanism as a bough model. Continuous joints have one configuration variable there."""
    builder = bough.Builder(name)
    for i in range(1, model.njoints):
        place, inertia = model.jointPlacements[i], model.inertias[i]
        moments = np.asarray(inertia.inertia)
        builder.add(
            f"{i} {model.names[i]}",
            _joint(model.joints[i]),
            bough_name(model, model.parents[i]),
            at=place.translation,
            rotation=place.rotation,
            mass=inertia.mass,
            com=inertia.lever,
            inertia=(moments + moments.T) / 2,
        )
    return builder.build()


def bough_name(model: pin.Model, i: int) -> str:
    """Name of the body of a joint."""
    return "world" if i == 0 else f"{i} {model.names[i]}"


def _joint(joint: Any) -> bough.Joint:
    kind = joint.shortname().removeprefix("JointModel")
    if kind == "FreeFlyer":
        return bough.Free()
    if kind.endswith("Unaligned"):
        axis = np.asarray(joint.extract().axis)
        return bough.Prismatic(axis) if kind.startswith("Prismatic") else bough.Revolute(axis)
    if kind.startswith("RUB"):
        return bough.Revolute(kind[-1].lower(), continuous=True)
    return {"R": bough.Revolute, "P": bough.Prismatic}[kind[0]](kind[1].lower())


def in_mujoco(model: bough.Model) -> Any:
    """The same mechanism compiled by MuJoCo: hinges, slides and free joints, without contacts or constraints."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.gravity = model.gravity
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    spec.compiler.balanceinertia = True  # moments that break the triangle inequality by rounding
    bodies = [spec.worldbody]
    for parent, body, entry in zip(model.tree.parents, model.bodies, model.joints, strict=True):
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, entry.placement.matrix.ravel())
        J = body.inertia.matrix + 1e-9 * np.eye(3)  # MuJoCo takes no body without inertia; the cost is the same
        made = bodies[parent].add_body(
            name=body.name,
            pos=entry.placement.origin,
            quat=quaternion,
            mass=body.inertia.mass,
            ipos=body.inertia.com,
            fullinertia=[J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]],
            explicitinertial=True,
        )
        kind, axis = _mujoco_joint(mujoco, entry.joint)
        made.add_joint(name=f"{body.name} joint", type=kind, axis=axis)
        bodies.append(made)
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return spec.compile()


def _mujoco_joint(mujoco: Any, joint: bough.Joint) -> tuple[Any, Any]:
    if isinstance(joint, bough.Free):
        return mujoco.mjtJoint.mjJNT_FREE, (0, 0, 1)
    if isinstance(joint, bough.Revolute):
        return mujoco.mjtJoint.mjJNT_HINGE, joint.axis
    assert isinstance(joint, bough.Prismatic)
    return mujoco.mjtJoint.mjJNT_SLIDE, joint.axis
