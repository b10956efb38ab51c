"""A cheaper mechanism that moves alike: frames turned about and slid along joint axes, inertias regrouped.

A frame whose joint is the same however one turns about its axis, and wherever along it one looks, may be turned until
the next placement is simple, and slid until placements have no part along an axis. And what of a body's inertia does
not resist turning about its joint and is symmetric about the axis (its mass, brought to the axis, with its moment along
the axis and the second moment along it) may as well belong to the parent: no joint force tells the difference. What is
left of the body has neither mass nor moments along the axis.

Where that would cost digits it is not done: about an origin far from a body, its moments are large numbers whose
rounding errors are those of much heavier bodies, so frames are slid no further than `RADII` allows. What is moved is
computed with the longest floats that the machine has, and rounded once.

Joint forces, accelerations and the mass matrix are those of the model. What concerns one body alone, or the total mass
and its centre where a parent is the base, is not: such quantities are computed with the author's inertias.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.model.inertia import Inertia
from bough.tree import Tree

__all__ = ["LOWER", "NOTHING", "regrouped_inertias", "slides", "span", "turns"]

Floats = NDArray[np.floating[Any]]

MOST_BODIES_SLID = 200  # bodies of a mechanism whose frames are slid
NOTHING = 1e-15  # metres
RADII = 4.0  # times the radius of gyration about its own origin: that about the origin that a body gets at most
LOWER = ([0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2])  # rows and columns of a lower triangle


def turns(tree: Tree, axial: Sequence[bool], rotations: Floats) -> list[float]:
    """How far to turn each body frame about its joint's axis, in rad, so that placements are turns about z and then x.

    A rotation R_z(γ) R_x(α) R_z(δ) between two joints loses its first factor if the frame before it is turned by γ, and
    its last one adds to the angle of the joint behind it. That is worth it where no child has axes parallel to its
    parent's, which are cheaper still. Large mechanisms are left as they are.

    Parameters
    ----------
    tree, axial
        The tree, and whether each joint allows it.
    rotations
        Of each joint in its parent, with axes such that those of the joints are z (N, 3, 3).
    """
    result = [0.0] * tree.n
    if tree.n > MOST_BODIES_SLID:
        return result
    simple = [bool(np.sum(np.abs(R) > NOTHING, axis=1).min() == 1) for R in rotations]
    for i in range(1, tree.n + 1):
        children = [j for j in tree.children(i) if axial[j - 1]]
        if axial[i - 1] and children and not any(simple[j - 1] for j in children):
            main = max(children, key=lambda j: len(tree.subtree(j)))
            x, y, _ = rotations[main - 1][:, 2]
            result[i - 1] = math.atan2(x, -y)
    return result


def slides(
    tree: Tree, axial: Sequence[bool], places: Floats, axes: Floats, spans: Sequence[tuple[float, float]]
) -> list[float]:
    """How far to slide each body frame along its joint's axis, in metres, so that placements have the most zeros.

    Candidates are the origin, the feet of the common normals with the axes of parent and children, and points level
    with candidates of the parent. The best combination is found from the leaves to the root; a component of a placement
    counts more the more bodies are beyond it. Large mechanisms are left as they are: their programs read placements
    from tables, zeros or not.

    Parameters
    ----------
    tree, axial
        The tree, and whether each joint allows it.
    places, axes
        Where each joint is, and its axis, in the inside axes of its parent (N, 3); the parent's own axis is z there.
    spans
        From where to where each frame may slide, in metres.
    """
    n, parents = tree.n, tree.parents
    if n > MOST_BODIES_SLID:
        return [0.0] * n
    joints = [_Line(*place, *axis) for place, axis in zip(places.tolist(), axes.tolist(), strict=True)]
    candidates = _candidates(tree, axial, joints, spans)
    best: list[dict[float, tuple[float, float]]] = [{} for _ in range(n + 1)]  # slide of the parent → (cost, own slide)
    for i in range(n, 0, -1):
        weight = 0 if parents[i - 1] == 0 else 8 + len(tree.subtree(i))
        beyond = {x: sum(best[j][x][0] for j in tree.children(i)) for x in candidates[i]}
        for y in candidates[parents[i - 1]]:
            best[i][y] = min((joints[i - 1].components(x, y) * weight + beyond[x], k, x) for k, x in enumerate(beyond))[
                ::2
            ]
    chosen = [0.0]
    for i, parent in enumerate(parents, start=1):
        chosen.append(best[i][chosen[parent]][1])
    return chosen[1:]


def span(inertia: Inertia, axis: Floats) -> tuple[float, float]:
    """From where to where along an axis the origin of a body may be, so that its moments about it keep their digits.

    The radius of gyration about the new origin is at most `RADII` times that about the old one. A body without mass, or
    all of it in the origin, has no digits to lose.
    """
    m, (x, y, z), (u, v, w) = inertia.mass, inertia.com, axis.tolist()
    square = x * x + y * y + z * z
    if m > 0.0:
        square += (inertia.rotational[0] + inertia.rotational[2] + inertia.rotational[5]) / (2.0 * m)
    if m <= 0.0 or square <= 0.0:
        return -math.inf, math.inf
    place = x * u + y * v + z * w
    reach = math.sqrt((RADII * RADII - 1.0) * square + place * place)
    return place - reach, place + reach


def _candidates(
    tree: Tree, axial: Sequence[bool], joints: Sequence[_Line], spans: Sequence[tuple[float, float]]
) -> list[list[float]]:
    """For each body, the base first, the slides that may be worth it; none first."""
    found: list[list[float]] = [[0.0] for _ in range(tree.n + 1)]

    def add(i: int, x: float) -> None:
        if not i or not axial[i - 1] or len(found[i]) == 6:
            return
        low, high = spans[i - 1]
        if low <= x <= high and all(abs(x - y) > 1e-12 for y in found[i]):
            found[i].append(x)

    for i, parent in enumerate(tree.parents, start=1):
        if parent and axial[parent - 1]:
            own, other = joints[i - 1].feet
            add(i, own)
            add(parent, other)
    for i, parent in enumerate(tree.parents, start=1):
        for y in found[parent]:
            add(i, joints[i - 1].level(y))
    return found


class _Line(NamedTuple):
    """The axis of a joint in the axes of its parent, whose own axis is z: a point and a unit direction."""

    px: float
    py: float
    pz: float
    ax: float
    ay: float
    az: float

    def components(self, own: float, other: float) -> int:
        """How many components the placement has once its ends are slid."""
        moved = (self.px + own * self.ax, self.py + own * self.ay, self.pz + own * self.az - other)
        return sum(abs(x) > NOTHING for x in moved)

    def level(self, other: float) -> float:
        """The slide that leaves the placement no part along the axis."""
        return self.az * other - (self.px * self.ax + self.py * self.ay + self.pz * self.az)

    @property
    def feet(self) -> tuple[float, float]:
        """Slides of joint and parent to the feet of the common normal of their axes; none if these are parallel."""
        sine = self.ax * self.ax + self.ay * self.ay
        if sine < 1e-9:
            return 0.0, 0.0
        own = -(self.px * self.ax + self.py * self.ay) / sine
        return own, self.pz + own * self.az


def regrouped_inertias(
    tree: Tree, spins: Sequence[bool], R: Floats, p: Floats, mass: Floats, moment: Floats, J: Floats
) -> tuple[Floats, Floats, Floats]:
    """Masses (N,), moments (N, 3) and rotational inertias (N, 3, 3) with symmetric parts moved to the parents.

    Parameters
    ----------
    tree, spins
        The tree, and whether each joint is a turn about z of its body and nothing else.
    R, p
        Placements of the joint frames in their parents (N, 3, 3), (N, 3).
    mass, moment, J
        Inertias in the body frames, about their origins (N,), (N, 3), (N, 3, 3).
    """
    m, h, A = mass.tolist(), moment.tolist(), J[:, *LOWER].tolist()
    rotations, places = R.tolist(), p.tolist()
    for k in range(tree.n - 1, -1, -1):
        if not spins[k]:
            continue
        small = 2e-15 * max(map(abs, A[k]))
        xx, yx, yy, zx, zy, zz = A[k] = [x if abs(x) > small else 0.0 for x in A[k]]
        parent = tree.parents[k] - 1
        if parent >= 0:
            _add_on_axis(m, h, A, parent, (m[k], h[k][2], (xx + yy - zz) / 2), places[k], [r[2] for r in rotations[k]])
        A[k] = [(zz + (xx - yy)) / 2, yx, (zz - (xx - yy)) / 2, zx, zy, zz]
        m[k] = h[k][2] = 0.0
    rotational = np.array(A).reshape(-1, 6)[:, [0, 1, 3, 1, 2, 4, 3, 4, 5]].reshape(-1, 3, 3)
    return np.array(m), np.array(h).reshape(-1, 3), rotational


def _add_on_axis(
    m: list[float],
    h: list[list[float]],
    A: list[list[float]],
    k: int,
    moments: tuple[float, float, float],
    place: list[float],
    axis: list[float],
) -> None:
    """Add to body k what lies on an axis: its mass, and first and second moments along the axis about a place on it."""
    mass, first, second = moments
    x, y, z = place
    u, v, w = axis
    m[k] += mass
    bx, by, bz = mass * x + first * u, mass * y + first * v, mass * z + first * w
    cx, cy, cz = first * x + second * u, first * y + second * v, first * z + second * w
    h[k] = [h[k][0] + bx, h[k][1] + by, h[k][2] + bz]
    # second moments: m p pᵀ + h (p uᵀ + u pᵀ) + s u uᵀ
    xx, yy, zz = bx * x + cx * u, by * y + cy * v, bz * z + cz * w
    a = A[k]
    A[k] = [
        a[0] + (yy + zz),
        a[1] - (by * x + cy * u),
        a[2] + (xx + zz),
        a[3] - (bz * x + cz * u),
        a[4] - (bz * y + cz * v),
        a[5] + (xx + yy),
    ]
