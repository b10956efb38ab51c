"""Velocities along axes that do not turn, for steps of time.

The velocity of a free or planar joint is along the axes of the body that moves, which turn while a step is made. For a
step its linear part is taken along the axes of the fixed side: a body in free flight then keeps its momentum, and steps
are those that MuJoCo makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from bough.model import BodyRecord, Mechanism
from bough.model.joints.free import Free
from bough.model.joints.planar import Planar
from bough.scalar import Array, Scalar, cos, indexable, sin
from bough.spatial import Quaternion, Vector

__all__ = ["along_body", "along_fixed", "chart_rate", "each_turn", "moved", "turning"]


Values: TypeAlias = Any
"""Scalars that are read by index: an array or a sequence."""


def turning(m: Mechanism, v: Values) -> list[Scalar]:
    """ω × v of joints that move along axes that turn: what their accelerations lack to be those along fixed axes."""

    def rule(body: BodyRecord, x: Sequence[Scalar]) -> list[Scalar]:
        own: list[Scalar] = [0.0] * body.nv
        if isinstance(body.joint, Free):
            own[:3] = Vector.of(x[3:]).cross(Vector.of(x[:3])).parts
        elif isinstance(body.joint, Planar):
            own[:2] = (-(x[2] * x[1]), x[2] * x[0])
        return own

    return _each(m, rule, v)


def along_fixed(m: Mechanism, q: Values, v: Values) -> list[Scalar]:
    """Velocities or accelerations along fixed axes, from those along the axes of bodies."""
    return _turned(m, q, v, 1.0)


def along_body(m: Mechanism, q: Values, v: Values) -> list[Scalar]:
    """Velocities or accelerations along the axes of bodies, from those along fixed axes."""
    return _turned(m, q, v, -1.0)


def moved(m: Mechanism, q: Values, v: Values, dt: Scalar) -> list[Scalar]:
    """The configuration after a time dt (s) at the velocity v along fixed axes."""
    q, v = m.coupling.own_q(q), m.coupling.own_v(v)
    result: list[Scalar] = []
    for i in range(1, m.tree.n + 1):
        body = m.at(i)
        x, way = body.of_q(q), [rate * dt for rate in body.of_v(v)]
        if isinstance(body.joint, Free):
            turn = Quaternion.of(x[3:]) @ Quaternion.exp(Vector.of(way[3:]))
            result += [*(a + b for a, b in zip(x[:3], way[:3], strict=True)), *turn.normalized.parts]
        elif isinstance(body.joint, Planar):
            result += [a + b for a, b in zip(x, way, strict=True)]
        else:
            result += body.joint.integrate(body.parameters, x, way)
    return _listed(m.coupling.model_q(indexable(len(result), result)), m.model.nq)


def chart_rate(m: Mechanism, way: Values, v: Values) -> list[Scalar]:
    """The rate at which the way u from a configuration grows, where velocities are v at its end.

    For turns it is not ω but ω + ½ u × ω + ¹⁄₁₂ u × (u × ω) + … (Munthe-Kaas 1999): with this, and not without, a
    method of fourth order stays one for rotations.
    """

    def rate(u: Vector, w: Vector) -> Vector:
        turned = u.cross(w)
        return w + turned * 0.5 + u.cross(turned) * (1.0 / 12.0)

    return each_turn(m, way, v, rate)


def each_turn(
    m: Mechanism, way: Values, v: Values, rule: Callable[[Vector, Vector], Vector], others: float = 1.0
) -> list[Scalar]:
    """Where rotations are quaternions, a rule of the ways and of what stands beside them; elsewhere `others` × v."""
    way, v = m.coupling.own_v(way), m.coupling.own_v(v)
    result: list[Scalar] = []
    for i in range(1, m.tree.n + 1):
        body = m.at(i)
        x, given = body.of_v(way), body.of_v(v)
        own = [value * others for value in given]
        for first in [k - body.joint.nq + body.nv + 1 for k in body.joint.quaternions]:
            turned = rule(Vector.of(x[first : first + 3]), Vector.of(given[first : first + 3]))
            own[first : first + 3] = turned.parts
        result += own
    return _listed(m.coupling.model_v(indexable(len(result), result)), m.model.nv)


def _turned(m: Mechanism, q: Values, v: Values, sign: float) -> list[Scalar]:
    q = m.coupling.own_q(q)

    def rule(body: BodyRecord, x: Sequence[Scalar]) -> list[Scalar]:
        own = list(x)
        if isinstance(body.joint, Free):
            R = Quaternion.of(body.of_q(q)[3:]).rotation
            linear = Vector.of(x[:3])
            own[:3] = (R.times(linear) if sign > 0.0 else R.transposed_times(linear)).parts
        elif isinstance(body.joint, Planar):
            angle = body.of_q(q)[2]
            c, s = cos(angle), sin(angle) * sign
            own[:2] = (c * x[0] - s * x[1], s * x[0] + c * x[1])
        return own

    return _each(m, rule, v)


def _each(m: Mechanism, rule: Callable[[BodyRecord, list[Scalar]], list[Scalar]], v: Values) -> list[Scalar]:
    v = m.coupling.own_v(v)
    result: list[Scalar] = []
    for i in range(1, m.tree.n + 1):
        body = m.at(i)
        result += rule(body, body.of_v(v))
    return _listed(m.coupling.model_v(indexable(len(result), result)), m.model.nv)


def _listed(values: Array, count: int) -> list[Scalar]:
    return [values[k] for k in range(count)]
