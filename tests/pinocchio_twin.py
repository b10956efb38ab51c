"""The same mechanism in Pinocchio, built through its own interface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

import bough
from bough.model.parts import Inertia, Placement

__all__ = ["Twin"]

AXES = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y", (0.0, 0.0, 1.0): "Z"}


class Twin:
    """Pinocchio's model and data of a mechanism, and the arguments of its functions.

    Joints keep their order. A cylindrical joint, which Pinocchio lacks, is a revolute one and, beyond a body without
    mass, a prismatic one along the same axis; `ids` names the joint that carries each body.
    """

    def __init__(self, model: bough.Model) -> None:
        self.ours = model
        made = pin.Model()
        made.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
        self.ids = [0]
        armature: list[float] = []
        for entry, body, parent in zip(model.joints, model.bodies, model.tree.parents, strict=True):
            own = entry.joint.joint if isinstance(entry.joint, bough.Mimic) else entry.joint
            last, place = self.ids[parent], _se3(entry.placement)
            for k, joint in enumerate(_joints(own)):
                last = made.addJoint(last, joint, place, f"{entry.name} {k}")
                place = pin.SE3.Identity()
            made.appendBodyToJoint(last, _inertia(body.inertia), pin.SE3.Identity())
            self.ids.append(last)
            armature += entry.armature
        made.armature = np.array(armature)
        for frame in model.frames:
            joint = self.ids[frame.body]
            made.addFrame(pin.Frame(frame.name, joint, 0, _se3(frame.placement), pin.FrameType.OP_FRAME))
        for body, joint in zip(model.bodies, self.ids[1:], strict=True):
            made.addFrame(pin.Frame(body.name, joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
        self.model = _coupled(made, model, self.ids)
        self.data = self.model.createData()

    def state(self, q: Any, v: Any) -> tuple[Any, Any]:
        """Configuration and velocity in Pinocchio's layout."""
        return bough.to_pinocchio(self.ours, q, v)

    def forces(self, f_ext: Any) -> Any:
        """External forces, one per joint."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for joint, f in zip(self.ids[1:], f_ext, strict=True):
            forces[joint] = pin.Force(f[:3], f[3:])
        result = pin.StdVec_Force()
        result.extend(forces)
        return result

    def frame(self, name: str) -> int:
        """The number of a frame."""
        return int(self.model.getFrameId(name))


def _joints(joint: bough.Joint) -> list[Any]:
    """One joint of ours, of a kind that moves by itself, as one of theirs or two."""
    if isinstance(joint, bough.Cylindrical):
        return [*_joints(bough.Revolute(joint.axis)), *_joints(bough.Prismatic(joint.axis))]
    if isinstance(joint, bough.Universal):
        return [pin.JointModelUniversal(np.array(joint.axis1), np.array(joint.axis2))]
    simple = {
        bough.Planar: pin.JointModelPlanar,
        bough.Translational: pin.JointModelTranslation,
        bough.Spherical: pin.JointModelSpherical,
        bough.Free: pin.JointModelFreeFlyer,
    }
    if type(joint) in simple:
        return [simple[type(joint)]()]
    assert isinstance(joint, bough.Revolute | bough.Prismatic | bough.Helical)
    along = AXES.get(joint.axis)
    if isinstance(joint, bough.Helical):
        if along:
            return [getattr(pin, f"JointModelH{along}")(joint.pitch)]
        return [pin.JointModelHelicalUnaligned(np.array(joint.axis), joint.pitch)]
    if isinstance(joint, bough.Prismatic):
        short, long = "P", "PrismaticUnaligned"
    elif joint.continuous:
        short, long = "RUB", "RevoluteUnboundedUnaligned"
    else:
        short, long = "R", "RevoluteUnaligned"
    if along:
        return [getattr(pin, f"JointModel{short}{along}")()]
    return [getattr(pin, f"JointModel{long}")(np.array(joint.axis))]


def _coupled(made: Any, model: bough.Model, ids: list[int]) -> Any:
    """The model with its mimic joints tied to the joints they follow."""
    for name, entry in zip(model.joint_names, model.joints, strict=True):
        if isinstance(entry.joint, bough.Mimic):
            k, source = model.joint_names.index(name), model.joint_names.index(entry.joint.source)
            made = pin.transformJointIntoMimic(
                made, ids[source + 1], ids[k + 1], entry.joint.ratio, entry.joint.offset
            )
    return made


def _se3(placement: Placement) -> Any:
    return pin.SE3(placement.matrix, placement.vector)


def _inertia(inertia: Inertia) -> Any:
    return pin.Inertia(inertia.mass, np.array(inertia.com), inertia.matrix)
