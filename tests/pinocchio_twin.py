"""The same mechanism in Pinocchio, built through its own interface.

Pinocchio numbers joints depth first (its algorithms on subtrees rely on it), so bodies and coordinates are reordered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

import bough
from bough.model.parts import HERE, Frame, Inertia, Placement

__all__ = ["Twin", "depth_first", "leader"]

AXES = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y", (0.0, 0.0, 1.0): "Z"}

SIMPLE = {
    bough.joints.Planar: pin.JointModelPlanar,
    bough.joints.Translational: pin.JointModelTranslation,
    bough.joints.Spherical: pin.JointModelSpherical,
    bough.joints.Free: pin.JointModelFreeFlyer,
}


class Twin:
    """Pinocchio's model and data of a mechanism, and the way from our arrays to theirs and back.

    A cylindrical joint, which Pinocchio lacks, is a revolute one and, beyond a body without mass, a prismatic one along
    the same axis. A continuous joint about any axis, which its Python interface cannot make, turns about z of a frame
    that is turned: `turns` are the rotations from their body frames to ours.
    """

    def __init__(self, model: bough.Model) -> None:
        self.ours = model
        self.order = depth_first(model)
        self.ids, self.turns = {0: 0}, {0: np.eye(3)}
        made = pin.Model()
        made.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
        for i in self.order:
            self._add(made, i)
        own = [Frame(body.name, i, HERE) for i, body in enumerate(model.bodies, start=1)]
        for frame in (*own, *model.frames):
            place = self._seen(frame.body, frame.placement)
            made.addFrame(pin.Frame(frame.name, self.ids[frame.body], 0, place, pin.FrameType.OP_FRAME))
        self.model = self._coupled(made)
        self._v_order = _blocks([entry.joint.nv for entry in model.joints], self.order)
        self._q_order = _blocks([_nq(entry.joint) for entry in model.joints], self.order)
        self.model.armature = model.limits("armature")[self._v_order]
        self.without_armature = self.model.copy()
        self.without_armature.armature = np.zeros(model.nv)
        self.data = self.model.createData()

    def q(self, q: Any) -> Any:
        """A configuration in Pinocchio's layout and order."""
        return bough.convert.states_to_pinocchio(self.ours, q)[self._q_order]

    def v(self, v: Any) -> Any:
        """A velocity, an acceleration or forces in Pinocchio's order."""
        return v[self._v_order]

    def signed(self, q: Any) -> Any:
        """A configuration of theirs with the sign of each quaternion fixed by its largest part."""
        result = np.array(q)
        for i in self.order:
            joint = self.model.joints[self.ids[i]]
            if self.ours.joints[i - 1].joint.quaternions:
                part = slice(joint.idx_q + joint.nq - 4, joint.idx_q + joint.nq)
                result[part] *= np.sign(result[part][np.argmax(np.abs(result[part]))])
        return result

    def forces(self, f_ext: Any) -> Any:
        """External forces, one per joint."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for i, f in enumerate(f_ext, start=1):
            forces[self.ids[i]] = pin.Force(self.turns[i].T @ f[:3], self.turns[i].T @ f[3:])
        result = pin.StdVec_Force()
        result.extend(forces)
        return result

    def back(self, x: Any) -> Any:
        """Their velocities, forces or columns, in our order."""
        result = np.empty_like(x)
        result[..., self._v_order] = x
        return result

    def back_square(self, A: Any) -> Any:
        """Their matrix, rows and columns in our order."""
        return self.back(self.back(np.array(A)).T).T

    def back_symmetric(self, A: Any) -> Any:
        """Their symmetric matrix, of which the upper triangle counts."""
        return self.back_square(np.triu(A) + np.triu(A, 1).T)

    def frame(self, name: str) -> int:
        """The number of a frame."""
        return int(self.model.getFrameId(name))

    def _add(self, made: Any, i: int) -> None:
        entry, parent = self.ours.joints[i - 1], self.ours.tree.parents[i - 1]
        joints, turn = _joints(entry.joint.joint if isinstance(entry.joint, bough.joints.Mimic) else entry.joint)
        place = self._seen(parent, entry.placement) * pin.SE3(turn, np.zeros(3))
        number = self.ids[parent]
        for k, joint in enumerate(joints):
            number = made.addJoint(number, joint, place, f"{entry.name} {k}")
            place = pin.SE3.Identity()
        self.ids[i], self.turns[i] = number, turn
        made.appendBodyToJoint(number, _inertia(self.ours.bodies[i - 1].inertia), self._seen(i, HERE))

    def _seen(self, body: int, placement: Placement) -> Any:
        """Where a frame given in our frame of a body lies in theirs."""
        return pin.SE3(self.turns[body].T @ placement.matrix, self.turns[body].T @ placement.vector)

    def _coupled(self, made: Any) -> Any:
        """The model with its mimic joints tied to the joints they follow."""
        for k, entry in enumerate(self.ours.joints):
            if isinstance(entry.joint, bough.joints.Mimic):
                source, ratio, offset = leader(self.ours, k)
                made = pin.transformJointIntoMimic(made, self.ids[source + 1], self.ids[k + 1], ratio, offset)
        return made


def leader(model: bough.Model, k: int) -> tuple[int, float, float]:
    """The joint that a joint follows in the end, with ratio and offset; joints are counted from 0."""
    joint = model.joints[k].joint
    if not isinstance(joint, bough.joints.Mimic):
        return k, 1.0, 0.0
    source, ratio, offset = leader(model, model.joint_names.index(joint.source))
    return source, joint.ratio * ratio, joint.ratio * offset + joint.offset


def depth_first(model: bough.Model) -> list[int]:
    """Bodies depth first, siblings in order of their numbers."""
    result, waiting = [], list(reversed(model.tree.children(0)))
    while waiting:
        result.append(waiting.pop())
        waiting += reversed(model.tree.children(result[-1]))
    return result


def _blocks(sizes: list[int], order: list[int]) -> Any:
    """The numbers of coordinates, block by block in the order of bodies."""
    starts = np.cumsum([0, *sizes])
    return np.array([k for i in order for k in range(starts[i - 1], starts[i])], dtype=int)


def _nq(joint: bough.joints.Joint) -> int:
    """Number of configuration variables in Pinocchio."""
    if isinstance(joint, bough.joints.Revolute) and joint.continuous:
        return 2
    return 4 if isinstance(joint, bough.joints.Planar) else joint.nq


def _joints(joint: bough.joints.Joint) -> tuple[list[Any], Any]:
    """One joint of ours as one of theirs or two, and the rotation from their body frame to ours."""
    straight = np.eye(3)
    if isinstance(joint, bough.joints.Cylindrical):
        return [
            *_joints(bough.joints.Revolute(joint.axis))[0],
            *_joints(bough.joints.Prismatic(joint.axis))[0],
        ], straight
    if isinstance(joint, bough.joints.Universal):
        return [pin.JointModelUniversal(np.array(joint.axis1), np.array(joint.axis2))], straight
    if type(joint) in SIMPLE:
        return [SIMPLE[type(joint)]()], straight
    assert isinstance(joint, bough.joints.Revolute | bough.joints.Prismatic | bough.joints.Helical)
    axis, along = np.array(joint.axis), AXES.get(joint.axis)
    pitch = [joint.pitch] if isinstance(joint, bough.joints.Helical) else []
    if isinstance(joint, bough.joints.Revolute) and joint.continuous:
        if along is None:
            return [pin.JointModelRUBZ()], pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).matrix()
        return [getattr(pin, f"JointModelRUB{along}")()], straight
    name = type(joint).__name__
    if along is None:
        return [getattr(pin, f"JointModel{name}Unaligned")(axis, *pitch)], straight
    return [getattr(pin, f"JointModel{name[0]}{along}")(*pitch)], straight


def _inertia(inertia: Inertia) -> Any:
    return pin.Inertia(inertia.mass, np.array(inertia.com), inertia.matrix)
