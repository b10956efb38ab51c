"""Joints that move nothing with inertia in any configuration: forward dynamics has no answer for them.

A motion of a body costs no energy if some rows vanish on it: the velocity of the centre of mass of a body with mass,
the rates about principal axes with a moment. Rows of a child hold for its parent as far as the joint between them
cannot give way. Only ranks matter here, not sizes: what a body with mass and three moments carries is not looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bough.model.coupling import own_joint
from bough.model.joints import Joint
from bough.model.joints.elastic import Station
from bough.model.model import Model
from bough.model.parts import Inertia, Placement

__all__ = ["give_inertia", "idle_joints"]

NO_RESISTANCE = 1e-12  # moments beside the largest one, and singular values beside one, that count as none

Floats = NDArray[np.float64]


def idle_joints(model: Model) -> tuple[str, ...]:
    """Names of the joints that can move while no inertia does, in order.

    Told at one configuration, drawn at random with one seed, so that what happens to be in line there is so always.
    """
    rng = np.random.default_rng(0)
    leaders = _leaders(model)
    coupled = {name for pair in zip(model.joint_names, leaders, strict=True) if pair[0] != pair[1] for name in pair}
    whole = [_is_whole(body.inertia) for body in model.bodies]
    rows: dict[int, list[Floats]] = {k: [_rows(b.inertia)] for k, b in enumerate(model.bodies) if not whole[k]}
    moved: dict[str, bool] = {}  # whether a joint moves inertia; a leader does if a follower does
    for k in reversed(range(model.nbodies)):
        parent = model.tree.parents[k] - 1
        if whole[k] and not (parent >= 0 and not whole[parent]):
            moved[leaders[k]] = True
            continue
        entry, own = model.joints[k], own_joint(model.joints[k].joint)
        if own.elastic_count or isinstance(own, Station):  # a flexible body has mass, and its modes move it
            moved[leaders[k]] = True
            if own.elastic_count and parent >= 0 and not whole[parent]:
                A = np.eye(6) if whole[k] else np.vstack(rows[k])
                rows[parent].append(A @ _to_child(entry.placement))
            continue
        if not whole[k] and not any(part.size for part in rows[k]) and not any(entry.armature):
            moved.setdefault(leaders[k], False)
            continue
        q = own.random(rng, np.array(entry.lower), np.array(entry.upper)).tolist()
        A = np.eye(6) if whole[k] else _basis(np.vstack(rows.pop(k)))
        A = A @ _to_child(model.bodies[k].frame)
        S = _subspace(own, q)[:, np.array(entry.armature) == 0.0]
        U, sizes, _ = np.linalg.svd(A @ S)
        rank = int(np.sum(sizes > NO_RESISTANCE))
        moved[leaders[k]] = moved.get(leaders[k], False) or rank == S.shape[1]
        if parent >= 0 and not whole[parent]:
            left = A if entry.name in coupled else U[:, rank:].T @ A  # what gives way only with others does not
            rows[parent].append(left @ _to_child(entry.placement.then(Placement.by_joint(own, q))))
    return tuple(
        name for name, leader in zip(model.joint_names, leaders, strict=True) if name == leader and not moved[name]
    )


def _leaders(model: Model) -> list[str]:
    """For each joint, the one whose coordinate moves it: itself, or the one it follows in the end."""
    owners = [entry.name for entry in model.joints for _ in range(entry.joint.nv)]
    starts = np.cumsum([0, *(own_joint(entry.joint).nv for entry in model.joints)])[:-1]
    moving = [not isinstance(entry.joint, Station) for entry in model.joints]
    found = zip(model.joint_names, starts, moving, strict=True)
    return [owners[model.coupling.v_source[start]] if moves else name for name, start, moves in found]


def _is_whole(inertia: Inertia) -> bool:
    """Whether every motion of a body costs energy."""
    xx, yx, yy, zx, zy, zz = inertia.rotational
    least = NO_RESISTANCE * max(xx, yy, zz)
    minor = xx * yy - yx * yx
    det = zz * minor - zy * (xx * zy - yx * zx) + zx * (yx * zy - yy * zx)
    return inertia.mass > 0.0 and xx > least and minor > least * yy and det > least * yy * zz


def _rows(inertia: Inertia) -> Floats:
    """Rows (…, 6) on velocities, linear first, that vanish where a motion costs no energy."""
    moments, axes = np.linalg.eigh(inertia.matrix)
    turning = axes.T[moments > NO_RESISTANCE * max(float(moments[-1]), np.finfo(float).tiny)]
    point = np.hstack([np.eye(3), -_cross(np.array(inertia.com))]) if inertia.mass > 0.0 else np.empty((0, 6))
    return np.vstack([point, np.hstack([np.zeros_like(turning), turning])])


def _basis(rows: Floats) -> Floats:
    """Orthonormal rows that vanish where the given ones do."""
    _, sizes, right = np.linalg.svd(rows, full_matrices=False)
    return right[sizes > NO_RESISTANCE * max(1.0, *sizes)] if sizes.size else rows


def _subspace(joint: Joint, q: list[float]) -> Floats:
    """The unit motions (6, nv) of a joint in its moving side, linear first."""
    turn = joint.alignment
    columns = joint.canonical.subspace(joint.parameters, q)
    parts = [[turn @ np.array(part.parts, dtype=float) for part in (s.linear, s.angular)] for s in columns]
    return np.reshape(parts, (-1, 6)).T


def _to_child(at: Placement) -> Floats:
    """The matrix (6, 6) that takes velocities, linear first, to the frame that is placed here."""
    back = at.matrix.T
    return np.block([[back, -back @ _cross(at.vector)], [np.zeros((3, 3)), back]])


def _cross(p: Floats) -> Floats:
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def give_inertia(model: Model, k: int) -> str:
    """What to do about entry k of v that moves nothing."""
    moved = [body.name for body, item in zip(model.bodies, model.joints, strict=True) for _ in range(item.joint.nv)]
    return f"Give body {moved[k]!r}, or what it carries, mass and inertia, or the joint an armature"
