"""Joints whose subspace changes with their position: what that adds to second derivatives of inverse dynamics.

Two degrees of freedom j and l of such a joint bend each other. As seen from the body, S, u, w and w of the velocity of
j change along l, beyond what they do for constant subspaces, by motions that act on all that the joint carries; and the
forces on the joint are felt along other directions. The joint tells how by dual numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from bough.algorithms.directions import Direction as OneDirection
from bough.algorithms.directions import JointMotion
from bough.algorithms.triples import AQ, QQ, QV, VV, Carried, Composite, Direction, Paths, Tensors
from bough.model import BodyRecord, Mechanism
from bough.scalar import Array, Index, Rows, Scalar, derivative
from bough.spatial import Motion, Transform
from bough.tree.scans import Kept, ancestors, outward

__all__ = ["Bend", "Bends", "add_bends", "bent"]


@dataclass(frozen=True, slots=True)
class Bend:
    """How S, u, w and w of the velocity of one degree of freedom change along another one, and all columns of S as they
    move along the one and then along the other.
    """

    S: Motion
    u: Motion
    w: Motion
    w_v: Motion
    S_qq: tuple[Motion, ...]


Bends: TypeAlias = tuple[tuple[Bend, ...], ...]
"""Of all pairs of degrees of freedom of a joint; () if its subspace is constant."""


def bent(
    body: BodyRecord, q: Array, v: Array, a: Array, X: Transform, v_up: Motion, a_up: Motion
) -> tuple[tuple[Direction, ...], Bends]:
    """The degrees of freedom of a joint and how they bend each other, where its parent moves with v_up and a_up.

    X places the body in the frame of all these motions.
    """

    def directions(y: tuple[tuple[Scalar, ...], Motion, Motion]) -> tuple[OneDirection, ...]:
        x, v_up, a_up = y
        joint = JointMotion(body, q, v, a, x)
        return joint.directions(v_up, v_up * 2.0 + joint.v_J, lambda s: a_up.cross(s) + v_up.cross(v_up.cross(s)))

    joint = JointMotion(body, q, v, a)
    here = (tuple(body.of_q(q)), X.to_child(v_up), X.to_child(a_up))
    D = directions(here)
    along = [
        derivative(directions, here, (joint.along(l), here[1].cross(d.S), here[2].cross(d.S)))[1]
        for l, d in enumerate(D)
    ]
    up = X.to_parent
    bends = tuple(
        tuple(
            Bend(
                up(along[l][j].S),
                up(along[l][j].u - D[l].u.cross(D[j].S)),
                up(along[l][j].w - D[l].w.cross(D[j].S) - (D[l].u * 2.0).cross(D[j].u)),
                up(along[l][j].w_v - (D[l].u * 2.0).cross(D[j].S)),
                tuple(up(s) for s in along[l][j].S_q),
            )
            for l in range(len(D))
        )
        for j in range(len(D))
    )
    return tuple(Direction(up(d.S), up(d.u), up(d.w), up(d.w_v - d.u * 2.0)) for d in D), bends


def add_bends(
    m: Mechanism, links: Kept[Any], wholes: Kept[Any], moving: Rows, carried: Rows, paths: Paths, found: Tensors
) -> None:
    """Add what the bends of all joints do to second derivatives; links have them, wholes are what bodies carry."""

    def at(body: BodyRecord, none: None) -> tuple[None, None]:
        start, bends = body.v_start, links[body].bends
        numbers = [start + k for k in range(body.nv)]
        if bends:
            _on_joint(start, wholes[body], bends, moving, paths, found)
            for c in numbers:
                _on_carried(c, carried.get(c), start, bends, found)

        def above(joint: BodyRecord, none: None) -> None:
            if not joint.joint.is_constant:
                for c in numbers:
                    _on_carried(c, carried.get(c), joint.v_start, links[joint].bends, found)
                    _on_carrying(c, carried.get(c), joint.v_start, links[joint].bends, found)

        if not body.is_root:
            ancestors(m, body, above, None)
        return None, None

    outward(m, at, None)


def _on_carried(c: Index, x: Carried, start: Index, bends: Bends, found: Tensors) -> None:
    """The force on c, which is carried by the joint that bends, or belongs to it."""
    for j, row in enumerate(bends):
        for l, b in enumerate(row):
            at_j, at_l = start + j, start + l
            found.add(QQ, c, at_j, at_l, b.w.dot(x.felt) + b.u.angular.dot(x.couple))
            found.add(VV, c, at_j, at_l, (b.S + bends[l][j].S).dot(x.felt))
            found.add(QV, c, at_l, at_j, b.w_v.dot(x.felt) + b.S.angular.dot(x.couple))


def _on_carrying(c: Index, x: Carried, start: Index, bends: Bends, found: Tensors) -> None:
    """The force on the joint that bends, by changes of c, which it carries."""
    for j, row in enumerate(bends):
        for l, b in enumerate(row):
            found.add(QQ, start + j, c, start + l, b.S.dot(x.f_q), True)
            found.add(QV, start + j, start + l, c, b.S.dot(x.f_v))
            found.add(AQ, start + j, c, start + l, b.S.dot(x.felt), True)


def _on_joint(start: Index, whole: Composite, bends: Bends, moving: Rows, paths: Paths, found: Tensors) -> None:
    """The forces on the joint that bends and on those that carry it, by changes of itself and of these."""

    def of_pair(c: int, j: int, b: Bend) -> None:
        at_c, at_j = start + c, start + j
        felt, couple = whole.I.times(b.S), whole.B2.transposed_times(b.S)
        of_q = whole.I.times(b.w) + whole.B2.times(b.u) + b.S.cross_force(whole.f)
        of_v = whole.I.times(b.w_v) + whole.B2.times(b.S)
        of_vv = whole.I.times(b.S + bends[j][c].S)

        def on_c(l: Index) -> None:
            d: Direction = moving.get(l)
            found.add(QQ, at_c, at_j, l, d.w.dot(felt) + d.u.dot(couple), True)
            found.add(QV, at_c, at_j, l, (d.u * 2.0 + d.more).dot(felt) + d.S.dot(couple))
            found.add(AQ, at_c, l, at_j, d.S.dot(felt), True)

        def on_above(l: Index) -> None:
            S = moving.get(l).S
            found.add(QQ, l, at_c, at_j, S.dot(of_q))
            found.add(VV, l, at_c, at_j, S.dot(of_vv))
            found.add(QV, l, at_j, at_c, S.dot(of_v))
            on_c(l)

        paths.same_joint(at_c, on_c)
        paths.above(at_c, on_above)
        for l in range(len(bends)):
            found.add(QQ, at_c, at_j, start + l, bends[j][l].S_qq[c].dot(whole.f))

    for c, row in enumerate(bends):
        for j, b in enumerate(row):
            of_pair(c, j, b)
