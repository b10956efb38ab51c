"""Passive forces of joints: springs and dampers, those of the joints that close loops among them."""

from __future__ import annotations

from bough.algorithms.loops import closings, loop_drives, loop_motions
from bough.model import BodyRecord, Mechanism
from bough.scalar import Array, Index, Scalar, array, loop
from bough.tree.scans import outward

__all__ = ["passive_forces"]


def passive_forces(m: Mechanism, q: Array, v: Array) -> Array:
    """-damping v - stiffness (q - rest) of all joints, as joint forces of the tree (nv)."""
    own_q, own_v = m.coupling.own_q(q), m.coupling.own_v(v)
    own = array(m.own_nv)

    def visit(body: BodyRecord, parent: None) -> tuple[None, None]:
        parts = zip(body.spring(own_q), body.damping, body.of_v(own_v), strict=True)
        body.put_v(own, [spring - damping * rate for spring, damping, rate in parts])
        return None, None

    outward(m, visit, None)
    tree = m.coupling.reduced(own)
    if not any(x for c in m.model.loops for x in (*c.damping, *c.stiffness)):
        return tree
    total, n = array(m.model.nv), m.model.nv
    B = loop_motions(m, q)[1]
    drives = loop_drives(m, B, _loop_forces(m, q, v, B))

    def add(k: Index, carry: tuple[()]) -> tuple[()]:
        total[k] = tree[k] + drives[k]
        return carry

    loop(n, add, ())
    return total


def _loop_forces(m: Mechanism, q: Array, v: Array, B: Array) -> list[Scalar]:
    """Forces of the springs and dampers of loop joints, one behind the other."""
    forces: list[Scalar] = []
    for constraint, c in closings(m, q):
        stretch = c.closure.joint.stretch(c.closure.parameters, constraint.rest, c.closure.x)
        for stiffness, damping, far in zip(constraint.stiffness, constraint.damping, stretch, strict=True):
            forces.append(-(stiffness * far) - damping * _rate(B, len(forces), v, m.model.nv))
    return forces


def _rate(B: Array, row: int, v: Array, n: int) -> Scalar:
    """A velocity of a loop joint: a row of B v."""
    return loop(n, lambda k, total: total + B[k + row * n] * v[k], 0.0)
