"""Dry friction and limits of joints that close loops, as rows on the velocities of the tree."""

from __future__ import annotations

from bough.algorithms.limits import limit_rows, limited_joints, limited_loops
from bough.algorithms.loops import loop_motions, loop_rates
from bough.algorithms.soft.fixed_axes import turning
from bough.algorithms.soft.law import impedance, rate_and_spring
from bough.algorithms.soft.rows import WideRow
from bough.algorithms.soft.scene import SoftScene
from bough.model import Mechanism
from bough.scalar import Array, Scalar, array, dot, select

__all__ = ["loop_joint_rows"]


def loop_joint_rows(m: Mechanism, scene: SoftScene, q: Array, v: Array, dt: Scalar) -> list[WideRow]:
    """The rows; like those of the loops themselves, they heed the motion of the mechanism in full."""
    if not scene.loop_joints:
        return []
    n, more, made = m.model.nv, turning(m, v), []
    own, B = loop_motions(m, q)
    rates, bias = loop_rates(m, q, v)
    limits = array(n * (len(limited_joints(m.model)) + len(limited_loops(m.model))))
    terms = limit_rows(m, q, v, limits) if any(row.limit for row in scene.loop_joints) else None
    for row in scene.loop_joints:
        rate, spring = rate_and_spring(row.softness, dt)
        if row.limit is None or terms is None:
            J = tuple(B[row.row * n + k] for k in range(n))
            d = impedance(row.softness, 0.0)
            reference = dot(J, more) - rate * rates[row.row] - bias[row.row]
            made.append(WideRow(J, d / ((1.0 - d) * row.weight), reference, friction=row.most))
            continue
        place, sign, bound, margin = row.limit
        J = tuple(limits[row.row * n + k] * sign for k in range(n))
        depth = (own[place] - bound) * sign - margin
        d = impedance(row.softness, depth)
        reference = dot(J, more) - (rate * terms.rates[row.row] + terms.bias[row.row]) * sign - spring * d * depth
        D = select(depth < 0.0, d / ((1.0 - d) * row.weight), 0.0)
        made.append(WideRow(J, D, reference, one_sided=True))
    return made
