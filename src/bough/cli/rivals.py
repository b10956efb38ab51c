"""Convert a mechanism to other libraries, to compare their speed."""

from __future__ import annotations

from typing import Any

import numpy as np

import bough
from bough.errors import ModelError

__all__ = ["depth_first", "in_mujoco", "in_pinocchio"]


def depth_first(tree: bough.trees.Tree) -> list[int]:
    """Bodies so that each is followed by its whole subtree, which is the order Pinocchio needs."""
    order: list[int] = []
    waiting = list(reversed(tree.roots))
    while waiting:
        body = waiting.pop()
        order.append(body)
        waiting.extend(reversed(tree.children(body)))
    return order


def in_pinocchio(model: bough.Model) -> Any:
    """The mechanism as a Pinocchio model, joints in the order of `depth_first`."""
    import pinocchio as pin

    made = pin.Model()
    made.name = model.name
    made.gravity.linear = np.array(model.gravity)
    numbers = {0: 0}
    for body in depth_first(model.tree):
        entry, inertia = model.joints[body - 1], model.bodies[body - 1].inertia
        place = pin.SE3(entry.placement.matrix, entry.placement.vector)
        parent = numbers[model.tree.parents[body - 1]]
        numbers[body] = made.addJoint(parent, _pinocchio_joint(pin, entry), place, entry.name)
        mass = pin.Inertia(inertia.mass, np.array(inertia.com), inertia.matrix)
        made.appendBodyToJoint(numbers[body], mass, pin.SE3.Identity())
    return made


def _pinocchio_joint(pin: Any, entry: Any) -> Any:
    joint = entry.joint
    if isinstance(joint, bough.joints.Free):
        return pin.JointModelFreeFlyer()
    if isinstance(joint, bough.joints.Spherical):
        return pin.JointModelSpherical()
    if isinstance(joint, bough.joints.Revolute | bough.joints.Prismatic):
        letter = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y", (0.0, 0.0, 1.0): "Z"}.get(joint.axis)
        unbounded = "UB" if isinstance(joint, bough.joints.Revolute) and joint.continuous else ""
        if letter is not None:
            return getattr(
                pin, f"JointModel{'P' if isinstance(joint, bough.joints.Prismatic) else 'R'}{unbounded}{letter}"
            )()
        kind = "Prismatic" if isinstance(joint, bough.joints.Prismatic) else f"Revolute{'Unbounded' * bool(unbounded)}"
        return getattr(pin, f"JointModel{kind}Unaligned")(np.array(joint.axis))
    raise ModelError(f"joint {entry.name!r} is {joint!r}, which has no counterpart here in Pinocchio")


def in_mujoco(model: bough.Model) -> Any:
    """The mechanism compiled by MuJoCo, without contacts and constraints; bodies keep their order of depth first."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.gravity = model.gravity
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
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
        kind, axis = _mujoco_joint(mujoco, entry)
        made.add_joint(name=f"{body.name} joint", type=kind, axis=axis)
        bodies.append(made)
    return spec.compile()


def _mujoco_joint(mujoco: Any, entry: Any) -> tuple[Any, Any]:
    joint, kinds = entry.joint, mujoco.mjtJoint
    if isinstance(joint, bough.joints.Free):
        return kinds.mjJNT_FREE, (0, 0, 1)
    if isinstance(joint, bough.joints.Spherical):
        return kinds.mjJNT_BALL, (0, 0, 1)
    if isinstance(joint, bough.joints.Revolute | bough.joints.Prismatic):
        return kinds.mjJNT_HINGE if isinstance(joint, bough.joints.Revolute) else kinds.mjJNT_SLIDE, joint.axis
    raise ModelError(f"joint {entry.name!r} is {joint!r}, which has no counterpart here in MuJoCo")
