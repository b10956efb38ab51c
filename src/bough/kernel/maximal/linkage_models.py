"""Models as linkages: a rigid body for each body, a constraint for each joint and loop; placements to and fro."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.kernel.border import FloatArray, as_floats, require_finite
from bough.lagrange.bodies import Body, Rigid
from bough.lagrange.constraints import Jointed
from bough.lagrange.layout import Layout
from bough.model import BASE, Loop, Model

__all__ = ["from_placements", "parts_of", "to_placements"]


def parts_of(model: Model) -> tuple[dict[str, Body], dict[str, tuple[object, ...]]]:
    """Bodies and constraints by name."""
    _require_plain(model)
    names = (BASE, *model.body_names)
    bodies: dict[str, Body] = {}
    constraints: dict[str, tuple[object, ...]] = {}
    for body, entry, parent in zip(model.bodies, model.joints, model.tree.parents, strict=True):
        bodies[body.name] = Rigid(body.inertia.mass, body.inertia.com, body.inertia.matrix)
        joint = Jointed(entry.joint, at=entry.placement, to=body.frame.inverse)
        constraints[entry.name] = (joint, names[parent], body.name)
    for loop in model.loops:
        ends = (loop.predecessor, loop.successor)
        joint = Jointed(loop.joint, at=ends[0].placement, to=ends[1].placement)
        constraints[loop.name] = (joint, names[ends[0].body], names[ends[1].body])
    return bodies, constraints


def _require_plain(model: Model) -> None:
    if not isinstance(model, Model):
        raise ModelError(f"the model is a {type(model).__name__}, expected a bough.Model")
    geared = [entry.name for entry in model.joints if any(entry.armature)]
    laws = [constraint.name for constraint in model.constraints if not isinstance(constraint, Loop)]
    wrong = {"has mimic joints": not model.coupling.trivial}
    wrong |= {f"has armature at joint {geared[0]!r}": True} if geared else {}
    wrong |= {f"has the equality {laws[0]!r}": True} if laws else {}
    for what, is_so in wrong.items():
        if is_so:
            raise ModelError(f"model {model.name!r} {what}, which no constraint of a linkage stands for; expected none")


def from_placements(layout: Layout, placements: ArrayLike) -> FloatArray:
    """Positions x (..., nx) of rigid bodies that are placed by [[R, p], [0, 1]], (..., N, 4, 4)."""
    n = _require_rigid(layout)
    P = as_floats("placements", placements, (n, 4, 4), f"a placement for each of the {n} bodies").astype(np.float64)
    require_finite("placements", P)
    R = P[..., :3, :3]
    a, b, c = R[..., 0, :], R[..., 1, :], R[..., 2, :]
    # 4 q² of x, y, z, w on the diagonal; the row of the largest is a safe multiple of the quaternion
    trace = a[..., 0] + b[..., 1] + c[..., 2]
    squares = np.stack([1 + 2 * a[..., 0] - trace, 1 + 2 * b[..., 1] - trace, 1 + 2 * c[..., 2] - trace, 1 + trace], -1)
    xy, xz, yz = a[..., 1] + b[..., 0], a[..., 2] + c[..., 0], b[..., 2] + c[..., 1]
    wx, wy, wz = c[..., 1] - b[..., 2], a[..., 2] - c[..., 0], b[..., 0] - a[..., 1]
    rows = [[squares[..., 0], xy, xz, wx], [xy, squares[..., 1], yz, wy]]
    rows += [[xz, yz, squares[..., 2], wz], [wx, wy, wz, squares[..., 3]]]
    candidates = np.stack([np.stack(row, -1) for row in rows], -2)
    largest = np.argmax(squares, axis=-1)[..., np.newaxis, np.newaxis]
    q = np.take_along_axis(candidates, largest, axis=-2)[..., 0, :]
    q = q / np.sqrt(np.sum(q * q, axis=-1, keepdims=True))
    return np.concatenate([P[..., :3, 3], q], axis=-1).reshape(*P.shape[:-3], 7 * n)


def to_placements(layout: Layout, x: FloatArray) -> FloatArray:
    """Placements [[R, p], [0, 1]] (..., N, 4, 4) of rigid bodies at positions x (..., nx)."""
    n = _require_rigid(layout)
    each = x.reshape(*x.shape[:-1], n, 7)
    v, w = each[..., 3:6], each[..., 6]
    P = np.zeros((*each.shape[:-1], 4, 4))
    P[..., :3, 3], P[..., 3, 3] = each[..., :3], 1.0
    for k, unit in enumerate(np.eye(3)):  # e + 2 w v × e + 2 v × (v × e)
        once = np.cross(v, unit)
        P[..., :3, k] = unit + 2.0 * (w[..., np.newaxis] * once + np.cross(v, once))
    return P


def _require_rigid(layout: Layout) -> int:
    other = [body for body in layout.bodies if not isinstance(body, Rigid)]
    if other:
        raise ModelError(f"a body is {other[0]!r}, expected rigid bodies in space: no other has a placement")
    return len(layout.bodies)
