"""Models as linkages: rigid bodies, constraints for joints, loops and laws between joints; placements to and fro."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.kernel.arguments import FloatArray, as_floats, require_finite
from bough.lagrange.bodies import Body, Rigid
from bough.lagrange.constraints import Coupled, Jointed
from bough.lagrange.layout import Layout
from bough.model import BASE, Loop, Mimic, Model
from bough.model.coupling import own_joint

__all__ = ["from_placements", "parts_of", "to_placements"]


Constraints = dict[str, tuple[object, ...]]


def parts_of(model: Model) -> tuple[dict[str, Body], Constraints]:
    """Bodies and constraints by name."""
    _require_plain(model)
    names = (BASE, *model.body_names)
    bodies: dict[str, Body] = {}
    constraints: Constraints = {}
    for body, entry, parent in zip(model.bodies, model.joints, model.tree.parents, strict=True):
        bodies[body.name] = Rigid(body.inertia.mass, body.inertia.com, body.inertia.matrix)
        own, to = own_joint(entry.joint), body.frame.inverse
        joint = Jointed(own, at=entry.placement, to=to, armature=entry.armature)
        constraints[entry.name] = (joint, names[parent], body.name)
    joints = dict(constraints)
    for entry in model.joints:
        if isinstance(law := entry.joint, Mimic):
            _add(
                constraints,
                f"{entry.name} follows {law.source}",
                _coupled(joints, entry.name, law.source, (law.offset, law.ratio)),
            )
    for made in model.constraints:
        if isinstance(made, Loop):
            ends = (made.predecessor, made.successor)
            joint = Jointed(made.joint, at=ends[0].placement, to=ends[1].placement)
            _add(constraints, made.name, (joint, names[ends[0].body], names[ends[1].body]))
        else:
            zeros = (made.zero, made.other_zero)
            _add(constraints, made.name, _coupled(joints, made.joint, made.other, made.polynomial, *zeros))
    return bodies, constraints


def _coupled(
    joints: Constraints,
    name: str,
    other: str | None,
    polynomial: tuple[float, ...],
    zero: float = 0.0,
    other_zero: float = 0.0,
) -> tuple[object, ...]:
    """A law between the coordinates of two joints, and the bodies that these are between, each once."""
    held, *ends = joints[name]
    followed, *others = (None, *ends) if other is None else joints[other]
    bodies = list(dict.fromkeys([*ends, *others]))
    (a, b), (c, d) = (map(bodies.index, pair) for pair in (ends, others))
    assert isinstance(held, Jointed)
    assert followed is None or isinstance(followed, Jointed)
    return (Coupled(held, followed, polynomial, zero, other_zero, on=(a, b), other_on=(c, d)), *bodies)


def _add(constraints: Constraints, name: str, entry: tuple[object, ...]) -> None:
    if name in constraints:
        raise ModelError(f"constraint {name!r} is called as a joint or another constraint, expected a name of its own")
    constraints[name] = entry


def _require_plain(model: Model) -> None:
    if not isinstance(model, Model):
        raise ModelError(f"the model is a {type(model).__name__}, expected a bough.Model")


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
